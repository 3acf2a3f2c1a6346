"""Data sets and methods that benchmarks/defaults.py measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import known_data
import numpy as np
from paper_sets import paper_sets, unequal_sets
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_wine
from sklearn.mixture import GaussianMixture

from subspaces import LBF, SSC, SSSC, KFlats, LandmarkSpectralClustering
from subspaces.datasets import load_motions, load_pendigits, load_yaleb, make_subspaces
from subspaces.paper.reproduce import data as paper_data
from subspaces.paper.reproduce.robustness import curves
from subspaces.self_expression import ADMM

Rows = tuple[Any, Any]
KEPT_SHARE = 0.9


@dataclass(frozen=True)
class DataSet:
    """Rows and classes by seed; classes below 0 are outliers."""

    part: str
    load: Callable[[int], Rows]
    n_clusters: int
    draws: int = 10
    relative_draws: int = 10  # 0: nothing to compare with


@dataclass(frozen=True)
class Relative:
    """Another method, with what bounds its time."""

    make: Callable[[int, int], Any]
    max_rows: int | None = None  # a random sample if there are more
    leading: bool = False  # give it only max(30, 4 K) principal columns
    max_clusters: int | None = None  # not measured above

    def rows(self, X: Any, y: Any, n_clusters: int, seed: int) -> Rows:
        if self.max_rows and len(X) > self.max_rows:
            index = np.sort(np.random.RandomState(seed).permutation(len(X))[: self.max_rows])
            X, y = X[index], y[index]
        return (known_data.leading(X, max(30, 4 * n_clusters)) if self.leading else X), y


def published_ssc(k: int, seed: int) -> SSC:
    """SSC with its published settings for feature tracks."""
    return SSC(k, affine=True, solver=ADMM(alpha=800), mass=0.7, n_components=k, random_state=seed)


def nearest_neighbor_spectral(k: int, seed: int) -> SpectralClustering:
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed)


@dataclass(frozen=True)
class ScaledSpectral:
    """Spectral clustering with an RBF kernel whose width is that of the rows, as gamma="scale" of scikit-learn's SVC.

    With the default width, rows in large units have affinity 0 with all others, and the eigensolver takes minutes.
    """

    n_clusters: int
    seed: int

    def fit_predict(self, X: Any) -> Any:
        gamma = 1 / (X.shape[1] * np.var(X))
        return SpectralClustering(self.n_clusters, gamma=gamma, random_state=self.seed).fit_predict(X)


RELATIVES = {
    "KFlats": Relative(lambda k, seed: KFlats(k, random_state=seed), 5000, leading=True, max_clusters=20),
    "LBF": Relative(lambda k, seed: LBF(k, random_state=seed), 5000, leading=True, max_clusters=20),
    "SSC": Relative(lambda k, seed: SSC(k, random_state=seed), 2000),
    "SSC affine": Relative(published_ssc, 2000),
    "spectral rbf": Relative(ScaledSpectral, 5000),
    "spectral": Relative(nearest_neighbor_spectral, 5000),
    "mixture": Relative(
        lambda k, seed: GaussianMixture(k, n_init=3, reg_covar=1e-4, random_state=seed), 5000, leading=True
    ),
    "k-means": Relative(lambda k, seed: KMeans(k, n_init=10, random_state=seed)),
    "SSSC": Relative(lambda k, seed: SSSC(k, random_state=seed)),
    "landmarks": Relative(lambda k, seed: LandmarkSpectralClustering(k, random_state=seed)),
}


def data_sets(tables: Path | None = None) -> dict[str, DataSet]:
    """All data sets by name; `tables` is a .npz file with arrays X_NAME and y_NAME."""
    sets = dict(_of_the_pages())
    for name, (X, y) in load_motions().items():
        sets[f"motion {name}"] = DataSet("motions", _constant(X, y), len(np.unique(y)), 3, 3)
    for name, (load, n_clusters) in unequal_sets().items():
        sets[f"unequal {name}"] = DataSet("unequal", load, n_clusters, 12 if "4, 9" in name else 10, 3)
    sets["faces 8 raw"] = DataSet("faces", lambda seed: load_yaleb(8, n_components=None, random_state=seed), 8)
    sets["faces 38 raw"] = DataSet("faces", lambda seed: load_yaleb(n_components=None), 38, 5, 3)
    for curve, points in curves().items():
        for value, spec in points.items():
            sets[f"{curve} {value:g}"] = DataSet("robustness", _drawn(spec), 3)
    sets |= dict(_few_columns()) | dict(_tables()) | dict(_structureless())
    if tables:
        sets |= dict(_held(tables))
    return sets


def _of_the_pages() -> Iterator[tuple[str, DataSet]]:
    """Data of the tables of the paper."""
    parts = {"mnist": "mnist", "pendigits": "pendigits", "yale": "faces", "digits": "tables"}
    for name, (load, n_clusters) in paper_sets().items():
        part = parts.get(name.split()[0], "synthetic")
        large = part in ("mnist", "pendigits") or name == "yale 38"
        rows = _resampled(load) if part == "tables" else load
        yield name, DataSet(part, rows, n_clusters, 5 if name == "yale 38" else 10, 3 if large else 10)


def _few_columns() -> Iterator[tuple[str, DataSet]]:
    """Subspaces that nearly fill the space, such as planes in R^3."""
    models = {
        "(2,2) R^3": ((2, 2), 3),
        "(2,2,2) R^3": ((2, 2, 2), 3),
        "(1,2) R^3": ((1, 2), 3),
        "(3,3) R^4": ((3, 3), 4),
    }
    for name, (dims, n_columns) in models.items():
        yield f"few columns {name}", DataSet("synthetic", _subspaces(dims, n_columns), len(dims))


def _subspaces(dims: tuple[int, ...], n_columns: int) -> Callable[[int], Rows]:
    def load(seed: int) -> Rows:
        return make_subspaces(dims, n_columns, noise=0.03, outliers=0.1, random_state=seed)

    return load


def _tables() -> Iterator[tuple[str, DataSet]]:
    names = {f"{name} {kind}": k for name, k in (("iris", 3), ("wine", 3), ("cancer", 2)) for kind in ("raw", "std")}
    for name, n_clusters in names.items():
        yield name, DataSet("tables", _resampled(_studied(name)), n_clusters)
    drawn = {"blobs2": 5, "blobs10": 5, "aniso": 3, "moons": 2, "circles": 2, "rings3": 3, "gauss15": 15}
    for name, n_clusters in drawn.items():
        yield name, DataSet("tables", _studied(name), n_clusters)
    yield "gauss50", DataSet("tables", _studied("gauss50"), 50, 5, 3)


def _held(path: Path) -> Iterator[tuple[str, DataSet]]:
    """Tables of a file. Rows with a negative class do not count."""
    with np.load(path) as arrays:
        classes = {name[2:]: arrays[name] for name in arrays.files if name.startswith("y_")}
    for name, y in classes.items():
        draws = 3 if len(y) <= 2000 else 1
        yield f"held {name}", DataSet("held", _resampled(_stored(path, name)), len(np.unique(y[y >= 0])), draws)


def _structureless() -> Iterator[tuple[str, DataSet]]:
    """Noise, and real tables whose columns are shuffled independently: no verdict may call clusters reliable."""
    for name in ("noise", "uniform"):
        yield f"none {name}", DataSet("none", _studied(name), 3, 10, 0)
    shuffled = {
        "wine": (lambda: load_wine(return_X_y=True), 3),
        "cancer": (lambda: known_data.load("cancer std", 0), 2),
        "digits": (lambda: known_data.load("digits", 0), 10),
        "pendigits": (load_pendigits, 10),
    }
    for name, (load, n_clusters) in shuffled.items():
        yield f"none shuffled {name}", DataSet("none", _shuffled(load), n_clusters, 10, 0)


def _constant(X: Any, y: Any) -> Callable[[int], Rows]:
    return lambda seed: (X, y)


def _drawn(spec: Any) -> Callable[[int], Rows]:
    return lambda seed: paper_data.load(spec, seed)


def _studied(name: str) -> Callable[[int], Rows]:
    return lambda seed: known_data.load(name, seed)


def _resampled(load: Callable[[int], Rows]) -> Callable[[int], Rows]:
    """All rows for seed 0, a random share of them for the others."""

    def rows(seed: int) -> Rows:
        X, y = load(seed)
        if seed == 0:
            return X, y
        index = np.random.RandomState(1000 + seed).permutation(len(X))[: round(KEPT_SHARE * len(X))]
        return X[np.sort(index)], y[np.sort(index)]

    return rows


def _stored(path: Path, name: str) -> Callable[[int], Rows]:
    def rows(seed: int) -> Rows:
        with np.load(path) as arrays:
            return np.asarray(arrays[f"X_{name}"], float), np.asarray(arrays[f"y_{name}"])

    return rows


def _shuffled(load: Callable[[], Rows]) -> Callable[[int], Rows]:
    def rows(seed: int) -> Rows:
        X, y = load()
        return np.random.default_rng(seed).permuted(np.asarray(X, float), axis=0), y

    return rows
