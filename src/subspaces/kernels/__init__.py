"""Feature maps and exact kernels: the public name of `subspaces.features`."""

from subspaces.features import *  # noqa: F403
from subspaces.features import __all__ as __all__
