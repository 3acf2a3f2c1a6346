"""Data sets of `subspaces data` by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Drawn = tuple["NDArray[Any]", "NDArray[Any]"]  # rows (n, p), true classes (n,)


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set with a name."""

    name: str
    what: str  # description in one line
    make: Callable[..., Drawn]  # its keywords are what --set changes
    image_shape: str | None = None
    # Principal components of faces, and the leading ones, of the light, that are left out.
    pca: int = 0
    whiten_drop: int = 0

    def options(self, rows: NDArray[Any], truth: NDArray[Any]) -> list[str]:
        """Options of `fit` that suit these rows (n, p) with true classes (n,)."""
        found = ["-k", str(max(1, len({*truth.tolist()} - {-1})))]
        if self.image_shape:
            found += ["--image-shape", self.image_shape]
        if self.pca and len(rows) > self.pca + self.whiten_drop:
            found += ["--pca", str(self.pca), "--whiten-drop", str(self.whiten_drop)]
        return found


def _mnist(subset: str = "train") -> Drawn:
    from subspaces.datasets import load_mnist

    rows, truth = load_mnist(n_components=None, subset=subset)  # type: ignore[arg-type]
    return _levels(rows), truth


def _pendigits(subset: str = "train") -> Drawn:
    from subspaces.datasets import load_pendigits

    rows, truth = load_pendigits(subset=subset)  # type: ignore[arg-type]
    return rows.astype("uint8"), truth


def _yaleb(n_persons: int | None = None, *, random_state: int) -> Drawn:
    from subspaces.datasets import load_yaleb

    rows, truth = load_yaleb(n_persons, n_components=None, random_state=random_state)
    return _levels(rows), truth


def _digits() -> Drawn:
    from sklearn.datasets import load_digits

    rows, truth = load_digits(return_X_y=True)
    return rows.astype("uint8"), truth


def _subspaces(
    dims: Any = (4, 5, 6),
    ambient_dim: int = 10,
    points_per_subspace: Any = 250,
    noise: float = 0.05,
    outliers: float = 0.05,
    affine: bool = False,
    *,
    random_state: int,
) -> Drawn:
    from subspaces.datasets import make_subspaces

    return make_subspaces(
        [dims] if isinstance(dims, int) else dims,
        ambient_dim,
        points_per_subspace=points_per_subspace,
        noise=noise,
        outliers=outliers,
        affine=affine,
        random_state=random_state,
    )


def _motions(
    n_motions: int = 3, n_points: Any = 100, n_frames: int = 30, noise: float = 0.0, *, random_state: int
) -> Drawn:
    from subspaces.datasets import make_motions

    return make_motions(n_motions, n_points, n_frames, noise, random_state=random_state)


DATA_SETS = {
    each.name: each
    for each in (
        DataSet("mnist", "60,000 handwritten digits of 28 x 28 pixels; downloaded", _mnist, "28x28"),
        DataSet("pendigits", "7,494 digits as 8 positions of a pen; downloaded", _pendigits),
        DataSet(
            "yaleb",
            "2,414 faces of 38 persons, 48 x 42 pixels; from a file of yours",
            _yaleb,
            "48x42",
            pca=80,
            whiten_drop=2,
        ),
        DataSet("digits", "1,797 handwritten digits of 8 x 8 pixels", _digits, "8x8"),
        DataSet("subspaces", "points near random subspaces, with noise and outliers; drawn", _subspaces),
        DataSet("motions", "tracks of points on moving rigid bodies; drawn", _motions),
    )
}


def parameters(data: DataSet) -> dict[str, Any]:
    """Parameters that --set changes, with their defaults."""
    return {
        name: list(each.default) if isinstance(each.default, tuple) else each.default
        for name, each in inspect.signature(data.make).parameters.items()
        if name != "random_state"
    }


def _levels(rows: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Pixels as whole numbers from 0 to 255, as in the original files."""
    import numpy as np

    return np.round(rows * 255).astype(np.uint8)
