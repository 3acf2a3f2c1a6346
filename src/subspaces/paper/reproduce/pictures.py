"""Figures: accuracy against time, and against the difficulty of the problem."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from subspaces.paper.reproduce import reading, robustness, tradeoff
from subspaces.paper.reproduce.methods import METHODS
from subspaces.paper.reproduce.tables import TABLES

# Colours that are distinct for colour-blind readers, and different markers and lines.
STYLES = {
    "fls": ("#0072b2", "o", "-"),
    "lbf": ("#d55e00", "s", "-"),
    "sssc": ("#009e73", "^", "-"),
    "fls-paper": ("#56b4e9", "o", ":"),
    "fls-linear": ("#003f6b", "x", ":"),
    "lbf-paper": ("#e69f00", "s", ":"),
    "kmeans": ("#777777", "v", "--"),
    "nystroem": ("#cc79a7", "D", "--"),
    "spectral": ("#b8860b", "P", "--"),
}

# Colours and markers of data sets.
DATA_STYLES = tuple(style[:2] for style in STYLES.values())


@dataclass(frozen=True, slots=True)
class Point:
    """The draws of one method at one value."""

    value: float
    seconds: float
    mean: float
    low: float
    high: float


def points(record: Mapping[str, Any]) -> dict[str, dict[str, list[Point]]]:
    """Results by curve and method, sorted by value."""
    found: dict[str, dict[str, list[Point]]] = {}
    for methods in record["cells"].values():
        for entry in methods.values():
            tags, draws = entry["tags"], entry["draws"]
            if not draws or not {"curve", "series", "value"} <= tags.keys():
                continue
            scores = [draw["accuracy"] for draw in draws]
            seconds = sum(draw["seconds"] for draw in draws) / len(draws)
            point = Point(tags["value"], seconds, sum(scores) / len(scores), min(scores), max(scores))
            found.setdefault(tags["curve"], {}).setdefault(tags["series"], []).append(point)
    for series in found.values():
        for line in series.values():
            line.sort(key=lambda point: point.value)
    return found


def draw_tradeoff(record: Mapping[str, Any]) -> bytes:
    """PNG of accuracy against seconds, one line per method, with the number of landmarks etc. beside the ends."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    found = points(record)
    figure, grid = _figure([name for name in tradeoff.DATA if name in found], n_columns=2)
    for name, axes in grid.items():
        for key, (_, knob) in tradeoff.KNOBS.items():
            line = found[name].get(key)
            if line is None:
                continue
            _line(axes, STYLES[key], [point.seconds for point in line], line, f"{METHODS[key].title} ({knob})")
            for point in (line[0], line[-1]):
                place = (point.seconds, point.mean)
                style = {"textcoords": "offset points", "xytext": (4, -10), "fontsize": 7, "color": STYLES[key][0]}
                axes.annotate(f"{point.value:g}", place, **style)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.margins(x=0.1)
        axes.set_xlabel("seconds on one core")
        axes.set_title(name, fontsize=10)
    return _png(figure, grid.values())


def draw_robustness(record: Mapping[str, Any]) -> bytes:
    """PNG of accuracy against noise, outliers, angles, sizes and dimensions, one line per method."""
    found = points(record)
    figure, grid = _figure([name for name in robustness.AXES if name in found], n_columns=3)
    for name, axes in grid.items():
        for key, line in found[name].items():
            if key in STYLES:
                _line(axes, STYLES[key], [point.value for point in line], line, METHODS[key].title)
        if name == "sizes":
            axes.set_xscale("log")
            values = sorted({point.value for line in found[name].values() for point in line})
            axes.set_xticks(values, [f"{value:g}" for value in values])
            axes.minorticks_off()
        axes.set_xlabel(robustness.AXES[name])
    return _png(figure, grid.values())


def draw_reading(record: Mapping[str, Any]) -> bytes:
    """PNG of the accuracy of the paper's reading against sigma, one panel per table, and against landmarks."""
    found = points(record)
    panels = {f"Table {number}": ("sigma", _cells_of(number)) for number in (1, 2, 3, 4)}
    panels["landmarks"] = ("landmarks", reading.FEW_CELLS)
    drawn = [name for name, (curve, cells) in panels.items() if found.get(curve, {}).keys() & set(cells)]
    figure, grid = _figure(drawn, n_columns=3)
    for name, axes in grid.items():
        curve, cells = panels[name]
        for (color, marker), cell in zip(DATA_STYLES, cells, strict=False):
            line = found[curve].get(cell)
            if line is None:
                continue
            _line(axes, (color, marker, "-"), [point.value for point in line], line, cell)
            printed = reading.PRINTED[cell]
            if printed is not None:
                axes.axhline(printed.accuracy, color=color, linestyle=":", linewidth=0.8)
        axes.set_xscale("log")
        values = {"sigma": (0.05, 0.1, 0.15, 0.2, 0.3, 0.6), "landmarks": reading.LANDMARKS}[curve]
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.minorticks_off()
        axes.set_xlabel(reading.AXES[curve])
        axes.set_title("Tables 2, 3 and 4" if curve == "landmarks" else name, fontsize=10)
        axes.legend(fontsize=7, frameon=False, loc="lower center")
        _dress(axes)
    return _saved(figure)


def _cells_of(number: int) -> tuple[str, ...]:
    return tuple(cell.name for table in TABLES if table.number == number for cell in table.cells)


def _figure(names: list[str], n_columns: int) -> tuple[Any, dict[str, Any]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    n_columns = max(1, min(n_columns, len(names)))
    n_rows = max(1, -(-len(names) // n_columns))
    figure = Figure(figsize=(4.6 * n_columns, 3.6 * n_rows + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    places = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for unused in places[len(names) :]:
        unused.set_axis_off()
    return figure, dict(zip(names, places[: len(names)], strict=True))


def _line(axes: Any, look: tuple[str, str, str], x: list[float], line: list[Point], label: str) -> None:
    color, marker, style = look
    axes.fill_between(x, [p.low for p in line], [p.high for p in line], color=color, alpha=0.12, linewidth=0)
    axes.plot(x, [p.mean for p in line], color=color, marker=marker, linestyle=style, markersize=4, label=label)


def _png(figure: Any, grid: Iterable[Any]) -> bytes:
    """The figure with one legend for all axes."""
    labels: dict[str, Any] = {}
    for axes in grid:
        _dress(axes)
        labels |= {label: line for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(
        labels.values(),
        labels.keys(),
        loc="outside lower center",
        ncols=5 if len(labels) <= 5 else 2,
        frameon=False,
        fontsize=9,
    )
    return _saved(figure)


def _dress(axes: Any) -> None:
    axes.set_ylim(0, 1.04)
    axes.set_ylabel("accuracy")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _saved(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()
