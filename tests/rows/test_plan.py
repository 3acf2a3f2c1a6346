"""What a fit says that it will do, and that it does it."""

import numpy as np
import pytest

from subspaces import FLS
from subspaces.datasets import make_subspaces
from subspaces.rows import feed as _engine
from subspaces.rows import open_rows, plan


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(plan, "TRIAL_SECONDS", 0.001)
    monkeypatch.setattr(plan, "TRIAL_ROWS", 64)


class TestPlan:
    def test_few_rows_are_read_once(self):
        found = FLS(3).plan(5000, 20)
        assert [each.name for each in found.passes] == ["decide on the sample"]
        assert found.sample_rows == 5000

    def test_many_rows_are_read_three_times(self):
        found = FLS.plan(10**9, 80)
        assert [each.rows for each in found.passes] == [10**9, 100_000, 10**9, 10**9]
        assert found.sample_rows == 100_000
        assert found.n_landmarks == 3000
        assert found.passes[0].blocks * found.block_rows >= 10**9

    def test_a_class_and_an_object_give_the_same_plan(self):
        assert FLS.plan(10**6, 30).n_landmarks == 3000
        assert FLS(4, n_landmarks=300, subspace_dim=5).plan(10**6, 30).n_landmarks == 300
        assert FLS(4, n_landmarks=300, subspace_dim=5).plan(10**6, 30).subspace_dim == 5
        assert "how much memory" in FLS.plan.func.__doc__

    def test_nothing_but_labels_grows_with_the_rows(self):
        few, many = (FLS.plan(n, 80).memory for n in (10**6, 10**8))
        assert {name for name in few if few[name] != many[name]} == {"labels"}

    def test_time_grows_with_the_rows_and_the_parameters(self, monkeypatch):
        monkeypatch.setattr(plan, "seconds_per_row", lambda *arguments: 1e-6)
        assert FLS.plan(10**9, 80).seconds == pytest.approx(10 * FLS.plan(10**8, 80).seconds, rel=0.1)
        assert FLS(n_draws=4).plan(10**9, 80).seconds == pytest.approx(4 * FLS.plan(10**9, 80).seconds, rel=0.1)
        dense = FLS.paper(3, subspace_dim=3).plan(10**9, 80)
        assert dense.seconds == pytest.approx(1.5 * FLS.plan(10**9, 80).seconds, rel=0.1)

    def test_a_device_of_torch(self, monkeypatch):
        pytest.importorskip("torch")
        monkeypatch.setattr(plan, "DEVICE_TRIALS", 2)
        found = FLS.plan(10**7, 80, device="cpu")
        assert "all, on cpu" in str(found)
        assert [each.name for each in found.passes] == [each.name for each in FLS.plan(10**7, 80).passes]
        assert all(each.seconds > 0 for each in found.passes)
        with pytest.raises(ValueError, match="cannot be used here"):
            FLS.plan(10**7, 80, device="nowhere")

    def test_a_memory_limit_makes_blocks_smaller(self):
        assert FLS.plan(10**8, 80, memory_limit="100MB").block_rows < FLS.plan(10**8, 80).block_rows
        assert FLS.plan(10**8, 80, memory_limit="100MB").peak_bytes < FLS.plan(10**8, 80).peak_bytes

    def test_prints(self):
        text = str(FLS.plan(10**8, 80))
        assert "100,000,000 rows of 80 columns" in text
        assert "labels 400 MB" in text
        assert "sums over all rows" in text

    def test_times_have_units(self, monkeypatch):
        monkeypatch.setattr(plan, "seconds_per_row", lambda *arguments: 1e-5)
        last = str(FLS.plan(10**9, 80)).splitlines()[7]
        assert last.endswith(" 5.6 h")
        assert "21" not in last

    def test_flat_clusters_take_less(self, monkeypatch):
        monkeypatch.setattr(plan, "seconds_per_row", lambda *arguments: 1e-5)
        found = FLS.plan(10**9, 80)
        assert found.seconds_if_flat < found.seconds / 5
        assert [each.name for each in found.if_flat] == [found.passes[i].name for i in (0, 1, 3)]
        assert "if clusters are flat" in str(found)
        # The graph decides in any case.
        for model in (FLS(3, assign="balanced"), FLS.paper(3, subspace_dim=2)):
            assert model.plan(10**6, 80).seconds_if_flat == model.plan(10**6, 80).seconds
            assert "if clusters are flat" not in str(model.plan(10**6, 80))

    def test_few_rows_take_a_moment(self, monkeypatch):
        monkeypatch.setattr(plan, "seconds_per_row", lambda *arguments: 1e-6)
        assert FLS.plan(200, 5).seconds < 0.3
        assert 1 < FLS.plan(2000, 60).seconds < 3

    def test_many_landmarks_keep_weights_instead_of_products(self):
        few, many = (FLS(3, n_landmarks=count).plan(10**6, 20).memory for count in (3000, 32_000))
        assert few["products of flats"] == 4 * 8 * 3000**2
        assert many["products of flats"] == 4 * 8 * 5 * 10**6

    @pytest.mark.parametrize(
        ("shape", "name"), [((0, 80), "n_rows=0"), ((10, 1), "n_columns=1"), ((-5, 80), "n_rows=-5")]
    )
    def test_impossible_shapes(self, shape, name):
        with pytest.raises(ValueError, match=name):
            FLS.plan(*shape)

    def test_a_wrong_limit(self):
        with pytest.raises(ValueError, match="a lot"):
            FLS.plan(1000, 10, memory_limit="a lot")

    def test_is_the_plan_that_fit_follows(self, monkeypatch):
        """As many blocks are read in each pass as the plan says."""
        monkeypatch.setattr(_engine, "FIT_ROWS", 500)
        monkeypatch.setattr(plan, "FIT_ROWS", 500)
        X, _ = make_subspaces((2, 3), 8, points_per_subspace=1000, random_state=0)
        X = X.astype(np.float32)
        reads = []

        def blocks():
            for start in range(0, len(X), 400):
                reads.append(start)
                yield X[start : start + 400]

        FLS(2, n_landmarks=100, random_state=0).fit(open_rows(blocks, block_rows=400))
        planned = FLS(2, n_landmarks=100).plan(len(X), 8)
        # Beside the passes of the plan: the first block to know the columns, a look at some rows, the sample itself.
        n_passes = sum(each.rows == len(X) for each in planned.if_flat)
        assert n_passes * 6 <= len(reads) <= (n_passes + 2) * 6
