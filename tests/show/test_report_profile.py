"""Profiles of clusters, and k-means beside them."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from subspaces import FLS, KFlats
from subspaces.metrics import adjusted_rand
from subspaces.report import describe

LABELS = np.repeat([0, 1, 2], 50)


@pytest.fixture(scope="module")
def rows():
    """Column a is high in cluster 0, b steady in cluster 1, c and d related in cluster 2; e is noise, f constant."""
    rng = np.random.RandomState(0)
    x = rng.standard_normal((150, 6))
    x[LABELS == 0, 0] += 5
    x[LABELS == 1, 1] *= 0.01
    x[LABELS == 2, 3] = -x[LABELS == 2, 2] + 0.01 * x[LABELS == 2, 3]
    x[:, 5] = 7
    return x


@pytest.fixture(scope="module")
def found(rows):
    model = KFlats(3, subspace_dim=1, n_init=1, random_state=0).fit(rows)
    report = describe(model, rows, labels=LABELS, columns=list("abcdef"), n_stability=0)
    return report.data["profiles"]


def test_columns_that_make_a_cluster_different(found, rows):
    high, steady, _ = found
    assert (high["columns"][0]["name"], high["columns"][0]["word"]) == ("a", "high")
    assert high["columns"][0]["mean"] == pytest.approx(rows[LABELS == 0, 0].mean(), rel=1e-3)
    assert high["columns"][0]["all"] == pytest.approx(rows[:, 0].mean(), rel=1e-3)
    np.testing.assert_allclose(
        high["columns"][0]["bar"], np.percentile(rows[LABELS == 0, 0], (10, 25, 50, 75, 90)), rtol=1e-3
    )
    assert high["words"].startswith("high a")
    assert (steady["columns"][0]["name"], steady["columns"][0]["word"]) == ("b", "steady")
    assert "f" not in {line["name"] for each in found for line in each["columns"]}


def test_names_with_signs_that_separate_names_are_in_quotes(rows):
    model = KFlats(3, subspace_dim=1, n_init=1, random_state=0).fit(rows)
    columns = ["height, cm", "b", "sum; total", *"def"]
    first, _, last = describe(model, rows, labels=LABELS, columns=columns, n_stability=0).data["profiles"]
    assert first["words"].startswith('high "height, cm"')
    assert '"sum; total" and d move in opposite directions' in last["words"]


def test_related_columns(found):
    assert [each["relations"] for each in found[:2]] == [[], []]
    (pair,) = found[2]["relations"]
    assert (pair["first"], pair["second"]) == ("c", "d")
    assert pair["here"] < -0.99
    assert "c and d move in opposite directions" in found[2]["words"]


def test_chance_is_not_a_relation():
    rng = np.random.RandomState(0)
    x = rng.standard_normal((24, 60))
    model = KFlats(2, subspace_dim=1, n_init=1, random_state=0).fit(x)
    profiles = describe(model, x, labels=np.repeat([0, 1], 12), n_stability=0).data["profiles"]
    assert [each["relations"] for each in profiles] == [[], []]


def test_k_means_on_blobs_and_on_lines():
    blobs, truth = make_blobs(300, centers=3, n_features=4, random_state=0)
    data = describe(FLS(3, random_state=0).fit(blobs), blobs, truth=truth, n_stability=0).data
    assert data["kmeans"]["agreement"] > 0.9
    assert adjusted_rand(data["scatter"]["labels"], data["kmeans"]["labels"]) > 0.9
    # Clusters have the same numbers in both pictures.
    assert np.mean(np.equal(data["scatter"]["labels"], data["kmeans"]["labels"])) > 0.95
    rng = np.random.RandomState(0)
    crossing = np.concatenate([rng.normal(size=(150, 1)) * [1, 1, 0], rng.normal(size=(150, 1)) * [1, -1, 0]])
    crossing += 0.01 * rng.normal(size=crossing.shape)
    labels = np.repeat([0, 1], 150)
    model = KFlats(2, subspace_dim=1, random_state=0).fit(crossing)
    beside = describe(model, crossing, labels=labels, truth=labels, n_stability=0).data["kmeans"]
    assert beside["agreement"] < 0.5
    assert beside["accuracies"][0] == 1
    assert beside["accuracies"][1] < 0.9
    assert beside["lengths"][0] < beside["lengths"][1] - 1
    assert [each["name"].split()[0] for each in beside["others"]] == [
        "SpectralClustering",
        "GaussianMixture",
        "HDBSCAN",
    ]
    # Two lines that cross are two long Gaussians.
    assert beside["others"][1]["accuracy"] > 0.9
    assert beside["others"][1]["agreement"] > 0.7


def test_k_means_gets_the_columns_that_fls_standardises():
    rng = np.random.RandomState(0)
    x = np.column_stack([1000 * rng.standard_normal(240), rng.standard_normal((240, 4))])
    x[:120, 1:] += 6
    model = FLS(2, standardise=True, random_state=0).fit(x)
    data = describe(model, x, n_stability=0).data
    assert data["summary"]["standardised"]
    assert data["kmeans"]["standardised"]
    assert data["kmeans"]["agreement"] > 0.9


@pytest.mark.parametrize("shared", [True, False], ids=["own flats", "fitted flats"])
def test_distances_are_those_of_standardised_columns(shared):
    """A column of large numbers must not place rows nearer to other clusters than to their own."""
    rng = np.random.RandomState(0)
    x = np.column_stack([1000 * rng.standard_normal(240), rng.standard_normal((240, 4))])
    x[:120, 1:] += 6
    model = FLS(2, standardise=True, random_state=0).fit(x)
    labels = model.labels_ if shared else np.where(np.arange(240) < 80, 2, model.labels_)
    data = describe(model, x, labels=labels, n_stability=0).data
    assert data["residuals"]["standardised"]
    assert data["residuals"]["given"] == shared
    distances = [each["own"] for each in data["clusters"]]
    assert max(distances) < 5
    if shared:
        assert sum(each["misplaced"] for each in data["clusters"]) == 0


@pytest.mark.parametrize("standardised", [False, True])
def test_wide_rows_are_projected_for_all_methods(standardised):
    from subspaces.show.report.beside import MOST_COLUMNS, _preparation

    rng = np.random.RandomState(0)
    x = rng.standard_normal((80, 60)) * rng.uniform(1, 9, 60) + 100
    prepare = _preparation(x, standardised=standardised)
    found = prepare(x)
    assert found.shape == (80, MOST_COLUMNS)
    centered = (x - x.mean(axis=0)) / (x.std(axis=0) if standardised else 1)
    largest = np.linalg.svd(centered, compute_uv=False)[:MOST_COLUMNS]
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), largest)
    # Few columns are kept as they are, so that distances do not change.
    few = _preparation(x[:, :5], standardised=standardised)(x[:, :5])
    np.testing.assert_allclose(few, centered[:, :5])


def test_one_cluster_has_nothing_beside_it(rows):
    data = describe(KFlats(1, random_state=0).fit(rows), rows, n_stability=1).data
    assert data["kmeans"] is None
    assert data["profiles"] == data["evidence"] == []
    assert data["verdict"]["text"].startswith("No clusters found")
    assert data["verdict"]["badge"] == "no clusters"
