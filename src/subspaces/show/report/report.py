"""The report as an HTML page."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from subspaces._core.errors import FileInTheWayError
from subspaces._core.files import write_whole
from subspaces.show.report.colors import palette_css
from subspaces.show.report.plain import to_json

# In order of dependence.
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
LEVELS = {"good": "Reliable", "fair": "Use with care", "poor": "Not reliable", "neutral": "Not tested"}


class Report:
    """Report on a clustering: its content as `data`, a dict that `json.dumps` accepts, and the HTML page.

    Returned by `describe`.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def to_html(self) -> str:
        """The page as one HTML document that needs no other file and no network.

        Names and values are embedded as escaped JSON and inserted as text, never as HTML. A content security policy
        allows only the scripts of the page and no network access.
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
        """Write the page to `path` atomically; an existing file is replaced only if `overwrite` is True."""
        path = Path(path)
        if path.exists() and not overwrite:
            raise FileInTheWayError(f"{path} exists: choose another name or pass overwrite=True")
        write_whole(path, self.to_html())


def _policy(style: str, script: str) -> str:
    """Content security policy: this style, this script and embedded images only."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
