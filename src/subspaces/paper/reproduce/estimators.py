"""Create estimators from their descriptions, and list their parameters as plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from subspaces import FLS, LBF, SLBF, SSC, SSSC, KFlats
from subspaces.paper.reproduce.task import Spec


def _published(n_clusters: int, *, n_components: int | str = "auto", **given: Any) -> FLS:
    """`FLS.paper` with another number of eigenvectors."""
    return FLS.paper(n_clusters, **given).set_params(n_components=n_components)


def _of_setting(cls: Any) -> Callable[..., Any]:
    """A builder that takes the name of a published setting."""
    return lambda n_clusters, *, setting, **given: cls.published(setting, n_clusters, **given)


BUILDERS = {
    "FLS": FLS,
    "FLS.paper": _published,
    "LBF": LBF,
    **{f"{cls.__name__}.published": _of_setting(cls) for cls in (SSC, SSSC, LBF, SLBF, KFlats)},
    "SSC": SSC,
    "SSSC": SSSC,
    "KMeans": KMeans,
    "SpectralClustering": SpectralClustering,
}
# Parameters that differ between draws or do not change the result.
LEFT_OUT = ("random_state", "verbose", "n_clusters", "memory", "steps", "n_jobs")


def build(spec: Spec, n_clusters: int, seed: int | None) -> Any:
    """Create the unfitted estimator described by `spec`."""
    if spec["name"] == "Nystroem + KMeans":
        return nystroem_kmeans(n_clusters, seed, **spec["given"])
    return BUILDERS[spec["name"]](n_clusters, **spec["given"], random_state=seed)


def nystroem_kmeans(n_clusters: int, seed: int | None, *, n_components: int) -> Pipeline:
    """k-means on Nystroem features of rows scaled to unit variance, so that gamma equals "scale" of SVC."""
    return make_pipeline(
        FunctionTransformer(_unit_variance),
        Nystroem(n_components=n_components, random_state=seed),
        KMeans(n_clusters, n_init=10, random_state=seed),
    )


def _unit_variance(rows: Any) -> Any:
    return rows / rows.std()


def parameters(spec: Spec, n_clusters: int) -> dict[str, Any]:
    """All parameters of the estimator, including defaults."""
    given = build(spec, n_clusters, None).get_params()
    return {
        name: _plain(value)
        for name, value in sorted(given.items())
        if name.split("__")[-1] not in LEFT_OUT and not isinstance(value, BaseEstimator)
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.__name__ if callable(value) else repr(value)
