"""The report as an HTML page, with its colours in light and dark mode."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from subspaces._core.drawing import COLORS, GREY
from subspaces._core.errors import FileInTheWayError
from subspaces._core.files import write_whole
from subspaces.selection.record_words import table_html
from subspaces.show.report.plain import to_json

# In order of dependence.
SCRIPTS = (
    "dom.js",
    "numbers.js",
    "marks.js",
    "table.js",
    "axes.js",
    "eigenvalues.js",
    "heatmap.js",
    "residuals.js",
    "examples.js",
    "profile.js",
    "selection.js",
    "scatter.js",
    "beside.js",
    "sections.js",
    "details.js",
    "main.js",
)
# Replacements of dark colours in dark mode.
ON_DARK = {
    "#000000": "#F4F4F4",
    "#332288": "#A296FF",
    "#882255": "#D4548C",
    "#0072B2": "#3AA0E8",
    "#009E73": "#12B886",
    "#D55E00": "#F0742B",
    GREY: "#9A9FA6",
}
# (light, dark)
SURFACE = {
    "paper": ("#FFFFFF", "#14171B"),
    "raised": ("#F6F7F9", "#1C2026"),
    "line": ("#DFE3E8", "#2E343C"),
    "strong": ("#B4BBC4", "#4B535E"),
    "ink": ("#1B1F24", "#E7EAEE"),
    "quiet": ("#59626D", "#A2ABB6"),
    "accent": ("#0068A5", "#5CB3F0"),
    "good": ("#0B7A57", "#3CC79A"),
    "good-back": ("#E7F5F0", "#14302A"),
    "fair": ("#8F5A00", "#E8B04A"),
    "fair-back": ("#FDF4E0", "#33280F"),
    "poor": ("#B03A12", "#FF8E66"),
    "poor-back": ("#FCEDE7", "#3A1E15"),
    "gap": ("#F7D999", "#5E4A1C"),
}


class Report:
    """Report on a clustering: its content as `data`, a dict that `json.dumps` accepts, and the HTML page.

    Returned by `describe`. Notebooks show a short version, and `print` shows it as text.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def to_html(self) -> str:
        """The page as one HTML document that needs no other file and no network.

        Names and values are embedded as escaped JSON and inserted as text, never as HTML. A content security policy
        allows only the scripts of the page and no network access.
        """
        page = files("subspaces.show.report") / "page"
        style = _palette_css() + (page / "style.css").read_text("utf-8")
        parts = "\n".join((page / name).read_text("utf-8") for name in SCRIPTS)
        script = f'"use strict";\n(() => {{\n{parts}}})();\n'
        verdict = self.data["verdict"]
        return Template((page / "template.html").read_text("utf-8")).substitute(
            policy=_policy(style, script),
            title=escape(self.data["title"]),
            level=escape(verdict["level"]),
            trust=escape(verdict["badge"]),
            # The badge above the sentence has its first words.
            verdict=escape(verdict["text"].removeprefix(f"{verdict['badge'].capitalize()}. ")),
            meaning=escape(verdict["meaning"]),
            reasons=_items(verdict["reasons"]),
            advice=_items([f"Try {each}" for each in verdict["advice"]]),
            warnings=_items(self.data["warnings"]),
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

    def _repr_html_(self) -> str:
        """A short version for notebooks: the verdict, and what makes each cluster different."""
        verdict = self.data["verdict"]
        return (
            f"<p><strong>{escape(self.data['title'])}</strong></p>"
            f"<p>{escape(verdict['text'])} {escape(verdict['meaning'])}</p><ul>{_items(self._reasons())}</ul>"
            f'{table_html(*self._table())}<p><code>report.save("report.html")</code> writes the whole page.</p>'
        )

    def __str__(self) -> str:
        """The same short version as text."""
        heads, rows = self._table()
        widths = [max(map(len, column)) for column in list(zip(heads, *rows, strict=True))[:3]]
        lines = [
            "  ".join([*(word.rjust(width) for word, width in zip(line, widths, strict=False)), *line[3:]]).rstrip()
            for line in (heads, *rows)
        ]
        verdict = self.data["verdict"]
        head = (self.data["title"], f"{verdict['text']} {verdict['meaning']}".strip())
        end = 'report.save("report.html") writes the whole page.'
        return "\n".join([*head, *(f"- {each}" for each in self._reasons()), "", *lines, "", end])

    def _reasons(self) -> list[str]:
        verdict = self.data["verdict"]
        return [*verdict["reasons"], *(f"Try {each}" for each in verdict["advice"]), *self.data["warnings"]]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Heads and lines of the table of clusters."""
        images = self.data["summary"]["images"]
        words = {each["cluster"]: each.get("words", "") for each in self.data["profiles"]}
        heads = ["cluster", "rows", "share", *([] if images else ["what makes it different"])]
        rows = [
            [str(line["cluster"]), f"{line['size']:,}", f"{line['share']:.1%}"]
            + ([] if images else [words.get(line["cluster"], "")])
            for line in self.data["clusters"]
        ]
        return heads, rows


def _items(texts: list[str]) -> str:
    return "".join(f"<li>{escape(each)}</li>" for each in texts)


def _palette_css() -> str:
    """CSS variables of all colours: light by default, dark if the system or the reader chooses it, light in print."""
    pairs = dict(SURFACE)
    for i, color in enumerate(COLORS):
        pairs[f"cluster-{i}"] = (color, ON_DARK.get(color, color))
    pairs["outlier"] = (GREY, ON_DARK[GREY])
    light, dark = ("".join(f"--{name}:{pair[i]};" for name, pair in pairs.items()) for i in (0, 1))
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        f"@media print{{:root:root:root{{color-scheme:light;{light}}}}}\n"
    )


def _policy(style: str, script: str) -> str:
    """Content security policy: this style, this script and embedded images only."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
