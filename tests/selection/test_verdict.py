"""The verdict: figures of evidence, what `judge` says about them, and `verdict_` of FLS."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_blobs, make_moons

from subspaces import FLS, load
from subspaces.datasets import make_subspaces
from subspaces.estimators._states import Judgement
from subspaces.saving.fields import DamagedError, Sizes
from subspaces.selection import Evidence, Verdict, gather, judge
from subspaces.selection.evidence import Difference, _crossings, _shuffled_gain
from subspaces.selection.verdict import TRUST, verdict_of

PLANES, PLANE_LABELS = make_subspaces((2, 2, 2), 8, noise=0.02, random_state=0)
MOONS, MOON_LABELS = make_moons(400, noise=0.05, random_state=0)
BLOBS, BLOB_LABELS = make_blobs(300, centers=3, n_features=6, random_state=0)


def evidence_of(x, labels, n_clusters=None, **more):
    return gather(x, labels, n_clusters or labels.max() + 1, rng=np.random.RandomState(0), **more)


@pytest.fixture(scope="module")
def planes():
    return evidence_of(PLANES, PLANE_LABELS, landmarks=1.0)


@pytest.fixture(scope="module")
def moons():
    return evidence_of(MOONS, MOON_LABELS, landmarks=1.0)


class TestStructure:
    def test_flat_subspaces(self, planes):
        found = judge(planes)
        assert (found.structure, found.trust) == ("flat subspaces", "reliable")
        assert planes.gain.mean > 1 > planes.shuffled_gain.mean
        assert planes.fewer.is_clear
        assert not planes.more.is_clear
        assert planes.rival.mean > 0

    def test_bent_clusters(self, moons):
        found = judge(moons)
        assert (found.structure, found.trust) == ("bent clusters", "reliable")
        assert moons.points > 0.95 > moons.flats
        assert moons.crossing < 0.01

    def test_separate_clusters_that_single_columns_explain(self):
        """Two diamonds side by side: shuffled columns also fall into two parts, so nothing relates the columns."""
        rng = np.random.RandomState(0)
        rows = rng.uniform(-1, 1, (800, 2))
        rows = rows[np.abs(rows).sum(axis=1) < 0.95]
        labels = rng.randint(2, size=len(rows))
        found = evidence_of(rows + 1.8 * labels[:, None] * [1, 0], labels, landmarks=1.0)
        assert found.shuffled_gain.mean > 0.9 * found.gain.mean
        verdict = judge(found)
        assert (verdict.structure, verdict.trust) == ("blobs", "stable, but unconfirmed")
        assert "shuffled" in verdict.reasons[0]

    def test_there_is_something_to_try_unless_clusters_are_reliable(self, planes, moons):
        for found in (planes, moons):
            assert not judge(found).advice
            # Unstable, and nothing says what else to do.
            unstable = judge(replace(found, landmarks=0.6, points=0.3, graphs=None, flats=0.3, crossing=None))
            assert unstable.trust != "reliable"
            assert unstable.advice == (
                "another number of clusters or another method, and rely on the clusters that stay.",
            )

    def test_blobs_and_the_advice_to_use_k_means(self):
        found = judge(evidence_of(BLOBS, BLOB_LABELS, landmarks=1.0))
        assert (found.structure, found.trust) == ("blobs", "reliable")
        assert "k-means" in " ".join(found.advice)

    @pytest.mark.parametrize("seed", range(3))
    def test_noise_and_independent_columns_are_never_reliable(self, seed):
        rng = np.random.RandomState(seed)
        shuffled = np.column_stack([rng.permutation(column) for column in BLOBS.T])
        for x in (rng.normal(size=(200, 5)), rng.uniform(size=(200, 2)), shuffled):
            # As stable as can be.
            labels = (x[:, 0] > np.median(x[:, 0])).astype(np.int32)
            found = judge(evidence_of(x, labels, landmarks=1.0, seeds=1.0))
            assert (found.structure, found.trust) == ("none", "unreliable")

    @pytest.mark.filterwarnings("ignore:Other landmarks")
    def test_columns_with_gaps_or_few_values_are_not_reliable(self):
        """Each column falls into groups, but no two columns are related."""
        rng = np.random.RandomState(0)
        gaps = rng.normal(size=(300, 2)) + [10, 0] * rng.randint(2, size=(300, 2))
        few = np.where(rng.uniform(size=(600, 6)) < 0.4, 100, rng.randint(0, 100, (600, 6)))
        for x, k in ((gaps, 2), (few, 3)):
            assert FLS(k, random_state=0).fit(x).verdict_.trust != "reliable"

    @pytest.mark.filterwarnings("ignore:Other landmarks")
    def test_shuffled_columns_are_described_by_the_same_search(self):
        """Rows with independent columns gain as much as their shuffled columns, though k-means finds less."""
        rng = np.random.RandomState(0)
        few = np.where(rng.uniform(size=(1000, 8)) < 0.4, 100, rng.randint(0, 100, (1000, 8))).astype(float)
        model = FLS(5, random_state=0).fit(few)
        known = model._pending_verdict
        quick, full, same = (
            _shuffled_gain(few, 5, np.random.RandomState(0), structure, prepare)
            for structure, prepare in ((None, None), (known.structure, None), (known.structure, known.preparation))
        )
        assert full.mean > quick.mean
        assert same.mean >= full.mean - 1e-9
        assert model.verdict_.evidence.gain.mean < same.mean + 0.3

    def test_crossings_are_relative_to_chance(self):
        near = np.random.RandomState(0).randint(1000, size=(1000, 10))
        for share in (0.5, 0.9):
            labels = (np.arange(1000) >= share * 1000).astype(np.int32)
            assert np.isclose(_crossings(near, labels).mean(), 1, atol=0.05)


class TestTrust:
    def test_stability_alone_is_never_enough(self, planes, moons):
        rng = np.random.RandomState(0)
        for x, k in ((PLANES, 3), (MOONS, 2)):
            found = judge(evidence_of(x, rng.randint(k, size=len(x)).astype(np.int32), landmarks=1.0, seeds=1.0))
            assert found.trust != "reliable"

    def test_bent_clusters_need_stability(self, moons):
        assert judge(replace(moons, landmarks=None)).trust == "doubtful"
        joined = replace(moons, crossing=0.1, shuffled_crossing=0.3, graphs=0.95)
        assert judge(joined).trust == "reliable"
        assert judge(replace(joined, landmarks=0.7)).trust == "doubtful"
        assert judge(replace(joined, landmarks=0.2)).trust == "unreliable"
        assert judge(replace(joined, landmarks=1.0, seeds=0.2)).trust == "unreliable"

    def test_other_graphs_and_landmarks_count_together(self, moons):
        bent = replace(moons, points=0.5, crossing=0.1, shuffled_crossing=0.3)
        for graphs, landmarks, trust in ((0.87, 0.93, "reliable"), (0.92, 0.82, "stable, but unconfirmed")):
            assert judge(replace(bent, graphs=graphs, landmarks=landmarks)).trust == trust

    def test_k_means_and_neighbours_confirm_the_best_description(self):
        both = replace(evidence_of(BLOBS, BLOB_LABELS, landmarks=0.85), kmeans=0.85, points=0.85, graphs=0.5)
        close = replace(both, fewer=Difference(0.01, 0.1))
        assert judge(close).trust == "reliable"
        assert judge(replace(close, kmeans=0.7)).trust == "stable, but unconfirmed"
        for better in ("fewer", "rival"):
            assert judge(replace(close, **{better: Difference(-0.01, 0.1)})).trust == "stable, but unconfirmed"
        assert judge(replace(close, more=Difference(1.0, 0.1))).trust == "stable, but unconfirmed"
        assert judge(replace(close, fewer=None, share=None)).trust == "stable, but unconfirmed"

    def test_blobs_that_neighbours_do_not_find(self):
        blobs = evidence_of(BLOBS, BLOB_LABELS, landmarks=1.0)
        apart = replace(blobs, points=0.2, graphs=0.2, rival=Difference(1.0, 0.1))
        found = judge(apart)
        assert (found.structure, found.trust) == ("blobs", "stable, but unconfirmed")
        # Every search ended at these blobs.
        assert judge(replace(apart, rival=None)).trust == "reliable"
        assert judge(replace(blobs, kmeans=0.2, graphs=0.2)).trust == "reliable"

    def test_flats_must_be_clearly_better_than_one(self, planes):
        apart = replace(planes, crossing=0.1, shuffled_crossing=0.5, points=0.2, graphs=None)
        assert judge(apart).trust == "reliable"
        found = judge(replace(apart, gain=Difference(0.1, 0.05), shuffled_gain=Difference(-0.1, 0.05)))
        assert found.trust != "reliable"
        assert "hardly describe the rows better than one" in " ".join(found.reasons)

    def test_flat_clusters_need_the_number_that_flats_have(self, planes):
        """Graphs repeat a cluster that is cut in two."""
        cut = replace(planes, fewer=Difference(0.1, 0.1), points=1.0, graphs=1.0)
        assert judge(cut).trust == "stable, but unconfirmed"
        untested = judge(replace(planes, fewer=None, points=0.5, graphs=0.5))
        assert untested.trust == "stable, but unconfirmed"
        assert "not tested" in untested.reasons[0]

    def test_columns_that_keep_structure_if_shuffled(self, planes):
        """Flats and neighbours must both find the clusters if shuffled columns have most of their gain."""
        alike = replace(planes, crossing=0.1, shuffled_crossing=0.1, points=1.0)
        gains = {"gain": Difference(1.0, 0.05), "shuffled_gain": Difference(0.7, 0.05)}
        assert judge(replace(alike, **gains)).trust == "reliable"
        assert judge(replace(alike, **gains, points=0.8)).trust != "reliable"
        assert judge(replace(alike, **gains | {"shuffled_gain": Difference(0.9, 0.05)})).trust != "reliable"

    def test_few_landmarks_are_no_objection_if_nothing_joins_clusters(self, moons):
        assert judge(replace(moons, landmarks=0.7)).trust == "reliable"

    def test_graphs_of_other_flats_confirm_bent_clusters(self, moons):
        unlike = replace(moons, points=0.5, gain=Difference(1.0, 0.1))
        assert judge(unlike).trust == "stable, but unconfirmed"
        found = judge(replace(unlike, graphs=0.95))
        assert found.trust == "reliable"
        assert "Other kinds of flats" in " ".join(found.reasons)

    def test_stable_but_another_method_disagrees(self, moons):
        found = judge(replace(moons, points=0.1, crossing=0.1, shuffled_crossing=0.3))
        assert found.trust == "stable, but unconfirmed"
        assert "agreement 0.10" in found.reasons[0]

    @pytest.mark.parametrize("shift", [-1, 1])
    def test_wrong_number_of_flats(self, shift):
        x, labels = make_subspaces((2, 2, 2), 8, noise=0.02, random_state=1)
        if shift < 0:
            labels = np.minimum(labels, 1)
        else:
            labels = np.where((labels == 2) & (np.arange(len(x)) % 2 == 0), 3, labels)
        found = judge(evidence_of(x, labels.astype(np.int32), 3 + shift, landmarks=1.0))
        assert found.trust == "stable, but unconfirmed"

    def test_number_of_bent_clusters(self, moons):
        found = judge(replace(moons, modularity=0.8, other_modularity=0.9, other_count=3))
        assert found.trust == "stable, but unconfirmed"
        assert "3 clusters." in found.advice

    def test_rivals(self, planes):
        found = judge(replace(planes, points=0.1, graphs=None, rival=Difference(-0.1, 0.5)))
        assert found.trust == "stable, but unconfirmed"
        assert "Other clusters describe" in found.reasons[0]

    @pytest.mark.parametrize(
        ("figures", "advice"),
        [
            ({"more": Difference(0.5, 0.1), "more_count": 5}, "5 clusters."),
            ({"fewer": Difference(0.1, 0.1)}, "2 clusters."),
        ],
    )
    def test_other_numbers_of_flats(self, planes, figures, advice):
        found = judge(replace(planes, points=0.1, graphs=None, **figures))
        assert found.trust == "stable, but unconfirmed"
        assert advice in found.advice
        assert found.count_advice == advice
        assert judge(planes).count_advice == ""

    def test_dominant_column(self):
        x = load_wine().data
        found = judge(evidence_of(x, (x[:, -1] > np.median(x[:, -1])).astype(np.int32), landmarks=1.0))
        assert found.evidence.top_column > 0.9
        assert found.trust != "reliable"
        assert found.structure == "none" or "standardised" in " ".join(found.advice)

    def test_leading_components_of_many_columns(self, moons):
        found = judge(replace(moons, n_columns=2000, leading=0.8))
        assert found.trust == "stable, but unconfirmed"
        assert "leading principal components" in found.advice[0]

    def test_small_and_empty_clusters(self, planes):
        assert "fewer than 5 rows" in judge(replace(planes, smallest=3)).reasons[0]
        assert "empty" in judge(replace(planes, smallest=0)).reasons[0]

    def test_one_cluster(self):
        found = judge(evidence_of(PLANES, np.zeros(len(PLANES), np.int32), 1, landmarks=1.0))
        assert (found.structure, found.trust) == ("none", "unreliable")
        assert "only one cluster" in found.reasons[0]
        assert "other columns" in found.advice[0]

    @pytest.mark.parametrize("points", [0.1, 0.85, 0.92, 0.96])
    def test_reasons_do_not_contradict_each_other(self, moons, points):
        """An agreement that is too low for bent clusters is not a reason for them as well."""
        unsure = replace(moons, points=points, graphs=None, crossing=0.02, gain=Difference(1.0, 0.1))
        said = [each for each in judge(unsure).reasons if each.startswith("Spectral clustering")]
        assert len(said) <= 1


class TestEvidence:
    def test_few_rows_and_equal_rows(self):
        for x in (np.ones((5, 3)), np.eye(3), np.array([[0.0, 0], [1, 1]]), np.repeat(np.eye(2), 10, axis=0)):
            labels = (np.arange(len(x)) >= len(x) / 2).astype(np.int32)
            assert judge(evidence_of(x, labels)).trust in TRUST

    def test_outliers_are_rows_without_a_cluster(self):
        labels = PLANE_LABELS.copy()
        labels[:10] = -1
        found = evidence_of(PLANES, labels)
        assert found.outliers == pytest.approx((labels < 0).mean())
        assert found.flats > 0.95

    def test_the_same_seed_gives_the_same_evidence(self, planes):
        assert evidence_of(PLANES, PLANE_LABELS, landmarks=1.0) == planes


class TestVerdict:
    def test_text_html_and_json(self, planes):
        found = judge(planes)
        assert str(found).startswith("Reliable. The clusters are flat subspaces.\n- ")
        assert "<strong>Reliable." in found._repr_html_()
        assert found.meaning.startswith("You can use")
        assert found.meaning in found._repr_html_()
        document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert verdict_of(document) == found
        assert set(document["evidence"]) == set(Evidence.__dataclass_fields__)

    def test_of_fls_and_saved(self, tmp_path):
        model = FLS(3, random_state=0).fit(PLANES)
        assert isinstance(model.verdict_, Verdict)
        assert model.verdict_.trust == "reliable"
        assert model.verdict_.evidence.halves == model.agreement_
        assert model.verdict_.evidence.landmarks is None
        assert "Halves of the rows give the same clusters" in str(model.verdict_)
        assert load(model.save(tmp_path / "model")).verdict_ == model.verdict_

    def test_of_a_graph(self):
        verdict = FLS(2, assign="balanced", random_state=0).fit(MOONS).verdict_
        assert verdict.evidence.halves is None
        assert "Other landmarks give the same clusters" in str(verdict)

    @pytest.mark.parametrize("n_clusters", [2, 3])
    @pytest.mark.filterwarnings("ignore:Other landmarks", "ignore:Halves of the rows")
    def test_copies_of_noise_are_not_clusters(self, n_clusters):
        rows = np.repeat(np.random.default_rng(0).normal(size=(100, 3)), 15, axis=0)
        assert FLS(n_clusters, random_state=0).fit(rows).verdict_.trust == "unreliable"

    def test_saved_evidence_of_other_versions(self, planes):
        field = Judgement()
        saved = judge(planes).to_dict()
        saved["evidence"]["no_longer_measured"] = 1.0
        del saved["evidence"]["graphs"]
        assert field.decode(saved, "verdict_", Sizes()).evidence == replace(planes, graphs=None)
        figures = ({"gain": "large"}, {"gain": {"mean": "large", "error": 1}}, {"gain": {"mean": 1}}, {"kind": "odd"})
        evidence = [{"evidence": each} for each in figures]
        for wrong in ({"trust": "certain"}, {"reasons": [1]}, {"more": 1}, *evidence):
            with pytest.raises(DamagedError, match="verdict_"):
                field.decode(saved | wrong, "verdict_", Sizes())

    def test_of_the_published_algorithm(self):
        found = FLS.paper(3, subspace_dim=2, n_landmarks=100, random_state=0).fit(PLANES).verdict_
        assert found.evidence.landmarks is None
        assert found.structure == "flat subspaces"
