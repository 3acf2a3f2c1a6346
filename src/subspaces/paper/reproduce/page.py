"""The page of all tables and pictures, as Markdown and as HTML that needs no other file."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from subspaces.paper.reproduce.grid import Grid, Row, Shown, grids
from subspaces.paper.reproduce.kept import Kept
from subspaces.paper.reproduce.notes import NOTES, PICTURES, READ, TITLE, environments

EXPERIMENTS = ("synthetic", "mnist", "faces", "pendigits", "beyond", "tradeoff", "robustness", "theory")

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem; text-align: right; vertical-align: top; white-space: nowrap; }
th:first-child { text-align: left; font-weight: 600; } thead th { border-bottom: 2px solid #555; }
tbody tr { border-bottom: 1px solid #ddd; } tr.told { background: #f5f5f2; }
td small { display: block; color: #666; } td small.paper { color: #8a4b00; }
img { max-width: 100%; } li { margin: .3rem 0; }
"""


def read_records(folder: Path) -> dict[str, dict[str, Any]]:
    """Whatever is kept in the folder, by experiment."""
    kept = [Kept(folder, name) for name in EXPERIMENTS]
    return {each.experiment: each.read() for each in kept if each.path.exists()}


def markdown(records: Mapping[str, Mapping[str, Any]], pictures: Mapping[str, str], command: str) -> str:
    """The page as Markdown; `pictures` holds the address of each picture by experiment."""
    lines = [f"# {TITLE}", "", f"Made by `{command}` from kept results.", "", READ, ""]
    for grid in grids(records):
        lines += [f"## {_md(grid.title)}", "", *_markdown_table(grid), ""]
    for name, (title, caption) in PICTURES.items():
        if name in pictures:
            lines += [f"## {title}", "", f"![{_md(title)}]({pictures[name]})", "", caption, ""]
    lines += ["## How it was measured", "", *(f"- {note}" for note in NOTES)]
    lines += [f"- {_md(line)}." for line in environments(records)]
    return "\n".join(lines) + "\n"


def _markdown_table(grid: Grid) -> list[str]:
    lines = ["| | " + " | ".join(_md(column) for column in grid.columns) + " |", "|---" * (1 + len(grid.columns)) + "|"]
    for row in _rows_with_results(grid):
        lines.append(f"| {_md(row.title)} | " + " | ".join(_markdown_cell(cell) for cell in row.cells) + " |")
    return lines


def _markdown_cell(cell: Shown) -> str:
    parts = ["–"]
    if cell.accuracy:
        accuracy = f"**{cell.accuracy}**" if cell.best else cell.accuracy
        seconds = f"**{cell.seconds}**" if cell.fastest else cell.seconds
        parts = [f"{accuracy} ({seconds})", cell.spread]
    parts += [_md(note) for note in cell.notes]
    parts += [f"paper {_md(cell.paper)}"] if cell.paper else []
    return "<br>".join(parts)


def _md(text: str) -> str:
    return escape(text, quote=False).replace("|", "\\|").replace("*", "\\*")


def html(records: Mapping[str, Mapping[str, Any]], pictures: Mapping[str, bytes]) -> str:
    """The page as HTML with pictures (PNG) inside."""
    body = [f"<h1>{escape(TITLE)}</h1>", f"<p>{escape(READ)}</p>"]
    for grid in grids(records):
        body += [f"<h2>{escape(grid.title)}</h2>", *_html_table(grid)]
    for name, (title, caption) in PICTURES.items():
        if name in pictures:
            data = base64.b64encode(pictures[name]).decode()
            body += [
                f"<h2>{escape(title)}</h2>",
                f'<p><img alt="{escape(title)}" src="data:image/png;base64,{data}"></p>',
                f"<p>{escape(caption)}</p>",
            ]
    notes = [*NOTES, *(f"{line}." for line in environments(records))]
    body += ["<h2>How it was measured</h2>", "<ul>", *(f"<li>{escape(note)}</li>" for note in notes), "</ul>"]
    head = f'<meta charset="utf-8">\n<title>{escape(TITLE)}</title>\n<style>{STYLE}</style>'
    page = ["<!doctype html>", '<html lang="en">', "<head>", head, "</head>", "<body>", *body, "</body>", "</html>"]
    return "\n".join(page) + "\n"


def _html_table(grid: Grid) -> list[str]:
    head = "".join(f"<th>{escape(column)}</th>" for column in grid.columns)
    lines = ['<div class="wide"><table>', f"<thead><tr><th></th>{head}</tr></thead>", "<tbody>"]
    for row in _rows_with_results(grid):
        kind = ' class="told"' if row.told_dim else ""
        cells = "".join(f"<td>{_html_cell(cell)}</td>" for cell in row.cells)
        lines.append(f"<tr{kind}><th>{escape(row.title)}</th>{cells}</tr>")
    return [*lines, "</tbody></table></div>"]


def _html_cell(cell: Shown) -> str:
    parts = ["–"]
    if cell.accuracy:
        accuracy = f"<b>{escape(cell.accuracy)}</b>" if cell.best else escape(cell.accuracy)
        seconds = f"<b>{escape(cell.seconds)}</b>" if cell.fastest else escape(cell.seconds)
        parts = [f"{accuracy} ({seconds})", f"<small>{escape(cell.spread)}</small>"]
    parts += [f"<small>{escape(note)}</small>" for note in cell.notes]
    parts += [f'<small class="paper">paper {escape(cell.paper)}</small>'] if cell.paper else []
    return "".join(parts)


def _rows_with_results(grid: Grid) -> Sequence[Row]:
    return [row for row in grid.rows if any(cell.accuracy or cell.notes for cell in row.cells)]
