"""SSC: accuracy, invariances, warnings, refused parameters."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from subspaces import SSC, SSSC
from subspaces._core.progress import listening
from subspaces.datasets import load_motions, load_yaleb, make_motions, make_subspaces
from subspaces.flats.distances import squared_distances
from subspaces.metrics import clustering_accuracy, subspace_recovery_error, wrong_connection_share
from subspaces.self_expression import ADMM, OMP, ElasticNet


@pytest.mark.parametrize(
    ("dims", "ambient_dim", "outliers", "floor"),
    [((2, 2), 6, 0.3, 0.97), ((4, 5, 6), 10, 0.05, 0.95), ((5, 6, 7), 20, 0.3, 0.99)],
)
def test_synthetic_models_of_the_paper(dims, ambient_dim, outliers, floor):
    X, y = make_subspaces(dims, ambient_dim, outliers=outliers, random_state=0)
    model = SSC(len(dims), random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) >= floor
    assert clustering_accuracy(y, model.predict(X)) >= floor - 0.01


@pytest.mark.parametrize("solver", ["admm", "elastic_net", "omp", "thresholding", "least_squares", "low_rank"])
def test_low_dimensions_in_a_large_space(solver):
    X, y = make_subspaces((3, 3, 3), 60, points_per_subspace=100, noise=0.02, random_state=0)
    model = SSC(3, solver=solver, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.93
    assert wrong_connection_share(y, model.codes_) < 0.5


@pytest.mark.parametrize("solver", ["admm", "elastic_net"])
def test_affine_subspaces(solver):
    X, y = make_motions(2, noise=0.0, random_state=0)
    model = SSC(2, solver=solver, affine=True, mass=0.7, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.95


def test_clean_rows_use_their_own_subspace_only():
    X, y, bases, _ = make_subspaces(
        (2, 3), 12, points_per_subspace=50, noise=0, outliers=0, return_bases=True, random_state=0
    )
    model = SSC(2, solver=ADMM(alpha=1000, tol=1e-4, max_iter=20_000), random_state=0).fit(X)
    assert wrong_connection_share(y, model.codes_) < 0.01
    assert subspace_recovery_error(bases, model.cluster_bases_) < 1e-3


def test_faces(data_folder):
    X, y = load_yaleb(8, random_state=0, drop_components=0)
    assert clustering_accuracy(y, SSC(8, random_state=0).fit(X).labels_) > 0.82


def test_digits(mnist):
    X, y = mnist
    assert clustering_accuracy(y[::2], SSC(2, solver="omp", random_state=0).fit(X[::2]).labels_) > 0.95


def test_outliers_have_longer_codes():
    X, y = make_subspaces((5, 6, 7), 20, outliers=0.3, points_per_subspace=100, random_state=0)
    scores = SSC(3, random_state=0).fit(X).outlier_scores_
    assert np.median(scores[y < 0]) > np.quantile(scores[y >= 0], 0.95)


def test_labels_do_not_depend_on_the_unit(planes):
    first, second = (SSC(2, random_state=0).fit(scale * planes[0]).labels_ for scale in (1, 1e-3))
    assert clustering_accuracy(first, second) == 1


@pytest.mark.parametrize("outliers", [False, True])
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_affine_codes_do_not_depend_on_the_unit(scale, outliers):
    X, _ = make_subspaces((2, 2), 6, affine=True, points_per_subspace=30, random_state=0)
    first, second = (
        SSC(2, affine=True, solver=ADMM(outliers=outliers), random_state=0).fit(factor * X) for factor in (1, scale)
    )
    np.testing.assert_allclose(second.codes_.toarray(), first.codes_.toarray(), atol=1e-6)
    np.testing.assert_allclose(np.asarray(second.codes_.sum(axis=1)), 1, atol=0.1)


def test_affine_flats_are_flats_of_the_rows():
    X, y = make_subspaces((2, 2), 6, affine=True, points_per_subspace=40, noise=0, outliers=0, random_state=0)
    model = SSC(2, affine=True, subspace_dim=2, random_state=0).fit(X + 50)
    assert clustering_accuracy(y, model.labels_) == 1
    distances = squared_distances(X + 50, model.cluster_bases_).min(axis=1)
    np.testing.assert_allclose(distances, 0, atol=1e-8)


def test_a_given_dimension_is_used(planes):
    model = SSC(2, subspace_dim=3, random_state=0).fit(planes[0])
    assert model.subspace_dim_ == model.cluster_bases_.dim == 3


def test_the_dimension_is_that_of_the_subspaces():
    X, _ = make_subspaces((4, 4), 12, points_per_subspace=100, noise=0.01, outliers=0, random_state=0)
    assert SSC(2, random_state=0).fit(X).subspace_dim_ <= 6


def orthogonal_planes(seed, n_planes=4, n_rows=30, noise=1e-3):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(2 * n_planes, 2 * n_planes)))[0]
    rows = [rng.normal(size=(n_rows, 2)) @ axes[:, 2 * k : 2 * k + 2].T for k in range(n_planes)]
    X = np.vstack(rows)
    return X + noise * rng.normal(size=X.shape), np.repeat(np.arange(n_planes), n_rows)


@pytest.mark.parametrize("solver", ["admm", "elastic_net", "omp"])
@pytest.mark.parametrize("seed", [1, 2, 5, 6])
def test_easy_planes_in_any_order(solver, seed):
    X, y = orthogonal_planes(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    for index in (np.arange(len(X)), order):
        assert clustering_accuracy(y[index], SSC(4, solver=solver, random_state=0).fit(X[index]).labels_) == 1


@pytest.mark.parametrize("seed", [6, 31, 37, 55])
def test_planes_are_not_cut_to_keep_others_together(seed):
    """Rows of a plane make a ring in the graph: eigenvectors alone take a part of one for a cluster."""
    X, y = orthogonal_planes(seed, n_planes=3, n_rows=60)
    assert clustering_accuracy(y, SSC(3, random_state=0).fit(X).labels_) == 1


AWAY = np.array([1, -1, 1, 1, -1, 1])


@pytest.mark.parametrize("solver", ["admm", "elastic_net", "omp"])
@pytest.mark.parametrize("estimator", [SSC, SSSC])
@pytest.mark.parametrize("seed", [0, 3])
def test_an_offset_of_the_measurement_does_not_matter(estimator, solver, seed):
    """Planes that meet in one point."""
    X, y = orthogonal_planes(seed, n_planes=3, n_rows=60, noise=1e-2)
    for width in (0, 10, 1000):
        moved = X + width * X.std() * AWAY
        model = estimator(3, solver=solver, random_state=0).fit(moved)
        assert clustering_accuracy(y, model.labels_) > 0.98
        assert clustering_accuracy(y, model.predict(moved)) > 0.98


@pytest.mark.parametrize("solver", ["admm", "elastic_net", "omp"])
@pytest.mark.parametrize("estimator", [SSC, SSSC])
def test_flats_that_do_not_meet_in_one_point(estimator, solver):
    X, y = make_motions(2, random_state=0)
    model = estimator(2, solver=solver, random_state=0).fit(X)
    assert (model.affine_, model.normalize_) == (True, False)
    assert clustering_accuracy(y, model.labels_) > 0.97


def test_the_mean_is_subtracted_if_subspaces_meet_there():
    """Affine codes connect all rows near the point that subspaces have in common, and outliers join the clusters."""
    X, y = make_subspaces((4, 5, 6), 10, points_per_subspace=100, outliers=0.1, random_state=0)
    X += 3 * X.std()
    model = SSC(3, random_state=0).fit(X)
    assert (model.affine_, model.normalize_) == (False, True)
    assert clustering_accuracy(y, model.labels_) > 0.97
    assert clustering_accuracy(y, SSC(3, affine=True, random_state=0).fit(X).labels_) < 0.7


@pytest.mark.parametrize("model", [SSC(2), SSSC(2), SSSC(2, n_in_sample=50)], ids=["all", "whole sample", "sample"])
def test_chosen_affine_codes_are_those_that_can_be_asked_for(model):
    X, _ = make_subspaces((2, 2), 6, affine=True, points_per_subspace=40, random_state=0)
    chosen, given = (clone(model).set_params(affine=affine, random_state=0).fit(X + 50) for affine in ("auto", True))
    assert chosen.affine_
    assert (chosen.codes_ != given.codes_).nnz == 0
    assert (chosen.labels_ == given.labels_).all()


def test_motions_are_affine(data_folder):
    """Their subspaces do not meet in the mean, although linear codes about it make graphs of small cuts."""
    tracks = load_motions()
    for name in ("cars7", "cars2B", "2R3RTC", "two_cranes_g12"):
        X, y = tracks[name]
        model = SSC(len(np.unique(y)), random_state=0).fit(X)
        assert model.affine_
        assert clustering_accuracy(y, model.labels_) > 0.98


def test_flats_about_the_mean_are_flats_of_the_rows():
    X, _ = orthogonal_planes(0, n_planes=3, n_rows=60, noise=0)
    # The mean of the rows is where the planes meet.
    moved = np.concatenate([X, -X]) + 100 * AWAY
    model = SSC(3, subspace_dim=2, random_state=0).fit(moved)
    assert not model.affine_
    np.testing.assert_allclose(squared_distances(moved, model.cluster_bases_).min(axis=1), 0, atol=1e-6)


def test_what_was_asked_for_is_done():
    X = orthogonal_planes(0, n_planes=3, n_rows=30)[0] + 100 * AWAY
    for affine in (True, False):
        assert SSC(3, affine=affine, random_state=0).fit(X).affine_ is affine


def test_unfinished_codes_warn(planes):
    with pytest.warns(ConvergenceWarning, match="not finished after 4 iterations"):
        SSC(2, solver=ADMM(max_iter=4), random_state=0).fit(planes[0])


def test_progress_reports_the_cut_of_the_graph(planes):
    events = []
    with listening(events.append):
        SSC(2, random_state=0).fit(planes[0])
    assert [event.stage for event in events if event.kind == "stage"] == ["cutting the graph"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "lasso"}, "solver='lasso' is not known: use one of 'admm', 'omp', 'elastic_net', 'thresholding'"),
        ({"solver": ADMM}, "is not known: use one of"),
        ({"solver": ["admm"]}, "is not known: use one of"),
        ({"mass": 1.5}, "mass=1.5 must be at most 1"),
        ({"mass": 0}, "mass=0 must be positive"),
        ({"tie": -0.1}, "tie=-0.1 must be a number from 0 to 1"),
        ({"subspace_dim": 6}, "subspace_dim=6 must be between 1 and 5: X has n_features=6"),
        ({"n_components": 0}, "n_components=0 must be at least 1"),
        ({"solver": ADMM(alpha=-1)}, "alpha=-1 must be positive"),
        ({"solver": OMP(0)}, "n_nonzero=0 must be at least 1"),
        ({"solver": ElasticNet(l1_ratio=2)}, "l1_ratio=2.0 must be below 1"),
    ],
)
def test_mistakes_are_named(planes, options, message):
    with pytest.raises(ValueError, match=message):
        SSC(2, **options).fit(planes[0])


def test_torch_rows_stay_torch(planes):
    torch = pytest.importorskip("torch")
    model = SSC(2, random_state=0).fit(torch.tensor(planes[0]))
    assert isinstance(model.labels_, torch.Tensor)
    plain = SSC(2, random_state=0).fit(planes[0])
    assert clustering_accuracy(plain.labels_, model.labels_.numpy()) == 1
    np.testing.assert_array_equal(model.predict(torch.tensor(planes[0])).numpy(), plain.predict(planes[0]))
    with pytest.raises(ValueError, match="NaN"):
        SSC(2).fit(torch.full((3, 3), torch.nan))
    with pytest.raises(ValueError, match="2D"):
        SSC(2).fit(torch.ones(3))
