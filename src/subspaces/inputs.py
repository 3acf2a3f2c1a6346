"""Reading files into rows: the public name of `subspaces.rows`."""

from subspaces.rows.inputs import *  # noqa: F403
from subspaces.rows.inputs import __all__ as __all__
