"""The spectral step against eigenvectors of the full n x n matrix, and where that matrix is degenerate."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from scipy.sparse import csr_matrix

from subspaces.spectral import spectrum as spectral
from subspaces.spectral.spectrum import LARGE_MATRIX, compute_spectrum, embed, top_eigenvectors

FORMS = {"dense": np.asarray, "CSR": csr_matrix}
both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
both_weights = pytest.mark.parametrize("balanced", [False, True])


def random_psi(n=40, n_landmarks=12, seed=0):
    """Positive features, about half of them zero, with an eigengap everywhere."""
    rng = np.random.default_rng(seed)
    psi = rng.random((n, n_landmarks)) ** 2 * (rng.random((n, n_landmarks)) < 0.5)
    psi[np.arange(n), rng.integers(n_landmarks, size=n)] += 0.5
    return psi


def row_stochastic(psi):
    return psi / psi.sum(axis=1, keepdims=True)


def separated_psi(sizes=(10, 20, 15), landmarks=(4, 3, 5), seed=0):
    """Clusters that share no landmark: psi (n, D), labels (n,)."""
    rng = np.random.default_rng(seed)
    labels, owners = np.repeat(np.arange(3), sizes), np.repeat(np.arange(3), landmarks)
    psi = (0.1 + rng.random((len(labels), len(owners)))) * (labels[:, None] == owners)
    return psi, labels


def spectrum_of(psi, count, *, balanced, form=np.asarray, cuts=()):
    blocks = [form(block) for block in np.split(psi, cuts)]
    return compute_spectrum(lambda: iter(blocks), count, balanced=balanced)


def largest_angle(first, second):
    return reference.principal_angles(first, second).max()


class TestAgainstTheFullMatrix:
    @both_forms
    @pytest.mark.parametrize("count", [1, 3, 6])
    def test_plain_weights_give_the_normalised_kernel(self, form, count):
        for seed in range(5):
            psi = random_psi(seed=seed)
            spectrum = spectrum_of(psi, count, balanced=False, form=form)
            values, vectors = reference.embedding(psi, count)
            np.testing.assert_allclose(spectrum.eigenvalues, values, atol=1e-8)
            assert largest_angle(embed(form(psi), spectrum), vectors) < 1e-6

    @both_forms
    @pytest.mark.parametrize("count", [1, 3, 6])
    def test_balanced_weights_give_the_bipartite_graph(self, form, count):
        for seed in range(5):
            psi = row_stochastic(random_psi(seed=seed))
            spectrum = spectrum_of(psi, count, balanced=True, form=form)
            values, vectors = reference.balanced_embedding(psi, count)
            np.testing.assert_allclose(spectrum.eigenvalues, values, atol=1e-8)
            assert largest_angle(embed(form(psi), spectrum), vectors) < 1e-6

    @both_weights
    def test_every_eigenvector_is_the_right_one(self, balanced):
        """Not only their span: eigenvectors of distinct eigenvalues agree up to sign."""
        psi = row_stochastic(random_psi())
        _, expected = (reference.balanced_embedding if balanced else reference.embedding)(psi, 5)
        found = embed(psi, spectrum_of(psi, 5, balanced=balanced))
        np.testing.assert_allclose(np.abs((found * expected).sum(axis=0)), 1, atol=1e-8)

    def test_balanced_rows_need_not_sum_to_one(self):
        """The degree is then the row sum, and the first eigenvector its root."""
        psi = random_psi()
        found = spectrum_of(psi, 4, balanced=True)
        weighted = psi / np.sqrt(psi.sum(axis=0))
        scaled = weighted / np.sqrt(psi.sum(axis=1, keepdims=True))
        values, vectors = reference.top_eigenvectors_without(scaled @ scaled.T, np.sqrt(psi.sum(axis=1)), 4)
        np.testing.assert_allclose(found.eigenvalues, values, atol=1e-10)
        assert largest_angle(embed(psi, found), vectors) < 1e-6


@both_weights
class TestBlocks:
    @both_forms
    @pytest.mark.parametrize("cuts", [(1,), (7, 8, 30), tuple(range(1, 40))])
    def test_do_not_matter(self, cuts, form, balanced):
        psi = random_psi()
        whole, cut = (spectrum_of(psi, 5, balanced=balanced, form=form, cuts=c) for c in ((), cuts))
        np.testing.assert_allclose(cut.eigenvalues, whole.eigenvalues, atol=1e-12)
        np.testing.assert_allclose(cut.degree, whole.degree, rtol=1e-12)
        assert largest_angle(embed(psi, cut), embed(psi, whole)) < 1e-9

    def test_dense_and_sparse_are_the_same(self, balanced):
        psi = random_psi()
        dense, sparse = (spectrum_of(psi, 5, balanced=balanced, form=form) for form in FORMS.values())
        np.testing.assert_allclose(sparse.eigenvalues, dense.eigenvalues, atol=1e-12)
        np.testing.assert_allclose(embed(csr_matrix(psi), dense), embed(psi, dense), atol=1e-12)
        assert largest_angle(embed(csr_matrix(psi), sparse), embed(psi, dense)) < 1e-9

    def test_rows_may_come_in_any_order(self, balanced):
        psi = random_psi()
        order = np.random.default_rng(0).permutation(len(psi))
        first, second = (spectrum_of(rows, 5, balanced=balanced) for rows in (psi, psi[order]))
        np.testing.assert_allclose(first.eigenvalues, second.eigenvalues, atol=1e-12)


@both_forms
@both_weights
class TestEmbedding:
    def test_columns_are_orthonormal_over_the_rows_seen(self, balanced, form):
        psi = form(random_psi())
        found = embed(psi, compute_spectrum(lambda: iter((psi,)), 6, balanced=balanced))
        np.testing.assert_allclose(found.T @ found, np.eye(6), atol=1e-10)

    def test_the_trivial_vector_is_gone(self, balanced, form):
        psi = random_psi()
        found = embed(form(psi), spectrum_of(psi, 6, balanced=balanced, form=form))
        degrees = psi.sum(axis=1) if balanced else reference.degrees(psi)
        np.testing.assert_allclose(found.T @ np.sqrt(degrees), 0, atol=1e-10)

    def test_equal_new_rows_get_equal_labels(self, balanced, form):
        psi = random_psi()
        spectrum = spectrum_of(psi, 4, balanced=balanced, form=form)
        seen = embed(form(psi), spectrum)
        rows = [5, 0, 39, 5]
        np.testing.assert_allclose(embed(form(psi[rows]), spectrum), seen[rows], atol=1e-12)

    def test_the_length_of_psi_does_not_change_the_direction(self, balanced, form):
        psi = random_psi()
        spectrum = spectrum_of(psi, 4, balanced=balanced, form=form)
        directions = [reference.unit_rows(embed(form(scale * psi), spectrum)) for scale in (1, 1000)]
        np.testing.assert_allclose(directions[0], directions[1], atol=1e-10)

    def test_fewer_vectors_are_the_first_ones(self, balanced, form):
        psi = form(random_psi())
        spectrum = compute_spectrum(lambda: iter((psi,)), 6, balanced=balanced)
        np.testing.assert_allclose(embed(psi, spectrum, 2), embed(psi, spectrum)[:, :2], atol=1e-14)
        smaller = compute_spectrum(lambda: iter((psi,)), 2, balanced=balanced)
        assert largest_angle(embed(psi, smaller), embed(psi, spectrum, 2)) < 1e-9

    def test_float32_stays_and_is_accurate(self, balanced, form):
        psi = random_psi()
        narrow = form(psi.astype(np.float32))
        spectrum = compute_spectrum(lambda: iter((narrow,)), 4, balanced=balanced)
        found = embed(narrow, spectrum)
        assert found.dtype == np.float32
        exact = spectrum_of(psi, 4, balanced=balanced)
        np.testing.assert_allclose(spectrum.eigenvalues, exact.eigenvalues, atol=1e-5)
        assert largest_angle(found.astype(float), embed(psi, exact)) < 1e-3


@both_forms
@both_weights
class TestSeparatedClusters:
    def test_eigenvalue_one_is_left_once_less_than_there_are_clusters(self, balanced, form):
        psi, _ = separated_psi()
        values = spectrum_of(psi, 4, balanced=balanced, form=form).eigenvalues
        np.testing.assert_allclose(values[:2], 1, atol=1e-10)
        assert values[2] < 0.9

    def test_rows_of_a_cluster_share_one_direction_of_their_own(self, balanced, form):
        psi, labels = separated_psi()
        found = embed(form(psi), spectrum_of(psi, 2, balanced=balanced, form=form))
        directions = reference.unit_rows(found)
        centers = np.array([directions[labels == k][0] for k in range(3)])
        np.testing.assert_allclose(directions, centers[labels], atol=1e-8)
        assert (centers @ centers.T)[np.triu_indices(3, 1)].max() < 0.9


@both_forms
def test_rows_of_a_separated_cluster_that_sum_to_one_share_one_place(form):
    psi, labels = separated_psi()
    psi = row_stochastic(psi)
    found = embed(form(psi), spectrum_of(psi, 2, balanced=True, form=form))
    means = np.array([found[labels == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(found, means[labels], atol=1e-10)


@both_forms
@both_weights
class TestDegenerate:
    def test_rows_of_zeros_give_zeros(self, balanced, form):
        psi = random_psi()
        padded = np.insert(psi, [0, 10, 40], 0.0, axis=0)
        spectrum = spectrum_of(padded, 4, balanced=balanced, form=form)
        found = embed(form(padded), spectrum)
        empty = padded.sum(axis=1) == 0
        np.testing.assert_array_equal(found[empty], 0)
        without = spectrum_of(psi, 4, balanced=balanced, form=form)
        np.testing.assert_allclose(spectrum.eigenvalues, without.eigenvalues, atol=1e-12)
        assert largest_angle(found[~empty], embed(form(psi), without)) < 1e-9

    def test_unused_landmarks_do_not_matter(self, balanced, form):
        psi = random_psi()
        padded = np.insert(psi, [0, 7], 0.0, axis=1)
        spectrum, without = (spectrum_of(each, 4, balanced=balanced, form=form) for each in (padded, psi))
        np.testing.assert_allclose(spectrum.eigenvalues, without.eigenvalues, atol=1e-12)
        assert largest_angle(embed(form(padded), spectrum), embed(form(psi), without)) < 1e-9

    def test_a_new_row_at_unused_landmarks_gives_zeros(self, balanced, form):
        psi = random_psi()
        psi[:, 3] = 0
        spectrum = spectrum_of(psi, 4, balanced=balanced, form=form)
        stranger = np.zeros((1, 12))
        stranger[0, 3] = 1.0
        np.testing.assert_array_equal(embed(form(stranger), spectrum), np.zeros((1, 4)))

    @pytest.mark.parametrize(("n", "dtype"), [(60, np.float64), (60, np.float32), (200_000, np.float64)])
    def test_missing_rank_gives_zeros(self, balanced, form, n, dtype):
        rng = np.random.default_rng(0)
        psi = (rng.random((n, 3)) @ rng.random((3, 8))).astype(dtype)
        spectrum = spectrum_of(psi, 5, balanced=balanced, form=form)
        found = embed(form(psi), spectrum)
        assert (spectrum.eigenvalues[:2] > 1e-3).all()
        np.testing.assert_allclose(spectrum.eigenvalues[2:], 0, atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(found, axis=0), [1, 1, 0, 0, 0], atol=0.1)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_eigenvalues_lost_in_rounding_do_not_blow_up_their_vectors(self, balanced, form, dtype):
        """Wide bumps on a line: eigenvalues fall by orders of magnitude, through the precision of any number."""
        place = np.linspace(0, 1, 80)
        psi = np.exp(-0.5 * np.square(place[:, None] - place[::4])).astype(dtype)
        spectrum = spectrum_of(psi, 12, balanced=balanced, form=form)
        assert spectrum.eigenvalues[0] > 1e-3
        lengths = np.linalg.norm(embed(form(psi), spectrum), axis=0)
        assert lengths[0] == pytest.approx(1, abs=1e-3)
        assert lengths.max() < 1.1

    @pytest.mark.parametrize("landmarks", [(4, 3, 5), (150, 150, 200)], ids=["few landmarks", "many landmarks"])
    def test_small_eigenvalues_above_rounding_are_kept_in_float32(self, balanced, form, landmarks):
        """A wide kernel: rows differ by a hundredth, eigenvalues are some 1e-5, and single precision holds them."""
        psi, _ = separated_psi(sizes=(100, 200, 150), landmarks=landmarks)
        psi = 1 + 0.01 * (psi > 0)
        exact = spectrum_of(psi, 2, balanced=balanced, form=form)
        assert 5e-6 < exact.eigenvalues.min() <= exact.eigenvalues.max() < 3e-5
        narrow = psi.astype(np.float32)
        found = embed(form(narrow), spectrum_of(narrow, 2, balanced=balanced, form=form))
        assert largest_angle(found.astype(float), embed(form(psi), exact)) < 0.05

    def test_equal_rows_leave_nothing(self, balanced, form):
        psi = np.tile(random_psi(1), (20, 1))
        spectrum = spectrum_of(psi, 3, balanced=balanced, form=form)
        np.testing.assert_array_equal(spectrum.eigenvalues, 0)
        np.testing.assert_array_equal(embed(form(psi), spectrum), 0)

    def test_no_more_vectors_than_landmarks(self, balanced, form):
        psi = random_psi(n_landmarks=5)
        spectrum = spectrum_of(psi, 9, balanced=balanced, form=form)
        assert embed(form(psi), spectrum).shape == (40, 5)
        # Five landmarks leave four vectors beside the trivial one.
        assert spectrum.eigenvalues[3] > 0
        assert spectrum.eigenvalues[4] == 0


class TestTopEigenvectors:
    """In single precision, where that is enough, as in double."""

    @staticmethod
    def matrix(values, seed=0):
        """A symmetric matrix with these eigenvalues, others of up to 0.3, and one; its trivial vector, and theirs."""
        rng = np.random.default_rng(seed)
        rest = np.linspace(0, 0.3, LARGE_MATRIX - len(values) - 1)
        turn = np.linalg.qr(rng.standard_normal((LARGE_MATRIX, LARGE_MATRIX)))[0]
        return (turn * [*values, 1, *rest]) @ turn.T, turn[:, len(values)], turn[:, : len(values)]

    @pytest.mark.parametrize("narrow", [True, False])
    @pytest.mark.parametrize(
        "values", [np.linspace(1, 0.5, 12), np.ones(12), [*np.ones(6), *np.full(6, 0.5)]], ids=["apart", "one", "two"]
    )
    def test_are_those_of_the_matrix(self, values, narrow):
        matrix, trivial, expected = self.matrix(values)
        found, vectors = top_eigenvectors(matrix, trivial, 12, narrow=narrow)
        np.testing.assert_allclose(found, values, atol=1e-9)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-12)
        assert largest_angle(vectors, expected) < (1e-4 if narrow else 1e-7)
        np.testing.assert_allclose(matrix @ vectors, vectors * found, atol=2e-5 if narrow else 1e-12)

    @pytest.mark.parametrize("degree", [1, 2, 3, 8])
    def test_filters_are_chebyshev_polynomials(self, monkeypatch, degree):
        monkeypatch.setattr(spectral, "FILTER_DEGREE", degree)
        values = np.linspace(0, 1, 60).astype(np.float32)
        filtered = spectral._chebyshev(lambda vectors: values[:, None] * vectors, np.ones((60, 1), np.float32), 0.6)[
            :, 0
        ].astype(float)
        expected = np.polynomial.chebyshev.Chebyshev.basis(degree)((values - 0.3) / 0.3)
        np.testing.assert_allclose(filtered / filtered[-1], expected / expected[-1], atol=1e-5)

    def test_results_do_not_depend_on_filters_that_fail(self, monkeypatch):
        monkeypatch.setattr(spectral, "MAX_FILTERS", 0)
        matrix, trivial, expected = self.matrix(np.linspace(1, 0.5, 12))
        assert largest_angle(top_eigenvectors(matrix, trivial, 12, narrow=True)[1], expected) < 1e-7

    def test_small_eigenvalues_have_all_their_digits(self):
        turn = np.linalg.qr(np.random.default_rng(1).standard_normal((LARGE_MATRIX, 5)))[0]
        values = np.array([0.5, 1e-4, 1e-6, 1e-8, 0])
        found, vectors = top_eigenvectors((turn * values) @ turn.T, np.zeros(LARGE_MATRIX), 4, narrow=True)
        np.testing.assert_allclose(found, values[:4], atol=1e-15)
        np.testing.assert_allclose(np.abs((vectors * turn[:, :4]).sum(axis=0)), 1, atol=1e-6)

    def test_a_matrix_of_zeros(self):
        found, vectors = top_eigenvectors(
            np.zeros((LARGE_MATRIX, LARGE_MATRIX)), np.zeros(LARGE_MATRIX), 3, narrow=True
        )
        np.testing.assert_array_equal(found, 0)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
