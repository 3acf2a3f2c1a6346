"""Data to try subspace clustering on: drawn from models, and the real sets of the literature."""

from subspaces.datasets.motions import make_motions
from subspaces.datasets.real import load_mnist, load_pendigits, load_yaleb
from subspaces.datasets.synthetic import make_subspaces

__all__ = ["load_mnist", "load_pendigits", "load_yaleb", "make_motions", "make_subspaces"]
