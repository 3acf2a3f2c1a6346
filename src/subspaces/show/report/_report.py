"""A clustering as one page."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from subspaces._core.files import write_whole
from subspaces.show.report._colors import palette_css
from subspaces.show.report._plain import to_json

# In the order in which they need each other.
SCRIPTS = (
    "dom.js",
    "numbers.js",
    "marks.js",
    "table.js",
    "axes.js",
    "eigenvalues.js",
    "scatter.js",
    "heatmap.js",
    "residuals.js",
    "examples.js",
    "sections.js",
    "main.js",
)
LEVELS = {"good": "Trustworthy", "fair": "With care", "poor": "Not reliable", "neutral": "Not tested"}


class Report:
    """Everything a page tells of a clustering, as JSON-able `data`, and the page itself.

    Made by `describe`.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def to_html(self) -> str:
        """The page: one HTML text that needs no other file and no network.

        Names and values reach it as JSON that cannot end its block, and its scripts write them as text. A policy in its
        head lets the browser run these scripts alone and load nothing.
        """
        page = files("subspaces.show.report") / "page"
        style = palette_css() + (page / "style.css").read_text("utf-8")
        parts = "\n".join((page / name).read_text("utf-8") for name in SCRIPTS)
        script = f'"use strict";\n(() => {{\n{parts}}})();\n'
        verdict = self.data["verdict"]
        return Template((page / "template.html").read_text("utf-8")).substitute(
            policy=_policy(style, script),
            title=escape(self.data["title"]),
            level=escape(verdict["level"]),
            level_name=LEVELS[verdict["level"]],
            verdict=escape(verdict["text"]),
            warnings="".join(f"<li>{escape(each)}</li>" for each in self.data["warnings"]),
            style=style,
            data=to_json(self.data),
            script=script,
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page to `path`, as a whole or not at all; a file that is there stays, unless `overwrite`."""
        path = Path(path)
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} exists: give another name, or overwrite=True")
        write_whole(path, self.to_html())


def _policy(style: str, script: str) -> str:
    """What the browser may do: show this style, run this script, draw images that are in the page."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
