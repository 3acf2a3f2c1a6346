"""How well a clustering agrees with the truth: its labels, its subspaces, the graph behind it.

Labels are compared by `clustering_accuracy` and its siblings, subspaces by their principal angles, and the graph of a
self-expressive method by whether it keeps classes together (`connectivity`) and apart (`wrong_connection_share`).
Every score takes the truth first. True labels of -1 are outliers, which belong to no class.
"""

from subspaces.metrics.graphs import (
    class_connectivity,
    connectivity,
    subspace_preserving_rate,
    wrong_connection_share,
)
from subspaces.metrics.labels import (
    adjusted_rand,
    clustering_accuracy,
    match_labels,
    normalized_mutual_info,
    purity,
)
from subspaces.metrics.subspaces import (
    SubspaceMatching,
    match_subspaces,
    principal_angles,
    subspace_recovery_error,
)

__all__ = [
    "SubspaceMatching",
    "adjusted_rand",
    "class_connectivity",
    "clustering_accuracy",
    "connectivity",
    "match_labels",
    "match_subspaces",
    "normalized_mutual_info",
    "principal_angles",
    "purity",
    "subspace_preserving_rate",
    "subspace_recovery_error",
    "wrong_connection_share",
]
