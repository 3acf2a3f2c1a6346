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
    reading: bool = False  # reads the paper literally: images are projected without centring them

    def spec(self, dim: int | None) -> Spec:
        """Description for `estimators.build`."""
        given = dict(self.given)
        if self.given_dim:
            given["subspace_dim"] = dim
        return {"name": self.estimator, "given": given}


def _published(key: str, name: str, setting: str, **options: Any) -> Method:
    """An estimator with the parameters of its publication."""
    return Method(key, f"{name} as published", f"{name}.published", given=(("setting", setting),), **options)


READING = "FLS.paper, the paper's reading"
LINEAR = (("affine", False),)
AS_PUBLISHED = (("polish", False),)
METHODS = {
    method.key: method
    for method in (
        Method("fls", "FLS", "FLS", paper="FLS"),
        Method("lbf", "LBF", "LBF", paper="LBF"),
        Method("ssc", "SSC", "SSC", paper="SSC", codes=True),
        Method("sssc", "SSSC", "SSSC", paper="SSSC", codes=True),
        Method("fls-paper", f"{READING}, given d", "FLS.paper", given_dim=True, paper="FLS", reading=True),
        Method(
            "fls-linear",
            f"{READING}, linear flats, given d",
            "FLS.paper",
            given_dim=True,
            given=LINEAR,
            paper="FLS",
            reading=True,
        ),
        Method("lbf-paper", "LBF as published, given d", "LBF", given_dim=True, given=AS_PUBLISHED, paper="LBF"),
        _published("ssc-paper", "SSC", "faces", paper="SSC", codes=True),
        Method("ssc-omp", "SSC by OMP as published", "SSC.published", given=(("setting", "omp faces"),)),
        _published("sssc-paper", "SSSC", "faces", paper="SSSC", codes=True),
        *(_published(f"{name.lower()}-motions", name, "motions") for name in ("SSC", "SLBF", "LBF", "KFlats")),
        Method("kmeans", "k-means", "KMeans", given=(("n_init", 10),)),
        Method("nystroem", "Nystroem, k-means", "Nystroem + KMeans", given=(("n_components", 500),)),
        Method("spectral", "spectral clustering", "SpectralClustering", given=(("affinity", "nearest_neighbors"),)),
    )
}
PAPER_METHODS = ("fls", "lbf", "ssc", "sssc", "ssc-paper", "sssc-paper", "fls-paper", "fls-linear", "lbf-paper")


def rough_seconds(key: str, n_rows: int, n_columns: int) -> float:
    """Approximate seconds of a fit on one core, used to order tasks and to estimate the remaining time."""
    entries = n_rows * n_columns
    return {
        "fls": 2 + 0.06 * n_columns + 8e-4 * n_rows,
        "lbf": 0.5 + 0.06 * n_columns + 6e-6 * entries,
        "ssc": 0.2 + (3e-7 + 5e-9 * n_columns) * n_rows**2,
        "ssc-paper": 0.2 + (3e-7 + 5e-9 * n_columns) * n_rows**2,
        "ssc-motions": 0.2 + (3e-7 + 5e-9 * n_columns) * n_rows**2,
        "slbf-motions": 0.5 + (2e-7 + 5e-9 * n_columns) * n_rows**2,
        "lbf-motions": 0.3,
        "kflats-motions": 0.3,
        "ssc-omp": 0.1 + 1e-9 * n_rows * entries,
        "sssc": 0.5,
        "sssc-paper": 0.5,
        "fls-paper": 0.5 + 2e-6 * entries,
        "fls-linear": 0.5 + 2e-6 * entries,
        "lbf-paper": 0.2 + 8e-7 * entries,
        "kmeans": 0.1 + 1e-6 * entries,
        "nystroem": 0.2 + 6e-5 * n_rows,
        "spectral": 0.2 + 4e-8 * n_rows**2,
    }[key]
