"""Subspace clustering that scales: Fast Landmark Subspace clustering as scikit-learn estimators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subspaces import (
        choice,
        datasets,
        inputs,
        kernels,
        metrics,
        plots,
        progress,
        report,
        rows,
        selection,
        self_expression,
        theory,
    )
    from subspaces.estimators.fls import FLS
    from subspaces.estimators.fourier import FourierSpectralClustering
    from subspaces.estimators.kasp import KASP
    from subspaces.estimators.kernel import KernelSpectralClustering
    from subspaces.estimators.kflats import KFlats
    from subspaces.estimators.landmark import LandmarkSpectralClustering
    from subspaces.estimators.lbf import LBF
    from subspaces.estimators.nystrom import NystromSpectralClustering
    from subspaces.estimators.slbf import SLBF
    from subspaces.estimators.ssc import SSC
    from subspaces.estimators.sssc import SSSC
    from subspaces.flats.flats import Flats
    from subspaces.flats.neighborhoods import Beta2
    from subspaces.rows import open_rows
    from subspaces.saving import load

__version__ = "0.2.0"
__all__ = [
    "FLS",
    "KASP",
    "LBF",
    "SLBF",
    "SSC",
    "SSSC",
    "Beta2",
    "Flats",
    "FourierSpectralClustering",
    "KFlats",
    "KernelSpectralClustering",
    "LandmarkSpectralClustering",
    "NystromSpectralClustering",
    "__version__",
    "choice",
    "datasets",
    "inputs",
    "kernels",
    "load",
    "metrics",
    "open_rows",
    "plots",
    "progress",
    "report",
    "rows",
    "selection",
    "self_expression",
    "theory",
]

# Names are imported at first use, so that `import subspaces` costs next to nothing.
_HOMES = {
    "FLS": "estimators.fls",
    "KASP": "estimators.kasp",
    "LBF": "estimators.lbf",
    "SLBF": "estimators.slbf",
    "SSC": "estimators.ssc",
    "SSSC": "estimators.sssc",
    "Beta2": "flats.neighborhoods",
    "Flats": "flats.flats",
    "FourierSpectralClustering": "estimators.fourier",
    "KFlats": "estimators.kflats",
    "KernelSpectralClustering": "estimators.kernel",
    "LandmarkSpectralClustering": "estimators.landmark",
    "NystromSpectralClustering": "estimators.nystrom",
    "load": "saving",
    "open_rows": "rows",
}
_MODULES = (
    "choice",
    "datasets",
    "inputs",
    "kernels",
    "metrics",
    "plots",
    "progress",
    "report",
    "rows",
    "selection",
    "self_expression",
    "theory",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"subspaces.{name}")
    if name in _HOMES:
        return getattr(import_module(f"subspaces.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'subspaces' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
