"""The theory of the paper: the public name of `subspaces.paper.theory`."""

from subspaces.paper.theory import *  # noqa: F403
from subspaces.paper.theory import __all__ as __all__
