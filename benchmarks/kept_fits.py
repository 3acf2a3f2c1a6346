"""Labels of many fits, kept to see whether changed code still gives the same.

    python benchmarks/kept_fits.py write fits.npz                # run all fits and write their labels
    python benchmarks/kept_fits.py check fits.npz                # run them again: status 1 if any label differs
    python benchmarks/kept_fits.py check fits.npz SSC "on Dask"  # those whose name contains one of these
    python benchmarks/kept_fits.py list                          # names only

`--code FOLDER` refuses to run unless the package is imported from that folder: of several copies it is easy to take the
wrong one. `--processes 2` runs two fits at a time. Each has one thread, since several add up numbers in another order,
and so do other versions of libraries and other machines: write and check on the same. Data are read from the folder
named by SUBSPACES_DATA. The file holds up to three arrays of each fit: its labels by its name, those of new rows by
"NAME/predict", and the number of clusters by "NAME/n_clusters".
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_moons
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import subspaces
from subspaces import (
    FLS,
    KASP,
    LBF,
    SLBF,
    SSC,
    SSSC,
    Beta2,
    FourierSpectralClustering,
    KernelSpectralClustering,
    KFlats,
    LandmarkSpectralClustering,
    NystromSpectralClustering,
    open_rows,
)
from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_subspaces
from subspaces.kernels import CustomFeatures, SubspaceFeatures
from subspaces.self_expression import ADMM

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# The least that `open_rows` takes: of rows of 200 columns it samples 2500.
MEMORY_LIMIT = "32MB"

Array: TypeAlias = NDArray[Any]
# Rows to fit and new ones.
Load: TypeAlias = Callable[[], tuple[Array, Array]]
# Puts rows somewhere, in a folder if need be under a name, and returns what estimators take.
Hold: TypeAlias = Callable[[Array, Path, str], Any]


def in_memory(rows: Array, folder: Path, name: str) -> Array:
    return rows


@dataclass(frozen=True)
class Fit:
    """An estimator and the rows it is to cluster."""

    model: Any
    load: Load
    hold: Hold = in_memory


# Rows


def parts(rows: Array, n_rows: int, n_new: int = 500) -> tuple[Array, Array]:
    """Some of the rows in random order to fit, and some others to predict."""
    order = np.random.default_rng(0).permutation(len(rows))
    return rows[order[:n_rows]], rows[order[n_rows : n_rows + n_new]]


@cache
def flat_rows() -> tuple[Array, Array]:
    """Three subspaces through the origin, few enough rows for each to be a landmark."""
    return parts(make_subspaces((4, 5, 6), 10, points_per_subspace=400, random_state=0)[0], 1000)


@cache
def plane_rows() -> tuple[Array, Array]:
    return parts(make_subspaces((2, 2), 6, points_per_subspace=400, random_state=1)[0], 600)


@cache
def affine_rows() -> tuple[Array, Array]:
    return parts(make_subspaces((1, 2, 2), 8, points_per_subspace=500, affine=True, random_state=2)[0], 1200)


@cache
def wide_rows() -> tuple[Array, Array]:
    """Five subspaces, more rows than landmarks."""
    return parts(make_subspaces((3, 4, 5, 6, 7), 80, points_per_subspace=800, random_state=3)[0], 3600)


@cache
def noisy_rows() -> tuple[Array, Array]:
    """Three subspaces and 30 % outliers."""
    return parts(make_subspaces((4, 5, 6), 10, points_per_subspace=400, outliers=0.3, random_state=4)[0], 900)


@cache
def uneven_rows() -> tuple[Array, Array]:
    counts = (3000, 700, 160)
    return parts(make_subspaces((3, 3, 4), 12, points_per_subspace=counts, random_state=5)[0], 3600)


@cache
def overlapping_rows() -> tuple[Array, Array]:
    """Clusters of different size and no flat shape that overlap."""
    counts = [2400, 700, 300, 150]
    return parts(make_blobs(counts, n_features=6, cluster_std=3.0, random_state=6)[0], 3100)


@cache
def many_rows() -> tuple[Array, Array]:
    """More rows than everything is decided on."""
    rows, _ = make_subspaces((2, 3, 4), 10, points_per_subspace=40_000, outliers=0.02, shuffle=True, random_state=7)
    return rows[:120_000].astype(np.float32), rows[120_000:120_500].astype(np.float32)


@cache
def long_rows() -> tuple[Array, Array]:
    """Rows of so many columns that few fit into the memory limit."""
    return parts(make_subspaces((3, 4, 5), 200, points_per_subspace=2100, noise=0.02, random_state=8)[0], 6000)


@cache
def blob_rows() -> tuple[Array, Array]:
    return parts(make_blobs(1500, centers=4, n_features=5, cluster_std=2.0, random_state=9)[0], 1200)


@cache
def moon_rows() -> tuple[Array, Array]:
    return parts(make_moons(1500, noise=0.08, random_state=10)[0], 1200)


def single(load: Load) -> Load:
    """The same rows as float32."""
    return lambda: tuple(rows.astype(np.float32) for rows in load())


def digit_images(digits: list[int] | None, n_rows: int, subset: str, n_components: int = 80) -> Load:
    return lambda: parts(load_mnist(digits, n_components, subset=subset)[0], n_rows)


def motion(name: str) -> Load:
    """Tracks of a sequence of Hopkins155."""

    def load() -> tuple[Array, Array]:
        with np.load(Path(os.environ["SUBSPACES_DATA"]) / "motions.npz") as archive:
            rows = archive[f"X_{name}"]
        return parts(rows, len(rows) * 5 // 6)

    return load


def toy(load: Callable[..., Any], *, scaled: bool = False) -> Load:
    """Rows of a data set of scikit-learn."""

    def rows() -> tuple[Array, Array]:
        X = load(return_X_y=True)[0]
        return parts(StandardScaler().fit_transform(X) if scaled else X, len(X) * 5 // 6)

    return rows


# Where rows are


def in_npy(rows: Array, folder: Path, name: str) -> Path:
    path = folder / f"{name}.npy"
    np.save(path, rows)
    return path


def in_several_npy(rows: Array, folder: Path, name: str) -> str:
    for number, part in enumerate(np.array_split(rows, 11)):
        np.save(folder / f"{name}-{number}.npy", part)
    return str(folder / f"{name}-*.npy")


def in_parquet(rows: Array, folder: Path, name: str) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"{name}.parquet"
    columns = {f"column {i}": column for i, column in enumerate(np.ascontiguousarray(rows.T))}
    pq.write_table(pa.table(columns), path, row_group_size=300)
    return path


def in_zarr(rows: Array, folder: Path, name: str) -> Path:
    import zarr

    path = folder / f"{name}.zarr"
    zarr.create_array(path, shape=rows.shape, chunks=(300, 4), dtype=rows.dtype)[:] = rows
    return path


def in_hdf5(rows: Array, folder: Path, name: str) -> Path:
    import h5py

    path = folder / f"{name}.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("rows", data=rows, chunks=(100, 4))
    return path


def in_raw_bytes(rows: Array, folder: Path, name: str) -> Array:
    path = folder / f"{name}.bin"
    rows.tofile(path)
    return np.memmap(path, rows.dtype, "r", shape=rows.shape)


def in_frame(rows: Array, folder: Path, name: str) -> Any:
    import pandas as pd

    return pd.DataFrame(rows, columns=[f"column {i}" for i in range(rows.shape[1])])


def from_function(rows: Array, folder: Path, name: str) -> Callable[[], Iterator[Array]]:
    return lambda: (rows[start : start + 170] for start in range(0, len(rows), 170))


def sampled_npy(rows: Array, folder: Path, name: str) -> Any:
    """A file of which a sample is taken, and that is read in blocks."""
    return open_rows(in_npy(rows, folder, name), memory_limit=MEMORY_LIMIT, block_rows=700)


def sampled_parquet(rows: Array, folder: Path, name: str) -> Any:
    return open_rows(in_parquet(rows, folder, name), memory_limit=MEMORY_LIMIT, block_rows=1000)


def sampled_function(rows: Array, folder: Path, name: str) -> Any:
    return open_rows(from_function(rows, folder, name), memory_limit=MEMORY_LIMIT)


def with_checkpoint(rows: Array, folder: Path, name: str) -> Any:
    """A file whose labels go into another, with a checkpoint on the way."""
    return open_rows(sampled_npy(rows, folder, name), checkpoint=folder / name, labels=folder / f"labels of {name}.npy")


def on_dask(rows: Array, folder: Path, name: str) -> Any:
    import dask.array as da

    return da.from_array(rows, chunks=(max(1, len(rows) // 4), -1))


def in_dask_frame(rows: Array, folder: Path, name: str) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(in_frame(rows, folder, name), npartitions=3)


# Fits


def every_estimator() -> dict[str, Fit]:
    """Every estimator and solver on subspaces."""
    waves = RBFSampler(gamma=0.5, n_components=200)
    half_spaces = CustomFeatures(_is_above, _normals, n_components=300)
    linear = SubspaceFeatures(200, subspace_dim=2, affine=True)
    models = {
        "FLS": (FLS(3, random_state=0), flat_rows),
        "FLS auto": (FLS("auto", max_clusters=6, random_state=0), flat_rows),
        "FLS.paper": (FLS.paper(3, subspace_dim=5, n_landmarks=300, random_state=0), flat_rows),
        "FLS.paper linear": (FLS.paper(2, subspace_dim=2, affine=False, n_landmarks=300, random_state=0), plane_rows),
        "LandmarkSpectralClustering": (LandmarkSpectralClustering(3, n_landmarks=300, random_state=0), affine_rows),
        "LandmarkSpectralClustering dense": (
            LandmarkSpectralClustering(3, n_landmarks=300, n_nearest=None, random_state=0), affine_rows,
        ),
        "LandmarkSpectralClustering random": (
            LandmarkSpectralClustering(3, n_landmarks=300, landmarks="random", n_components=3, random_state=0),
            affine_rows,
        ),
        "NystromSpectralClustering": (NystromSpectralClustering(3, n_landmarks=300, random_state=0), affine_rows),
        "NystromSpectralClustering matern": (
            NystromSpectralClustering(3, kernel="matern", n_landmarks=300, n_components=2, random_state=0), affine_rows,
        ),
        "FourierSpectralClustering": (FourierSpectralClustering(3, n_features=300, random_state=0), affine_rows),
        "FourierSpectralClustering laplacian": (
            FourierSpectralClustering(3, kernel="laplacian", n_features=300, random_state=0), affine_rows,
        ),
        "KernelSpectralClustering": (KernelSpectralClustering(3, random_state=0), affine_rows),
        "KernelSpectralClustering flats": (
            KernelSpectralClustering(3, feature_map=linear, random_state=0), affine_rows,
        ),
        "KernelSpectralClustering RBFSampler": (
            KernelSpectralClustering(3, feature_map=waves, random_state=0), affine_rows,
        ),
        "KernelSpectralClustering custom": (
            KernelSpectralClustering(3, feature_map=half_spaces, random_state=0), affine_rows,
        ),
        "KASP": (KASP(3, random_state=0), affine_rows),
        "KASP 200": (KASP(3, n_centroids=200, random_state=0), affine_rows),
        "LBF": (LBF(3, random_state=0), flat_rows),
        "LBF published": (LBF(2, subspace_dim=2, polish=False, random_state=0), plane_rows),
        "LBF linear unit": (LBF(3, affine=False, normalize=True, random_state=0), flat_rows),
        "LBF auto": (LBF("auto", max_clusters=5, random_state=0), plane_rows),
        "SLBF": (SLBF(3, random_state=0), flat_rows),
        "SLBF published": (SLBF(2, subspace_dim=2, scale="published", random_state=0), plane_rows),
        "KFlats": (KFlats(3, random_state=0), flat_rows),
        "KFlats squared random": (
            KFlats(2, subspace_dim=2, affine=False, loss="squared", init="random", random_state=0), plane_rows,
        ),
        "KFlats given labels": (
            KFlats(3, subspace_dim=2, init=np.arange(len(affine_rows()[0])) % 3, random_state=0), affine_rows,
        ),
        "KFlats auto": (KFlats("auto", max_clusters=5, random_state=0), plane_rows),
        "SSC": (SSC(2, random_state=0), plane_rows),
        "SSC affine": (SSC(3, affine=True, random_state=0), affine_rows),
        "SSC omp": (SSC(3, solver="omp", random_state=0), flat_rows),
        "SSC elastic_net": (SSC(3, solver="elastic_net", random_state=0), flat_rows),
        "SSC outliers": (SSC(2, solver=ADMM(outliers=True), random_state=0), plane_rows),
        "SSSC": (SSSC(3, n_in_sample=400, random_state=0), flat_rows),
        "SSSC affine": (SSSC(3, n_in_sample=400, affine=True, random_state=0), affine_rows),
        "SSSC omp": (SSSC(3, n_in_sample=400, solver="omp", random_state=0), flat_rows),
        "SSSC elastic_net": (SSSC(3, n_in_sample=400, solver="elastic_net", random_state=0), flat_rows),
    }  # fmt: skip
    fits = {name: Fit(model, load) for name, (model, load) in models.items()}
    for name in ("FLS", "FLS.paper", "LandmarkSpectralClustering", "KASP", "LBF", "SLBF", "KFlats", "SSC", "SSSC omp"):
        fits[f"{name} float32"] = Fit(fits[name].model, single(fits[name].load))
    return fits


def _is_above(rows: Array, normals: Array) -> Array:
    return rows @ normals.T > 0


def _normals(rows: Array, size: int, rng: np.random.RandomState) -> Array:
    return rng.normal(size=(size, rows.shape[1]))


def fls_on_data() -> dict[str, Fit]:
    """FLS with its defaults on real data, and on clusters of other shapes."""
    sets: dict[str, tuple[int | str, Load]] = {
        "MNIST 1, 7": (2, digit_images([1, 7], 4000, "train")),
        "MNIST 4, 9": (2, digit_images([4, 9], 1500, "test")),
        "MNIST": (10, digit_images(None, 3200, "test", 40)),
        "penDigits": (10, lambda: parts(load_pendigits()[0], 3500)),
        "Yale B": (8, lambda: parts(load_yaleb(8, random_state=0)[0], 450)),
        "Yale B pixels": (5, lambda: parts(load_yaleb(5, n_components=None, random_state=1)[0], 280)),
        "motion cars2B": (3, motion("cars2B")),
        "motion dancing": (5, motion("dancing")),
        "motion 1R2RC_g12": (2, motion("1R2RC_g12")),
        "motion two_cranes": (3, motion("two_cranes")),
        "iris": (3, toy(load_iris)),
        "wine": (3, toy(load_wine, scaled=True)),
        "digits": (10, toy(load_digits)),
        "moons": (2, moon_rows),
        "blobs": (4, blob_rows),
        "wide": (5, wide_rows),
        "uneven": (3, uneven_rows),
        "overlapping": (4, overlapping_rows),
    }
    fits = {f"FLS on {name}": Fit(FLS(k, random_state=0), load) for name, (k, load) in sets.items()}
    for name in ("iris", "wine", "moons", "blobs", "Yale B", "motion cars2B", "uneven"):
        model = FLS("auto", max_clusters=8, random_state=0)
        fits[f"FLS on {name} auto"] = Fit(model, sets[name][1])
    return fits


def fls_with_options() -> dict[str, Fit]:
    """FLS with options of each kind."""
    given = flat_rows()[0][:300]
    options: dict[str, tuple[int, Load, dict[str, Any]]] = {
        "detect_outliers=True": (3, noisy_rows, {"detect_outliers": True}),
        "detect_outliers=0.1": (3, noisy_rows, {"detect_outliers": 0.1}),
        "n_draws=3": (5, wide_rows, {"n_draws": 3, "n_landmarks": 600}),
        "n_draws=3 few": (3, flat_rows, {"n_draws": 3}),
        "n_draws=4 uneven": (3, uneven_rows, {"n_draws": 4, "n_landmarks": 600}),
        "assign=density": (2, moon_rows, {"assign": "density"}),
        "assign=density uneven": (4, overlapping_rows, {"assign": "density"}),
        "assign=balanced": (3, flat_rows, {"assign": "balanced"}),
        "assign=balanced uneven": (3, uneven_rows, {"assign": "balanced"}),
        "n_nearest=None": (3, flat_rows, {"n_nearest": None}),
        "n_nearest=None sigma": (3, flat_rows, {"n_nearest": None, "sigma": 0.3, "power": 1.0}),
        "n_nearest=12": (3, flat_rows, {"n_nearest": 12}),
        "sigma=0.2": (3, flat_rows, {"sigma": 0.2}),
        "landmarks=random": (3, flat_rows, {"landmarks": "random", "n_landmarks": 300}),
        "landmarks given": (3, flat_rows, {"landmarks": given}),
        "landmarks given n_draws=3": (3, flat_rows, {"landmarks": given, "n_draws": 3}),
        "affine=True": (3, flat_rows, {"affine": True}),
        "affine=True on affine": (3, affine_rows, {"affine": True}),
        "affine=False": (3, affine_rows, {"affine": False}),
        "normalize=True": (3, affine_rows, {"affine": True, "normalize": True}),
        "normalize=False": (3, flat_rows, {"affine": False, "normalize": False}),
        "center=False": (4, blob_rows, {"center": False}),
        "subspace_dim=5": (3, flat_rows, {"subspace_dim": 5}),
        "neighborhood=15": (3, flat_rows, {"neighborhood": 15}),
        "neighborhood=beta2": (3, flat_rows, {"neighborhood": "beta2"}),
        "neighborhood=Beta2(12, 3)": (3, flat_rows, {"subspace_dim": 4, "neighborhood": Beta2(12, 3)}),
        "n_components=4": (3, flat_rows, {"n_components": 4}),
        "max_columns=None": (3, long_rows_few, {"max_columns": None}),
        "max_columns=8": (3, flat_rows, {"max_columns": 8}),
        "one cluster": (1, flat_rows, {}),
    }
    return {
        f"FLS {name}": Fit(FLS(n_clusters, random_state=0, **given), load)
        for name, (n_clusters, load, given) in options.items()
    }


def long_rows_few() -> tuple[Array, Array]:
    rows, new = long_rows()
    return rows[:400, :100], new[:, :100]


def rows_elsewhere() -> dict[str, Fit]:
    """Rows in files, in frames and on Dask, few, or so many that a sample of them decides."""
    fls = FLS(3, random_state=0)
    few = {
        "npy": in_npy,
        "several npy": in_several_npy,
        "Parquet": in_parquet,
        "Zarr": in_zarr,
        "HDF5": in_hdf5,
        "raw bytes": in_raw_bytes,
        "function": from_function,
        "frame": in_frame,
        "Dask": on_dask,
        "Dask frame": in_dask_frame,
    }
    quick = FLS(3, n_landmarks=200, subspace_dim=4, neighborhood=15, affine=False, random_state=0)
    fits = {f"FLS rows in {name}": Fit(quick, flat_rows, hold) for name, hold in few.items()}
    sampled = {
        "FLS": fls,
        "FLS outliers": FLS(3, n_landmarks=300, subspace_dim=4, detect_outliers=True, random_state=0),
        "FLS n_draws=3": FLS(3, n_landmarks=300, subspace_dim=4, n_draws=3, random_state=0),
        "FLS.paper": FLS.paper(3, subspace_dim=4, n_landmarks=200, random_state=0),
        "LandmarkSpectralClustering": LandmarkSpectralClustering(3, n_landmarks=200, random_state=0),
        "NystromSpectralClustering": NystromSpectralClustering(3, n_landmarks=200, random_state=0),
        "FourierSpectralClustering": FourierSpectralClustering(3, n_features=200, random_state=0),
        "KernelSpectralClustering": KernelSpectralClustering(3, random_state=0),
        "KASP": KASP(3, n_centroids=200, random_state=0),
        "LBF": LBF(3, subspace_dim=4, random_state=0),
        "SLBF": SLBF(3, subspace_dim=4, random_state=0),
        "KFlats": KFlats(3, subspace_dim=4, n_init=2, random_state=0),
        "SSC omp": SSC(3, solver="omp", random_state=0),
        "SSSC": SSSC(3, n_in_sample=300, random_state=0),
    }
    fits |= {f"{name} sampled npy": Fit(model, long_rows, sampled_npy) for name, model in sampled.items()}
    light = sampled["FLS outliers"]
    fits["FLS sampled Parquet"] = Fit(light, long_rows, sampled_parquet)
    fits["FLS sampled function"] = Fit(light, long_rows, sampled_function)
    fits["FLS sampled checkpoint"] = Fit(light, long_rows, with_checkpoint)
    fits["FLS many rows"] = Fit(FLS(3, n_landmarks=300, random_state=0), many_rows)
    fits["FLS many rows on Dask"] = Fit(quick, many_rows, on_dask)
    fits["KFlats many rows"] = Fit(KFlats(3, subspace_dim=3, n_init=2, random_state=0), many_rows)
    return fits


def all_fits() -> dict[str, Fit]:
    return every_estimator() | fls_on_data() | fls_with_options() | rows_elsewhere()


# What is kept of them


def is_of(code: Path | None) -> bool:
    """Whether the package is the one in this folder; any will do where none is named."""
    return code is None or code.resolve() in Path(subspaces.__file__).resolve().parents


def arrays_of(name: str, code: Path | None = None) -> tuple[dict[str, Array], float]:
    """What is kept of the fit of this name, and the seconds of computing it took."""
    fit = all_fits()[name]
    if not is_of(code):
        raise ImportError(f"subspaces is {subspaces.__file__}, not in {code}")
    rows, new = fit.load()
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held, held_new = fit.hold(rows, Path(folder), "rows"), fit.hold(new, Path(folder), "new")
        start = time.process_time()
        model = fit.model.fit(held)
        found = {name: model.labels_, f"{name}/predict": model.predict(held_new)}
        if hasattr(model, "n_clusters_"):
            found[f"{name}/n_clusters"] = model.n_clusters_
        arrays = {key: np.array(value).astype(np.int16) for key, value in found.items()}
        seconds = time.process_time() - start
    return arrays, seconds


def started(
    names: list[str], processes: int, code: Path | None
) -> Iterator[tuple[str, Future[tuple[dict[str, Array], float]]]]:
    """The fits of these names, run in other processes of one thread each."""
    os.environ.update(ONE_THREAD)
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield from [(name, pool.submit(arrays_of, name, code)) for name in names]
    finally:
        pool.shutdown(cancel_futures=True)


def versions() -> str:
    return f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"


def difference(kept: Array | None, found: Array | None) -> str | None:
    """How labels differ from those that were kept; None where they are equal."""
    if kept is None or found is None:
        return "not kept" if kept is None else "not there any more"
    if kept.shape != found.shape:
        return f"{found.shape}, not {kept.shape}"
    if np.array_equal(kept, found):
        return None
    if not kept.ndim:
        return f"{found}, not {kept}"
    return f"{np.sum(kept != found)} of {len(kept)} rows differ, adjusted Rand {adjusted_rand_score(kept, found):.4f}"


def compared(name: str, kept: dict[str, Array], found: dict[str, Array]) -> str | None:
    """How a fit differs from what was kept of it; None where it is equal."""
    told = []
    for key in (name, f"{name}/predict", f"{name}/n_clusters"):
        if key in kept or key in found:
            told.append(
                (key.removeprefix(name).removeprefix("/") or "labels", difference(kept.get(key), found.get(key)))
            )
    return "; ".join(f"{what}: {how}" for what, how in told if how) or None


def write(path: Path, processes: int, code: Path | None) -> None:
    """Run all fits and write what is kept of them."""
    kept: dict[str, Array] = {"versions": np.array(versions())}
    total = 0.0
    for name, future in started(list(all_fits()), processes, code):
        arrays, seconds = future.result()
        kept |= arrays
        total += seconds
        counts = np.unique_counts(arrays[name]).counts.tolist()
        print(f"{seconds:6.2f} s  {name}: {counts}", flush=True)
    np.savez_compressed(path, **kept)
    print(f"{len(all_fits())} fits, {total:.0f} s, with {versions()}")


def check(path: Path, wanted: list[str], processes: int, code: Path | None) -> int:
    """Run fits again and tell which differ from what was kept: how many."""
    with np.load(path) as archive:
        kept = dict(archive)
    if str(kept["versions"]) != versions():
        print(f"written with {kept['versions']}; these are {versions()}")
    names = [name for name in all_fits() if not wanted or any(part in name for part in wanted)]
    differing, total = 0, 0.0
    for name, future in started(names, processes, code):
        try:
            found, seconds = future.result()
            total += seconds
            told = compared(name, kept, found)
        except Exception as error:
            told = f"fails: {error!r}"
        differing += told is not None
        print(f"{'equal' if told is None else 'DIFFERS'}  {name}{': ' + told if told else ''}", flush=True)
    print(f"{len(names) - differing} of {len(names)} fits are equal, {total:.0f} s")
    return differing


def main() -> int:
    parser = argparse.ArgumentParser(description="Labels of many fits, kept to see whether they stay the same.")
    parser.add_argument("command", choices=["write", "check", "list"])
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("names", nargs="*", help="parts of the names of the fits to check")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--code", type=Path, help="folder that the package must come from")
    asked = parser.parse_intermixed_args()
    if asked.command == "list":
        print("\n".join(all_fits()))
        return 0
    if asked.path is None:
        parser.error("name the file")
    print(f"code: {subspaces.__file__}")
    if not is_of(asked.code):
        parser.error(f"the package is not in {asked.code}")
    if asked.command == "write":
        write(asked.path, asked.processes, asked.code)
        return 0
    return int(check(asked.path, asked.names, asked.processes, asked.code) > 0)


if __name__ == "__main__":
    sys.exit(main())
