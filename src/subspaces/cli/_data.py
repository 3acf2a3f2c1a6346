"""`subspaces data`: data to try things on, in files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.cli import _results as results
from subspaces.cli._config import near
from subspaces.cli._errors import Mistake, settings_of_user
from subspaces.cli._parser import Asked
from subspaces.cli._record import path_of
from subspaces.cli._targets import check_target, put_file, working_folder
from subspaces.cli._words import say, say_json, table

Drawn = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class DataSet:
    """Data by name."""

    name: str
    what: str
    use: str  # what `fit` wants to know beside the file
    make: Callable[..., Drawn]  # keywords are what --set gives


def _mnist(subset: str = "train") -> Drawn:
    from subspaces.datasets import load_mnist

    rows, truth = load_mnist(n_components=None, subset=subset)  # type: ignore[arg-type]
    return _levels(rows), truth


def _pendigits(subset: str = "train") -> Drawn:
    from subspaces.datasets import load_pendigits

    rows, truth = load_pendigits(subset=subset)  # type: ignore[arg-type]
    return rows.astype(np.uint8), truth


def _yaleb(n_persons: int | None = None, *, random_state: int) -> Drawn:
    from subspaces.datasets import load_yaleb

    rows, truth = load_yaleb(n_persons, n_components=None, random_state=random_state)
    return _levels(rows), truth


def _digits() -> Drawn:
    from sklearn.datasets import load_digits

    rows, truth = load_digits(return_X_y=True)
    return rows.astype(np.uint8), truth


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
        DataSet(
            "mnist", "60,000 handwritten digits of 28 x 28 pixels; downloaded", "-k 10 --image-shape 28x28", _mnist
        ),
        DataSet("pendigits", "7,494 digits as 8 positions of a pen; downloaded", "-k 10", _pendigits),
        DataSet(
            "yaleb",
            "2,414 faces of 38 persons, 48 x 42 pixels; from a file of yours",
            "-k 38 --image-shape 48x42 --pca 80 --whiten-drop 2",
            _yaleb,
        ),
        DataSet("digits", "1,797 handwritten digits of 8 x 8 pixels", "-k 10 --image-shape 8x8", _digits),
        DataSet("subspaces", "points near random subspaces, with noise and outliers; drawn", "-k 3", _subspaces),
        DataSet("motions", "tracks of points on moving rigid bodies; drawn", "-k 3", _motions),
    )
}


def run(asked: Asked) -> None:
    """List the data, or write one of them."""
    options = asked.options()
    if options["action"] == "list" and options["name"] is None:
        _list(options["json"])
    elif options["action"] == "get" and options["name"] is not None:
        _get(options)
    elif options["action"] in ("list", "get"):
        wanted = "needs a NAME: see subspaces data list" if options["action"] == "get" else "takes no NAME"
        raise Mistake(f"subspaces data {options['action']} {wanted}")
    else:
        raise Mistake(f"subspaces data {options['action']} is not known: use list or get")


def _list(as_json: bool) -> None:
    if as_json:
        say_json(
            [{"name": each.name, "what": each.what, "parameters": _parameters(each)} for each in DATA_SETS.values()]
        )
        return
    width = max(map(len, DATA_SETS))
    lines = []
    for each in DATA_SETS.values():
        lines.append(f"{each.name:{width}}  {each.what}")
        found = " ".join(f"{name}={_word(value)}" for name, value in _parameters(each).items())
        lines += [f"{'':{width}}    {found}"] if found else []
    lines += ["", "--set dims=3,3 changes what is named below it. To try one of them:", ""]
    lines += ["  subspaces data get digits", "  subspaces fit digits.csv -k 10 --truth truth --image-shape 8x8"]
    say("\n".join(lines))


def _word(value: Any) -> str:
    """A value as --set takes it."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value).lower()


def _parameters(data: DataSet) -> dict[str, Any]:
    """What --set may change, and what it is by default."""
    return {
        name: list(each.default) if isinstance(each.default, tuple) else each.default
        for name, each in inspect.signature(data.make).parameters.items()
        if name != "random_state"
    }


def _get(options: dict[str, Any]) -> None:
    name = options["name"]
    if name not in DATA_SETS:
        raise Mistake(f"there is no data {name}{near(name, DATA_SETS)}; there are {', '.join(DATA_SETS)}")
    if options["format"] not in ("csv", "npy"):
        raise Mistake(f"--format {options['format']} is not known: use csv or npy")
    data, folder = DATA_SETS[name], path_of(options["out"])
    for key, value in options["set"].items():
        if key not in _parameters(data):
            raise Mistake(f"--set {key}={value}: {name} has no such parameter{near(key, _parameters(data))}")
    if not folder.is_dir():
        raise Mistake(f"--out {options['out']} is no folder: make it first")
    targets = [folder / f"{name}.csv"]
    if options["format"] == "npy":
        targets = [folder / f"{name}.npy", folder / f"{name}-truth.npy"]
    for target in targets:
        check_target(target, force=options["force"])
    random = {"random_state": options["seed"]} if "random_state" in inspect.signature(data.make).parameters else {}
    with settings_of_user(options["set"]):
        rows, truth = data.make(**options["set"], **random)
    rows, truth = _some(rows, truth, options["rows"], options["seed"])
    with working_folder(targets[0]) as made:
        if options["format"] == "npy":
            for target, content in zip(targets, (rows, truth), strict=True):
                with (made / target.name).open("wb") as stream:
                    np.save(stream, content, allow_pickle=False)
        else:
            heads = [f"x{j}" for j in range(1, rows.shape[1] + 1)]
            columns = {head: rows[:, j] for j, head in enumerate(heads)}
            results.write_csv(made / targets[0].name, {**columns, "truth": truth})
        for target in targets:
            put_file(made / target.name, target)
    _tell(data, rows, targets, options)


def _tell(data: DataSet, rows: NDArray[Any], targets: list[Path], options: dict[str, Any]) -> None:
    files = [str(target.absolute()) for target in targets]
    if options["json"]:
        say_json({"name": data.name, "rows": rows.shape[0], "columns": rows.shape[1], "files": files})
        return
    lines = [[f"{rows.shape[0]:,}", f"{rows.shape[1]:,}"]]
    truth = " --truth truth" if options["format"] == "csv" else f" --truth {targets[1]}"
    say(
        f"{table(['rows', 'columns'], lines)}\n\n"
        + "\n".join(files)
        + f"\n\nsubspaces fit {targets[0]} {data.use}{truth}"
    )


def _some(rows: NDArray[Any], truth: NDArray[Any], count: int | None, seed: int) -> Drawn:
    """At most `count` rows, in their order."""
    if count is None or count >= len(rows):
        return rows, truth
    index = np.sort(np.random.RandomState(seed).choice(len(rows), count, replace=False))
    return rows[index], truth[index]


def _levels(rows: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Pixels from 0 to 255, as they are stored."""
    return np.round(rows * 255).astype(np.uint8)
