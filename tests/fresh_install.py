"""What a new user does: an empty environment, `pip install .`, a CSV, `subspaces fit`, the report in a browser.

    python tests/fresh_install.py          # or: make fresh

Needs Chromium and the package playwright here, none of which the new environment has.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SECTIONS = (
    "Evidence",
    "Eigenvalues",
    "Rows",
    "Clusters",
    "Angles between clusters",
    "Distances to the flats",
    "Typical, borderline and unusual rows",
    "Landmarks",
    "Stability over seeds",
    "Automatic choices",
    "Compared with known classes",
    "Run",
)


def fitted(folder: Path) -> Path:
    """The report of a run in a new environment."""
    venv.create(folder / "venv", with_pip=True)
    bin_folder = folder / "venv" / "bin"
    subprocess.run([bin_folder / "python", "-m", "pip", "install", "--quiet", str(ROOT)], check=True)
    for line in ("data get digits", "fit digits.csv -k 10 --truth truth --image-shape 8x8 --out run"):
        subprocess.run([bin_folder / "subspaces", *line.split()], cwd=folder, check=True)
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


def main() -> int:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.stderr.write("no Chromium is installed: nothing is looked at\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        looked_at(fitted(Path(folder)), browser)
    sys.stdout.write("a fresh install clusters a CSV, and its report opens\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
