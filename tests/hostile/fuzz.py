"""Run many hostile trials in a bounded time, count how they end and keep the seeds of those that fail.

    python tests/hostile/fuzz.py 10000 --minutes 30

Trials run in two processes, which are replaced if a trial takes longer than HANG_SECONDS, or more memory than its kind
may take (`trials.MEMORY`).
Kinds and seeds of failures are added to `failures.json` in this folder; `test_hostile.py` runs them in every test run.
"""

import argparse
import collections
import contextlib
import json
import selectors
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).parent
FAILURES = HERE / "failures.json"
HANG_SECONDS = 30.0
GOOD = ("answered", "refused")


def work():
    """Read trials from the standard input, and print how each of them ended."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import memory
    import trials

    output, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        kind, seed = line.split()
        detail = ""
        held = memory.begin_peak()
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome = trials.KINDS[kind](int(seed), Path(folder))
            except trials.Wrong as error:
                outcome, detail = "wrong answer", str(error)
            except BaseException as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                outcome = "traceback"
                detail = f"{type(error).__name__}: {error!s:.150} ({place.filename.split('/')[-1]}:{place.lineno})"
        taken = memory.peak() - held
        if taken > trials.MEMORY[kind]:
            outcome, detail = "memory", f"{taken:.0f} MB more than before, {trials.MEMORY[kind]} are allowed"
        output.write(json.dumps([outcome, detail]) + "\n")
        output.flush()


class Worker:
    """A process that runs one trial at a time."""

    def __init__(self):
        self.trial, self.began = None, 0.0
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def start(self, trial):
        self.trial, self.began = trial, time.monotonic()
        self.process.stdin.write("{} {}\n".format(*trial))
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            # What was not written yet cannot be written any more.
            with contextlib.suppress(OSError):
                stream.close()


def run(todo, minutes, n_workers):
    """How each trial ended: yields (kind, seed), outcome, detail."""
    until = time.monotonic() + 60 * minutes
    todo = iter(todo)
    selector, workers = selectors.DefaultSelector(), []

    def dismiss(worker):
        selector.unregister(worker.process.stdout)
        worker.end()
        workers.remove(worker)

    def begin(worker=None):
        trial = next(todo, None) if time.monotonic() < until else None
        if trial is None:
            if worker is not None:
                dismiss(worker)
            return
        if worker is None:
            worker = Worker()
            workers.append(worker)
            selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        worker.start(trial)

    for _ in range(n_workers):
        begin()
    while workers:
        for key, _ in selector.select(timeout=1.0):
            worker = key.data
            line = worker.process.stdout.readline()
            outcome, detail = json.loads(line) if line else ("crash", f"exit code {worker.process.wait()}")
            yield worker.trial, outcome, detail
            if outcome in ("memory", "crash"):
                dismiss(worker)
                worker = None
            begin(worker)
        for worker in list(workers):
            if time.monotonic() - worker.began > HANG_SECONDS:
                yield worker.trial, "hang", f"longer than {HANG_SECONDS:g} s"
                dismiss(worker)
                begin()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=1000, help="number of trials")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--minutes", type=float, default=30.0, help="no trial begins after this time")
    parser.add_argument("--kinds", nargs="+", default=["estimator", "fit", "file", "packed", "model", "command"])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work()
        return 0
    kinds = options.kinds
    todo = ((kinds[i % len(kinds)], options.start + i // len(kinds)) for i in range(options.count))
    counts, failures = collections.Counter(), []
    began = time.monotonic()
    for (kind, seed), outcome, detail in run(todo, options.minutes, options.processes):
        counts[kind, outcome] += 1
        if outcome not in GOOD:
            failures.append({"kind": kind, "seed": seed})
            print(f"{kind} {seed}: {outcome}: {detail}", flush=True)
    outcomes = [*GOOD, *sorted({outcome for _, outcome in counts} - set(GOOD))]
    print(f"{'':12}" + "".join(f"{outcome:>14}" for outcome in outcomes))
    for kind in kinds:
        print(f"{kind:12}" + "".join(f"{counts[kind, outcome]:>14,}" for outcome in outcomes))
    print(f"{sum(counts.values()):,} trials in {time.monotonic() - began:.0f} s, {len(failures)} failures")
    kept = json.loads(FAILURES.read_text())
    kept += [each for each in failures if each not in kept]
    FAILURES.write_text(json.dumps(kept, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
