"""Scores of a clustering against known classes or subspaces.

Every score takes the truth first. True labels of -1 mark outliers, which belong to no class.

===================  ================================================================================
`labels`             labels: accuracy, purity, adjusted Rand index, mutual information, matching
`subspaces`          subspaces: principal angles, recovery error, matching
`graphs`             graphs: connectivity within classes, connections between classes
`residuals`          a score without truth: the share of rows outside the subspaces of their clusters
===================  ================================================================================
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
from subspaces.metrics.residuals import residual_share
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
    "residual_share",
    "subspace_preserving_rate",
    "subspace_recovery_error",
    "wrong_connection_share",
]
