"""What a new user does: an empty environment, the wheel, a CSV, `subspaces fit`, the report in a browser.

    python tests/fresh_install.py dist/subspaces-*.whl          # `make dist` builds the wheel first

Opens the report if Chromium is installed, with the package playwright; the new environment has neither.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from functools import partial
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SECTIONS = (
    "Clusters",
    "Picture of the rows",
    "How far to trust it",
    "Beside other methods",
    "Compared with known classes",
    "Typical, borderline and unusual rows",
    "Methods and details",
)


CHECK = """
import numpy as np
import subspaces
from subspaces import FLS, load

assert not subspaces.__file__.startswith({root!r}), subspaces.__file__
model = load("run")
assert isinstance(model, FLS)
assert np.array_equal(model.predict("digits.csv"), np.load("run/labels.npy"))
for name in subspaces.__all__:
    assert getattr(subspaces, name) is not None
"""
COMMANDS = (
    "--version",
    "info",
    "data get digits",
    "fit digits.csv -k 10 --truth truth --image-shape 8x8 --out run",
    "predict run digits.csv --out new/labels.csv",
)


def fitted(folder: Path, wheel: Path) -> Path:
    """The report of a run in an environment that has nothing but the wheel and what it requires."""
    venv.create(folder / "venv", with_pip=True)
    bin_folder = folder / "venv" / "bin"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = partial(subprocess.run, cwd=folder, env=environment, check=True)
    run([bin_folder / "python", "-m", "pip", "install", "--quiet", wheel])
    run([bin_folder / "python", "-m", "pip", "check"])
    for line in COMMANDS:
        run([bin_folder / "subspaces", *line.split()])
    run([bin_folder / "python", "-c", CHECK.format(root=str(ROOT))])
    return folder / "run" / "report.html"


def looked_at(report: Path, browser: str) -> None:
    """Open the report, point at a row, pick a cluster; every section must be there and nothing go wrong."""
    errors: list[str] = []
    requests: list[str] = []
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=browser, args=FLAGS).new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(report.as_uri())
        headings = page.locator("h2").all_inner_texts()
        verdict = page.locator("body").inner_text()
        page.locator(".legend button, .legend [role=button], .legend label").first.click()
        page.screenshot(path=report.with_suffix(".png"), full_page=True)
    assert not errors, errors
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    missing = [name for name in SECTIONS if name not in headings]
    assert not missing, f"{missing} not among {headings}"
    assert "10 clusters" in verdict


def main(wheel: Path) -> int:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as folder:
        report = fitted(Path(folder), wheel.resolve())
        if browser is None:
            sys.stderr.write("no Chromium is installed: the report is not looked at\n")
        else:
            looked_at(report, browser)
    sys.stdout.write(f"{wheel} installs into an empty environment, clusters a CSV, and its report opens\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
