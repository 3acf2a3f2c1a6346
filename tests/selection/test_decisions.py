"""What FLS tells about its decisions: candidates, the winner and a reason that is true."""

import json
from dataclasses import replace

import numpy as np
import pytest

from subspaces.flats.description import measure, shortest_code
from subspaces.flats.neighborhoods import Beta2
from subspaces.selection.coding import spread
from subspaces.selection.decisions import flats_decision, partition_decision, structure_decision
from subspaces.selection.partition import PartitionChoice
from subspaces.selection.search import FlatSetting, Search, Trial
from subspaces.selection.structure import BENT, BLOBS, FLAT, Structure
from subspaces.spectral.partition import Partition

LINEAR = FlatSetting(2, 6, False, True, modularity=0.4, n_rows=100)
WIDE = FlatSetting(4, 28, False, True, modularity=0.5, n_rows=100)
AFFINE = FlatSetting(3, "beta2", True, False, modularity=0.3, n_rows=90)
POINTS = FlatSetting(0, 1, True, False, modularity=0.2, n_rows=90)
WHITENED = FlatSetting(2, 6, False, True, 0.5, modularity=0.1, n_rows=90)


def partition(n_vectors, modularity, separation=1.0, origin="k-means"):
    return Partition(3, n_vectors, None, origin=origin, modularity=modularity, separation=separation)


def decided(chosen, tried):
    """The record of a search that tried these settings."""
    nothing = np.zeros(0)
    trials = [Trial(setting, nothing, nothing.astype(int), nothing.astype(int)) for setting in tried]
    return flats_decision(Search(chosen, trials, LINEAR))


class TestFlats:
    def test_every_trial_is_recorded(self):
        found = decided(WIDE, [LINEAR, WIDE, AFFINE, POINTS, WHITENED])
        assert found.name == "flats"
        assert found.candidates[0] == {
            "flats": "linear flats",
            "rows": "scaled",
            "subspace_dim": 2,
            "neighborhood": 6,
            "n_rows": 100,
            "modularity": 0.4,
        }
        assert found.candidates[2] == {
            "flats": "affine flats",
            "rows": "as they are",
            "subspace_dim": 3,
            "neighborhood": "beta2",
            "n_rows": 90,
            "modularity": 0.3,
        }
        assert [each["flats"] for each in found.candidates[3:]] == [
            "points",
            "linear flats of half-whitened rows",
        ]
        assert found.chosen["subspace_dim"] == 4
        assert found.score == "modularity"

    def test_a_setting_tried_twice_keeps_the_trial_that_won(self):
        again = replace(WIDE, modularity=0.49)
        assert decided(again, [LINEAR, WIDE, again]).winner == 2
        assert decided(WIDE, [LINEAR, WIDE, again]).winner == 1

    @pytest.mark.parametrize("chosen", [WIDE, AFFINE])
    def test_a_pilot_is_recorded(self, chosen):
        both = decided(chosen, [LINEAR, WIDE, AFFINE]).reason
        assert both.startswith("affine flats" if chosen.affine else "linear flats")
        assert "pilot" in both
        assert "largest modularity" in both
        own = [each for each in (LINEAR, WIDE, AFFINE) if each.affine == chosen.affine]
        assert decided(chosen, own).reason == "the largest modularity"

    def test_plain_values(self):
        given = FlatSetting(2, Beta2(4, 2), True, False)
        found = decided(given, [given])
        told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert told["candidates"][0]["neighborhood"] == str(Beta2(4, 2))
        assert told["candidates"][0]["modularity"] is None
        assert "Beta2" in repr(found)


class TestStructure:
    @pytest.mark.parametrize(
        ("kind", "word"), [(FLAT, "few directions"), (BLOBS, "without directions"), (BENT, "worse")]
    )
    def test_the_kind_and_its_evidence(self, kind, word):
        code, one = (
            shortest_code(measure(size * np.eye(4), affine=True), np.zeros(4, int), 1, free=False) for size in (1, 9)
        )
        found = structure_decision(Structure(kind, code, (code,), {}, one, 0.8, np.eye(4)))
        assert word in found.reason
        assert found.chosen == {
            "clusters": kind,
            "share": 0.8,
            "spread": spread(code),
            "one_flat": one.length / 4,
            "k_flats": code.length / 4,
        }
        assert kind in repr(found)


class TestPartition:
    candidates = (
        partition(2, 0.40),
        partition(2, 0.45),
        partition(3, 0.44),
        partition(3, 0.41),
        partition(6, 0.43, origin="parts joined by modularity"),
        partition(6, 0.30, 2.0, origin="parts joined by strength"),
        partition(6, 0.20, 3.0, origin="parts joined by strength"),
    )

    def choice(self, winner, density=None):
        return PartitionChoice(winner, self.candidates[1], density or self.candidates[1], list(self.candidates))

    def told(self, decision):
        return [(each["origin"], each["n_components"], each["modularity"]) for each in decision.candidates]

    def test_the_best_of_each_origin_and_number_of_eigenvectors(self):
        found = partition_decision(self.choice(self.candidates[1]), self.candidates[1])
        assert self.told(found)[0] == ("k-means", 2, 0.45)
        assert sorted(self.told(found)[1:]) == [
            ("k-means", 3, 0.44),
            ("parts joined by modularity", 6, 0.43),
            ("parts joined by strength", 6, 0.30),
        ]
        assert found.chosen == {"origin": "k-means", "n_components": 2, "modularity": 0.45, "separation": 1.0}
        assert (found.name, found.score, found.winner) == ("partition", "modularity", 0)

    def test_the_winner_is_recorded_even_with_less_modularity(self):
        winner = self.candidates[6]
        found = partition_decision(self.choice(winner, winner), winner)
        assert found.chosen["modularity"] == 0.20
        assert len(found.candidates) == 4
        assert "better separated" in found.reason

    def test_modularity_won_though_it_is_the_best_separated_too(self):
        best = self.candidates[1]
        assert "largest modularity, or" in partition_decision(self.choice(best, best), best).reason
        assert "largest modularity, or" in partition_decision(self.choice(best, self.candidates[6]), best).reason

    def test_flats_won(self):
        flats = partition(6, 0.42, np.nan, origin="flats")
        found = partition_decision(self.choice(self.candidates[1]), flats)
        assert found.chosen["origin"] == "flats"
        assert "shortest description" in found.reason
        # What would have been taken without them is among the others.
        assert ("k-means", 2, 0.45) in self.told(found)
        assert len(found.candidates) == 5
