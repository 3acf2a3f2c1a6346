"""Pictures of models, their clusters and how methods compare, as displays in the manner of scikit-learn.

A display holds the numbers of a picture; `plot(ax=None)` draws them, keeps `ax_` and `figure_` and returns the display.
The `from_...` methods get the numbers from a model or from labels and draw at once. Pictures need matplotlib:
`pip install subspaces[plot]`.
"""

from subspaces.show.plots._angles import AnglesDisplay
from subspaces.show.plots._comparison import ComparisonDisplay
from subspaces.show.plots._eigengap import EigengapDisplay
from subspaces.show.plots._embedding import EmbeddingDisplay
from subspaces.show.plots._residuals import ResidualsDisplay
from subspaces.show.plots._tradeoff import TradeoffDisplay

__all__ = [
    "AnglesDisplay",
    "ComparisonDisplay",
    "EigengapDisplay",
    "EmbeddingDisplay",
    "ResidualsDisplay",
    "TradeoffDisplay",
]
