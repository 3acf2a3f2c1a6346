"""Record of the choices made without labels: the public name of `Choice` and `Decision` of `subspaces.selection`."""

from subspaces.selection import Choice, Decision

__all__ = ["Choice", "Decision"]
