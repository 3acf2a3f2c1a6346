"""Base of SSC and SSSC: rows are coded on each other, and the graph of their codes is cut."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from subspaces._core import progress
from subspaces._core.arrays import Array, Labels, follow, namespace, to_host
from subspaces._core.callers import warn_caller
from subspaces._core.errors import InputError
from subspaces._core.pca import principal_directions
from subspaces._core.validation import check_n_clusters, check_option, check_positive, check_power, is_auto
from subspaces.estimators._base import Clusterer, check_n_components
from subspaces.estimators._published import Published
from subspaces.flats.description import describe
from subspaces.rows.preparation import RowPreparation, labels_of_copies, mean_offset
from subspaces.rows.thresholds import FAR_OFFSET, MAX_COLUMNS
from subspaces.self_expression import (
    ADMM,
    OMP,
    ElasticNet,
    LeastSquares,
    LowRank,
    Solver,
    Thresholding,
    affinity,
    self_codes,
)
from subspaces.self_expression.base import Codes
from subspaces.self_expression.thresholds import DECIDING_ROWS, MIN_EDGES
from subspaces.spectral.graph import spectral_labels
from subspaces.spectral.partition import vector_counts

SOLVERS: dict[str, type[Solver]] = {
    "admm": ADMM,
    "omp": OMP,
    "elastic_net": ElasticNet,
    "thresholding": Thresholding,
    "least_squares": LeastSquares,
    "low_rank": LowRank,
}
# A larger share of rows without a finished code gives a warning.
UNFINISHED_SHARE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """How rows are written as combinations of each other."""

    affine: bool
    center: bool = False  # whether the mean is subtracted before
    codes: Codes | None = None  # of all rows, if the kind was chosen by them


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Rows written as sparse combinations of each other, and the clusters of their graph."""

    codes: csr_matrix  # (n, n)
    n_iter: int
    affinity: csr_matrix  # (n, n)
    labels: Labels  # (n,)


class SelfExpressiveClusterer(Published, Clusterer):
    """Base of SSC and SSSC."""

    n_clusters: int
    solver: str | Solver
    affine: bool | str
    mass: float
    normalize: bool | str
    n_components: int | str
    tie: float
    codes_: csr_matrix
    affinity_matrix_: csr_matrix
    n_iter_: int
    normalize_: bool
    affine_: bool

    def _check_parameters(self, x: Array) -> None:
        check_n_clusters(self.n_clusters, x)
        if not isinstance(self.solver, Solver) and not (isinstance(self.solver, str) and self.solver in SOLVERS):
            names = ", ".join(map(repr, SOLVERS))
            raise InputError(f"solver={self.solver!r} is not known: use one of {names}, or an object: ADMM(alpha=20).")
        check_option("affine", self.affine, (True, False, "auto"))
        check_option("normalize", self.normalize, (True, False, "auto"))
        if check_positive("mass", self.mass) > 1:
            raise InputError(f"mass={self.mass} must be at most 1: it is the share of each code that is kept.")
        check_n_components(self.n_components)
        check_power("tie", self.tie, hint="0 adds no weights")

    def _kind(self, x: Array) -> Kind:
        """Whether rows `x` (n, p) are written as affine combinations, and whether their mean is subtracted before.

        If it is left to the rows, they are linear combinations if their mean is near the origin: rows of subspaces
        through the origin are. Farther off all rows may be nearly parallel, and what describes clusters best is taken:
        affine combinations, or linear ones about the mean, if subspaces meet there. Affine codes cannot separate rows
        near a point that all flats have in common, linear codes need such a point.
        """
        if not is_auto(self.affine):
            return Kind(bool(self.affine))
        if mean_offset(to_host(x)) <= FAR_OFFSET:
            return Kind(affine=False)
        few = x[follow(np.unique(np.linspace(0, len(x) - 1, DECIDING_ROWS).astype(np.intp)), x)]
        tried = []
        for kind in (Kind(affine=False, center=True), Kind(affine=True)):
            codes = self_codes(self._preparation(few, kind)(few), self._solver, affine=kind.affine)
            labels = self._cut(self._graph(codes), np.random.RandomState(0))
            kept = replace(kind, codes=codes) if len(few) == len(x) else kind
            tried.append((length_by_flats(to_host(few), labels, self.n_clusters), kept))
        return min(tried, key=lambda each: each[0])[1]

    def _preparation(self, x: Array, kind: Kind) -> RowPreparation:
        """How rows `x` (n, p) are prepared before they are coded."""
        unit = not kind.affine if is_auto(self.normalize) else bool(self.normalize)
        mean = to_host(namespace(x).mean(x, axis=0))
        # Affine combinations move with the rows: near their mean no digits are lost.
        moved = kind.center or (kind.affine and not unit)
        return RowPreparation(mean if moved else np.zeros_like(mean), self._span(x), unit)

    def _span(self, x: Array) -> Array | None:
        """Orthonormal directions (p, q) that span rows (n, p) which are fewer than their columns; otherwise None.

        Combinations of rows are the same in any coordinates of their span, and solvers make matrices of p x p. Gross
        errors are those of single columns, so that rows with such errors are not projected.
        """
        if x.shape[0] >= x.shape[1] or getattr(self.solver, "outliers", False):
            return None
        rows, dim = to_host(x), getattr(self, "subspace_dim", "auto")
        count = max(len(rows), 2 if is_auto(dim) else 1 + int(dim))
        return principal_directions(rows, np.zeros(rows.shape[1]), count).astype(rows.dtype)

    def _cluster(self, rows: Array, kind: Kind, rng: np.random.RandomState) -> CodedRows:
        """Code prepared rows (m, p) on each other, unless `kind` has their codes, and cut the graph of the codes."""
        codes = self_codes(rows, self._solver, affine=kind.affine) if kind.codes is None else kind.codes
        n_iter, unfinished = int(codes.n_iter.max()), int((~codes.converged).sum())
        if unfinished > UNFINISHED_SHARE * len(rows):
            warn_caller(
                f"{unfinished} of {len(rows)} codes are not finished after {n_iter} iterations: raise max_iter "
                f"or tol of {type(self._solver).__name__}, or lower its alpha.",
                ConvergenceWarning,
            )
        graph = self._graph(codes)
        # With at most as many distinct rows as clusters, only copies of a row share a cluster.
        labels = labels_of_copies(to_host(rows), self.n_clusters)
        if labels is None:
            progress.stage("cutting the graph", f"cutting the graph of {len(rows):,} rows")
            labels = self._cut(graph, rng)
        return CodedRows(codes.matrix, n_iter, graph, labels)

    def _graph(self, codes: Codes) -> csr_matrix:
        return affinity(codes.matrix, mass=self.mass, min_edges=MIN_EDGES)

    @property
    def _solver(self) -> Solver:
        return self.solver if isinstance(self.solver, Solver) else SOLVERS[self.solver]()

    def _cut(self, graph: csr_matrix, rng: np.random.RandomState) -> Labels:
        return spectral_labels(graph, self.n_clusters, counts=self._counts(), tie=float(self.tie), rng=rng)

    def _counts(self) -> list[int]:
        """Numbers of eigenvectors to try, the trivial one counted."""
        if not is_auto(self.n_components):
            return [int(self.n_components)]
        return [count + 1 for count in vector_counts(self.n_clusters)]


def length_by_flats(rows: NDArray[Any], labels: Labels, n_clusters: int) -> float:
    """How long a description of rows (m, p) is, by an affine flat for each of their clusters (m,)."""
    mean = rows.mean(axis=0, dtype=np.float64).astype(rows.dtype)
    leading = principal_directions(rows, mean, min(rows.shape[1], MAX_COLUMNS)).astype(rows.dtype)
    return describe((rows - mean) @ leading, labels, n_clusters, affine=True).length


def coded_attributes(coded: CodedRows, preparation: RowPreparation, *, affine: bool) -> dict[str, Any]:
    """Fitted attributes that SSC and SSSC have in common."""
    return {
        "codes_": coded.codes,
        "affinity_matrix_": coded.affinity,
        "n_iter_": coded.n_iter,
        "normalize_": preparation.unit,
        "affine_": affine,
    }


def as_published(n_clusters: int, solver: Solver, **parameters: Any) -> dict[str, Any]:
    """Parameters that are equal in all publications, and those given."""
    common = {"affine": False, "mass": 1.0, "normalize": False, "n_components": n_clusters, "tie": 0.0}
    return {"solver": solver, **common, **parameters}
