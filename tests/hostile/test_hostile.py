"""A share of the hostile trials, and all that have ever failed; `make fuzz N=10000` runs more."""

import contextlib
import json
from pathlib import Path

import fuzz
import numpy as np
import pytest
import trials

from subspaces._core.errors import UserError

SEEDS = 12
KEPT = [(each["kind"], each["seed"]) for each in json.loads(fuzz.FAILURES.read_text())]


@pytest.mark.parametrize("kind", trials.KINDS)
def test_some_seeds(kind, tmp_path):
    """Each trial is answered or refused; anything else raises."""
    outcomes = set()
    for seed in range(SEEDS):
        (tmp_path / str(seed)).mkdir()
        outcomes.add(trials.KINDS[kind](seed, tmp_path / str(seed)))
    assert outcomes == {"answered", "refused"}


@pytest.mark.parametrize(("kind", "seed"), KEPT)
def test_seeds_that_once_failed(kind, seed, tmp_path):
    assert trials.KINDS[kind](seed, tmp_path) in fuzz.GOOD


class TestRunner:
    """What the runner reports about trials that fail."""

    @pytest.fixture(autouse=True)
    def failing_trials(self, tmp_path, monkeypatch):
        """A folder with the runner and with trials that fail in every way."""
        for path in (fuzz.HERE / "fuzz.py", fuzz.HERE.parent / "memory.py"):
            (tmp_path / path.name).write_text(path.read_text())
        (tmp_path / "trials.py").write_text(
            "import os, time\n"
            "class Wrong(AssertionError): pass\n"
            "MEMORY = {'some': 100}\n"
            "def trial(seed, folder):\n"
            "    if seed == 1: raise Wrong('bad')\n"
            "    if seed == 2: raise KeyError('a')\n"
            "    if seed == 3: time.sleep(60)\n"
            "    if seed == 4: os._exit(5)\n"
            "    if seed == 7: bytearray(b'a') * (200 * 10**6)\n"
            "    if seed == 8: bytearray(b'a') * (50 * 10**6)\n"
            "    return 'refused'\n"
            "KINDS = {'some': trial}\n"
        )
        monkeypatch.setattr(fuzz, "__file__", str(tmp_path / "fuzz.py"))
        monkeypatch.setattr(fuzz, "HANG_SECONDS", 2.0)

    def test_every_trial_is_counted_once(self):
        found = {trial: outcome for trial, outcome, _ in fuzz.run([("some", seed) for seed in range(7)], 1, 2)}
        outcomes = ["refused", "wrong answer", "traceback", "hang", "crash", "refused", "refused"]
        assert [found["some", seed] for seed in range(7)] == outcomes

    def test_memory_is_that_of_the_trial(self):
        """Not of those before it in the same process."""
        found = [(seed, outcome) for (_, seed), outcome, _ in fuzz.run([("some", each) for each in (8, 7, 8, 0)], 1, 1)]
        assert found == [(8, "refused"), (7, "memory"), (8, "refused"), (0, "refused")]

    def test_no_trial_begins_after_the_time(self):
        assert list(fuzz.run([("some", 0)], 0, 1)) == []


class TestChecks:
    """Each check of a trial fails if there is a reason."""

    class Model:
        """A fitted model whose answers can be changed."""

        def __init__(self, **changes):
            self.labels_, self.confidence_ = np.zeros(4, np.int32), np.ones(4)
            self.answers = {"predict": self.labels_, "transform": np.ones((4, 2)), "score": 0.5, "repr": "Model()"}
            self.answers |= {name: value for name, value in changes.items() if not name.endswith("_")}
            vars(self).update({name: value for name, value in changes.items() if name.endswith("_")})
            self._code = object()

        def predict(self, x):
            return self.answers["predict"]

        def transform(self, x):
            return self.answers["transform"]

        def score(self, x):
            return self.answers["score"]

        def __repr__(self):
            return self.answers["repr"]

    def test_a_good_model(self):
        trials.check_fitted(self.Model(), np.ones((4, 3)))

    @pytest.mark.parametrize(
        "changes",
        [
            {"labels_": np.zeros((4, 1), np.int32)},
            {"labels_": np.zeros(4)},
            {"labels_": np.full(4, -2)},
            {"predict": np.zeros(3, np.int32)},
            {"predict": np.zeros(4)},
            {"transform": np.ones((3, 2))},
            {"transform": np.full((4, 2), np.nan)},
            {"transform": np.full((4, 2), np.inf)},
            {"score": np.nan},
            {"confidence_": np.array([1.0, np.nan])},
            {"agreement_": np.nan},
            {"repr": "a" * 20_000},
        ],
        ids=str,
    )
    def test_a_bad_model(self, changes):
        with pytest.raises(trials.Wrong):
            trials.check_fitted(self.Model(**changes), np.ones((4, 3)))

    @pytest.fixture
    def after(self, tmp_path, monkeypatch):
        """Run a command that succeeds, and then does something else."""

        def run(harm, code=0):
            main = trials.cli.main

            def harmful(words):
                found = main(words)
                harm(Path.cwd())
                return code if code is not None else found

            monkeypatch.setattr(trials.cli, "main", harmful)
            monkeypatch.setattr(trials, "LINES", ["fit rows.csv -k 2 --method kasp --out out --no-report"])
            monkeypatch.setattr(trials, "WORDS", ["--quiet"])
            return trials.command(next(seed for seed in range(50) if is_plain(seed)), tmp_path)

        # The finished run that trials begin with is made by the same function.
        trials._finished_run()
        return run

    def test_a_command_without_harm(self, after):
        assert after(lambda folder: None) == "answered"

    @pytest.mark.parametrize(
        ("harm", "message"),
        [
            (lambda folder: (folder / "rows.npy").unlink(), "rows.npy is lost"),
            (lambda folder: (folder / "rows.csv").write_text("1"), "rows.csv has changed"),
            (lambda folder: (folder / "run" / "run.json").unlink(), "run.json is lost"),
            (lambda folder: (folder / ".out.working-a").mkdir(), "is left over"),
            (lambda folder: (folder / "out.kept-a").mkdir(), "is left over"),
            (lambda folder: (folder / "out" / "labels.npy").unlink(), "out is not whole"),
            (lambda folder: (folder / "out" / "labels.csv").write_text("row,label\n0,1\n"), "labels.csv is not whole"),
            (lambda folder: np.save(folder / "out" / "labels.npy", np.zeros(20)), "is of float64"),
            (lambda folder: np.save(folder / "out" / "labels.npy", np.zeros(7, int)), "has shape"),
            (lambda folder: (folder / "out" / "report.html").write_text("<html>"), "report.html is not whole"),
        ],
    )
    def test_a_command_that_does_harm(self, harm, message, after):
        with pytest.raises(trials.Wrong, match=message):
            after(harm)

    @pytest.mark.parametrize("force", [True, False])
    def test_only_a_file_that_was_named_may_be_replaced(self, force, tmp_path):
        for name in ("a.npy", "b.npy"):
            np.save(tmp_path / name, np.ones(20))
        before = trials.contents(tmp_path)
        np.save(tmp_path / "a.npy", np.zeros(20, int))
        for name in ("a.npy", "b.npy"):
            allowed = force and name == "a.npy"
            with contextlib.nullcontext() if allowed else pytest.raises(trials.Wrong, match=r"a\.npy has changed"):
                trials.check_files(tmp_path, before, "", done=True, force=force, replaced={tmp_path / name})

    @pytest.mark.parametrize("content", [b"", b"half of a model"])
    def test_a_model_that_is_half_written(self, content, after):
        with pytest.raises(UserError):
            after(lambda folder: (folder / "out" / "model.subspaces").write_bytes(content))

    @pytest.mark.parametrize("code", [1, 70, 2])
    def test_exit_codes(self, code, after):
        """A bug, and a refusal after something was written."""
        with pytest.raises(trials.Wrong):
            after(lambda folder: None, code)


def is_plain(seed):
    """Whether the first line of words stays as it is."""
    rng = np.random.default_rng(seed)
    for _ in range(2):
        rng.standard_normal((20, 3))
    rng.integers(1)
    return rng.integers(4) == 0
