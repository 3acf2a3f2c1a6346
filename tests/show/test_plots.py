"""Displays: what they draw, and which input raises an error."""

import copy
import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from subspaces import FLS, KASP, LBF, SLBF, SSC, Flats, KFlats, LandmarkSpectralClustering, plots
from subspaces._core.drawing import COLORS, MARKERS
from subspaces.datasets import make_subspaces
from subspaces.show.look import looks
from subspaces.show.plots.angles import flat_angles
from subspaces.show.plots.embedding import principal_components
from subspaces.show.plots.residuals import own_distances

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def data():
    return make_subspaces((2, 3), 8, points_per_subspace=80, outliers=0.1, random_state=0)


@pytest.fixture(scope="module")
def fls(data):
    options = {"subspace_dim": 3, "affine": False, "neighborhood": 12, "detect_outliers": True, "random_state": 0}
    return FLS(2, **options).fit(data[0])


@pytest.fixture(scope="module")
def kflats(data):
    return KFlats(3, subspace_dim=3, random_state=0).fit(data[0])


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def assert_drawn(display):
    """Limits are finite, everything is inside the figure, and rendering gives no warning."""
    assert display.figure_ is display.ax_.figure
    display.figure_.canvas.draw()
    assert np.isfinite([*display.ax_.get_xlim(), *display.ax_.get_ylim()]).all()
    page, box = display.figure_.bbox, display.ax_.get_tightbbox()
    assert box.x0 >= page.x0 - 1
    assert box.x1 <= page.x1 + 1
    assert box.y0 >= page.y0 - 1
    assert box.y1 <= page.y1 + 1


class TestLooks:
    def test_ninety_clusters_look_different(self):
        assert len(set(looks(list(range(90))))) == 90 == len(COLORS) * len(MARKERS)

    def test_empty_clusters_do_not_change_looks(self):
        assert looks([0, 2]) == [looks([0, 1, 2])[k] for k in (0, 2)]

    def test_strings_and_large_numbers_use_their_position(self):
        assert looks(["cat", "dog"]) == looks([0, 1]) == looks([1000, 2000])


class TestEmbedding:
    def test_spectral_model(self, fls, data):
        display = plots.EmbeddingDisplay.from_estimator(fls, data[0])
        found = fls.predict(data[0])
        assert (found == -1).any()
        assert len(display.ax_.collections) == 3
        counts = {k: int((found == k).sum()) for k in (0, 1, -1)}
        assert display.sizes == counts
        assert legend_texts(display.ax_) == [f"0 ({counts[0]})", f"1 ({counts[1]})", f"outliers ({counts[-1]})"]
        assert sum(len(each.get_offsets()) for each in display.ax_.collections) == len(data[0])
        assert_drawn(display)

    def test_points_come_from_transform(self, data):
        model = LandmarkSpectralClustering(3, n_landmarks=40, n_components=4, random_state=0).fit(data[0])
        display = plots.EmbeddingDisplay.from_estimator(model, data[0], components=(2, 0))
        np.testing.assert_allclose(display.points, model.transform(data[0])[:, [2, 0]])
        assert display.ax_.get_xlabel() == "spectral embedding, coordinate 3"
        assert display.ax_.get_ylabel() == "spectral embedding, coordinate 1"

    def test_flats_model_uses_principal_components_of_distances(self, kflats, data):
        display = plots.EmbeddingDisplay.from_estimator(kflats, data[0])
        table = kflats.transform(data[0])
        np.testing.assert_allclose(display.points, principal_components(table)[:, :2])
        np.testing.assert_allclose(display.points.mean(axis=0), 0, atol=1e-12)
        assert "distances to flats" in display.ax_.get_xlabel()

    def test_one_coordinate_is_spread_vertically(self, data):
        model = KFlats(1, subspace_dim=2, random_state=0).fit(data[0])
        display = plots.EmbeddingDisplay.from_estimator(model, data[0])
        assert display.points.shape == (len(data[0]), 1)
        heights = display.ax_.collections[0].get_offsets()[:, 1]
        assert len(np.unique(heights)) == len(heights)
        assert not len(display.ax_.get_yticks())
        assert_drawn(display)

    def test_max_points(self, kflats, data):
        display = plots.EmbeddingDisplay.from_estimator(kflats, data[0], labels=data[1], max_points=50)
        assert len(display.points) == 50 == sum(display.sizes.values())
        assert display.ax_.get_title(loc="left") == f"50 of {len(data[0])} rows"
        again = plots.EmbeddingDisplay.from_estimator(kflats, data[0], labels=data[1], max_points=50)
        np.testing.assert_array_equal(display.labels, again.labels)

    def test_tables_and_lists(self, kflats, data):
        pandas = pytest.importorskip("pandas")
        plain = plots.EmbeddingDisplay.from_estimator(kflats, data[0], max_points=30)
        listed = plots.EmbeddingDisplay.from_estimator(kflats, data[0].tolist(), max_points=30)
        np.testing.assert_allclose(plain.points, listed.points)
        framed = KFlats(2, subspace_dim=2, random_state=0).fit(pandas.DataFrame(data[0]).add_prefix("x"))
        table = pandas.DataFrame(data[0]).add_prefix("x")
        assert len(plots.EmbeddingDisplay.from_estimator(framed, table, max_points=30).points) == 30

    @pytest.mark.parametrize("count", [1, 2, 10, 38])
    def test_any_number_of_clusters(self, count):
        points = np.random.RandomState(0).randn(400, 2)
        display = plots.EmbeddingDisplay(points, np.arange(400) % (count + 1) - 1).plot()
        assert len(display.ax_.collections) == count + 1 == len(legend_texts(display.ax_))
        assert_drawn(display)

    def test_given_axes_and_style(self):
        _, ax = pyplot.subplots()
        display = plots.EmbeddingDisplay([[0, 1], [1, 0]], ["cat", "dog"]).plot(ax, s=77)
        assert display.ax_ is ax
        assert [each.get_sizes().tolist() for each in ax.collections] == [[77], [77]]
        assert legend_texts(ax) == ["cat (1)", "dog (1)"]

    def test_invalid_input(self, kflats, data):
        with pytest.raises(ValueError, match=r"components=\(0, 7\).*0 to 2"):
            plots.EmbeddingDisplay.from_estimator(kflats, data[0], components=(0, 7))
        with pytest.raises(ValueError, match=r"labels have shape \(3,\)"):
            plots.EmbeddingDisplay.from_estimator(kflats, data[0], labels=[1, 2, 3])
        with pytest.raises(ValueError, match="max_points=0"):
            plots.EmbeddingDisplay.from_estimator(kflats, data[0], max_points=0)
        with pytest.raises(TypeError, match=r"X is a str: pass an array or table"):
            plots.EmbeddingDisplay.from_estimator(kflats, "rows.npy")
        with pytest.raises(ValueError, match=r"points have shape \(2, 3\)"):
            plots.EmbeddingDisplay(np.zeros((2, 3)), [0, 1])


class TestEigengap:
    def test_gap_of_a_model(self, fls):
        display = plots.EigengapDisplay.from_estimator(fls)
        np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), fls.eigenvalues_)
        np.testing.assert_array_equal(display.ax_.lines[1].get_xdata(), [1, 2])
        assert display.gap == pytest.approx(fls.eigenvalues_[1] - fls.eigenvalues_[2])
        assert "gap at K = 2" in legend_texts(display.ax_)
        assert_drawn(display)

    def test_model_without_n_clusters_attribute(self, data):
        model = KASP(2, random_state=0).fit(data[0])
        assert plots.EigengapDisplay.from_estimator(model).n_clusters == 2

    def test_title_names_the_largest_gap(self):
        values = [1.0, 0.9, 0.85, 0.2]
        assert "the largest is at 3: 0.65" in plots.EigengapDisplay(values, 2).plot().ax_.get_title(loc="left")
        assert plots.EigengapDisplay(values, 3).plot().ax_.get_title(loc="left").endswith("the largest")

    @pytest.mark.parametrize("count", [1, 2, 10, 38])
    def test_gap_is_none_without_a_further_eigenvalue(self, count):
        display = plots.EigengapDisplay(np.linspace(1, 0.5, count), count).plot()
        assert display.gap is None
        assert not display.ax_.patches
        assert "the gap is unknown" in display.ax_.get_title(loc="left")
        assert_drawn(display)

    def test_invalid_input(self):
        with pytest.raises(ValueError, match=r"shape \(0,\)"):
            plots.EigengapDisplay([], 2)
        with pytest.raises(ValueError, match="n_clusters=0"):
            plots.EigengapDisplay([1.0], 0)


def lines_at(*degrees):
    angles = np.radians(degrees)
    bases = np.zeros((len(degrees), 4, 1))
    bases[:, 0, 0], bases[:, 1, 0] = np.cos(angles), np.sin(angles)
    return Flats(np.zeros((len(degrees), 4)), bases)


class TestAngles:
    @pytest.fixture
    def three(self, kflats):
        """A model whose clusters have dimensions 1, 2 and 5; its flats have dimension 3."""
        model = copy.copy(kflats)
        model.cluster_dims_ = np.array([1, 2, 5])
        return model

    def test_lines(self):
        display = plots.AnglesDisplay.from_flats(lines_at(0, 30, 90))
        np.testing.assert_allclose(display.angles, [[0, 30, 90], [30, 0, 60], [90, 60, 0]], atol=1e-6)
        assert sorted(texts(display.ax_)) == sorted(["30", "90", "30", "60", "90", "60", "d=1", "d=1", "d=1"])
        assert display.im_.get_clim() == (0, 90)
        assert_drawn(display)

    def test_model_uses_cluster_dims(self, three):
        display = plots.AnglesDisplay.from_estimator(three)
        assert display.dims.tolist() == [1, 2, 5]
        np.testing.assert_allclose(display.angles, flat_angles(three.flats_, [1, 2, 3]))
        few = plots.AnglesDisplay.from_estimator(three, max_dim=1)
        assert few.dims.tolist() == [1, 2, 5]
        np.testing.assert_allclose(few.angles, flat_angles(three.flats_, [1, 1, 1]))

    def test_models_with_cluster_bases(self, fls, data):
        assert plots.AnglesDisplay.from_estimator(fls).angles.shape == (2, 2)
        ssc = SSC(2, subspace_dim=2, random_state=0).fit(data[0])
        assert plots.AnglesDisplay.from_estimator(ssc).dims.tolist() == [2, 2]

    def test_forced_intersections_are_ignored(self):
        planes = np.stack([np.eye(3)[:, :2], np.eye(3)[:, 1:]])
        assert flat_angles(Flats(np.zeros((2, 3)), planes), [2, 2])[0, 1] == pytest.approx(90)

    def test_empty_clusters_and_points_are_left_out(self, three):
        three.labels_ = np.where(three.labels_ == 1, 0, three.labels_)
        display = plots.AnglesDisplay.from_estimator(three)
        assert display.names == [0, 2]
        assert np.isfinite(display.angles).all()
        three.cluster_dims_ = np.array([0, 2, 3])
        assert plots.AnglesDisplay.from_estimator(three).names == [2]

    @pytest.mark.parametrize("count", [1, 2, 10, 38])
    def test_any_number_of_clusters(self, count):
        display = plots.AnglesDisplay.from_flats(lines_at(*np.linspace(0, 90, count)))
        assert len(texts(display.ax_)) == (count**2 if count <= 12 else 0)
        assert len(display.ax_.get_xticks()) <= 20
        assert_drawn(display)

    def test_invalid_input(self, data):
        slbf = SLBF(2, random_state=0).fit(data[0])
        with pytest.raises(TypeError, match=r"SLBF has no cluster_bases_.*from_flats"):
            plots.AnglesDisplay.from_estimator(slbf)
        with pytest.raises(ValueError, match="all flats are points"):
            plots.AnglesDisplay.from_flats(lines_at(0, 30), dims=[0, 0])
        with pytest.raises(ValueError, match=r"dims=\[1, 2\]"):
            plots.AnglesDisplay.from_flats(lines_at(0, 30), dims=[1, 2])
        with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
            plots.AnglesDisplay(np.zeros((2, 3)))
        with pytest.raises(ValueError, match="1 names for 2 clusters"):
            plots.AnglesDisplay(np.zeros((2, 2)), ["a"])


class TestResiduals:
    def test_outlier_scores(self, fls, data):
        display = plots.ResidualsDisplay.from_estimator(fls, data[0])
        np.testing.assert_allclose(display.residuals, fls.outlier_scores(data[0]))
        assert [name for name, _ in display.groups] == [0, 1, -1]
        assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["0", "1", "out"]
        assert display.ax_.get_ylabel() == "outlier score"
        assert len(display.ax_.patches) == 3
        assert_drawn(display)

    @pytest.mark.parametrize("model", [KFlats(2, random_state=0), LBF(2, random_state=0)])
    def test_distances(self, model, data):
        model.fit(data[0])
        display = plots.ResidualsDisplay.from_estimator(model, data[0])
        np.testing.assert_allclose(display.residuals, model.transform(data[0]).min(axis=1))
        assert display.ax_.get_ylabel() == "distance to own flat"

    def test_self_expressive_model(self, data):
        # Flats are linear, so the expected distances are those of unit rows.
        model = SSC(2, subspace_dim=3, random_state=0).fit(data[0])
        display = plots.ResidualsDisplay.from_estimator(model, data[0])
        unit = data[0] / np.linalg.norm(data[0], axis=1, keepdims=True)
        bases = model.cluster_bases_.bases[model.predict(data[0])]
        along = np.einsum("np,npd->nd", unit, bases)
        expected = np.sqrt(np.maximum(1 - (along**2).sum(axis=1), 0))
        np.testing.assert_allclose(display.residuals, expected, atol=1e-6)

    def test_own_distances(self):
        table = np.array([[1.0, 2.0], [3.0, 4.0], [6.0, 5.0]])
        assert own_distances(table, np.array([1, 0, -1])).tolist() == [2, 3, 5]

    @pytest.mark.parametrize("count", [1, 2, 10, 38])
    def test_any_number_of_clusters_with_empty_ones(self, count):
        labels = 2 * (np.arange(300) % count)
        display = plots.ResidualsDisplay(np.random.RandomState(0).rand(300), labels).plot()
        assert len(display.ax_.patches) == count == len(display.ax_.get_xticks())
        assert display.ax_.get_ylim()[0] == 0
        assert_drawn(display)

    def test_axis_is_logarithmic_for_far_rows(self):
        assert plots.ResidualsDisplay([1, 1, 1, 100], [0, 0, 0, -1]).plot().ax_.get_yscale() == "log"
        display = plots.ResidualsDisplay([0, 1, 1, 100], [0, 0, 0, -1]).plot()
        assert display.ax_.get_yscale() == "linear"

    def test_invalid_input(self, data):
        model = LandmarkSpectralClustering(2, n_landmarks=40, random_state=0).fit(data[0])
        with pytest.raises(TypeError, match="LandmarkSpectralClustering has no outlier_scores"):
            plots.ResidualsDisplay.from_estimator(model, data[0])
        with pytest.raises(ValueError, match="1 residuals are not finite"):
            plots.ResidualsDisplay([1, np.nan], [0, 0])
        with pytest.raises(ValueError, match=r"labels have shape \(1,\), not \(2,\)"):
            plots.ResidualsDisplay([1, 2], [0])


class TestComparison:
    def test_predictions(self):
        truth = [0, 0, 1, 1]
        display = plots.ComparisonDisplay.from_predictions(truth, {"right": [1, 1, 0, 0], "half": [0, 1, 0, 1]})
        assert display.scores["right"] == {"accuracy": 1.0, "ARI": 1.0, "NMI": 1.0}
        assert display.scores["half"]["accuracy"] == 0.5
        assert display.scores["half"]["ARI"] == pytest.approx(-0.5)
        assert len(display.ax_.patches) == 6
        assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["right", "half"]
        assert legend_texts(display.ax_) == ["accuracy", "ARI", "NMI"]
        assert display.ax_.get_xlim()[0] < -0.5
        # The first method is at the top.
        assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]
        assert_drawn(display)

    def test_one_score(self):
        display = plots.ComparisonDisplay.from_predictions([0, 1], {"$a$": [0, 1]}, metrics=("purity",))
        assert display.ax_.get_legend() is None
        assert display.ax_.get_xlabel().startswith("purity")
        assert display.ax_.get_xlim() == (0, 1.1)
        assert_drawn(display)

    def test_invalid_input(self):
        with pytest.raises(ValueError, match="metrics contains 'f1'"):
            plots.ComparisonDisplay.from_predictions([0, 1], {"a": [0, 1]}, metrics=("f1",))
        with pytest.raises(ValueError, match="empty"):
            plots.ComparisonDisplay({})
        with pytest.raises(ValueError, match="'b' has the scores"):
            plots.ComparisonDisplay({"a": {"ARI": 1}, "b": {"NMI": 1}})
        with pytest.raises(ValueError, match="must be finite"):
            plots.ComparisonDisplay({"a": {"ARI": np.nan}})


class TestTradeoff:
    def test_every_point_has_a_name(self):
        display = plots.TradeoffDisplay([1, 2, 10], [0.8, 0.7, 0.9], ["a", "b$", "c"]).plot()
        assert texts(display.ax_) == ["a", "b$", "c"]
        assert display.ax_.get_xscale() == "log"
        assert len(display.ax_.collections[0].get_offsets()) == 3
        np.testing.assert_array_equal(display.ax_.lines[0].get_xdata(), [1, 10])
        assert_drawn(display)

    def test_names_of_near_points_do_not_overlap(self):
        display = plots.TradeoffDisplay([1, 1.02, 1.05, 9], [0.9, 0.9, 0.9, 0.5], ["first", "second", "third", "x"])
        boxes = [text.get_window_extent() for text in display.plot().ax_.texts]
        for i, box in enumerate(boxes):
            assert not box.count_overlaps(boxes[:i])

    def test_models(self, data):
        X, y = data
        models = {"KFlats": KFlats(2, subspace_dim=3, random_state=0), "k-means": KMeans(2, n_init=1, random_state=0)}
        display = plots.TradeoffDisplay.from_models(models, X, y)
        assert display.names == ["KFlats", "k-means"]
        assert (display.seconds > 0).all()
        assert display.accuracies[0] > display.accuracies[1]
        assert not hasattr(models["KFlats"], "labels_")

    def test_one_method_and_equal_methods(self):
        assert_drawn(plots.TradeoffDisplay([1.0], [0.5], ["only"]).plot())
        display = plots.TradeoffDisplay([1.0, 1.0], [0.5, 0.5], ["a", "b"]).plot()
        assert display.front == [0]
        assert_drawn(display)

    def test_invalid_input(self):
        with pytest.raises(ValueError, match="2 seconds, 1 accuracies and 2 names"):
            plots.TradeoffDisplay([1, 2], [0.5], ["a", "b"])
        with pytest.raises(ValueError, match="must all be positive"):
            plots.TradeoffDisplay([0.0], [0.5], ["a"])
        with pytest.raises(ValueError, match="must be finite"):
            plots.TradeoffDisplay([1.0], [np.nan], ["a"])


FROM_ESTIMATOR = {
    plots.EmbeddingDisplay: True,
    plots.EigengapDisplay: False,
    plots.AnglesDisplay: False,
    plots.ResidualsDisplay: True,
}


@pytest.mark.parametrize(("display", "takes_rows"), FROM_ESTIMATOR.items())
class TestEveryEstimator:
    def test_unfitted_models_raise(self, display, takes_rows, data):
        with pytest.raises(NotFittedError):
            display.from_estimator(FLS(2), *[data[0]] * takes_rows)

    def test_models_without_the_needed_attribute_raise(self, display, takes_rows, data):
        # DBSCAN has none of the attributes that displays need.
        from sklearn.cluster import DBSCAN

        with pytest.raises(TypeError, match=r"DBSCAN has no .* which this plot needs: "):
            display.from_estimator(DBSCAN().fit(data[0]), *[data[0]] * takes_rows)

    def test_given_axes(self, display, takes_rows, fls, data):
        _, ax = pyplot.subplots()
        assert display.from_estimator(fls, *[data[0]] * takes_rows, ax=ax).ax_ is ax


def test_pipelines(data):
    model = make_pipeline(StandardScaler(), KFlats(2, subspace_dim=2, random_state=0)).fit(data[0])
    with pytest.raises(TypeError, match=r"pipeline\[-1\]"):
        plots.EigengapDisplay.from_estimator(model)
    # Pipelines that have transform and predict work like other models.
    display = plots.EmbeddingDisplay.from_estimator(model, data[0])
    assert display.ax_.get_xlabel().startswith("distances to flats")


def test_lazy_arrays_and_tensors(kflats, data):
    expected = plots.EmbeddingDisplay.from_estimator(kflats, data[0], max_points=30)
    arrays = pytest.importorskip("dask.array")
    lazy = plots.EmbeddingDisplay.from_estimator(kflats, arrays.from_array(data[0], chunks=(50, -1)), max_points=30)
    np.testing.assert_allclose(lazy.points, expected.points)
    torch = pytest.importorskip("torch")
    tensors = plots.EmbeddingDisplay.from_estimator(kflats, torch.asarray(data[0]), max_points=30)
    np.testing.assert_allclose(tensors.points, expected.points, atol=1e-8)
    np.testing.assert_array_equal(tensors.labels, expected.labels)


@pytest.mark.parametrize(
    "display",
    [
        plots.EmbeddingDisplay([[0, 1]], [0]),
        plots.EigengapDisplay([1.0, 0.5], 1),
        plots.AnglesDisplay([[0.0]]),
        plots.ResidualsDisplay([1.0], [0]),
        plots.ComparisonDisplay({"a": {"ARI": 1.0}}),
        plots.TradeoffDisplay([1.0], [0.5], ["a"]),
    ],
)
def test_missing_matplotlib(display, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'subspaces\[plot\]'"):
        display.plot()
