"""The verdict of a fit is made when it is first read, saved or pickled."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from subspaces import FLS, load
from subspaces.datasets import make_subspaces
from subspaces.estimators import _verdict


@pytest.fixture(scope="module")
def rows():
    return make_subspaces((2, 3), 6, random_state=0)[0]


@pytest.fixture
def fitted(rows):
    return FLS(2, random_state=0).fit(rows)


@pytest.fixture
def made(monkeypatch):
    """How many verdicts were made."""
    calls = []
    judge = _verdict.judge
    monkeypatch.setattr(_verdict, "judge", lambda evidence, **given: calls.append(1) or judge(evidence, **given))
    return calls


def test_it_is_made_once_and_only_if_it_is_read(rows, made):
    fls = FLS(2, random_state=0).fit(rows)
    fls.predict(rows)
    assert not made
    assert fls.verdict_ is fls.verdict_
    assert len(made) == 1


def test_it_does_not_depend_on_when_it_is_read(fitted, rows):
    later = FLS(2, random_state=0).fit(rows)
    later.predict(rows[:5])
    later.score(rows)
    assert later.verdict_ == fitted.verdict_


def test_another_fit_has_another_verdict(fitted, rows):
    before = fitted.verdict_
    assert fitted.fit(rows[::2]).verdict_ is not before
    assert fitted.verdict_.evidence.n_rows == len(rows[::2])


def test_figures_are_about_all_rows_not_the_sample(rows):
    many = make_subspaces((2, 2), 5, points_per_subspace=2000, random_state=0)[0]
    assert FLS(2, random_state=0).fit(many).verdict_.evidence.n_rows == len(many) > 4000


def test_stored_models_have_the_verdict_and_no_rows(fitted, rows, tmp_path):
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.verdict_ == fitted.verdict_
    assert "_pending_verdict" not in vars(copy)
    other = FLS(2, random_state=0).fit(rows)
    assert load(other.save(tmp_path / "model.subspaces"), FLS).verdict_.headline == fitted.verdict_.headline


def test_one_cluster_is_explained_if_it_was_chosen():
    noise = np.random.RandomState(0).standard_normal((120, 5))
    reasons = {given: FLS(given, random_state=0).fit(noise).verdict_.reasons for given in ("auto", 1)}
    assert reasons["auto"] == ("More clusters do not describe the rows better.",)
    assert reasons[1] == ("There is only one cluster, so there is nothing to compare it with.",)


def test_before_a_fit_there_is_none():
    assert not hasattr(FLS(2), "verdict_")
    with pytest.raises(NotFittedError):
        FLS(2).verdict_  # noqa: B018
