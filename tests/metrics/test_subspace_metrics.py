"""Scores of subspaces and graphs against closed forms, brute force and invariances."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import reference
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigvalsh, subspace_angles
from scipy.stats import ortho_group

from subspaces import Flats, metrics
from subspaces.datasets import make_subspaces
from subspaces.metrics import graphs

few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)
GRAPH_SCORES = [
    metrics.connectivity,
    metrics.class_connectivity,
    metrics.wrong_connection_share,
    metrics.subspace_preserving_rate,
]
MATRIX_KINDS = [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix, scipy.sparse.lil_array, np.ndarray.tolist]


def random_bases(rng, dims, p):
    return [rng.standard_normal((p, d)) for d in dims]


def mixing(rng, d):
    """A well-conditioned invertible matrix (d, d)."""
    return np.linalg.qr(rng.standard_normal((d, d)))[0] * rng.uniform(0.5, 2, d)


@few
@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_angles_agree_with_scipy_and_the_reference(seed, a, b):
    rng = np.random.default_rng(seed)
    A, B = random_bases(rng, (a, b), 6)
    angles = metrics.principal_angles(A, B)
    assert angles.shape == (min(a, b),)
    assert (np.diff(angles) >= -1e-12).all()
    # SciPy's angles of zero are off by the root of the rounding.
    np.testing.assert_allclose(angles, subspace_angles(A, B)[::-1], atol=1e-7)
    np.testing.assert_allclose(angles, reference.principal_angles(A, B), atol=1e-10)
    np.testing.assert_allclose(angles, metrics.principal_angles(B, A), atol=1e-12)


@few
@given(seeds)
def test_angles_depend_on_spans_and_not_on_rotations(seed):
    rng = np.random.default_rng(seed)
    A, B = random_bases(rng, (3, 2), 7)
    angles = metrics.principal_angles(A, B)
    np.testing.assert_allclose(metrics.principal_angles(A @ mixing(rng, 3), -5 * B[:, ::-1]), angles, atol=1e-10)
    rotation = ortho_group.rvs(7, random_state=seed)
    np.testing.assert_allclose(metrics.principal_angles(rotation @ A, rotation @ B), angles, atol=1e-10)
    np.testing.assert_allclose(metrics.principal_angles(A * [1e-150, 1, 1e150], B), angles, atol=1e-10)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, np.pi / 4, np.pi / 2 - 1e-9, np.pi / 2])
def test_angles_of_lines_are_accurate_at_both_ends(angle):
    line = [[1], [0]]
    turned = [[np.cos(angle)], [np.sin(angle)]]
    assert metrics.principal_angles(line, turned) == pytest.approx([angle], rel=1e-6, abs=1e-15)


def test_dependent_and_zero_columns_add_nothing():
    plane = np.eye(4)[:, :2]
    spelled_out = np.column_stack([plane, plane.sum(axis=1), np.zeros(4), plane[:, 0]])
    assert metrics.principal_angles(spelled_out, np.eye(4)[:, 1:]).shape == (2,)
    np.testing.assert_allclose(metrics.principal_angles(spelled_out, np.eye(4)[:, 1:]), [0, np.pi / 2], atol=1e-12)
    single = spelled_out.astype(np.float32)
    assert metrics.principal_angles(single, np.eye(4)).dtype == np.float64


@pytest.mark.parametrize(
    ("A", "B", "error", "message"),
    [
        ([1, 0], [[1], [0]], ValueError, r"A has shape \(2,\)"),
        ([[1], [0]], np.ones((2, 2, 1)), ValueError, r"B has shape \(2, 2, 1\)"),
        ([[1], [0]], [[1], [0], [0]], ValueError, "A has 2 rows and B has 3"),
        ([[1], [np.nan]], [[1], [0]], ValueError, "A has NaN"),
        ([[1], [0]], [[np.inf], [0]], ValueError, "B has NaN or infinite"),
        ([[1], [0]], [[0], [0]], ValueError, "B has shape .* spans only 0"),
        (np.ones((3, 0)), [[1], [0], [0]], ValueError, "A has shape .* spans only 0"),
        (np.ones((0, 2)), np.ones((0, 2)), ValueError, "spans only 0"),
        ([[1j], [0]], [[1], [0]], TypeError, "A has dtype complex"),
        ([["x"], ["y"]], [[1], [0]], TypeError, "A has dtype"),
        ([[1], [0, 1]], [[1], [0]], ValueError, "A is a ragged list"),
    ],
)
def test_bad_bases(A, B, error, message):
    with pytest.raises(error, match=message):
        metrics.principal_angles(A, B)


def brute_force_error(true, fitted, distance):
    """Try every way to give true subspaces a fitted one, spare ones included."""
    summary = {"rms": lambda sines: np.sqrt(np.mean(sines**2)), "largest": np.max}[distance]
    slots = [*range(len(fitted)), *[None] * len(true)]
    best = np.inf
    for choice in set(permutations(slots, len(true))):
        # Only fits that run out leave a subspace without one.
        if choice.count(None) != max(0, len(true) - len(fitted)):
            continue
        errors = [
            1.0 if k is None else summary(np.sin(subspace_angles(basis, fitted[k])))
            for basis, k in zip(true, choice, strict=True)
        ]
        best = min(best, np.mean(errors))
    return best


@few
@given(seeds, st.sampled_from(["rms", "largest"]), st.integers(1, 4), st.integers(1, 4))
def test_recovery_error_is_the_least_over_all_matchings(seed, distance, n_true, n_fitted):
    rng = np.random.default_rng(seed)
    true = random_bases(rng, rng.integers(1, 4, n_true), 5)
    fitted = random_bases(rng, rng.integers(1, 4, n_fitted), 5)
    error = metrics.subspace_recovery_error(true, fitted, distance=distance)
    assert error == pytest.approx(brute_force_error(true, fitted, distance), abs=1e-7)
    matching = metrics.match_subspaces(true, fitted, distance=distance)
    assert matching.errors.mean() == pytest.approx(error)
    used = matching.matches[matching.matches >= 0]
    assert len(used) == len(set(used)) == min(n_true, n_fitted)
    assert (matching.errors[matching.matches < 0] == 1).all()


@few
@given(seeds)
def test_recovery_error_depends_on_spans_only(seed):
    rng = np.random.default_rng(seed)
    true, fitted = random_bases(rng, (1, 2, 3), 6), random_bases(rng, (2, 2, 2), 6)
    error = metrics.subspace_recovery_error(true, fitted)
    assert 0 <= error <= 1
    rotation = ortho_group.rvs(6, random_state=seed)
    order = rng.permutation(3)
    turned_true = [rotation @ basis @ mixing(rng, basis.shape[1]) for basis in true]
    turned_fitted = [-3 * rotation @ fitted[k] for k in order]
    assert metrics.subspace_recovery_error(turned_true, turned_fitted) == pytest.approx(error, abs=1e-10)
    before = metrics.match_subspaces(true, fitted).matches
    after = metrics.match_subspaces(turned_true, turned_fitted).matches
    assert order[after].tolist() == before.tolist()


def test_planes_at_a_known_angle():
    """Two planes of R^4 with angles 0.3 and 0.4 between them."""
    c, s = np.cos([0.3, 0.4]), np.sin([0.3, 0.4])
    fitted = np.array([[c[0], 0], [0, c[1]], [s[0], 0], [0, s[1]]])
    true = np.eye(4)[:, :2]
    rms = metrics.subspace_recovery_error([true], [fitted])
    assert rms == pytest.approx(np.sqrt((s**2).mean()))
    # The projection metric over its largest value for planes.
    projectors = true @ true.T, fitted @ fitted.T
    assert rms == pytest.approx(np.linalg.norm(projectors[0] - projectors[1]) / 2)
    assert metrics.subspace_recovery_error([true], [fitted], distance="largest") == pytest.approx(s[1])


def test_extra_dimensions():
    line, plane = np.eye(3)[:, :1], np.eye(3)[:, :2]
    for true, fitted in [(line, plane), (plane, line)]:
        assert metrics.subspace_recovery_error([true], [fitted]) == pytest.approx(0, abs=1e-12)
        counted = metrics.subspace_recovery_error([true], [fitted], extra_dims="count")
        assert counted == pytest.approx(np.sqrt(1 / 2))
        largest = metrics.subspace_recovery_error([true], [fitted], distance="largest", extra_dims="count")
        assert largest == pytest.approx(1)
    assert metrics.subspace_recovery_error([plane], [plane], extra_dims="count") == pytest.approx(0, abs=1e-12)


def test_missing_subspaces_count_one_and_extra_ones_zero():
    x, y, z = (np.eye(3)[:, [k]] for k in range(3))
    missing = metrics.match_subspaces([x, y, z], [z])
    assert missing.matches.tolist() == [-1, -1, 0]
    assert missing.errors.tolist() == [1, 1, 0]
    assert metrics.subspace_recovery_error([x, y, z], [z]) == pytest.approx(2 / 3)
    assert metrics.subspace_recovery_error([z], [x, y, z]) == 0


def test_flats_arrays_and_lists_give_equal_results():
    rng = np.random.default_rng(0)
    fitted = np.linalg.qr(rng.standard_normal((3, 5, 2)))[0]
    true = random_bases(rng, (1, 2, 3), 5)
    expected = metrics.subspace_recovery_error(true, list(fitted))
    assert metrics.subspace_recovery_error(true, fitted) == expected
    assert metrics.subspace_recovery_error(true, fitted.tolist()) == expected
    assert metrics.subspace_recovery_error(true, Flats(np.zeros((3, 5)), fitted)) == expected
    assert metrics.subspace_recovery_error(true, Flats(rng.standard_normal((3, 5)), fitted)) == expected


def test_subspaces_fitted_to_their_rows_are_recovered():
    X, y, bases, _ = make_subspaces(
        [1, 2, 3], 8, points_per_subspace=40, noise=1e-3, outliers=0, random_state=0, return_bases=True
    )
    fitted = [np.linalg.svd(X[y == k])[2][: bases[k].shape[1]].T for k in (2, 0, 1)]
    matching = metrics.match_subspaces(bases, fitted)
    assert matching.matches.tolist() == [1, 2, 0]
    assert (matching.errors < 0.01).all()
    assert (matching.errors > 1e-6).all()


@pytest.mark.parametrize(
    ("true", "fitted", "error", "message"),
    [
        ([], [np.eye(2)], ValueError, "true_bases is empty"),
        (np.eye(2), [np.eye(2)], ValueError, r"true_bases has shape \(2, 2\)"),
        ([np.eye(2)], np.eye(2), ValueError, r"fitted_bases has shape \(2, 2\)"),
        ([np.eye(2)], [np.eye(3)], ValueError, "2 dimensions and fitted_bases in one of 3"),
        ([np.eye(2), np.eye(3)], [np.eye(2)], ValueError, r"true_bases have \[2, 3\] rows"),
        ([np.eye(2)], [np.eye(2), np.zeros((2, 1))], ValueError, r"fitted_bases\[1\] .* spans only 0"),
        ([np.eye(2)], [np.full((2, 1), np.nan)], ValueError, r"fitted_bases\[0\] has NaN"),
        ([[1, 2]], [np.eye(2)], ValueError, r"true_bases\[0\] has shape \(2,\)"),
        (3, [np.eye(2)], TypeError, "true_bases is a int"),
        ([np.eye(2)], "no", TypeError, r"fitted_bases\[0\] has dtype"),
    ],
)
def test_bad_sets_of_bases(true, fitted, error, message):
    with pytest.raises(error, match=message):
        metrics.subspace_recovery_error(true, fitted)


@pytest.mark.parametrize("options", [{"distance": "cosine"}, {"extra_dims": True}])
def test_unknown_options(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))}=.* is not known"):
        metrics.match_subspaces([np.eye(2)], [np.eye(2)], **options)


def cycle(n):
    rows = np.arange(n)
    return scipy.sparse.coo_array((np.ones(n), (rows, (rows + 1) % n)), shape=(n, n))


def path(n):
    return scipy.sparse.diags_array(np.ones(n - 1), offsets=1, shape=(n, n))


def star(n):
    return scipy.sparse.coo_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))


def complete(n):
    return scipy.sparse.coo_array(np.ones((n, n)))


@pytest.mark.parametrize(
    ("graph", "n", "expected"),
    [
        (complete, 2, 2),
        (complete, 7, 7 / 6),
        (star, 9, 1),
        (path, 6, 1 - np.cos(np.pi / 5)),
        (cycle, 12, 1 - np.cos(2 * np.pi / 12)),
        # Past the size at which eigenvalues come from a sparse solver.
        (complete, 600, 600 / 599),
        (star, 700, 1),
        (cycle, 800, 1 - np.cos(2 * np.pi / 800)),
        (path, 4000, 1 - np.cos(np.pi / 3999)),
    ],
)
def test_connectivity_of_known_graphs(graph, n, expected):
    assert metrics.connectivity(np.zeros(n), graph(n)) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def dense_connectivity(weights):
    """The second eigenvalue of I - D^(-1/2) W D^(-1/2), where no degree is 0."""
    scale = np.diag(weights.sum(axis=1) ** -0.5)
    return eigvalsh(np.eye(len(weights)) - scale @ weights @ scale)[1]


@few
@given(seeds)
def test_connectivity_ignores_connections_between_classes(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([3, 1, -1], [9, 6, 4])
    codes = rng.standard_normal((19, 19)) * (rng.random((19, 19)) < 0.8)
    weights = np.abs(codes) + np.abs(codes.T)
    np.fill_diagonal(weights, 0)
    expected = [dense_connectivity(weights[np.ix_(labels == k, labels == k)]) for k in (1, 3)]
    np.testing.assert_allclose(metrics.class_connectivity(labels, codes), expected, atol=1e-10)
    assert metrics.connectivity(labels, codes) == pytest.approx(min(expected))
    assert metrics.connectivity(labels, codes, over="mean") == pytest.approx(np.mean(expected))

    order, signs = rng.permutation(19), rng.choice([-1, 1], (19, 19))
    shuffled = 1e-8 * (signs * codes)[np.ix_(order, order)].T
    np.testing.assert_allclose(metrics.class_connectivity(labels[order], shuffled), expected, atol=1e-10)
    np.testing.assert_allclose(metrics.class_connectivity(labels, weights + 5 * np.eye(19)), expected, atol=1e-10)


def test_sparse_and_dense_solvers_agree(monkeypatch):
    rng = np.random.default_rng(1)
    codes = scipy.sparse.random_array((300, 300), density=0.03, random_state=rng)
    labels = np.zeros(300, int)
    by_dense = metrics.class_connectivity(labels, codes)
    monkeypatch.setattr(graphs, "DENSE_ROWS", 100)
    by_sparse = metrics.class_connectivity(labels, codes)
    assert by_dense[0] > 0.01
    np.testing.assert_allclose(by_sparse, by_dense, rtol=1e-8)


@pytest.mark.parametrize("n_rows", [6, 600])
def test_disconnected_classes_have_connectivity_zero(n_rows):
    half = n_rows // 2
    parts = scipy.sparse.block_diag([cycle(half), cycle(half)])
    assert metrics.connectivity(np.zeros(n_rows), parts) == 0
    np.testing.assert_array_equal(metrics.class_connectivity(np.repeat([0, 1], half), parts) > 0, True)
    lonely = scipy.sparse.block_diag([cycle(n_rows), scipy.sparse.coo_array((1, 1))])
    assert metrics.connectivity(np.zeros(n_rows + 1), lonely) == 0
    # What it was tied to is of another class.
    tied = scipy.sparse.lil_array(lonely)
    tied[n_rows, 0] = 1
    assert metrics.class_connectivity([*[0] * n_rows, 1], tied)[1] == 0


def test_the_diagonal_is_not_a_connection():
    np.testing.assert_array_equal(metrics.class_connectivity([0, 0, 1], np.eye(3)), [0, 0])
    np.testing.assert_array_equal(metrics.class_connectivity([0, 0, 1], np.zeros((3, 3))), [0, 0])


def naive_shares(labels, codes):
    """Wrong share of each inlier, None for rows without connections, entry by entry."""
    shares = []
    for i in range(len(labels)):
        total = sum(abs(codes[i][j]) for j in range(len(labels)) if j != i)
        wrong = sum(abs(codes[i][j]) for j in range(len(labels)) if j != i and labels[j] != labels[i])
        if labels[i] != -1:
            shares.append(wrong / total if total else None)
    return shares


@few
@given(seeds)
def test_wrong_shares_agree_with_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation([0, 0, 0, 0, 2, 2, 2, -1, -1])
    codes = rng.standard_normal((9, 9)) * (rng.random((9, 9)) < 0.3)
    codes[0, 1] = 1.5
    codes[1, 0] = 1.5
    shares = naive_shares(labels, codes)
    connected = [share for share in shares if share is not None]
    if connected:
        assert metrics.wrong_connection_share(labels, codes) == pytest.approx(np.mean(connected))
    expected = np.mean([share == 0 for share in shares])
    assert metrics.subspace_preserving_rate(labels, codes) == pytest.approx(expected)

    order = rng.permutation(9)
    scaled = (rng.choice([-1, 1], (9, 9)) * codes * rng.uniform(1, 9, (9, 1)))[np.ix_(order, order)]
    assert metrics.subspace_preserving_rate(labels[order], scaled) == pytest.approx(expected)
    if connected:
        share = metrics.wrong_connection_share(labels[order], scaled + 7 * np.eye(9))
        assert share == pytest.approx(np.mean(connected))


def test_wrong_shares_by_hand():
    labels = ["a", "a", "b", "b", -1]
    codes = np.array([[0, -3, 1, 0, 0], [2, 0, 0, 0, 2], [0, 0, 0, 0, 0], [0, 0, 4, 9, 0], [1, 1, 1, 1, 0]])
    assert metrics.wrong_connection_share(labels, codes) == pytest.approx((1 / 4 + 1 / 2 + 0) / 3)
    assert metrics.subspace_preserving_rate(labels, codes) == 1 / 4
    assert metrics.subspace_preserving_rate(labels, codes, tol=0.3) == 2 / 4


def test_block_codes_are_preserving_and_crossing_codes_are_not():
    labels = np.repeat([0, 1], 4)
    within = np.kron(np.eye(2), np.ones((4, 4)))
    assert metrics.wrong_connection_share(labels, within) == 0
    assert metrics.subspace_preserving_rate(labels, within) == 1
    assert metrics.wrong_connection_share(labels, 1 - within) == 1
    assert metrics.subspace_preserving_rate(labels, 1 - within) == 0


def test_codes_without_connections():
    with pytest.raises(ValueError, match="none of the 2 rows of a class has a connection"):
        metrics.wrong_connection_share([0, 0, -1], np.zeros((3, 3)))
    assert metrics.subspace_preserving_rate([0, 0, -1], np.zeros((3, 3))) == 0


@pytest.mark.parametrize("score", GRAPH_SCORES)
@pytest.mark.parametrize("kind", MATRIX_KINDS)
def test_kinds_of_matrices(score, kind):
    rng = np.random.default_rng(4)
    codes = rng.standard_normal((8, 8)).round(1) * (rng.random((8, 8)) < 0.7)
    labels = np.repeat([0, 1], 4)
    np.testing.assert_allclose(score(labels, kind(codes)), score(labels, codes), rtol=1e-12)
    np.testing.assert_allclose(score(labels, kind(np.rint(codes).astype(int))), score(labels, np.rint(codes)))


@pytest.mark.parametrize("score", GRAPH_SCORES)
def test_repeated_entries_are_summed_and_stored_zeros_ignored(score):
    labels = [0, 0, 1, 1]
    rows, columns = [0, 1, 2, 3, 0, 0, 1], [1, 0, 3, 2, 2, 2, 3]
    repeated = scipy.sparse.coo_array(([1.0, 1, 1, 1, 2, -2, 0], (rows, columns)), shape=(4, 4))
    plain = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    np.testing.assert_array_equal(score(labels, repeated), score(labels, plain))
    # Row by row too, and the argument stays as it was.
    stored = scipy.sparse.csr_array(([1.0, 2, -2, 1, 0, 1, 1], [1, 2, 2, 0, 3, 3, 2], [0, 3, 5, 6, 7]), shape=(4, 4))
    np.testing.assert_array_equal(score(labels, stored), score(labels, plain))
    assert stored.data.tolist() == [1, 2, -2, 1, 0, 1, 1]
    assert stored.indices.tolist() == [1, 2, 2, 0, 3, 3, 2]


def test_large_sparse_graphs_stay_sparse():
    """200,000 rows, whose dense matrix would fill 320 GB."""
    n = 100_000
    graph = scipy.sparse.block_diag([star(n), star(n)], format="csr")
    labels = np.repeat([0, 1], n)
    np.testing.assert_allclose(metrics.class_connectivity(labels, graph), 1)
    assert metrics.wrong_connection_share(labels, graph) == 0
    assert metrics.subspace_preserving_rate(labels, graph + graph.T) == 1


@pytest.mark.parametrize("score", GRAPH_SCORES)
@pytest.mark.parametrize(
    ("labels", "matrix", "error", "message"),
    [
        ([0, 1], np.ones((2, 3)), ValueError, r"shape \(2, 3\): pass a square one"),
        ([0, 1], scipy.sparse.csr_array(np.ones((3, 2))), ValueError, r"shape \(3, 2\): pass a square one"),
        ([0, 1], np.ones(2), ValueError, r"shape \(2,\): pass a square one"),
        ([0, 1, 1], np.ones((2, 2)), ValueError, "y_true has 3 labels and the matrix of connections has 2 rows"),
        ([0, 1], [[0, np.nan], [1, 0]], ValueError, "NaN or infinite"),
        ([0, 1], scipy.sparse.csr_array([[0, np.inf], [1, 0]]), ValueError, "NaN or infinite"),
        ([0, 1], [[0, 1j], [1, 0]], TypeError, "dtype complex"),
        ([0, 1], [["a", "b"], ["c", "d"]], TypeError, "dtype"),
        ([0, 1], [[0, 1], [1]], ValueError, "ragged"),
        ([0, np.nan], np.ones((2, 2)), ValueError, "y_true has a missing label in row 1"),
        ([-1, -1], np.ones((2, 2)), ValueError, "all 2 labels of y_true are -1"),
        ([], np.ones((0, 0)), ValueError, "y_true is empty"),
        (np.ones((2, 2)), [0, 1], ValueError, r"y_true has shape \(2, 2\)"),
    ],
)
def test_bad_graphs(score, labels, matrix, error, message):
    with pytest.raises(error, match=message):
        score(labels, matrix)


def test_unknown_summaries_and_tolerances():
    with pytest.raises(ValueError, match="over='median' is not known"):
        metrics.connectivity([0, 0], np.ones((2, 2)), over="median")
    for tol in (-0.1, 1, np.nan):
        with pytest.raises(ValueError, match=r"tol=.* must be at least 0 and below 1"):
            metrics.subspace_preserving_rate([0, 0], np.ones((2, 2)), tol=tol)
