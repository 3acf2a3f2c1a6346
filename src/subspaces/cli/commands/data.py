"""`subspaces data`: data sets to try things on, in files."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from subspaces._core.errors import InputError, file_errors
from subspaces.cli import options as opt
from subspaces.cli import values
from subspaces.cli.command import Command, Group
from subspaces.cli.data_sets import DATA_SETS, DataSet, parameters
from subspaces.cli.output import print_json, print_text, table
from subspaces.cli.record import path_of
from subspaces.cli.targets import Target, claimed
from subspaces.cli.values import near

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


class AnyOrderGroup(Group):
    """A group that also accepts the options of a subcommand before its name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move the subcommand in front of options that precede it."""
        place = self._subcommand_place(args)
        if place is not None:
            args = [args[place], *args[:place], *args[place + 1 :]]
        return super().parse_args(ctx, args)

    def _subcommand_place(self, args: list[str]) -> int | None:
        """The index of the first subcommand that only options and their values precede; None if there is none."""
        options = [each for one in self.commands.values() for each in one.params if isinstance(each, click.Option)]
        with_value = {name for each in options if not each.is_flag for name in each.opts}
        is_value = False
        for place, word in enumerate(args):
            if not is_value and not word.startswith("-"):
                return place if word in self.commands else None
            is_value = not is_value and word in with_value
        return None


@click.group(cls=AnyOrderGroup)
@click.pass_context
def data(ctx: click.Context) -> None:
    """List data sets, or write one of them to a file."""
    if ctx.invoked_subcommand is None:
        print_text(ctx.get_help())


@data.command("list", cls=Command)
@opt.json
def list_data(**options: Any) -> None:
    """List the data sets and their parameters."""
    if options["json"]:
        print_json(
            [{"name": each.name, "what": each.what, "parameters": parameters(each)} for each in DATA_SETS.values()]
        )
        return
    width = max(map(len, DATA_SETS))
    lines = []
    for each in DATA_SETS.values():
        lines.append(f"{each.name:{width}}  {each.what}")
        found = " ".join(f"{name}={_word(value)}" for name, value in parameters(each).items())
        lines += [f"{'':{width}}    {found}"] if found else []
    lines += ["", "--set changes a parameter, such as --set dims=3,3. To try a data set:", ""]
    lines += ["  subspaces data get digits", "  subspaces fit digits.csv -k 10 --truth truth --image-shape 8x8"]
    print_text("\n".join(lines))


@data.command("get", cls=Command)
@click.argument("name", type=values.OneOf(list(DATA_SETS)), metavar="NAME")
@click.option("--out", type=values.Place(folder=True), default=".", metavar="FOLDER", help="Folder of the file.")
@click.option("--format", type=values.OneOf(["csv", "npy"]), default="csv", help="Format of the file.")
@click.option("--rows", type=values.Whole(1), metavar="N", help="Keep this number of rows, drawn at random.")
@opt.settings("dims=3,3")
@opt.seed
@opt.force
@opt.json
def get_data(**options: Any) -> None:
    """Write the data set NAME to a file.

    NAME.csv has the true classes in the column truth; with --format npy they are in NAME-truth.npy beside NAME.npy.
    """
    name, found, folder = options["name"], DATA_SETS[options["name"]], path_of(options["out"])
    for key, value in options["set"].items():
        if key not in parameters(found):
            raise InputError(f"--set {key}={value}: {name} has no such parameter{near(key, parameters(found))}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {options['out']} is a file: name a folder")
    if folder.suffix in (".csv", ".npy") and not folder.exists():
        raise InputError(f"--out {options['out']}: name a folder; the file in it is {name}.{options['format']}")
    targets = [folder / f"{name}.csv"]
    if options["format"] == "npy":
        targets = [folder / f"{name}.npy", folder / f"{name}-truth.npy"]
    with ExitStack() as stack:
        places = [stack.enter_context(claimed(target, force=options["force"])) for target in targets]
        rows, truth = _written(places, options)
    _print(found, rows, truth, targets, options)


def _written(places: Sequence[Target], options: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Write a data set to its files, and return its rows and true classes."""
    import numpy as np

    from subspaces.cli import results

    found = DATA_SETS[options["name"]]
    random = {"random_state": options["seed"]} if "random_state" in inspect.signature(found.make).parameters else {}
    rows, truth = found.make(**options["set"], **random)
    rows, truth = _some(rows, truth, options["rows"], options["seed"])
    if options["format"] == "npy":
        for place, content in zip(places, (rows, truth), strict=True):
            with file_errors(), (place.folder / place.path.name).open("wb") as stream:
                np.save(stream, content, allow_pickle=False)
    else:
        columns = {f"x{j}": rows[:, j - 1] for j in range(1, rows.shape[1] + 1)}
        results.write_csv(places[0].folder / places[0].path.name, {**columns, "truth": truth})
    for place in places:
        place.put(place.path.name)
    return rows, truth


def _word(value: Any) -> str:
    """A value as text for --set."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value).lower()


def _print(
    data: DataSet, rows: NDArray[Any], truth: NDArray[Any], targets: list[Path], options: dict[str, Any]
) -> None:
    files = [str(target.absolute()) for target in targets]
    if options["json"]:
        print_json({"name": data.name, "rows": rows.shape[0], "columns": rows.shape[1], "files": files})
        return
    lines = [[f"{rows.shape[0]:,}", f"{rows.shape[1]:,}"]]
    column = "truth" if options["format"] == "csv" else str(targets[1])
    command = shlex.join(["subspaces", "fit", str(targets[0]), *data.options(rows, truth), "--truth", column])
    print_text(f"{table(['rows', 'columns'], lines)}\n\n" + "\n".join(files) + f"\n\n{command}")


def _some(rows: NDArray[Any], truth: NDArray[Any], count: int | None, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """At most `count` rows, in their order."""
    if count is None or count >= len(rows):
        return rows, truth
    import numpy as np

    from subspaces.spectral.partition import at_most

    index = np.sort(at_most(np.arange(len(rows)), count, np.random.RandomState(seed)))
    return rows[index], truth[index]
