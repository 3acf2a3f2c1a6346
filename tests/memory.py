"""How much memory a process takes, and a process of its own that reads a file."""

import contextlib
import json
import resource
import subprocess
import sys
from pathlib import Path

READ = """
import contextlib, json, sys
import memory, numpy, pyarrow.parquet, subspaces.inputs
path, options = json.loads(sys.argv[1])
before = memory.begin_peak()
try:
    table = subspaces.inputs.read_table(path, **options)
    if not isinstance(table.rows, numpy.ndarray):
        for block in table.rows.blocks(): pass
except (ValueError, OSError) as error: print(error)
print(int(memory.peak() - before))
"""


def begin_peak():
    """Megabytes that this process holds now; from here on `peak` measures."""
    with contextlib.suppress(OSError):
        # Linux forgets the peak so far.
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak():
    """The most megabytes that this process has held."""
    return _status("VmHWM")


def _status(name):
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1000


def reading(path, **options):
    """What `read_table` raises, or "", and the megabytes that it takes.

    It runs in a process of its own, whose `ru_maxrss` would begin with the peak of this one.
    """
    command = [sys.executable, "-c", READ, json.dumps([str(path), options])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert not done.returncode, done.stderr
    *message, grown = done.stdout.splitlines()
    return "".join(message), int(grown)
