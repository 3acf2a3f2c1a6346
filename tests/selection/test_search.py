"""The search for a graph: what is tried, what is taken, and what it takes for known data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.utils import check_random_state

from subspaces.datasets import make_subspaces
from subspaces.flats.neighborhoods import Beta2
from subspaces.kernels import SubspaceFeatures
from subspaces.rows.preparation import PreparedRows, RowOptions, prepare
from subspaces.selection import search
from subspaces.selection.choosing import flat_settings
from subspaces.selection.search import (
    DIMS,
    PILOT_DIMS,
    FlatSetting,
    Search,
    Trial,
    best_trial,
    candidate_settings,
    choose_setting,
    climb,
    draw_sample,
    kind_name,
    pilot_settings,
    preferred_kind,
    setting_graph,
    tight_settings,
    try_setting,
)
from subspaces.selection.setting import Asked
from subspaces.selection.thresholds import FEW_COLUMNS, MANY_COLUMNS, N_ERRORS, WHITEN

GROUPS = np.arange(100)


def prepared(rows):
    """Rows as they are."""
    return prepare(rows, RowOptions(center=False, max_columns=None))


def pairs(*arguments, affine=False, unit=True, **options):
    """The (dim, neighborhood) of all candidates."""
    found = candidate_settings(*arguments, affine=affine, unit=unit, **options)
    assert all((setting.affine, setting.unit) == (affine, unit) for setting in found)
    return [(setting.dim, setting.neighborhood) for setting in found]


def open_settings(rows, n_clusters, **given):
    """The settings that are tried if only some values are given."""
    return flat_settings(prepared(rows), Asked(n_clusters, **given), n_clusters)


def trial(dim, modularity, *, affine=False, neighborhood=8, whiten=0.0, spread=0.1, seed=None):
    """A trial whose terms have this mean; trials of other seeds differ row by row."""
    noise = np.random.default_rng(dim if seed is None else seed).normal(size=len(GROUPS)) * spread
    setting = FlatSetting(dim, neighborhood, affine, not affine, whiten, modularity, len(GROUPS))
    rows = np.arange(len(GROUPS))
    return Trial(setting, modularity + noise - noise.mean(), rows, (rows % 2).astype(np.int32))


def tried(rows, n_clusters, settings, *, max_rows=1000):
    """All settings with what they reach on one sample."""
    rng = np.random.RandomState(0)
    sample = draw_sample(prepared(rows), settings, rng, max_rows)
    return [try_setting(setting, sample, n_clusters, rng) for setting in settings]


def best_and_trials(rows, *arguments):
    found = choose_setting(prepared(rows), *arguments)
    return found.setting, [trial.setting for trial in found.trials]


def settings_of(search):
    return [trial.setting for trial in search.trials]


def linear_rows(seed=0, n=100):
    return make_subspaces((2, 2), 6, points_per_subspace=n, random_state=seed)[0]


def affine_rows(dims, p, seed, *, noise):
    """Rows near affine subspaces, moved so that their mean is the origin."""
    X, _ = make_subspaces(
        dims, p, points_per_subspace=80, noise=noise, outliers=0, affine=True, min_angle=0, random_state=seed
    )
    return X - X.mean(axis=0)


def shaded_rows(seed=0):
    """Subspaces in 24 columns, and two directions of larger variance that they have in common."""
    X, y = make_subspaces((3, 3, 3), 24, points_per_subspace=80, noise=0.02, outliers=0, random_state=seed)
    rng = np.random.default_rng(seed)
    shade = np.linalg.qr(rng.normal(size=(24, 2)))[0]
    return X + rng.normal(size=(len(X), 2)) @ shade.T, y


@pytest.fixture
def no_trials(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("no setting was to be tried")

    monkeypatch.setattr(search, "try_setting", refuse)


class Known:
    """A search whose trials have known terms."""

    def __init__(self, monkeypatch, score, *, pilot_rows=100, sample_rows=150):
        def attempt(setting, *arguments):
            return trial(
                setting.dim,
                score(setting),
                affine=setting.affine,
                neighborhood=setting.neighborhood,
                whiten=setting.whiten,
            )

        class Drawn:
            groups = GROUPS

        monkeypatch.setattr(search, "PILOT_ROWS", pilot_rows)
        monkeypatch.setattr(search, "SAMPLE_ROWS", sample_rows)
        monkeypatch.setattr(search, "try_setting", attempt)
        monkeypatch.setattr(search, "draw_sample", lambda *arguments, **options: Drawn)

    def choose(self, settings, n=101, n_columns=40):
        return choose_setting(prepared(np.zeros((n, n_columns))), 2, settings, np.random.RandomState(0))


class TestCandidates:
    def test_ladder_of_dimensions_each_tight_and_wide(self):
        expected = [(2, 6), (2, 16), (3, 8), (3, 22), (4, 10), (4, 28), (6, 14), (6, 40), (9, 20), (9, 58)]
        assert pairs(10_000, 80, 10) == expected
        assert pairs(10_000, 80, 10, affine=True, unit=False) == expected

    @pytest.mark.parametrize(
        ("n_columns", "dims"),
        [(6, [2, 3]), (10, [2, 3, 4]), (18, [2, 3, 4, 6, 9]), (80, [2, 3, 4, 6, 9])],
    )
    def test_subspaces_fill_at_most_half_of_the_space(self, n_columns, dims):
        assert sorted({dim for dim, _ in pairs(10_000, n_columns, 2)}) == dims

    @pytest.mark.parametrize(("n_columns", "dims"), [(2, [1]), (3, [1, 2]), (5, [1, 2, 3, 4]), (6, [2, 3])])
    def test_few_columns_leave_all_dimensions_to_try(self, n_columns, dims):
        assert sorted({dim for dim, _ in pairs(10_000, n_columns, 2)}) == dims

    def test_neighbourhoods_fill_at_most_half_of_a_cluster(self):
        assert pairs(200, 80, 5) == [(2, 6), (2, 16), (3, 8), (4, 10), (6, 14), (9, 20)]
        assert max(size for _, size in pairs(200, 80, 5)) <= 200 / (2 * 5)

    def test_neighbourhoods_do_not_grow_beyond_the_sample(self):
        assert pairs(10**7, 80, 100) == pairs(10_000, 80, 100)
        assert (9, 58) not in pairs(10**7, 80, 100)

    def test_few_rows_leave_the_tightest(self):
        assert pairs(40, 80, 4) == [(2, 6)]
        assert pairs(30, 2, 4) == [(1, 4)]

    def test_a_handful_of_rows_is_not_all_in_every_neighbourhood(self):
        assert pairs(12, 80, 4) == [(2, 6)]
        assert pairs(8, 3, 2) == [(1, 4)]
        assert pairs(1, 80, 4)[0] == (2, 3)

    def test_a_given_dimension_is_not_varied(self):
        assert pairs(10_000, 80, 10, dim=5) == [(5, 12), (5, 34)]

    def test_a_large_dimension_with_few_rows(self):
        """The flats of all rows would be one and the same; but a flat needs more rows than dimensions."""
        assert pairs(100, 80, 10, dim=20) == [(20, 42)]
        assert pairs(60, 80, 10, dim=20) == [(20, 30)]
        assert pairs(10, 80, 10, dim=20) == [(20, 21)]

    @pytest.mark.parametrize("neighborhood", [7, "beta2", Beta2(10, 3)])
    def test_a_given_neighbourhood_is_not_varied(self, neighborhood):
        assert pairs(10_000, 10, 3, neighborhood=neighborhood) == [(dim, neighborhood) for dim in (2, 3, 4)]
        assert pairs(5, 80, 3, dim=9, neighborhood=neighborhood) == [(9, neighborhood)]

    def test_candidates_have_no_score_yet(self):
        setting = candidate_settings(100, 6, 2, affine=True, unit=True)[0]
        assert np.isnan(setting.modularity)
        assert setting.n_rows == 0

    def test_points_are_single_rows(self):
        assert pairs(10_000, 80, 10, affine=True, unit=False, dim=0) == [(0, 1)]
        assert pairs(5, 2, 2, affine=True, unit=False, dim=0) == [(0, 1)]
        assert pairs(100, 6, 2, affine=True, unit=False, dim=0, neighborhood=5) == [(0, 5)]

    def test_the_power_of_whitening_is_kept(self):
        assert {each.whiten for each in candidate_settings(100, 30, 2, affine=False, unit=True, whiten=0.5)} == {0.5}


class TestKinds:
    """The ways to make a graph that `choosing.flat_settings` lists."""

    def kinds(self, n_columns, **given):
        found = open_settings(np.zeros((500, n_columns)), 3, **given)
        return list(dict.fromkeys(kind_name(each) for each in found))

    def test_nothing_is_given(self):
        assert self.kinds(FEW_COLUMNS) == ["points"]
        assert self.kinds(FEW_COLUMNS + 1) == ["linear flats", "affine flats", "points"]
        assert self.kinds(MANY_COLUMNS) == [
            "linear flats",
            "linear flats of whitened rows",
            "linear flats of half-whitened rows",
            "affine flats",
            "points",
        ]
        assert WHITEN == (1.0, 0.5)

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"affine": True, "whiten": 0}, ["affine flats", "points"]),
            ({"affine": False, "whiten": 0}, ["linear flats"]),
            (
                {"whiten": 1},
                ["linear flats of whitened rows", "affine flats of whitened rows", "points of whitened rows"],
            ),
            ({"subspace_dim": 0}, ["points"]),
            ({"subspace_dim": 0, "whiten": 0.25}, ["points of rows whitened to 0.25"]),
            ({"subspace_dim": 3, "whiten": 0}, ["linear flats", "affine flats"]),
            ({"subspace_dim": 3, "whiten": 0, "affine": True}, ["affine flats"]),
        ],
        ids=str,
    )
    def test_given_values_are_not_varied(self, given, expected):
        assert self.kinds(40, **given) == expected

    def test_few_columns_and_linear_flats(self):
        assert self.kinds(2, affine=False) == ["linear flats"]
        assert self.kinds(3, subspace_dim=1) == ["linear flats", "affine flats"]

    def test_linear_flats_and_no_others_are_those_of_unit_rows(self):
        for setting in open_settings(np.zeros((500, 40)), 3):
            assert setting.unit == (not setting.affine)
        assert all(setting.unit for setting in open_settings(np.zeros((500, 40)), 3, normalize=True))


class TestBestTrial:
    # Fewer than two standard errors of the difference between two trials, and more.
    NEAR, FAR = (factor * N_ERRORS * 0.1 * np.sqrt(2 / len(GROUPS)) for factor in (0.5, 1.5))

    def test_is_the_largest_modularity(self):
        trials = [trial(2, 0.3), trial(4, 0.5), trial(6, 0.5 - self.NEAR), trial(9, 0.4)]
        assert best_trial(trials, GROUPS, sampled=False) is trials[1].setting

    def test_of_a_sample_is_the_largest_dimension_that_is_not_clearly_worse(self):
        trials = [
            trial(2, 0.5),
            trial(6, 0.5 - 0.8 * self.NEAR, neighborhood=14, seed=1),
            trial(6, 0.5 - 0.5 * self.NEAR, neighborhood=40, seed=3),
            trial(9, 0.5 - self.FAR),
        ]
        assert best_trial(trials, GROUPS, sampled=True) is trials[2].setting
        assert best_trial(trials, GROUPS, sampled=False) is trials[0].setting

    def test_the_same_rows_are_compared(self):
        """Paired differences: a small one is clear if it is that of every row."""
        trials = [trial(2, 0.5, seed=0), trial(6, 0.5 - self.NEAR, seed=0)]
        assert best_trial(trials, GROUPS, sampled=True) is trials[0].setting

    def test_rows_that_share_landmarks_are_few_observations(self):
        trials = [trial(2, 0.5, seed=0), trial(6, 0.5 - self.FAR, seed=1)]
        assert best_trial(trials, GROUPS, sampled=True) is trials[0].setting
        halves = np.argsort(np.argsort(trials[0].terms - trials[1].terms)) // 50
        assert best_trial(trials, halves, sampled=True) is trials[1].setting

    @pytest.mark.parametrize("sampled", [False, True])
    def test_of_equals_is_the_first(self, sampled):
        trials = [trial(3, 0.5), trial(3, 0.5), trial(2, 0.5)]
        assert best_trial(trials, GROUPS, sampled) is trials[0].setting


class TestPreferredKind:
    NEAR, FAR = TestBestTrial.NEAR, TestBestTrial.FAR

    @pytest.mark.parametrize(("lead", "affine"), [(-0.1, False), (0, False), (NEAR, False), (FAR, True)])
    def test_a_later_kind_must_be_clearly_better(self, lead, affine):
        trials = [trial(2, 0.1), trial(3, 0.4), trial(2, 0.4 + lead, affine=True), trial(3, 0.0, affine=True)]
        found = preferred_kind(trials, GROUPS)
        assert found.affine is affine
        assert found is trials[2 if affine else 1].setting

    def test_the_order_of_kinds_matters(self):
        trials = [trial(2, 0.4), trial(2, 0.4 + self.NEAR, affine=True, seed=1)]
        assert not preferred_kind(trials, GROUPS).affine
        assert preferred_kind(trials[::-1], GROUPS).affine

    def test_every_later_kind_is_compared_with_the_best_so_far(self):
        trials = [trial(4, 0.4), trial(4, 0.5, affine=True, seed=1), trial(0, 0.5 + self.NEAR, affine=True, seed=2)]
        assert preferred_kind(trials, GROUPS) is trials[1].setting
        trials.append(trial(2, 0.6, whiten=0.5, seed=3))
        assert preferred_kind(trials, GROUPS) is trials[3].setting


class TestPilot:
    def asked(self, n_columns, **given):
        return [
            (each.dim, each.neighborhood, each.affine, each.whiten)
            for each in pilot_settings(open_settings(np.zeros((10_000, n_columns)), 5, **given))
        ]

    def test_tight_settings_of_few_dimensions_for_each_kind(self):
        assert PILOT_DIMS == (2, 4)
        linear, affine = [(2, 6, False, 0), (4, 10, False, 0)], [(2, 6, True, 0), (4, 10, True, 0), (0, 1, True, 0)]
        assert self.asked(MANY_COLUMNS - 1) == [*linear, *affine]
        assert self.asked(MANY_COLUMNS) == [*linear, (2, 6, False, 1), (2, 6, False, 0.5), *affine]

    def test_a_given_dimension(self):
        assert self.asked(10, subspace_dim=3) == [(3, 8, False, 0), (3, 8, True, 0)]
        assert self.asked(10, subspace_dim=3, neighborhood="beta2") == [
            (3, "beta2", False, 0),
            (3, "beta2", True, 0),
        ]

    def test_the_smallest_neighbourhood_of_each_dimension(self):
        sizes = [(9, 58), (3, 22), (3, 8), (2, 6)]
        settings = [FlatSetting(dim, size, True, False) for dim, size in sizes]
        for order in (settings, settings[::-1]):
            assert [(each.dim, each.neighborhood) for each in tight_settings(order)] == [(2, 6), (3, 8), (9, 58)]

    @pytest.mark.parametrize(
        ("best", "kind"),
        [
            (lambda each: 0.5, "linear flats"),
            (lambda each: 0.5 + 0.2 * each.affine, "affine flats"),
            (lambda each: 0.5 + 0.2 * (each.dim == 0), "points"),
            (lambda each: 0.5 + 0.2 * each.whiten, "linear flats of whitened rows"),
        ],
        ids=["linear", "affine", "points", "whitened"],
    )
    def test_the_kind_is_that_of_the_pilot(self, monkeypatch, best, kind):
        settings = open_settings(np.zeros((101, 40)), 2)
        found = Known(monkeypatch, best).choose(settings)
        pilot = pilot_settings(settings)
        names = [(each.dim, each.neighborhood, each.kind) for each in settings_of(found)]
        assert names[: len(pilot)] == [(each.dim, each.neighborhood, each.kind) for each in pilot]
        assert kind_name(found.setting) == kind
        # Other kinds are not tried again.
        assert all(each[2] == found.setting.kind for each in names[len(pilot) :])
        assert (len(names) == len(pilot)) is (kind == "points")
        assert found.setting in settings_of(found)


class TestTrials:
    def test_one_setting_is_taken_untried(self, no_trials):
        setting = FlatSetting(2, 8, True, False)
        assert choose_setting(prepared(linear_rows()), 3, [setting], np.random.RandomState(0)) == Search(
            setting, [], setting
        )

    def test_one_cluster_takes_the_first_untried(self, no_trials):
        settings = open_settings(linear_rows(), 1)
        found = choose_setting(prepared(linear_rows()), 1, settings, np.random.RandomState(0))
        assert found == Search(settings[0], [], settings[0])

    def test_every_setting_is_scored_on_the_same_rows(self):
        rows, _ = shaded_rows()
        settings = open_settings(rows, 3)
        trials = tried(rows, 3, settings)
        for each, given in zip(trials, settings, strict=True):
            assert replace(each.setting, modularity=np.nan, n_rows=0) == replace(given, modularity=np.nan)
            assert each.setting.n_rows == len(each.terms) == len(rows)
            # The modularity is the mean of its terms over the rows, up to outliers, which have terms too.
            assert each.setting.modularity == pytest.approx(each.terms.mean(), abs=0.05)
            assert -0.5 < each.setting.modularity <= 2 / 3 + 1e-9

    def test_many_rows_are_sampled(self):
        rows = linear_rows()
        trials = tried(rows, 2, open_settings(rows, 2), max_rows=90)
        assert {each.setting.n_rows for each in trials} == {90}

    def test_same_seed_same_trials(self):
        rows = linear_rows()
        first, second, other = (
            best_and_trials(rows, 2, open_settings(rows, 2), check_random_state(seed)) for seed in (4, 4, 5)
        )
        assert first == second
        assert [each.modularity for each in other[1]] != [each.modularity for each in first[1]]

    def test_many_rows_are_tried_again_after_a_pilot(self, monkeypatch):
        monkeypatch.setattr(search, "PILOT_ROWS", 100)
        monkeypatch.setattr(search, "SAMPLE_ROWS", 150)
        rows = linear_rows()
        best, trials = best_and_trials(rows, 2, open_settings(rows, 2), np.random.RandomState(0))
        pilot, final = ([each for each in trials if each.n_rows == n] for n in (100, 150))
        assert trials == pilot + final
        assert [(each.dim, each.affine) for each in pilot] == [(2, False), (2, True), (0, True)]
        # Linear won the pilot, so affine flats and points are not tried again.
        assert {(2, 6), (3, 8)} < {(each.dim, each.neighborhood) for each in final}
        assert not any(each.affine for each in final)
        assert best in final

    @pytest.mark.parametrize(("n", "dim"), [(150, 4), (151, 6)])
    def test_near_ties_count_only_on_a_sample(self, monkeypatch, n, dim):
        scores = {2: 0.3, 3: 0.4, 4: 0.5, 6: 0.5 - TestBestTrial.NEAR, 9: 0.3}
        settings = [FlatSetting(each, size, False, True) for each in DIMS for size in (2 * each + 2, 6 * each + 4)]
        found = Known(monkeypatch, lambda each: scores[each.dim]).choose(settings, n)
        assert found.setting.dim == dim
        # In the climb too: only the best dimension gets a wide neighbourhood.
        assert [each.dim for each in settings_of(found) if each.neighborhood == 6 * each.dim + 4] == [dim]

    def test_a_single_kind_skips_the_pilot(self):
        rows = affine_rows((2, 2), 6, 0, noise=0.05)
        settings = candidate_settings(*rows.shape, 2, affine=True, unit=False)
        best, trials = best_and_trials(rows, 2, settings, np.random.RandomState(0))
        assert {each.n_rows for each in trials} == {len(rows)}
        assert len(trials) == len({(each.dim, each.neighborhood) for each in trials}) < len(settings)
        assert best.affine

    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_very_few_rows(self, n):
        rows = np.random.default_rng(0).standard_normal((n, 4))
        best, trials = best_and_trials(rows, min(n, 2), open_settings(rows, 2), np.random.RandomState(0))
        assert all(np.isfinite(each.modularity) for each in trials)
        assert best.dim in (0, 2)

    @pytest.mark.parametrize("setting", [FlatSetting(2, 16, False, False), FlatSetting(0, 1, True, False, 0.5)])
    def test_float32_rows_score_alike(self, setting):
        rows = linear_rows()
        wide, narrow = (tried(each, 2, [setting])[0] for each in (rows, rows.astype("f4")))
        assert narrow.setting.modularity == pytest.approx(wide.setting.modularity, abs=0.01)


class TestClimb:
    def climb(self, score, dims=DIMS, **options):
        """Trials of a ladder of `dims`, each with a tight and a wide neighbourhood."""
        settings = [FlatSetting(dim, size, True, False) for dim in dims for size in (2 * dim + 2, 6 * dim + 4)]

        def attempt(some):
            return [trial(each.dim, score(each), affine=True, neighborhood=each.neighborhood) for each in some]

        trials = [each.setting for each in climb(settings, attempt, GROUPS, **options)]
        names = [(each.dim, each.neighborhood) for each in trials]
        assert len(set(names)) == len(names)
        assert set(names) <= {(each.dim, each.neighborhood) for each in settings}
        return max(settings, key=score), trials

    @pytest.mark.parametrize("n_dims", range(1, 6))
    @pytest.mark.parametrize("wide", [-0.01, 0.01])
    @pytest.mark.parametrize("tilt", [-0.02, 0.02])
    def test_a_single_peak_is_found(self, n_dims, wide, tilt):
        for peak in range(n_dims):

            def score(setting, peak=peak):
                step = DIMS.index(setting.dim)
                return 0.5 - 0.1 * abs(step - peak) + tilt * step + wide * (setting.neighborhood > 2 * setting.dim + 2)

            best, trials = self.climb(score, DIMS[:n_dims])
            found = max(trials, key=lambda each: each.modularity)
            assert (found.dim, found.neighborhood) == (best.dim, best.neighborhood)

    def test_some_settings_are_left_out(self):
        _, trials = self.climb(lambda each: -each.dim)
        assert [(each.dim, each.neighborhood) for each in trials] == [(2, 6), (4, 10), (9, 20), (3, 8), (2, 16)]

    @pytest.mark.parametrize(("sampled", "dim"), [(False, 4), (True, 6)])
    def test_of_near_ties_on_a_sample_the_largest_dimension_is_tried_wide(self, sampled, dim):
        scores = {2: 0.3, 3: 0.4, 4: 0.5, 6: 0.5 - TestBestTrial.NEAR, 9: 0.3}
        _, trials = self.climb(lambda each: scores[each.dim], sampled=sampled)
        assert (trials[-1].dim, trials[-1].neighborhood) == (dim, 6 * dim + 4)


class TestSample:
    def test_flats_are_those_of_the_feature_map(self):
        rows = linear_rows()
        settings = [
            FlatSetting(2, 6, False, True),
            FlatSetting(2, 16, True, False),
            FlatSetting(2, "beta2", True, False),
            FlatSetting(0, 1, True, False),
            FlatSetting(2, 6, False, True, 0.5),
        ]
        sample = draw_sample(prepared(rows), settings, np.random.RandomState(0), 1000)
        for setting in settings:
            psi, _, _ = setting_graph(setting, sample, 3)
            shaped = sample.of(setting)
            features = SubspaceFeatures(
                subspace_dim=setting.dim,
                n_nearest=search.SAMPLE_NEAREST,
                landmarks=shaped.landmarks,
                neighborhood=setting.neighborhood,
                affine=setting.affine,
                trim=True,
            )
            expected = features.fit(shaped.rows).transform(shaped.rows)
            np.testing.assert_array_equal(psi.toarray(), expected.toarray())

    def test_rows_are_shaped_as_in_the_fit(self):
        rows = prepared(linear_rows())
        settings = [FlatSetting(2, 6, False, True), FlatSetting(2, 6, True, False, 1.0)]
        sample = draw_sample(rows, settings, np.random.RandomState(0), 1000)
        for setting in settings:
            expected = rows.shaped_by(unit=setting.unit, whiten=setting.whiten)(rows.rows)
            found = sample.of(setting).rows
            scale = 1 if setting.unit else 1 / np.abs(rows.rows).max()
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, scale * expected, rtol=1e-4, atol=1e-6)

    def test_rows_far_from_the_origin_keep_their_digits(self):
        rows = linear_rows() + 1e6
        settings = [FlatSetting(0, 1, True, False)]
        kept = PreparedRows(rows, prepared(rows).preparation, False)
        sample = draw_sample(kept, settings, np.random.RandomState(0), 1000)
        np.testing.assert_array_equal(sample.of(settings[0]).rows, rows)

    def test_neighbours_reach_as_far_as_the_largest_setting(self):
        rows = linear_rows()
        settings = [FlatSetting(2, 6, False, True), FlatSetting(2, 16, False, True)]
        sample = draw_sample(prepared(rows), settings, np.random.RandomState(0), 1000)
        assert sample.of(settings[0]).neighbors.shape == (len(rows) // 2, 16)
        assert sample.groups.shape == (len(rows),)
        few = draw_sample(prepared(rows[:9]), settings, np.random.RandomState(0), 1000)
        assert few.of(settings[0]).neighbors.shape == (4, 9)


class TestKnownData:
    def test_the_true_dimension_scores_best_on_linear_subspaces(self):
        for seed in range(3):
            rows = make_subspaces((3, 3, 3), 9, points_per_subspace=80, random_state=seed)[0]
            settings = candidate_settings(*rows.shape, 3, affine=False, unit=True)
            best, _ = best_and_trials(rows, 3, settings, np.random.RandomState(0))
            assert best.dim == 3

    def kind(self, rows, n_clusters):
        best, _ = best_and_trials(rows, n_clusters, open_settings(rows, n_clusters), np.random.RandomState(0))
        return kind_name(best)

    def test_linear_subspaces_are_taken_for_linear(self):
        assert {self.kind(linear_rows(seed), 2) for seed in range(6)} == {"linear flats"}

    @pytest.mark.parametrize(("dims", "p"), [((2, 2, 2, 2), 6), ((3, 3, 3, 3), 6)])
    def test_affine_subspaces_that_fill_the_space_are_taken_for_affine(self, dims, p):
        for seed in range(4):
            rows = affine_rows(dims, p, seed, noise=0.02)
            assert self.kind(rows, len(dims)) == "affine flats"

    def test_blobs_on_a_line_through_the_origin_are_points(self):
        X, _ = make_blobs(300, n_features=6, centers=[[k] * 6 for k in (-6, -2, 2, 6)], random_state=0)
        assert self.kind(X, 4) in ("points", "affine flats")

    def test_few_columns_are_points(self):
        X, _ = make_moons(200, noise=0.05, random_state=0)
        assert self.kind(X, 2) == "points"

    def test_directions_that_clusters_have_in_common_are_whitened(self):
        rows, _ = shaded_rows()
        assert "whitened" in self.kind(rows, 3)


def test_no_setting_is_tried_twice_on_a_sample():
    rows = prepared(linear_rows())
    settings = flat_settings(rows, Asked(n_clusters=2), 2)
    trials = choose_setting(rows, 2, settings, np.random.RandomState(0)).trials
    assert len({trial.setting.key for trial in trials}) == len(trials) > 2
