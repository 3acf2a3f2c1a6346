"""Figures of the measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from subspaces._core import drawing
from subspaces._core.drawing import COLORS, GREY, MARKERS, check_matplotlib
from subspaces._core.errors import InputError
from subspaces.paper.theory.curve import AXES, LAW, Curve, log_slope, mean_over_draws

if TYPE_CHECKING:
    from subspaces.paper.theory.matrix_perturbation import Perturbation
    from subspaces.paper.theory.needed import LandmarksNeeded
    from subspaces.paper.theory.uniform import UniformMeasure


def new_axes(ax: Any) -> Any:
    """Return `ax`, or the axes of a new figure, in the style of all plots with a grid."""
    ax = drawing.new_axes(ax)
    ax.grid(color="0.92", linewidth=0.7)
    return ax


def plot_curve(curve: Curve, ax: Any = None) -> Any:
    """Plot all measures of a curve: draws as dots, means as lines, the law and bounds dashed."""
    ax = new_axes(ax)
    for index, (name, table) in enumerate(curve.measures.items()):
        plot_line(ax, curve.sizes, table, name, index)
    if curve.over == "n_features":
        plot_law(ax, curve)
    for name, bound in curve.bounds.items():
        ax.plot(curve.sizes, bound, ":", color=GREY, label=f"bound ({name})")
    finish(ax, curve, curve.name)
    ax.set_title(f"slope {curve.slope:.2f}", loc="left", fontsize=10)
    return ax


def plot_together(curves: dict[str, Curve], measure: str, ax: Any) -> Any:
    """Plot one measure of several curves into the same axes."""
    if not curves:
        raise InputError("curves is empty: pass at least one curve.")
    new_axes(ax)
    for index, (name, curve) in enumerate(curves.items()):
        table = curve.measures[measure]
        plot_line(ax, curve.sizes, table, f"{name}: slope {_slope(curve, measure)}", index)
    if curve.over == "n_features":
        plot_law(ax, curve, measure)
    finish(ax, curve, f"{curve.name} ({measure})")
    show_sizes(ax, sorted({int(size) for each in curves.values() for size in each.sizes}))
    return ax


def plot_line(ax: Any, sizes: Any, table: Any, label: str, index: int) -> None:
    """Plot draws (n_sizes, n_draws) as faint dots and their means as a line."""
    color = COLORS[index % len(COLORS)]
    ax.plot(np.repeat(sizes, table.shape[1]), table.ravel(), ".", color=color, alpha=0.2, markersize=4)
    marker = MARKERS[index % len(MARKERS)]
    ax.plot(sizes, mean_over_draws(table), f"{marker}-", color=color, markersize=5, linewidth=1.3, label=label)


def plot_law(ax: Any, curve: Curve, measure: str | None = None) -> None:
    """Plot the law of slope -1/2 through the last mean."""
    means = mean_over_draws(curve.errors if measure is None else curve.measures[measure])
    law = means[-1] * (curve.sizes / curve.sizes[-1]) ** LAW
    ax.plot(curve.sizes, law, "--", color="black", linewidth=0.9, label="$D^{-1/2}$")


def finish(ax: Any, curve: Curve, label: str) -> None:
    """Set logarithmic axes, labels and a legend; curves over n get a wider range, so that flat curves look flat."""
    ax.set_yscale("log")
    if curve.over == "n_rows":
        low, high = ax.get_ylim()
        ax.set_ylim(min(low, high / 30), high * 4)
    show_sizes(ax, curve.sizes)
    ax.set_xlabel(AXES[curve.over], fontsize=9)
    ax.set_ylabel(label, fontsize=9)
    ax.legend(fontsize=7.5, frameon=False)


def plot_perturbation(found: Perturbation, ax: Any = None) -> Any:
    """Plot the norms of the terms (solid) and the bounds of the lemma (dotted)."""
    from subspaces.paper.theory.matrix_perturbation import TERMS

    ax = new_axes(ax)
    for index, name in enumerate(TERMS):
        plot_line(ax, found.sizes, found.norms[:, :, index], f"|{name}|", index)
        bound = np.where(np.isfinite(found.bounds[:, :, index]), found.bounds[:, :, index], np.nan)
        ax.plot(found.sizes, mean_over_draws(bound), ":", color=COLORS[index], linewidth=1.6, label="its bound")
    ax.set_yscale("log")
    show_sizes(ax, found.sizes)
    ax.set_xlabel(AXES["n_features"], fontsize=9)
    ax.set_ylabel("spectral norm", fontsize=9)
    ax.legend(fontsize=7.5, frameon=False, ncols=2)
    return ax


def plot_uniform(found: UniformMeasure, ax: Any = None) -> Any:
    """Plot the kernel over the distance: the closed form as a line, estimates of single pairs as dots."""
    ax = new_axes(ax)
    pairs = found.estimates.shape[1]
    ax.plot(np.repeat(found.distances, pairs), found.estimates.ravel(), ".", color=COLORS[1], label="pairs, estimated")
    ax.plot(found.distances, found.closed_form, "-", color=COLORS[0], label="closed form")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("distance of two unit vectors", fontsize=9)
    ax.set_ylabel("kernel, uniform subspaces", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.legend(fontsize=7.5, frameon=False)
    return ax


def _slope(curve: Curve, measure: str) -> str:
    return f"{log_slope(curve.sizes, curve.measures[measure]):.2f}"


def plot_needed(needed: LandmarksNeeded, ax: Any = None) -> Any:
    """Plot the pilots, the law, the tolerance and their intersection."""
    ax = new_axes(ax)
    curve, count = needed.curve, needed.n_landmarks
    plot_line(ax, curve.sizes, curve.errors, "pilots", 0)
    ticks = list(curve.sizes)
    if count is not None:
        last, mean = curve.sizes[-1], mean_over_draws(curve.errors)[-1]
        along = np.geomspace(curve.sizes[0], max(count, last), 100)
        if needed.law_seen:
            # Rows are drawn without replacement, so that the error vanishes when all are used.
            left = 1 / needed.n_rows if curve.parameters["without_replacement"] else 0.0
            line = mean * np.sqrt(last * np.maximum(1 / along - left, 0))
            ax.plot(
                along, line, "--", color="black", linewidth=0.9, label="law" if not left else "law, without replacement"
            )
        elif needed.basis == "fitted slope":
            line = mean * (along / last) ** needed.slope
            ax.plot(along, line, "--", color="black", linewidth=0.9, label=f"slope {needed.slope:.2f}")
        ax.plot(count, needed.tolerance, "*", color=COLORS[3], markersize=13, zorder=4, label=f"D = {count}")
    ax.axhline(needed.tolerance, color=GREY, linestyle=":", label=f"tolerance {needed.tolerance:.3g}")
    finish(ax, curve, f"error ({needed.criterion})")
    if count is not None and count > ticks[-1]:
        show_sizes(ax, [*ticks, count])
    return ax


def show_sizes(ax: Any, sizes: Any) -> None:
    """Set logarithmic axes with a tick at every measured size."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30 if len(sizes) > 5 or max(sizes) > 9999 else 0)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_minor_locator(LogLocator(subs=()))
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 300 else (1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(labelsize=8)


def new_figure(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Create a figure and its axes (n_rows, n_columns) without pyplot."""
    check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * n_columns, 4 * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)
