"""Base of SSC and SSSC: rows are coded on each other, and the graph of their codes is cut."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from subspaces._core import progress
from subspaces._core.arrays import Array, Labels, namespace, to_host
from subspaces._core.errors import InputError
from subspaces._core.validation import check_n_clusters, check_option, check_positive, is_auto
from subspaces.estimators._base import Clusterer, check_n_components
from subspaces.rows.preparation import RowPreparation, labels_of_copies
from subspaces.self_expression import ADMM, OMP, ElasticNet, Solver, affinity, self_codes
from subspaces.spectral.graph import spectral_labels
from subspaces.spectral.partition import vector_counts

SOLVERS: dict[str, type[Solver]] = {"admm": ADMM, "omp": OMP, "elastic_net": ElasticNet}
# A larger share of rows without a finished code gives a warning.
UNFINISHED_SHARE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Rows written as sparse combinations of each other, and the clusters of their graph."""

    codes: csr_matrix  # (n, n)
    n_iter: int
    affinity: csr_matrix  # (n, n)
    labels: Labels  # (n,)


class SelfExpressiveClusterer(Clusterer):
    """Base of SSC and SSSC."""

    n_clusters: int
    solver: str | Solver
    affine: bool
    mass: float
    normalize: bool | str
    n_components: int | str
    codes_: csr_matrix
    affinity_matrix_: csr_matrix
    n_iter_: int
    normalize_: bool

    def _check_parameters(self, x: Array) -> None:
        check_n_clusters(self.n_clusters, x)
        if not isinstance(self.solver, Solver) and not (isinstance(self.solver, str) and self.solver in SOLVERS):
            names = ", ".join(map(repr, SOLVERS))
            raise InputError(f"solver={self.solver!r} is not known: use one of {names}, or an object: ADMM(alpha=20).")
        check_option("affine", self.affine, (True, False))
        check_option("normalize", self.normalize, (True, False, "auto"))
        if check_positive("mass", self.mass) > 1:
            raise InputError(f"mass={self.mass} must be at most 1: it is the share of each code that is kept.")
        check_n_components(self.n_components)

    def _preparation(self, x: Array) -> RowPreparation:
        """How rows `x` (n, p) are prepared before they are coded."""
        unit = not self.affine if is_auto(self.normalize) else bool(self.normalize)
        mean = to_host(namespace(x).mean(x, axis=0))
        # Affine combinations move with the rows: near their mean no digits are lost.
        moved = self.affine and not unit
        return RowPreparation(mean if moved else np.zeros_like(mean), None, unit)

    def _cluster(self, rows: Array, rng: np.random.RandomState) -> CodedRows:
        """Code prepared rows (m, p) on each other and cut the graph of the codes."""
        solver = self.solver if isinstance(self.solver, Solver) else SOLVERS[self.solver]()
        codes = self_codes(rows, solver, affine=self.affine)
        n_iter, unfinished = int(codes.n_iter.max()), int((~codes.converged).sum())
        if unfinished > UNFINISHED_SHARE * len(rows):
            warnings.warn(
                f"{unfinished} of {len(rows)} codes are not finished after {n_iter} iterations: raise max_iter "
                f"or tol of {type(solver).__name__}, or lower its alpha.",
                ConvergenceWarning,
                stacklevel=3,
            )
        graph = affinity(codes.matrix, mass=self.mass)
        # If there are no more distinct rows than clusters, only copies share a cluster.
        labels = labels_of_copies(to_host(rows), self.n_clusters)
        if labels is None:
            progress.stage("cutting the graph", f"cutting the graph of {len(rows):,} rows")
            labels = spectral_labels(graph, self.n_clusters, counts=self._counts(), rng=rng)
        return CodedRows(codes.matrix, n_iter, graph, labels)

    def _counts(self) -> list[int]:
        """Numbers of eigenvectors to try, the trivial one counted."""
        if not is_auto(self.n_components):
            return [int(self.n_components)]
        return [count + 1 for count in vector_counts(self.n_clusters)]


def coded_attributes(coded: CodedRows, preparation: RowPreparation) -> dict[str, Any]:
    """Fitted attributes that SSC and SSSC have in common."""
    return {
        "codes_": coded.codes,
        "affinity_matrix_": coded.affinity,
        "n_iter_": coded.n_iter,
        "normalize_": preparation.unit,
    }
