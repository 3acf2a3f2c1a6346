"""A share of the hostile trials, and all that have ever failed; `make fuzz N=10000` runs more."""

import json

import fuzz
import pytest
import trials

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
        for name in ("fuzz.py",):
            (tmp_path / name).write_text((fuzz.HERE / name).read_text())
        (tmp_path / "trials.py").write_text(
            "import os, time\n"
            "class Wrong(AssertionError): pass\n"
            "def trial(seed, folder):\n"
            "    if seed == 1: raise Wrong('bad')\n"
            "    if seed == 2: raise KeyError('a')\n"
            "    if seed == 3: time.sleep(60)\n"
            "    if seed == 4: os._exit(5)\n"
            "    return 'refused'\n"
            "KINDS = {'some': trial}\n"
        )
        monkeypatch.setattr(fuzz, "__file__", str(tmp_path / "fuzz.py"))
        monkeypatch.setattr(fuzz, "HANG_SECONDS", 2.0)

    def test_every_trial_is_counted_once(self):
        found = {trial: outcome for trial, outcome, _ in fuzz.run([("some", seed) for seed in range(7)], 1, 2)}
        outcomes = ["refused", "wrong answer", "traceback", "hang", "crash", "refused", "refused"]
        assert [found["some", seed] for seed in range(7)] == outcomes

    def test_no_trial_begins_after_the_time(self):
        assert list(fuzz.run([("some", 0)], 0, 1)) == []
