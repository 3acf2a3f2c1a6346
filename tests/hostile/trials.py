"""One hostile trial by its kind and seed: it is answered, refused in one line, or it has failed.

A trial returns "answered" or "refused". Anything else that it raises is a failure: `Wrong` for a bad answer, another
exception for one that is not an error of the user.
"""

import contextlib
import inspect
import io
import itertools
import json
import os
import struct
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import values

import subspaces
from subspaces import cli, inputs, load, open_rows
from subspaces._core.errors import UserError
from subspaces.rows import feed
from subspaces.saving import ESTIMATORS
from subspaces.saving.file import FORMAT

FIXTURES = Path(__file__).parents[1] / "fixtures" / "models" / "format-2"
NAMES = [name for name in ESTIMATORS if name != "Preparation"]


class Wrong(AssertionError):
    """An answer that is not what was promised."""


def require(condition, message):
    if not condition:
        raise Wrong(message)


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def check_labels(labels, count, where):
    labels = np.asarray(labels)
    require(labels.shape == (count,), f"{where} has shape {labels.shape} for {count} rows")
    require(labels.dtype.kind == "i" and (not count or labels.min() >= -1), f"{where} is of {labels.dtype}")


def check_fitted(model, x):
    """Whatever a fitted model returns has the right shape and type, and is finite."""
    count = len(x)
    if hasattr(model, "labels_") and len(model.labels_) == count:
        check_labels(model.labels_, count, "labels_")
    check_labels(model.predict(x), count, "predict")
    if hasattr(model, "transform"):
        found = np.asarray(model.transform(x))
        require(found.shape[0] == count and np.isfinite(found).all(), f"transform gives {found.shape}, not finite")
    if model._code is not None:
        require(not np.isnan(model.score(x)), "score is not a number")
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, np.ndarray | float) and np.asarray(value).dtype.kind == "f":
            require(not np.isnan(value).any(), f"{name} holds NaN")
    require(len(repr(model)) < 10_000, "repr is long")


def estimator(seed, folder):
    """A fit of hostile rows with hostile parameters."""
    rng = np.random.default_rng(seed)
    cls = getattr(subspaces, NAMES[rng.integers(len(NAMES))])
    x = values.rows(rng)
    with quiet():
        try:
            model = cls(**values.parameters(rng, cls), random_state=0).fit(x)
            check_fitted(model, x if hasattr(x, "__len__") else [x])
        except UserError:
            return "refused"
    return "answered"


def _write(path, x):
    """Rows in a file of the format that its suffix names."""
    kind = path.suffix[1:]
    if kind == "npy":
        np.save(path, x)
    elif kind == "npz":
        np.savez(path, x=x)
    elif kind == "csv":
        path.write_text("\n".join(",".join(map(str, row)) for row in x.tolist()))
    elif kind == "mat":
        import scipy.io

        scipy.io.savemat(path, {"x": x})
    elif kind == "h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["x"] = x
    elif kind == "parquet":
        import pandas

        pandas.DataFrame(x, columns=[f"c{i}" for i in range(x.shape[1])]).to_parquet(path)
    else:
        from PIL import Image

        Image.fromarray((np.abs(x) % 256).astype(np.uint8)).save(path)


def damaged(rng, content):
    """Bytes that were changed in one of several ways."""
    content = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        place, kind = int(rng.integers(len(content))), rng.integers(5)
        if kind == 0:
            content[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del content[place:]
            content = content or bytearray(b"\0")
        elif kind == 2:
            content[place : place + 4] = struct.pack("<I", int(rng.integers(2**32)))
        elif kind == 3:
            content[place:place] = rng.bytes(int(rng.integers(1, 40)))
        else:
            digits = [i for i, byte in enumerate(content) if 48 <= byte < 58]
            if digits:
                content[digits[rng.integers(len(digits))]] = 57
    return bytes(content)


SUFFIXES = ["npy", "npz", "csv", "mat", "h5", "parquet", "png", "tsv"]


def file(seed, folder):
    """Rows of a file whose bytes were changed, read whole and in blocks."""
    rng = np.random.default_rng(seed)
    suffix = SUFFIXES[rng.integers(len(SUFFIXES))]
    path = folder / f"rows.{suffix if suffix != 'tsv' else 'csv'}"
    _write(path, rng.standard_normal((int(rng.integers(1, 30)), int(rng.integers(1, 6)))))
    if rng.random() < 0.9:
        path.write_bytes(damaged(rng, path.read_bytes()))
    if suffix == "tsv":
        path = path.rename(path.with_suffix(".tsv"))
    with quiet():
        try:
            if rng.random() < 0.5:
                table = inputs.read_table(path, memory_limit="64MB")
                require(len(table.rows) == table.n_rows, "read_table has lost rows")
            else:
                found = [np.asarray(block) for block in open_rows(path, memory_limit="64MB", block_rows=7).blocks()]
                require(all(block.ndim == 2 and block.dtype.kind == "f" for block in found), "blocks are not rows")
        except UserError:
            return "refused"
    return "answered"


def _places(value, place=()):
    """The places of all values of a document."""
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from _places(each, (*place, key))


PLAIN = [None, True, False, 0, 1, -1, 3, 2**31, 10**400, 1.5, "", "auto", "nan", [], {}, [[]], {"not finite": "nan"}]


def _changed_document(rng, document):
    document = json.loads(json.dumps(document))
    for _ in range(int(rng.integers(1, 3))):
        places = [place for place in _places(document["state"]) if place]
        *groups, last = places[rng.integers(len(places))]
        holder = document["state"]
        for key in groups:
            holder = holder[key]
        kind = rng.integers(4)
        if kind == 0:
            del holder[last]
        elif kind == 1 and isinstance(holder, dict):
            holder["more"] = holder[last]
        elif kind == 2 and isinstance(holder[last], int | float) and not isinstance(holder[last], bool):
            holder[last] = holder[last] * -1 if rng.random() < 0.3 else holder[last] + int(rng.integers(-2, 3))
        else:
            holder[last] = PLAIN[rng.integers(len(PLAIN))]
    return document


def _changed_arrays(rng, arrays):
    names = sorted(arrays)
    name = names[rng.integers(len(names))]
    x, kind = arrays[name], rng.integers(8)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = x[:-1] if x.ndim else x
    elif kind == 2:
        arrays[name] = x.T.copy()
    elif kind == 3:
        arrays[name] = np.asarray(x, rng.choice([np.float32, np.float64, np.int32, np.int64, np.uint8, np.float16]))
    elif kind == 4:
        arrays[name] = np.concatenate([x, x])
    elif kind == 5 and x.size:
        x.flat[rng.integers(x.size)] = rng.choice([0, -1, 1e6, 1e300, -1e-300]) if x.dtype.kind == "f" else 7
    elif kind == 6:
        arrays[name] = x[None]
    else:
        x[...] = rng.choice([0, 1])


@cache
def _fixture(name):
    return (FIXTURES / name).read_bytes()


def model(seed, folder):
    """A model file whose values, arrays or bytes were changed: it is refused, or it works."""
    import safetensors.numpy

    rng = np.random.default_rng(seed)
    names = sorted(each.name for each in FIXTURES.iterdir() if each.suffix == ".subspaces")
    content = _fixture(names[rng.integers(len(names))])
    kind = rng.integers(3)
    if kind == 0:
        content = damaged(rng, content)
    else:
        length = int.from_bytes(content[:8], "little")
        document = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][FORMAT])
        arrays = {name: array.copy() for name, array in safetensors.numpy.load(content).items()}
        with np.errstate(all="ignore"):
            if kind == 1 or not arrays:
                document = _changed_document(rng, document)
            else:
                _changed_arrays(rng, arrays)
        content = safetensors.numpy.save(arrays, {FORMAT: json.dumps(document)})
    path = folder / "model.subspaces"
    path.write_bytes(content)
    with quiet():
        try:
            made = load(path)
        except UserError:
            return "refused"
        # From here on nothing may fail: a file is refused when it is loaded, or not at all.
        x = rng.standard_normal((9, made.n_features_in_))
        if isinstance(made, inputs.Preparation):
            require(made.transform(x).shape == (9, made.n_columns_out), "transform has another shape")
            require(len(repr(made)) < 10_000, "repr is long")
        else:
            check_fitted(made, x)
            made.save(folder / "again.subspaces")
    return "answered"


LINES = [
    "fit rows.csv -k 2 --method kasp --out out",
    "fit rows.npy -k 2 --method kflats --out out --seed 1",
    "fit rows.csv -k 2 --method ssc --out out --no-report",
    "fit rows.csv -k 2 --method kasp --out labels.csv",
    "fit rows.csv -k 2 --method kasp --out run --force",
    "choose rows.csv --max-clusters 3 --repeats 2",
    "info",
    "predict model.subspaces rows.csv",
    "predict model.subspaces rows.npy --out out.csv",
    "predict run rows.csv --out out.npy",
    "compare rows.csv -k 2 --methods kasp,kflats --out out",
    "report run --out again.html",
]
WORDS = [
    "--out",
    "--method",
    "--columns",
    "--truth",
    "--names",
    "--memory-limit",
    "--pca",
    "--config",
    "--force",
    "--missing",
    "--standardise",
    "--quiet",
    "--json",
    "--dry-run",
    "--help",
    "missing.csv",
    "rows.csv",
    "rows.npy",
    ".",
    "2",
    "0",
    "-1",
    "auto",
    "1e400",
    "kasp",
    "kflats",
    "a,b",
    "c0",
    "99",
    "64MB",
    "model.subspaces",
    "/dev/zero",
    "pipe",
    "run",
    "run/run.json",
    "out",
    "--seed",
    "--jobs",
    "--drop",
    "--key",
]
WORDS += ["", "\u00e9\n"]
# What a finished run consists of; a report is not always written.
WHOLE = {"labels.csv", "labels.npy", "model.subspaces", "run.json"}


@cache
def _finished_run():
    """The files of a run, and what its data was."""
    with tempfile.TemporaryDirectory() as place:
        rows = Path(place) / "rows.csv"
        _write(rows, np.random.default_rng(0).standard_normal((20, 3)))
        with quiet(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            cli.main(["fit", str(rows), "-k", "2", "--method", "kasp", "--out", f"{place}/run", "--no-report"])
        return {path.name: path.read_bytes() for path in Path(place, "run").iterdir()}


def command(seed, folder):
    """A command line of random words, in a folder with some rows, a model and a run."""
    rng = np.random.default_rng(seed)
    for suffix in ("csv", "npy"):
        _write(folder / f"rows.{suffix}", rng.standard_normal((20, 3)))
    (folder / "model.subspaces").write_bytes(_fixture("KASP.subspaces"))
    (folder / "run").mkdir()
    for name, content in _finished_run().items():
        (folder / "run" / name).write_bytes(content)
    os.mkfifo(folder / "pipe")
    words = LINES[rng.integers(len(LINES))].split()
    for _ in range(int(rng.integers(4))):
        place, word = int(rng.integers(1, len(words) + 1)), WORDS[rng.integers(len(WORDS))]
        kind = rng.integers(3)
        if kind == 0:
            words[place:place] = [word]
        elif kind == 1:
            words[place : place + 1] = [word]
        else:
            del words[place : place + 1]
    before = contents(folder)
    here = Path.cwd()
    out, err = io.StringIO(), io.StringIO()
    try:
        os.chdir(folder)
        with quiet(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(words)
    finally:
        os.chdir(here)
    case = f"{words}: {code}: {err.getvalue()}"
    require(code in (0, 2), case)
    require(code == 0 or err.getvalue().count("\n") == 1, case)
    named = dict(itertools.pairwise(words)).get("--out", "")
    replaced = {folder / named} if "--force" in words else set()
    check_files(folder, before, f"{case}: ", done=code == 0, force="--force" in words, replaced=replaced)
    return "answered" if code == 0 else "refused"


def contents(folder):
    """All regular files below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_files(folder, before, case, *, done, force, replaced=frozenset()):
    """Nothing is lost, half written or left over: `before` is what was there, `done` whether the command succeeded.

    Files that were `replaced` are those that the user asked to replace.
    """
    after = contents(folder)
    for path, content in before.items():
        allowed = done and force and (path.parent.name == "run" or path in replaced)
        require(path in after or allowed, f"{case}{path.name} is lost")
        require(allowed or after[path] == content, f"{case}{path.name} has changed")
    left = [each for each in folder.rglob("*") if each.name.startswith(".") or ".kept-" in each.name]
    require(not left, f"{case}{left} is left over")
    new = {path for path in after if path not in before or after[path] != before[path]}
    require(done or not new, f"{case}it was refused and has written {sorted(path.name for path in new)}")
    for made in {path.parent for path in new if path.name == "run.json"}:
        require({path.name for path in made.iterdir()} >= WHOLE, f"{case}{made.name} is not whole")
    for path in new:
        if path.suffix == ".npy":
            # A command may read the rows several times.
            labels = np.load(path)
            check_labels(labels, -(-len(labels) // 20) * 20, f"{case}{path.name}")
        elif path.suffix == ".csv" and path.name != "comparison.csv":
            require(len(path.read_text().splitlines()) % 20 == 1, f"{case}{path.name} is not whole")
        elif path.suffix == ".subspaces":
            load(path)
        elif path.suffix == ".html":
            require(path.read_text().rstrip().endswith("</html>"), f"{case}{path.name} is not whole")
        elif path.suffix == ".json":
            json.loads(path.read_text())


@contextlib.contextmanager
def many_rows(count):
    """Fits hold at most this many rows in memory, so that others are read in blocks."""
    usual, feed.FIT_ROWS = feed.FIT_ROWS, count
    try:
        yield
    finally:
        feed.FIT_ROWS = usual


def _source(rng, x, folder):
    """Rows in memory, in a file, in blocks with a checkpoint and a file of labels, as a table or as a sparse matrix."""
    kind = rng.integers(6)
    if kind == 0:
        return x
    if kind == 1:
        import pandas

        return pandas.DataFrame(x, columns=[f"c{i}" for i in range(x.shape[1])])
    if kind == 2:
        import scipy.sparse

        return scipy.sparse.csr_array(x)
    path = folder / ("rows.npy" if kind < 5 else "rows.parquet")
    _write(path, x)
    if kind == 3:
        return path
    places = {"labels": folder / "labels.npy", "checkpoint": folder / "checkpoint"} if rng.random() < 0.5 else {}
    return open_rows(path, memory_limit="64MB", block_rows=int(rng.choice([7, 20, 1000])), **places)


def fit(seed, folder):
    """A fit of difficult rows from any source with parameters that are allowed; what is written is whole."""
    rng = np.random.default_rng(seed)
    cls = getattr(subspaces, NAMES[rng.integers(len(NAMES))])
    shape = (int(rng.choice([12, 30, 90])), int(rng.choice([2, 3, 8, 30])))
    with np.errstate(all="ignore"):
        x = np.asarray(values.numbers(rng, shape), np.float32 if rng.random() < 0.3 else np.float64)
    known = {name: values.KNOWN[name] for name in inspect.signature(cls).parameters if name in values.KNOWN}
    chosen = {name: pool[rng.integers(len(pool))] for name, pool in known.items() if rng.random() < 0.1}
    chosen["n_clusters"] = int(rng.integers(1, 5))
    with quiet(), many_rows(int(rng.choice([20, 100_000]))):
        try:
            source = _source(rng, x, folder)
            model = cls(**chosen, random_state=0).fit(source)
        except UserError:
            return "refused"
        # What was fitted can be used.
        check_fitted(model, x)
        labels = np.asarray(model.labels_)
        check_labels(labels, len(x), "labels_")
        if (folder / "labels.npy").exists():
            require((np.load(folder / "labels.npy") == labels).all(), "the file of labels holds others")
            again = cls(**chosen, random_state=0).fit(source)
            require((np.asarray(again.labels_) == labels).all(), "a finished run that is resumed has other labels")
    left = [each.name for each in folder.rglob("*") if "partial" in each.name or each.name.startswith(".")]
    require(not left, f"{left} is left over")
    return "answered"


def _write_packed(path, x):
    """Rows in a file that is packed, of the format that its suffix names."""
    import pandas

    names = [f"c{i}" for i in range(x.shape[1])]
    frame = pandas.DataFrame(x, columns=names)
    if path.suffix == ".zarr":
        import zarr

        zarr.save_array(path, x)
    elif path.suffix == ".h5":
        import h5py

        with h5py.File(path, "w") as opened:
            opened.create_dataset("x", data=x, chunks=True, compression="gzip", shuffle=True, fletcher32=True)
    elif path.suffix == ".mat":
        import scipy.io

        scipy.io.savemat(path, {"x": x}, do_compression=True)
    elif path.suffix == ".npz":
        np.savez_compressed(path, x=x)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif path.suffix == ".parquet":
        frame.assign(words=[f"word {i % 3}" for i in range(len(x))]).to_parquet(path, compression="zstd")
    else:
        frame.to_csv(path, index=False)


PACKED = ["rows.zarr", "rows.h5", "rows.mat", "rows.npz", "rows.xlsx", "rows.parquet", "rows.csv.gz", "rows.csv.xz"]


def packed(seed, folder):
    """Rows of a packed file whose bytes were changed; what is packed inside may be changed, too."""
    rng = np.random.default_rng(seed)
    path = folder / PACKED[rng.integers(len(PACKED))]
    _write_packed(path, rng.standard_normal((int(rng.integers(1, 30)), int(rng.integers(1, 6)))))
    files = sorted(each for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file())
    changed = files[rng.integers(len(files))]
    content = changed.read_bytes()
    if path.suffix in (".npz", ".xlsx") and rng.random() < 0.7:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = list(members)[rng.integers(len(members))]
        members[name] = damaged(rng, members[name] or b"0")
        with zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, member in members.items():
                archive.writestr(name, member)
    elif rng.random() < 0.9:
        changed.write_bytes(damaged(rng, content))
    options = {"names": "words"} if path.suffix == ".parquet" and rng.random() < 0.5 else {}
    with quiet():
        try:
            table = inputs.read_table(path, memory_limit="64MB", **options)
            require(len(table.rows) == table.n_rows, "read_table has lost rows")
        except UserError:
            return "refused"
    return "answered"


KINDS = {"packed": packed, "estimator": estimator, "file": file, "model": model, "command": command, "fit": fit}
# Megabytes that a trial may take besides what its process holds when it begins: the memory limit and 300 more.
MEMORY = {"estimator": 300, "file": 64 + 300, "model": 64 + 300, "packed": 64 + 300, "command": 300, "fit": 64 + 300}
