"""Plots: the public name of `subspaces.show.plots`."""

from subspaces.show.plots import *  # noqa: F403
from subspaces.show.plots import __all__ as __all__
