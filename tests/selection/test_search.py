"""The search for a setting: what is tried, what is taken, and what it takes for known data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.utils import check_random_state

from subspaces.datasets import make_subspaces
from subspaces.flats.neighborhoods import Beta2
from subspaces.kernels import SubspaceFeatures
from subspaces.selection import search
from subspaces.selection.partition import choose_partition
from subspaces.selection.search import (
    AFFINE_MARGIN,
    DIM_TIE,
    DIMS,
    MIDDLE_DRAWS,
    PAIR_COLUMNS,
    PILOT_DIMS,
    UNEVEN_MARGIN,
    FlatSetting,
    Search,
    ask_joins,
    best_setting,
    candidate_settings,
    choose_setting,
    climb,
    draw_sample,
    middle_setting,
    pilot_settings,
    prefers_affine,
    setting_graph,
    try_setting,
)
from subspaces.selection.thresholds import SURE_AGREEMENT


def pairs(*arguments, affine=False, unit=True, **options):
    """The (dim, neighborhood) of all candidates."""
    found = candidate_settings(*arguments, affine=affine, unit=unit, **options)
    assert all((setting.affine, setting.unit) == (affine, unit) for setting in found)
    return [(setting.dim, setting.neighborhood) for setting in found]


def both_kinds(rows, n_clusters):
    """The settings that are tried where nothing is given."""
    return [
        setting
        for affine in (False, True)
        for setting in candidate_settings(*rows.shape, n_clusters, affine=affine, unit=not affine)
    ]


def scored(dim, modularity, *, affine=False, neighborhood=8):
    return FlatSetting(dim, neighborhood, affine, not affine, modularity)


def parted(dim, modularity, separation, balanced_separation, *, affine=False, neighborhood=8, agreement=1.0):
    return replace(
        scored(dim, modularity, affine=affine, neighborhood=neighborhood),
        separation=separation,
        balanced_separation=balanced_separation,
        agreement=agreement,
    )


def tried(rows, n_clusters, settings, *, max_rows=1000):
    """All settings with what they reach on one sample."""
    rng = np.random.RandomState(0)
    sample = draw_sample(rows, settings, rng, max_rows)
    return [try_setting(setting, sample, n_clusters, rng) for setting in settings]


def asked(rows, n_clusters, settings, *, n_draws=1):
    """The same, asked how well clusters are separated."""
    rng = np.random.RandomState(0)
    sample = draw_sample(rows, settings, rng, 1000)
    return [ask_joins(setting, sample, n_clusters, rng, n_draws=n_draws) for setting in settings]


def best_and_trials(*arguments, **options):
    found = choose_setting(*arguments, **options)
    return found.setting, found.trials


def linear_rows(seed=0, n=100):
    return make_subspaces((2, 2), 6, points_per_subspace=n, random_state=seed)[0]


def affine_rows(dims, p, seed, *, noise):
    """Rows near affine subspaces, moved so that their mean is the origin."""
    X, _ = make_subspaces(
        dims, p, points_per_subspace=80, noise=noise, outliers=0, affine=True, min_angle=0, random_state=seed
    )
    return X - X.mean(axis=0)


@pytest.fixture
def no_trials(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("no setting was to be tried")

    monkeypatch.setattr(search, "try_setting", refuse)


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

    @pytest.mark.parametrize(("n_columns", "dims"), [(2, [1]), (3, [1, 2]), (4, [2, 3]), (5, [2, 3, 4])])
    def test_few_columns_leave_all_dimensions_to_try(self, n_columns, dims):
        assert sorted({dim for dim, _ in pairs(10_000, n_columns, 2)}) == dims

    def test_neighbourhoods_fill_at_most_half_of_a_cluster(self):
        assert pairs(200, 80, 5) == [(2, 6), (2, 16), (3, 8), (4, 10), (6, 14), (9, 20)]
        assert max(size for _, size in pairs(200, 80, 5)) <= 200 / (2 * 5)

    def test_neighbourhoods_do_not_grow_beyond_the_sample(self):
        assert pairs(10**7, 80, 100) == pairs(10_000, 80, 100)
        assert (9, 58) not in pairs(10**7, 80, 100)

    def test_few_rows_leave_the_tightest(self):
        assert pairs(30, 80, 4) == [(2, 6), (3, 8)]
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
        assert np.isnan([setting.modularity, setting.separation, setting.balanced_separation]).all()
        assert setting.n_rows == 0


class TestBestSetting:
    def test_is_the_largest_modularity(self):
        settings = [scored(2, 0.3), scored(4, 0.5), scored(3, 0.5 - DIM_TIE / 2), scored(9, 0.4)]
        assert best_setting(settings, sampled=False) is settings[1]

    def test_of_a_sample_is_the_largest_dimension_among_near_ties(self):
        settings = [
            scored(2, 0.5),
            scored(6, 0.5 - 0.9 * DIM_TIE, neighborhood=14),
            scored(6, 0.5 - 0.5 * DIM_TIE, neighborhood=40),
            scored(9, 0.5 - 1.1 * DIM_TIE),
        ]
        assert best_setting(settings, sampled=True) is settings[2]
        assert best_setting(settings, sampled=False) is settings[0]

    @pytest.mark.parametrize("sampled", [False, True])
    def test_of_equals_is_the_first(self, sampled):
        settings = [scored(3, 0.5), scored(3, 0.5), scored(2, 0.5)]
        assert best_setting(settings, sampled=sampled) is settings[0]

    def test_middle_of_one_setting(self):
        settings = [scored(3, -0.1)]
        assert best_setting(settings, sampled=True) is settings[0]


class TestPrefersAffine:
    @pytest.mark.parametrize(("lead", "expected"), [(-0.1, False), (0, False), (0.019, False), (0.021, True)])
    def test_only_by_more_than_the_margin(self, lead, expected):
        trials = [scored(2, 0.1), scored(3, 0.4), scored(2, 0.4 + lead, affine=True), scored(3, 0.0, affine=True)]
        assert prefers_affine(trials, 0.02) is expected

    def test_the_order_of_trials_does_not_matter(self):
        trials = [scored(3, 0.5, affine=True), scored(2, 0.6), scored(2, 0.7, affine=True)]
        assert prefers_affine(trials, 0.05)
        assert prefers_affine(trials[::-1], 0.05)
        assert not prefers_affine(trials, 0.15)


class TestPilot:
    def asked(self, n_columns, **options):
        settings = [
            setting
            for affine in (False, True)
            for setting in candidate_settings(10_000, n_columns, 5, affine=affine, unit=not affine, **options)
        ]
        return [
            [(setting.dim, setting.neighborhood, setting.affine) for setting in some]
            for some in pilot_settings(settings, n_columns)
        ]

    def test_many_columns_begin_with_one_pair(self):
        first, more = self.asked(PAIR_COLUMNS)
        assert first == [(4, 10, False), (4, 10, True)]
        assert more == [(2, 6, False), (2, 16, False), (4, 28, False), (2, 6, True)]

    def test_few_columns_try_all_settings_at_once(self):
        first, more = self.asked(PAIR_COLUMNS - 1)
        assert first == [(2, 6, False), (2, 16, False), (4, 10, False), (4, 28, False), (2, 6, True), (4, 10, True)]
        assert more == []

    def test_a_given_dimension_needs_no_pair(self):
        first, more = self.asked(80, dim=3)
        assert first == [(3, 8, False), (3, 22, False), (3, 8, True)]
        assert more == []

    @pytest.mark.parametrize(("lead", "affine"), [(-0.1, False), (AFFINE_MARGIN / 2, False), (2 * AFFINE_MARGIN, True)])
    def test_more_settings_are_tried_only_if_affine_flats_win_the_pair(self, monkeypatch, lead, affine):
        def score(setting, *arguments):
            return replace(setting, modularity=0.5 + lead * setting.affine)

        monkeypatch.setattr(search, "PILOT_ROWS", 100)
        monkeypatch.setattr(search, "try_setting", score)
        monkeypatch.setattr(search, "draw_sample", lambda *arguments, **options: None)
        rows = np.zeros((101, 40))
        settings = both_kinds(rows, 2)
        found = choose_setting(rows, 2, settings, np.random.RandomState(0), kind="balanced")
        first, more = pilot_settings(settings, 40)
        pilot = [(trial.dim, trial.neighborhood, trial.affine) for trial in found.trials]
        expected = [*first, *more] if affine else first
        assert pilot[: len(expected)] == [(each.dim, each.neighborhood, each.affine) for each in expected]
        assert all(each[2] == affine for each in pilot[len(expected) :])
        assert found.setting.affine == affine


class TestTrials:
    def test_one_setting_is_taken_untried(self, no_trials):
        setting = FlatSetting(2, 8, True, False)
        assert choose_setting(linear_rows(), 3, [setting], np.random.RandomState(0)) == Search(setting, [], "auto")

    def test_one_cluster_takes_the_first_untried(self, no_trials):
        settings = both_kinds(linear_rows(), 1)
        assert choose_setting(linear_rows(), 1, settings, np.random.RandomState(0)) == Search(settings[0], [], "auto")

    def test_every_setting_is_scored_on_the_same_rows(self):
        rows = linear_rows()
        settings = both_kinds(rows, 2)
        trials = tried(rows, 2, settings)
        given = [(each.dim, each.neighborhood, each.affine, each.unit) for each in settings]
        assert [(each.dim, each.neighborhood, each.affine, each.unit) for each in trials] == given
        assert {trial.n_rows for trial in trials} == {len(rows)}
        assert all(-0.5 < trial.modularity <= 0.5 + 1e-9 for trial in trials)

    def test_many_rows_are_sampled(self):
        rows = linear_rows()
        trials = tried(rows, 2, both_kinds(rows, 2), max_rows=90)
        assert {trial.n_rows for trial in trials} == {90}

    def test_same_seed_same_trials(self):
        rows = linear_rows()
        first, second, other = (
            best_and_trials(rows, 2, both_kinds(rows, 2), check_random_state(seed)) for seed in (4, 4, 5)
        )
        assert first == second
        assert [trial.modularity for trial in other[1]] != [trial.modularity for trial in first[1]]

    def test_few_rows_are_tried_once(self):
        rows = linear_rows()
        settings = both_kinds(rows, 2)
        best, trials = best_and_trials(rows, 2, settings, np.random.RandomState(0))
        assert len(trials) == len(settings)
        assert best in trials

    def test_many_rows_are_tried_again_after_a_pilot(self, monkeypatch):
        monkeypatch.setattr(search, "PILOT_ROWS", 100)
        monkeypatch.setattr(search, "SAMPLE_ROWS", 150)
        rows = linear_rows()
        settings = both_kinds(rows, 2)
        best, trials = best_and_trials(rows, 2, settings, np.random.RandomState(0))
        pilot, final = ([trial for trial in trials if trial.n_rows == n] for n in (100, 150))
        assert trials == pilot + final
        # Some dimensions, and tight neighbourhoods of affine flats, are enough to tell linear from affine.
        names = [(trial.dim, trial.neighborhood, trial.affine) for trial in pilot]
        assert names == [(2, 6, False), (2, 16, False), (2, 6, True)]
        assert {2, 3} - set(PILOT_DIMS) == {3}
        # Linear won the pilot, so affine flats are not tried again.
        names = [(trial.dim, trial.neighborhood) for trial in final]
        assert set(names) < set(pairs(*rows.shape, 2))
        assert {(2, 6), (3, 8)} < set(names)
        assert best is best_setting(final, sampled=True)
        # Separation is computed for the middle setting only.
        assert [(each.dim, each.neighborhood) for each in final if not np.isnan(each.separation)] == [(2, 6)]

    @pytest.mark.parametrize(("n", "dim"), [(100, 2), (101, 4)])
    def test_near_ties_count_only_on_a_sample(self, monkeypatch, n, dim):
        scores = {2: 0.5, 3: 0.4, 4: 0.5 - DIM_TIE / 2}
        monkeypatch.setattr(search, "SAMPLE_ROWS", 100)
        monkeypatch.setattr(search, "draw_sample", lambda *arguments, **options: None)
        monkeypatch.setattr(
            search, "try_setting", lambda each, *arguments, **options: replace(each, modularity=scores[each.dim])
        )
        settings = [FlatSetting(each, 8, False, True) for each in scores]
        best, _ = best_and_trials(np.zeros((n, 9)), 2, settings, np.random.RandomState(0))
        assert best.dim == dim

    @pytest.mark.parametrize(("n", "dim"), [(100, 4), (101, 6)])
    def test_near_ties_on_a_sample_count_in_the_climb_too(self, monkeypatch, n, dim):
        scores = {2: 0.3, 3: 0.4, 4: 0.5, 6: 0.5 - DIM_TIE / 2, 9: 0.3}
        monkeypatch.setattr(search, "SAMPLE_ROWS", 100)
        monkeypatch.setattr(search, "draw_sample", lambda *arguments, **options: None)
        monkeypatch.setattr(
            search, "try_setting", lambda each, *arguments, **options: replace(each, modularity=scores[each.dim])
        )
        settings = [FlatSetting(each, size, False, True) for each in DIMS for size in (2 * each + 2, 6 * each + 4)]
        _, trials = best_and_trials(np.zeros((n, 20)), 2, settings, np.random.RandomState(0))
        assert [trial.dim for trial in trials if trial.neighborhood == 6 * trial.dim + 4] == [dim]

    def test_a_single_kind_skips_the_pilot(self):
        rows = linear_rows()
        settings = candidate_settings(*rows.shape, 2, affine=True, unit=False)
        best, trials = best_and_trials(rows, 2, settings, np.random.RandomState(0))
        assert {trial.n_rows for trial in trials} == {len(rows)}
        assert len(trials) == len({(trial.dim, trial.neighborhood) for trial in trials}) < len(settings)
        assert best.affine

    def test_the_margin_decides_between_the_kinds(self):
        rows = affine_rows((2, 2, 2), 4, 0, noise=0.02)
        for margin, affine in ((AFFINE_MARGIN, True), (1.0, False)):
            best, _ = best_and_trials(rows, 3, both_kinds(rows, 3), np.random.RandomState(0), affine_margin=margin)
            assert best.affine is affine

    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_very_few_rows(self, n):
        rows = np.random.default_rng(0).standard_normal((n, 4))
        best, trials = best_and_trials(rows, min(n, 2), both_kinds(rows, 2), np.random.RandomState(0))
        assert all(np.isfinite(trial.modularity) for trial in trials)
        assert best.dim == 2

    def test_float32_rows_score_alike(self):
        rows = linear_rows()
        wide, narrow = (tried(each, 2, [FlatSetting(2, 16, False, False)])[0] for each in (rows, rows.astype("f4")))
        assert narrow.modularity == pytest.approx(wide.modularity, abs=0.01)
        wide, narrow = (asked(each, 2, [FlatSetting(2, 16, False, False)])[0] for each in (rows, rows.astype("f4")))
        assert narrow.separation == pytest.approx(wide.separation, abs=0.1)


class TestClimb:
    def climb(self, score, dims=DIMS):
        """Trials of a ladder of `dims`, each with a tight and a wide neighbourhood."""
        settings = [FlatSetting(dim, size, True, False) for dim in dims for size in (2 * dim + 2, 6 * dim + 4)]
        trials = climb(settings, lambda some: [replace(each, modularity=score(each)) for each in some])
        names = [(trial.dim, trial.neighborhood) for trial in trials]
        assert len(set(names)) == len(names)
        assert set(names) <= {(each.dim, each.neighborhood) for each in settings}
        assert all(trial.modularity == score(trial) for trial in trials)
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
            found = max(trials, key=lambda trial: trial.modularity)
            assert (found.dim, found.neighborhood) == (best.dim, best.neighborhood)

    def test_some_settings_are_left_out(self):
        _, trials = self.climb(lambda each: -each.dim)
        assert [(each.dim, each.neighborhood) for each in trials] == [
            (2, 6),
            (4, 10),
            (9, 20),
            (3, 8),
            (2, 16),
        ]

    @pytest.mark.parametrize("n_dims", range(1, 6))
    def test_the_middle_one_is_among_the_first(self, n_dims):
        rounds = []

        def attempt(some):
            rounds.append(list(some))
            return [replace(each, modularity=0.5) for each in some]

        settings = [FlatSetting(dim, size, True, False) for dim in DIMS[:n_dims] for size in (2 * dim + 2, 6 * dim + 4)]
        climb(settings, attempt)
        assert middle_setting(settings) in rounds[0]

    @pytest.mark.parametrize(("sampled", "dim"), [(False, 4), (True, 6)])
    def test_of_near_ties_on_a_sample_the_largest_dimension_is_tried_wide(self, sampled, dim):
        scores = {2: 0.3, 3: 0.4, 4: 0.5, 6: 0.5 - DIM_TIE / 2, 9: 0.3}
        settings = [FlatSetting(each, size, True, False) for each in DIMS for size in (2 * each + 2, 6 * each + 4)]
        trials = climb(
            settings, lambda some: [replace(each, modularity=scores[each.dim]) for each in some], sampled=sampled
        )
        assert (trials[-1].dim, trials[-1].neighborhood) == (dim, 6 * dim + 4)


class TestSeparation:
    """Settings that show clusters of unequal sizes, where the one of the largest modularity cuts a large one."""

    def choose(self, monkeypatch, settings, *, middle=None, n=101, **options):
        """What is taken of scored settings, all tried, where more than a hundred rows are many.

        With more ways to make parts, the middle one may score otherwise.
        """

        def ask(setting, *arguments, n_draws):
            return replace(middle) if middle and n_draws == MIDDLE_DRAWS else replace(setting)

        monkeypatch.setattr(search, "PILOT_ROWS", 100)
        monkeypatch.setattr(search, "draw_sample", lambda *arguments, **options: None)
        monkeypatch.setattr(search, "try_setting", lambda setting, *arguments: replace(setting))
        monkeypatch.setattr(search, "ask_joins", ask)
        monkeypatch.setattr(search, "climb", lambda settings, attempt, **options: attempt(settings))
        return choose_setting(np.zeros((n, 9)), 2, settings, np.random.RandomState(0), **options)

    def test_the_largest_dimension_that_shows_them_is_taken(self, monkeypatch):
        settings = [parted(2, 0.48, 1, 1), parted(3, 0.2, 3, 1), parted(4, 0.3, 2, 1), parted(6, 0.4, 1, 1)]
        found = self.choose(monkeypatch, settings)
        assert found.setting == settings[2]
        assert found.kind == "density"
        assert found.uneven

    @pytest.mark.parametrize(("agreement", "dim"), [(SURE_AGREEMENT, 4), (SURE_AGREEMENT - 0.01, 3), (np.nan, 3)])
    def test_a_larger_dimension_needs_agreement(self, monkeypatch, agreement, dim):
        settings = [parted(2, 0.48, 1, 1), parted(3, 0.2, 3, 1, agreement=0), parted(4, 0.3, 3, 1, agreement=agreement)]
        assert self.choose(monkeypatch, settings).setting.dim == dim

    def test_a_smaller_dimension_is_not_taken(self, monkeypatch):
        settings = [parted(2, 0.48, 3, 1), parted(3, 0.2, 3, 1, agreement=0), parted(4, 0.3, 1, 1)]
        assert self.choose(monkeypatch, settings).setting == settings[1]

    def test_the_middle_setting_is_tried_first_with_more_draws(self, monkeypatch):
        settings = [parted(2, 0.48, 1, 1), parted(3, 0.2, 1, 1), parted(4, 0.3, 1, 1)]
        middle = parted(3, 0.21, 3, 1)
        found = self.choose(monkeypatch, settings, middle=middle)
        assert found.trials == [settings[0], middle, settings[2], settings[0], settings[2]]
        assert found.setting is found.trials[1]
        assert found.middle is found.trials[1]
        assert found.uneven
        # A result by chance with fewer draws does not count, and no other setting is tried.
        settings[1] = middle
        found = self.choose(monkeypatch, settings, middle=parted(3, 0.2, 1, 1))
        assert found.setting == settings[0]
        assert found.trials == [settings[0], parted(3, 0.2, 1, 1), settings[2]]
        assert not found.uneven

    def test_the_best_modularity_must_be_clearly_worse(self, monkeypatch):
        settings = [parted(2, 0.48, 1, 3), parted(3, 0.2, 3, 1), parted(4, 0.3, 3, 1)]
        found = self.choose(monkeypatch, settings)
        assert found.setting == settings[0]
        assert found.trials == [*settings, settings[0]]
        assert not found.uneven

    def test_only_the_middle_setting_is_tried(self, monkeypatch):
        settings = [parted(2, 0.48, 3, 1), parted(3, 0.2, 1, 1), parted(4, 0.3, 3, 1)]
        found = self.choose(monkeypatch, settings)
        assert found.setting == settings[0]
        assert not found.uneven

    def test_a_large_neighbourhood_would_leave_the_small_clusters(self, monkeypatch):
        settings = [parted(2, 0.48, 1, 1), parted(3, 0.2, 3, 1)]
        settings += [parted(4, 0.3, 3, 1, neighborhood=size) for size in (28, 10)]
        assert self.choose(monkeypatch, settings).setting == settings[3]

    def test_the_middle_is_a_dimension_with_its_smallest_neighbourhood(self):
        sizes = [(2, 6), (3, 22), (3, 8), (4, 10), (9, 58)]
        settings = [FlatSetting(dim, size, True, False) for dim, size in sizes]
        for order in (settings, settings[::-1]):
            found = middle_setting(order)
            assert (found.dim, found.neighborhood) == (3, 8)
            # Of two the lower.
            assert middle_setting([each for each in order if each.dim in (4, 9)]).dim == 4
        assert middle_setting(settings[3:4]) is settings[3]
        given = [FlatSetting(dim, "beta2", True, False) for dim in (2, 3, 4)]
        assert middle_setting(given) is given[1]

    @pytest.mark.parametrize("options", [{"n": 100}, {"kind": "density"}, {"kind": "balanced"}])
    def test_few_rows_or_a_given_kind_skip_the_question(self, monkeypatch, options):
        settings = [parted(2, 0.48, 1, 1), parted(3, 0.2, 3, 1), parted(4, 0.3, 1, 1)]
        assert self.choose(monkeypatch, settings).uneven
        found = self.choose(monkeypatch, settings, **options)
        assert found.setting == settings[0]
        assert found.trials == settings
        assert found.kind == options.get("kind", "auto")

    @pytest.mark.parametrize(
        "own",
        [
            pytest.param((1 + 0.9 * UNEVEN_MARGIN, 0.5), id="not clearly above that of the best setting"),
            pytest.param((2, 2 - 0.9 * UNEVEN_MARGIN), id="not clearly above what its own modularity finds"),
            pytest.param((-np.inf, -np.inf), id="clusters too small"),
            pytest.param((np.nan, np.nan), id="not computed"),
        ],
    )
    def test_a_setting_must_be_clearly_better_separated(self, monkeypatch, own):
        settings = [parted(2, 0.48, 1, 1), parted(3, 0.2, *own), parted(4, 0.3, 1, 1)]
        found = self.choose(monkeypatch, settings)
        assert found.setting == settings[0]
        assert not found.uneven
        # By a little more than the margin it is.
        settings[1] = parted(3, 0.2, 1 + 1.1 * UNEVEN_MARGIN, 1)
        assert self.choose(monkeypatch, settings).setting == settings[1]

    def test_the_best_setting_may_show_them_itself(self, monkeypatch):
        settings = [parted(2, 0.48, 3, 1), parted(3, 0.2, 1, 1)]
        found = self.choose(monkeypatch, settings)
        assert found.setting == settings[0]
        assert found.uneven

    def test_a_trial_records_its_partitions(self, monkeypatch):
        found = []

        def spy(*arguments, **options):
            found.append(choose_partition(*arguments, **options))
            return found[-1]

        monkeypatch.setattr(search, "choose_partition", spy)
        rows = make_subspaces((2, 2), 6, points_per_subspace=[500, 60], outliers=0, random_state=0)[0]
        settings = [FlatSetting(2, size, False, True) for size in (6, 16)]
        for trial, choice in zip(asked(rows, 2, settings), found, strict=True):
            assert trial.modularity == choice.balanced.modularity
            assert trial.separation == choice.density.separation
            assert trial.balanced_separation == choice.balanced.separation
            assert trial.agreement == choice.agreement
            assert trial.n_rows == len(rows)
        assert any(choice.density.separation > choice.balanced.separation for choice in found)
        # Separation is not computed unless it is needed.
        for trial, choice in zip(tried(rows, 2, settings), found[2:], strict=True):
            assert trial.modularity == choice.balanced.modularity
            assert trial.n_rows == len(rows)
            assert np.isnan([trial.separation, trial.balanced_separation, trial.agreement]).all()


class TestSample:
    def test_flats_are_those_of_the_feature_map(self):
        rows = linear_rows()
        settings = [
            FlatSetting(2, 6, False, True),
            FlatSetting(2, 16, True, False),
            FlatSetting(2, "beta2", True, False),
        ]
        sample = draw_sample(rows, settings, np.random.RandomState(0), 1000)
        for setting in settings:
            psi, _, _ = setting_graph(setting, sample, 3)
            features = SubspaceFeatures(
                subspace_dim=2,
                n_nearest=search.SAMPLE_NEAREST,
                landmarks=sample.landmarks[setting.unit],
                neighborhood=setting.neighborhood,
                affine=setting.affine,
                trim=True,
            )
            expected = features.fit(sample.rows[setting.unit]).transform(sample.rows[setting.unit])
            np.testing.assert_array_equal(psi.toarray(), expected.toarray())

    def test_neighbours_reach_as_far_as_the_largest_setting(self):
        rows = linear_rows()
        settings = [FlatSetting(2, 6, False, True), FlatSetting(2, 16, False, True)]
        neighbors = draw_sample(rows, settings, np.random.RandomState(0), 1000).neighbors
        assert neighbors[True].shape == (len(rows) // 2, 16)
        few = draw_sample(rows[:9], settings, np.random.RandomState(0), 1000)
        assert few.neighbors[True].shape == (4, 9)


class TestKnownData:
    def test_the_true_dimension_scores_best_on_linear_subspaces(self):
        for seed in range(3):
            rows = make_subspaces((3, 3, 3), 9, points_per_subspace=80, random_state=seed)[0]
            settings = candidate_settings(*rows.shape, 3, affine=False, unit=True)
            best, _ = best_and_trials(rows, 3, settings, np.random.RandomState(0))
            assert best.dim == 3

    def test_linear_subspaces_are_taken_for_linear(self):
        for seed in range(6):
            rows = linear_rows(seed)
            best, _ = best_and_trials(rows, 2, both_kinds(rows, 2), np.random.RandomState(0))
            assert not best.affine
            assert best.unit
            assert best.modularity > 0.45

    @pytest.mark.parametrize(("dims", "p"), [((2, 2, 2), 4), ((3, 3, 3, 3), 6)])
    def test_affine_subspaces_that_fill_the_space_are_taken_for_affine(self, dims, p):
        for seed in range(4):
            rows = affine_rows(dims, p, seed, noise=0.02)
            best, _ = best_and_trials(rows, len(dims), both_kinds(rows, len(dims)), np.random.RandomState(0))
            assert best.affine

    def test_affine_subspaces_with_room_to_spare_suit_both_kinds(self):
        """In R^6 two affine planes span linear subspaces of dimension three each, which tell them apart as well.

        Affine flats score higher on every draw, but often within the margin; what is taken is never far behind.
        """
        taken = []
        for seed in range(6):
            rows = affine_rows((2, 2), 6, seed, noise=0.05)
            best, trials = best_and_trials(rows, 2, both_kinds(rows, 2), np.random.RandomState(0))
            linear, affine = (max(t.modularity for t in trials if t.affine == kind) for kind in (False, True))
            assert affine > linear
            assert best.modularity >= affine - AFFINE_MARGIN
            taken.append(best.affine)
        assert any(taken)
