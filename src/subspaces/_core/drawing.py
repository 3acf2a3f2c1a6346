"""Style of all figures: colours, markers and axes."""

from __future__ import annotations

from typing import Any

from subspaces._core.errors import MissingPackageError

# The palette of Okabe and Ito without yellow, which is hard to see in small marks on white, and three colours of
# Paul Tol's. Neighbours also differ in lightness, for colour-blind readers and greyscale printing.
COLORS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#882255", "#DDCC77", "#332288",
)  # fmt: skip
# The cross is kept for outliers. There is one marker less than colours, so that 90 clusters look different.
MARKERS = "osD^vP*<>"
GREY = "#7A7A7A"
# Names come from users: do not read dollar signs and underscores as mathematics.
AS_IT_IS = {"parse_math": False, "usetex": False}
WIDTH = 6.0


def check_matplotlib() -> None:
    """Raise an error if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingPackageError("plots need matplotlib: pip install 'subspaces[plot]'") from None


def new_axes(ax: Any, *, width: float = WIDTH, height: float = 4.0) -> Any:
    """Return `ax`, or the axes of a new figure of this size in inches, in the style that all plots share."""
    check_matplotlib()
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
    ax.set_axisbelow(True)
    return ax
