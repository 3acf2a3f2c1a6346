"""The compared methods, their parameters, and the corresponding rows of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from subspaces.paper.reproduce.task import Spec


@dataclass(frozen=True, slots=True)
class Method:
    """One row of a table."""

    key: str  # short name, as in `reproduce(methods=...)`
    title: str
    estimator: str
    given_dim: bool = False  # given the dimension of the subspaces in addition to the number of clusters
    given: tuple[tuple[str, Any], ...] = ()  # parameters that are not defaults
    paper: str | None = None  # its name in the paper
    codes: bool = False  # self-expressive: the paper gives these methods faces without dropping components

    def spec(self, dim: int | None) -> Spec:
        """Description for `estimators.build`."""
        given = dict(self.given)
        if self.given_dim:
            given["subspace_dim"] = dim
        return {"name": self.estimator, "given": given}


LINEAR = (("affine", False),)
AS_PUBLISHED = (("polish", False),)
METHODS = {
    method.key: method
    for method in (
        Method("fls", "FLS", "FLS", paper="FLS"),
        Method("lbf", "LBF", "LBF", paper="LBF"),
        Method("ssc", "SSC", "SSC", paper="SSC", codes=True),
        Method("sssc", "SSSC", "SSSC", paper="SSSC", codes=True),
        Method("fls-paper", "FLS.paper, given d", "FLS.paper", given_dim=True, paper="FLS"),
        Method(
            "fls-linear", "FLS.paper, linear flats, given d", "FLS.paper", given_dim=True, given=LINEAR, paper="FLS"
        ),
        Method("lbf-paper", "LBF as published, given d", "LBF", given_dim=True, given=AS_PUBLISHED, paper="LBF"),
        Method("kmeans", "k-means", "KMeans", given=(("n_init", 10),)),
        Method("nystroem", "Nystroem, k-means", "Nystroem + KMeans", given=(("n_components", 500),)),
        Method("spectral", "spectral clustering", "SpectralClustering", given=(("affinity", "nearest_neighbors"),)),
    )
}
PAPER_METHODS = ("fls", "lbf", "ssc", "sssc", "fls-paper", "fls-linear", "lbf-paper")


def rough_seconds(key: str, n_rows: int, n_columns: int) -> float:
    """Approximate seconds of a fit on one core, used to order tasks and to estimate the remaining time."""
    entries = n_rows * n_columns
    return {
        "fls": 2 + 0.06 * n_columns + 8e-4 * n_rows,
        "lbf": 0.5 + 0.06 * n_columns + 6e-6 * entries,
        "ssc": 0.2 + (3e-7 + 5e-9 * n_columns) * n_rows**2,
        "sssc": 0.5,
        "fls-paper": 0.5 + 2e-6 * entries,
        "fls-linear": 0.5 + 2e-6 * entries,
        "lbf-paper": 0.2 + 8e-7 * entries,
        "kmeans": 0.1 + 1e-6 * entries,
        "nystroem": 0.2 + 6e-5 * n_rows,
        "spectral": 0.2 + 4e-8 * n_rows**2,
    }[key]
