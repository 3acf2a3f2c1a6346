"""The HTML report: the public name of `subspaces.show.report`."""

from subspaces.show.report import *  # noqa: F403
from subspaces.show.report import __all__ as __all__
