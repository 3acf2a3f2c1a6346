"""The public function `choose`: settings, what is given, and bad input."""

import numpy as np
import pytest

from subspaces import FLS, open_rows
from subspaces.datasets import make_subspaces
from subspaces.selection import Asked, Setting, choose
from subspaces.selection.structure import FLAT

X, Y = make_subspaces((2, 2), 6, points_per_subspace=150, random_state=0)


def test_is_the_choice_of_fls():
    setting = choose(X, Asked(n_clusters=2), random_state=0)
    fls = FLS(2, random_state=0).fit(X)
    assert isinstance(setting, Setting)
    assert setting.landmarks.flats.dim == fls.subspace_dim_
    assert setting.landmarks.flats.affine == fls.affine_
    assert setting.choice["structure"] == fls.choice_["structure"]


def test_is_the_choice_of_fls_by_the_graph():
    setting = choose(X, Asked(n_clusters=2, assign="balanced"), random_state=0)
    fls = FLS(2, assign="balanced", random_state=0).fit(X)
    assert setting.structure is None
    assert setting.choice["flats"] == fls.choice_["flats"]


def test_no_graph_is_tried_if_two_searches_lead_to_the_same_flats():
    setting = choose(X, Asked(n_clusters=2), random_state=0)
    assert setting.flats.is_settled
    assert setting.structure.kind == FLAT
    assert [each.name for each in setting.choice] == ["structure"]
    assert setting.trials == ()


def test_given_values_are_kept_and_nothing_is_tried():
    given = {"subspace_dim": 3, "neighborhood": 12, "affine": True, "n_landmarks": 40, "n_components": 2}
    given |= {"assign": "balanced"}
    setting = choose(X, Asked(n_clusters=2, **given), random_state=0)
    assert len(setting.choice) == 0
    assert (setting.landmarks.flats.dim, setting.landmarks.n_landmarks) == (3, 40)
    assert setting.cut.n_vectors == (2,)


def test_settings_are_frozen_and_print_what_was_chosen():
    setting = choose(X, random_state=0)
    assert setting.n_clusters == 2
    with pytest.raises(AttributeError):
        setting.n_clusters = 3
    assert str(setting).startswith("2 clusters\n")
    assert "description length" in str(setting)


def test_takes_files_as_fit_does(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    for rows in (tmp_path / "rows.npy", open_rows(tmp_path / "rows.npy"), (100 * X).astype(int)):
        assert choose(rows, Asked(n_clusters=2), random_state=0).landmarks.flats.dim == 2


@pytest.mark.parametrize(
    ("rows", "asked", "message"),
    [
        (np.full((10, 3), np.nan), Asked(2), "NaN"),
        (X, Asked(0), "n_clusters=0"),
        (X, Asked(2, subspace_dim=6), "subspace_dim=6"),
        (X, Asked(2, subspace_dim="two"), "subspace_dim='two'"),
        (X, Asked(2, assign="size"), "assign='size'"),
        (X[:, 0], Asked(2), "2D"),
        ("missing.npy", Asked(2), "missing.npy"),
        (X, 3, "asked=3 must be an Asked"),
    ],
)
def test_bad_input_is_named(rows, asked, message):
    with pytest.raises((ValueError, TypeError, OSError), match=message):
        choose(rows, asked)


def test_a_dimension_above_the_default_number_of_columns():
    rows = np.random.default_rng(0).normal(size=(150, 130))
    setting = choose(rows, Asked(1, subspace_dim=90, neighborhood=100), random_state=0)
    assert setting.landmarks.flats.dim == 90
