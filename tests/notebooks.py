"""Run the notebooks of the gallery: `python tests/notebooks.py docs/gallery`. `make docs` does so after the pages.

Code cells run in order by plain Python, each notebook in a process of its own; lines of IPython (%...) are left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def code_of(path: Path) -> str:
    """The code cells of a notebook as one script."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    lines = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code").splitlines()
    return "\n".join(line for line in lines if not line.startswith("%"))


def main(folder: Path) -> int:
    paths = sorted(folder.glob("*.ipynb"))
    failed = []
    with tempfile.TemporaryDirectory() as place:
        for path in paths:
            words = [sys.executable, "-W", "ignore", "-c", code_of(path)]
            done = subprocess.run(
                words, cwd=place, env=os.environ | {"MPLBACKEND": "agg"}, capture_output=True, text=True, check=False
            )
            if done.returncode:
                failed.append(path.name)
                sys.stderr.write(f"{path}\n{done.stderr}\n")
    sys.stdout.write(f"{len(paths) - len(failed)} of {len(paths)} notebooks run\n")
    return 0 if paths and not failed else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
