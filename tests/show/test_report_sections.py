"""Sections of the report: distances to flats, points, examples and landmarks."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from subspaces import FLS, KASP, KFlats
from subspaces.datasets import make_subspaces
from subspaces.report import describe
from subspaces.show.report.clusters import cluster_facts, fitted_flats
from subspaces.show.report.columns import column_facts
from subspaces.show.report.examples import example_rows
from subspaces.show.report.points import LEAST_POINTS, drawn_rows
from subspaces.show.report.subject import make_subject

X, Y = make_subspaces((2, 2), 6, points_per_subspace=120, outliers=0.1, random_state=0)


def fitted(model, rows=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows)


@pytest.fixture(scope="module")
def flats():
    return fitted(KFlats(2, n_init=2, random_state=0))


def subject_of(model, rows, **given):
    names = ("labels", "confidence", "values", "columns", "row_names", "row_numbers", "truth", "image_shape", "images")
    return make_subject(model, rows, **(dict.fromkeys(names) | given))


def test_distances_to_flats(flats):
    facts = cluster_facts(subject_of(flats, X))
    table = flats.transform(X)
    own = table[np.arange(len(X)), flats.labels_]
    np.testing.assert_allclose(facts.own, own)
    np.testing.assert_allclose(facts.other, table[np.arange(len(X)), 1 - flats.labels_])
    np.testing.assert_array_equal(facts.nearest, 1 - flats.labels_)
    assert not facts.misplaced.any()
    np.testing.assert_allclose(facts.between[0], table[flats.labels_ == 0].mean(axis=0))
    assert facts.angles[0, 1] == facts.angles[1, 0] > 30


def test_fitted_flats_find_the_dimensions():
    rows, labels = make_subspaces((1, 3), 8, points_per_subspace=200, outliers=0.0, random_state=0)
    flats, dims = fitted_flats(rows, labels, 2)
    assert dims.tolist() == [1, 3]
    # Wide rows are projected; flats are returned in the original coordinates.
    wide = rows @ np.linalg.qr(np.random.RandomState(0).standard_normal((300, 8)))[0].T
    assert fitted_flats(wide, labels, 2)[1].tolist() == [1, 3]
    assert fitted_flats(wide, labels, 2)[0].bases.shape[1] == 300
    assert flats.bases.shape[1] == 8


def test_dimensions_are_those_of_the_model():
    # Flats of one dimension: clusters may have others.
    model = fitted(KFlats(2, subspace_dim=1, random_state=0))
    np.testing.assert_array_equal(cluster_facts(subject_of(model, X)).dims, model.cluster_dims_)


def test_blobs_through_one_point_have_distances():
    rows = np.random.default_rng(0).normal(size=(300, 5)) * np.repeat([1.0, 3.0], 150)[:, np.newaxis]
    model = fitted(FLS(2, affine=False, center=False, random_state=0), rows)
    facts = cluster_facts(subject_of(model, rows))
    assert facts.dims.tolist() == [0, 0]
    assert (facts.own != facts.other).all()


def test_drawn_rows_include_every_cluster():
    labels = np.repeat([0, 1, -1], [5000, 30, 3])
    index = drawn_rows(labels, 200, np.random.RandomState(0))
    assert len(index) == 200
    assert (np.diff(index) > 0).all()
    kept = labels[index]
    assert (kept == -1).sum() == 3
    assert LEAST_POINTS <= (kept == 1).sum() <= 30
    assert len(drawn_rows(labels, 2, np.random.RandomState(0))) == 2


def test_views_of_the_scatter_plot():
    rows, _ = make_blobs(300, centers=6, n_features=4, random_state=0)
    model = fitted(KASP(6, random_state=0), rows)
    views = {view["name"]: view for view in describe(model, rows, n_stability=0).data["scatter"]["views"]}
    embedding = model.transform(rows)[:, 0]
    points = np.array(views["Spectral embedding"]["points"][0]) / views["Spectral embedding"]["grid"]
    np.testing.assert_allclose(points, (embedding - embedding.min()) / np.ptp(embedding), atol=1e-4)
    distances = views["Distances to two flats"]
    first = int(distances["axes"][0].removeprefix("distance to cluster "))
    near = np.array(distances["points"][0]) < np.array(distances["points"][1])
    second = int(distances["axes"][1].removeprefix("distance to cluster "))
    assert near[model.labels_ == first].mean() > 0.95
    assert near[model.labels_ == second].mean() < 0.05
    ring = views["Between clusters"]
    places = np.array(ring["points"]).T / ring["grid"]
    anchors = {k: np.array([x, y]) for x, y, k in ring["anchors"]}
    nearest = [min(anchors, key=lambda k: np.linalg.norm(anchors[k] - place)) for place in places]
    assert np.mean(nearest == model.labels_) > 0.95


@pytest.mark.parametrize(
    "model",
    [FLS(2, random_state=0), KASP(2, random_state=0), KFlats(2, random_state=0)],
    ids=lambda each: type(each).__name__,
)
def test_two_clusters_are_shown_in_two_useful_coordinates(model):
    rows, _ = make_blobs(200, centers=2, n_features=5, random_state=0)
    for view in describe(fitted(model, rows), rows, n_stability=0).data["scatter"]["views"]:
        assert len(view["points"]) == len(view["axes"]) >= 2
        for axis in view["points"][:2]:
            # Not two bars: rows of a cluster differ in both coordinates.
            assert len(set(axis)) > 50, view["name"]


def test_two_flat_clusters_are_first_shown_by_their_distances(flats):
    assert describe(flats, X, n_stability=0).data["scatter"]["views"][0]["name"] == "Distances to two flats"


def test_rows_of_one_column_are_shown_in_order():
    rows = np.random.RandomState(0).standard_normal((60, 1))
    data = describe(fitted(KASP(2, n_centroids=10, random_state=0), rows), rows, n_stability=0).data
    view = data["scatter"]["views"][0]
    assert view["axes"] == ["value", "number of the row"]
    assert (np.diff(view["points"][1]) > 0).all()


def test_rows_of_two_columns_are_first_shown_as_they_are():
    rows = np.random.RandomState(0).standard_normal((90, 2))
    data = describe(fitted(FLS(2, random_state=0), rows), rows, n_stability=0).data
    assert data["scatter"]["views"][0]["name"] == "Principal components"


def test_example_rows():
    model = fitted(FLS(2, random_state=0))
    subject = subject_of(model, X)
    facts = cluster_facts(subject)
    kinds = example_rows(subject, facts, 0)
    rows = np.concatenate(list(kinds.values()))
    assert len(set(rows.tolist())) == len(rows) == 9
    members = subject.members(0)
    assert facts.scores[kinds["outlying"]].min() >= np.percentile(facts.scores[members], 97)
    assert facts.scores[kinds["typical"]].max() <= np.median(facts.scores[members])
    left = np.setdiff1d(members, rows)
    assert subject.confidence[kinds["borderline"]].max() <= subject.confidence[left].min() + 1e-2


def test_column_facts(flats):
    rows = np.random.RandomState(0).standard_normal((len(X), 6))
    rows[flats.labels_ == 0, 4] += 9
    rows[flats.labels_ == 1, 2] *= 0.01
    rows[:, 5] = 1.0
    found = column_facts(subject_of(flats, X, values=rows))
    assert found.divergences[0].argmax() == found.telling(0, 1)[0] == 4
    assert found.divergences[1].argmax() == found.telling(1, 1)[0] == 2
    assert (found.divergences[:, 5] == -1).all()
    assert 5 not in found.telling(0, 6)
    assert found.telling_together(2).tolist() == [2, 4]
    np.testing.assert_allclose(found.means[0], rows[flats.labels_ == 0].mean(axis=0))
    np.testing.assert_allclose(found.spreads[1], rows[flats.labels_ == 1].std(axis=0), atol=1e-12)


def test_landmark_statistics():
    data = describe(fitted(FLS(2, n_landmarks=80, random_state=0)), X, n_stability=0).data["landmarks"]
    assert data["count"] <= 80
    assert sum(data["per_cluster"]) <= data["count"]
    assert data["rows_per_landmark"][-1] * data["count"] >= len(X)
    assert 1 <= data["effective"][0] <= data["effective"][-1] <= data["nearest"]


def test_the_first_picture_of_separate_clusters_is_not_one_dot_for_each():
    """Rows of clusters that are far from each other have nearly the same embedding: distances show more."""
    rows = np.repeat(5 * np.eye(4)[:3], 100, axis=0) + np.random.RandomState(0).standard_normal((300, 4))
    first, second, *_ = describe(KASP(3, random_state=0).fit(rows), rows, n_stability=0).data["scatter"]["views"]
    assert (first["name"], second["name"]) == ("Distances to two flats", "Spectral embedding")
    cells = [np.unique(np.array(view["points"][:2]) * 50 // (view["grid"] + 1), axis=1) for view in (first, second)]
    assert cells[1].shape[1] < 30 < cells[0].shape[1]
