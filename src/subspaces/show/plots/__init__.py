"""Plots of models and of comparisons between methods, as display objects in the style of scikit-learn.

A display holds the numbers of a plot. `plot(ax=None)` draws them, sets `ax_` and `figure_`, and returns the display.
The `from_...` class methods compute the numbers from a model or from labels, then draw. Plots need matplotlib:
`pip install 'subspaces[plot]'`.
"""

from subspaces.show.plots.angles import AnglesDisplay
from subspaces.show.plots.comparison import ComparisonDisplay
from subspaces.show.plots.eigengap import EigengapDisplay
from subspaces.show.plots.embedding import EmbeddingDisplay
from subspaces.show.plots.residuals import ResidualsDisplay
from subspaces.show.plots.tradeoff import TradeoffDisplay

__all__ = [
    "AnglesDisplay",
    "ComparisonDisplay",
    "EigengapDisplay",
    "EmbeddingDisplay",
    "ResidualsDisplay",
    "TradeoffDisplay",
]
