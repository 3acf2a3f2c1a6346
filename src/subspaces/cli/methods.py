"""The methods by name, for `fit`, `compare` and the documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from subspaces._core.errors import InputError
from subspaces.cli.values import near

# Parameters of estimators that have an option of their own: the name of the option, and the word that users type.
OPTIONS = {
    "n_clusters": ("clusters", "-k"),
    "subspace_dim": ("dim", "--dim"),
    "random_state": ("seed", "--seed"),
    "n_jobs": ("jobs", "--jobs"),
    "verbose": ("verbose", "-v"),
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a method does not support the options."""

    reason: str  # completes a sentence that begins with the method
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Method:
    """An estimator that the command line knows by a name."""

    name: str
    estimator: str  # of `subspaces`
    what: str  # description in one line
    seconds: Callable[[int, int], float]  # rough time of a fit of (n, p) rows on one core
    counts: bool = False  # whether it can choose the number of clusters
    takes_dim: bool = True
    needs_dim: bool = False
    constructor: str | None = None  # a class method in place of the class
    solver: str | None = None  # of the estimator, if it is not its default

    @property
    def title(self) -> str:
        """The estimator as Python calls it."""
        if self.solver is not None:
            return f'{self.estimator}(solver="{self.solver}")'
        return self.estimator if self.constructor is None else f"{self.estimator}.{self.constructor}"

    def builder(self) -> Callable[..., Any]:
        """The class or class method that makes the estimator."""
        import subspaces

        cls = getattr(subspaces, self.estimator)
        return cls if self.constructor is None else getattr(cls, self.constructor)

    def check(self, clusters: int | str, dim: int | str) -> None:
        """Raise an error if the method does not support the options, before anything is read."""
        refusal = self.refusal(clusters, dim)
        if refusal is not None:
            remedy = f": {refusal.remedy}" if refusal.remedy else ""
            raise InputError(f"--method {self.name} {refusal.reason}{remedy}")

    def refusal(self, clusters: int | str, dim: int | str) -> Refusal | None:
        """Why the method does not support the options; None if it does."""
        if clusters == "auto" and not self.counts:
            remedy = f"only {_of(METHODS, 'counts')} can find it; run subspaces choose to estimate it"
            return Refusal("needs the number of clusters, such as -k 10", remedy)
        if self.needs_dim and dim == "auto":
            return Refusal("needs the dimension of the subspaces, such as --dim 3")
        if not self.takes_dim and dim != "auto":
            return Refusal("does not fit subspaces", f"leave out --dim {dim}")
        return None

    def build(
        self, clusters: int | str, dim: int | str, seed: int, given: Mapping[str, Any], *, n_jobs: int | None = None
    ) -> Any:
        """The estimator, not fitted; `given` are parameters of --set."""
        builder = self.builder()
        self._check_given(builder, given)
        dims = {"subspace_dim": dim} if dim != "auto" else {}
        solver = {} if self.solver is None else {"solver": self.solver}
        jobs = {} if n_jobs is None else {"n_jobs": n_jobs}
        return builder(clusters, **dims, **{**solver, **given}, **jobs, random_state=seed)

    def _check_given(self, builder: Callable[..., Any], given: Mapping[str, Any]) -> None:
        import inspect

        known = [name for name in inspect.signature(builder).parameters if name not in OPTIONS]
        for name, value in given.items():
            if name in OPTIONS:
                raise InputError(f"--set {name}={value}: use its own option, {OPTIONS[name][1]}")
            if name == "solver" and self.solver is not None:
                raise InputError(f"--set {name}={value}: --method {self.name} is {self.title}; use --method ssc")
            if name not in known:
                raise InputError(f"--set {name}={value}: {self.title} has no such parameter{near(name, known)}")


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "fls",
            "FLS",
            "fast landmark subspace clustering: flats at landmarks, in time linear in the rows (default)",
            lambda n, p: 2 + 0.06 * p + 8e-4 * n,
            counts=True,
        ),
        Method(
            "fls-paper",
            "FLS",
            "the algorithm box of the paper; needs --dim",
            lambda n, p: 0.5 + 2e-6 * n * p,
            needs_dim=True,
            constructor="paper",
        ),
        Method(
            "lbf",
            "LBF",
            "local best-fit flats: the best K of many flats at random rows",
            lambda n, p: 0.5 + 0.06 * p + 6e-6 * n * p,
            counts=True,
        ),
        Method(
            "kflats",
            "KFlats",
            "K flats moved until they fit best: k-means with subspaces",
            lambda n, p: 0.5 + 0.06 * p + 1e-5 * n * p,
            counts=True,
        ),
        Method(
            "slbf",
            "SLBF",
            "spectral clustering by the distances of rows to each other's local flats; quadratic in the rows",
            lambda n, p: 0.5 + 0.04 * p + (2e-7 + 5e-9 * p) * n**2,
        ),
        Method(
            "ssc",
            "SSC",
            "sparse subspace clustering: rows as combinations of the others; quadratic in the rows",
            lambda n, p: 0.2 + (3e-7 + 5e-9 * p) * n**2,
        ),
        Method(
            "tsc",
            "SSC",
            "thresholding: rows joined by the smallest angles; fast, quadratic in the rows",
            lambda n, p: 0.2 + (1e-7 + 5e-10 * p) * n**2,
            solver="thresholding",
        ),
        Method(
            "lsr",
            "SSC",
            "least squares: rows as combinations with a small l2 norm; fast, quadratic in the rows",
            lambda n, p: 0.2 + (1e-7 + 5e-10 * p) * n**2,
            solver="least_squares",
        ),
        Method(
            "lrsc",
            "SSC",
            "low rank: rows as combinations of low rank; fast, quadratic in the rows",
            lambda n, p: 0.2 + (1e-7 + 5e-10 * p) * n**2,
            solver="low_rank",
        ),
        Method(
            "sssc",
            "SSSC",
            "sparse subspace clustering of a sample; other rows by their combination of sample rows",
            lambda n, p: 1.0 + 1e-5 * n,
            takes_dim=False,
        ),
        Method(
            "landmark",
            "LandmarkSpectralClustering",
            "spectral clustering by the nearest of some landmark points",
            lambda n, p: 1.0 + 1e-4 * n,
            takes_dim=False,
        ),
        Method(
            "nystrom",
            "NystromSpectralClustering",
            "spectral clustering by some columns of the kernel matrix",
            lambda n, p: 1.0 + 1e-4 * n,
            takes_dim=False,
        ),
        Method(
            "fourier",
            "FourierSpectralClustering",
            "spectral clustering with random Fourier features instead of the kernel",
            lambda n, p: 1.0 + 1e-4 * n,
            takes_dim=False,
        ),
        Method(
            "kasp",
            "KASP",
            "k-means with many centroids, then spectral clustering of the centroids",
            lambda n, p: 1.0 + 1e-5 * n * p,
            takes_dim=False,
        ),
    )
}


def _of(methods: Mapping[str, Method], trait: str) -> str:
    """The names of the methods that have a trait."""
    names = [name for name, method in methods.items() if getattr(method, trait)]
    return f"{', '.join(names[:-1])} and {names[-1]}"
