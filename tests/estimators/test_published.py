"""Published settings of the other methods: `published` has one shape, and reaches what was published on motions."""

import pytest

from subspaces import LBF, SLBF, SSC, SSSC, KFlats
from subspaces.datasets import load_motions
from subspaces.metrics import clustering_accuracy

SETTINGS = [(cls, name) for cls in (KFlats, LBF, SLBF, SSC, SSSC) for name in cls._settings(2)]


@pytest.mark.parametrize(("estimator", "setting"), SETTINGS)
def test_published_settings_are_fitted_and_can_be_replaced(planes, estimator, setting):
    model = estimator.published(setting, 2, random_state=1, verbose=0)
    assert (model.n_clusters, model.random_state) == (2, 1)
    rows = planes[0][:60]
    assert model.fit(rows).labels_.shape == model.predict(rows).shape == (60,)


@pytest.mark.parametrize("estimator", [KFlats, LBF, SLBF, SSC, SSSC])
def test_unknown_settings_are_named(estimator):
    with pytest.raises(ValueError, match="setting='cars' is not known"):
        estimator.published("cars")


def test_each_call_makes_its_own_solver():
    assert SSC.published("motions", 3).solver is not SSC.published("motions", 3).solver
    assert SSC.published("motions", 3, mass=0.5).mass == 0.5


@pytest.mark.parametrize("sequence", ["cars2B_g23", "2R3RTC_g13", "people2"])
@pytest.mark.parametrize("estimator", [LBF, SLBF, SSC])
def test_motions(data_folder, estimator, sequence):
    X, y = load_motions(sequence)
    assert clustering_accuracy(y, estimator.published("motions", 2, random_state=0).fit(X).labels_) > 0.97
