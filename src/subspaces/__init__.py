"""Subspace clustering that scales: Fast Landmark Subspace clustering as scikit-learn estimators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subspaces import datasets, kernels, metrics
    from subspaces.flats import Beta2, Flats
    from subspaces.landmark_clustering import FLS

__version__ = "0.1.0"
__all__ = ["FLS", "Beta2", "Flats", "__version__", "datasets", "kernels", "metrics"]

# Names are imported at first use, so that `import subspaces` costs next to nothing.
_HOMES = {"FLS": "landmark_clustering", "Beta2": "flats", "Flats": "flats"}
_MODULES = ("datasets", "kernels", "metrics")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"subspaces.{name}")
    if name in _HOMES:
        return getattr(import_module(f"subspaces.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'subspaces' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
