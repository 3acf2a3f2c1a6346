"""`score`: what it takes in a grid search, what it does not depend on, and what it costs."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from subspaces import FLS, LBF, SSC, KFlats, LandmarkSpectralClustering, load
from subspaces.datasets import make_subspaces
from subspaces.estimators._score import fit_code

COUNTS = [2, 3, 4, 6]
# Rows of `make_subspaces` are in the order of their subspaces.
FOLDS = KFold(3, shuffle=True, random_state=0)
FAST = {"n_landmarks": 150, "n_draws": 1, "random_state": 0}


@pytest.fixture(scope="module")
def subspaces():
    return make_subspaces((2, 2, 3), 8, points_per_subspace=120, outliers=0.2, random_state=0)


def nats(X, labels, **options):
    """Minus the score of given labels on the rows that they were fitted to."""
    return fit_code(X, labels, int(labels.max()) + 1, **options).nats(X, labels) / len(X)


# Wrong numbers of clusters may give other labels with other landmarks.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model", [FLS(**FAST), LBF(subspace_dim=3, n_init=2, random_state=0), KFlats(subspace_dim=3, n_init=2)], ids=str
)
def test_a_grid_search_takes_the_true_number(subspaces, model):
    search = GridSearchCV(model, {"n_clusters": COUNTS}, cv=FOLDS, error_score="raise").fit(subspaces[0])
    assert search.best_params_ == {"n_clusters": 3}


def test_a_grid_search_counts_blobs():
    X, _ = make_blobs(300, n_features=3, centers=4, random_state=1)
    model = LandmarkSpectralClustering(n_landmarks=100, random_state=0)
    assert GridSearchCV(model, {"n_clusters": COUNTS}, cv=FOLDS).fit(X).best_params_ == {"n_clusters": 4}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_it_is_comparable_for_all_estimators(subspaces):
    X, _ = subspaces
    models = (
        FLS(3, **FAST),
        FLS(3, affine=True, normalize=False, **FAST),
        SSC(3),
        LBF(3, subspace_dim=3, random_state=0),
    )
    scores = [cross_val_score(model, X, cv=FOLDS, error_score="raise").mean() for model in models]
    assert max(scores) - min(scores) < 0.3
    assert min(scores) > cross_val_score(FLS(6, **FAST), X, cv=FOLDS).mean()


def test_the_truth_is_shorter_than_other_labels(subspaces):
    X, y = subspaces
    truth = nats(X, y)
    others = [np.maximum(y, 0), y // 2, np.where(y == 0, 3 * (np.arange(len(y)) % 2), y)]
    others += [np.random.default_rng(0).permutation(y), KMeans(3, n_init=1, random_state=0).fit_predict(X)]
    # Rows without a label are in the background, so outliers in a cluster cost little.
    assert nats(X, np.maximum(y, 0)) - truth < 0.1
    for labels in others[1:]:
        assert truth < nats(X, labels) - 0.1


@pytest.mark.parametrize("change", ["rotation", "translation", "constant", "scale"])
def test_moved_rows(subspaces, change):
    X, y = subspaces
    p = X.shape[1]
    moved = {
        "rotation": X @ np.linalg.qr(np.random.default_rng(0).normal(size=(p, p)))[0],
        "translation": X + 5,
        "constant": np.c_[X, np.ones(len(X))],
        "scale": 7 * X,
    }[change]
    # A change of the unit changes the score by the same for all labels.
    shift = p * np.log(7) if change == "scale" else 0
    for labels in (y, np.maximum(y, 0), np.maximum(y, 0) // 2):
        assert nats(moved, labels) == pytest.approx(nats(X, labels) + shift, abs=1e-6)


def test_a_far_row_changes_little(subspaces):
    X, _ = subspaces
    model = LBF(3, subspace_dim=3, n_init=2, random_state=0).fit(X)
    assert model.score(np.r_[X, np.full((1, 8), 1e9)]) == pytest.approx(model.score(X), abs=0.2)


def test_wide_rows_are_encoded_in_leading_directions():
    X, y = make_subspaces((2, 2, 3), 60, random_state=0)
    assert fit_code(X, y, 3).preparation.directions.shape == (60, 20)
    assert nats(X, y) < nats(X, y // 2)


def test_models_of_earlier_versions_have_no_score(subspaces, tmp_path):
    X, _ = subspaces
    model = LBF(3, subspace_dim=3, n_init=1, random_state=0).fit(X)
    assert load(model.save(tmp_path / "new")).score(X) == model.score(X)
    model._code = None
    with pytest.raises(ValueError, match="fit it again"):
        load(model.save(tmp_path / "old")).score(X)
