"""Run missing experiments, store the results, print the tables, write the page and the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from subspaces._core import progress
from subspaces._core.drawing import check_matplotlib
from subspaces._core.errors import FileInTheWayError, FolderInTheWayError, InputError, file_errors
from subspaces._core.files import write_whole
from subspaces.paper.reproduce.grid import grids
from subspaces.paper.reproduce.kept import Kept
from subspaces.paper.reproduce.machine import n_cores
from subspaces.paper.reproduce.methods import METHODS, PAPER_METHODS
from subspaces.paper.reproduce.motions import MOTION_METHODS, motion_tasks
from subspaces.paper.reproduce.notes import PICTURES
from subspaces.paper.reproduce.page import EXPERIMENTS, html, read_records, text_page
from subspaces.paper.reproduce.pixels import PIXEL_METHODS, pixel_tasks
from subspaces.paper.reproduce.reading import READING_METHODS, reading_tasks
from subspaces.paper.reproduce.robustness import ROBUSTNESS_METHODS, robustness_tasks
from subspaces.paper.reproduce.runner import run
from subspaces.paper.reproduce.tables import BEYOND_METHODS, beyond_tasks, table_tasks
from subspaces.paper.reproduce.task import Task
from subspaces.paper.reproduce.tradeoff import TRADEOFF_METHODS, tradeoff_tasks

PAGE = "paper.html"
MOST_DRAWS = 1000
OFFERED = {
    **dict.fromkeys(("synthetic", "mnist", "faces", "pendigits"), PAPER_METHODS),
    "motions": MOTION_METHODS,
    "pixels": PIXEL_METHODS,
    "reading": READING_METHODS,
    "beyond": BEYOND_METHODS,
    "tradeoff": TRADEOFF_METHODS,
    "robustness": ROBUSTNESS_METHODS,
}


def reproduce(
    which: Sequence[str],
    *,
    out: Path,
    methods: str | None,
    draws: int | None,
    jobs: int | None,
    device: str,
    again: bool,
    stale: bool = False,
    pictures: bool = True,
    say: Callable[[str], None],
) -> None:
    """Run experiments; `say` receives the tables. Progress events have the name of the experiment as stage.

    Without `pictures`, figures are not drawn and matplotlib is not needed.

    Arguments, packages, data and the output folder are checked before any experiment starts.
    """
    chosen = chosen_experiments(which)
    keys = chosen_methods(methods)
    if keys is not None and "theory" not in which:
        # Theory has no methods: run it only by name if methods are selected.
        chosen = [name for name in chosen if name != "theory"]
    if draws is not None and not 1 <= draws <= MOST_DRAWS:
        raise InputError(f"draws={draws} must be between 1 and {MOST_DRAWS:,}.", parameter="draws")
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs={jobs} must be at least 1.", parameter="jobs")
    plan = {name: _tasks(name, keys, draws, device) for name in chosen if name != "theory"}
    plan = {name: tasks for name, tasks in plan.items() if tasks}
    if not plan and "theory" not in chosen:
        offered = sorted({key for name in chosen for key in OFFERED[name]})
        raise InputError(
            f"methods={methods}: {' and '.join(chosen)} offers only {', '.join(offered)}.", parameter="methods"
        )
    _check(chosen if pictures else (), plan, device)
    _check_folder(out)
    for name in chosen:
        left_out = [key for key in keys or () if name != "theory" and key not in OFFERED[name]]
        if left_out:
            available = f"available methods are {', '.join(OFFERED[name])}"
            progress.stage(name, f"{name}: skipping {', '.join(left_out)}; {available}")
    if "theory" in chosen:
        from subspaces.paper.reproduce.theory import reproduce_theory

        # Theory is first, because drawing detects damaged files.
        reproduce_theory(out, again=again, stale=stale, picture=pictures)
    for name, tasks in plan.items():
        run(tasks, Kept(out, name), jobs=jobs or n_cores(), again=again, stale=stale)
        if pictures:
            _draw(name, out)
    _finish(out, chosen, say)


def chosen_experiments(which: Sequence[str]) -> list[str]:
    """The experiments with these names, in order, without duplicates."""
    for name in which:
        if name not in (*EXPERIMENTS, "all"):
            raise InputError(
                f"{name!r} is not an experiment: choose from {', '.join(EXPERIMENTS)} or all.", parameter="which"
            )
    everything = not which or "all" in which
    return [name for name in EXPERIMENTS if everything or name in which]


def chosen_methods(text: str | None) -> list[str] | None:
    """The methods in a comma-separated list; None stands for all."""
    if text is None:
        return None
    keys = [key.strip().lower() for key in text.split(",") if key.strip()]
    known = f"choose from {', '.join(METHODS)}, separated by commas."
    if not keys:
        raise InputError(f"methods={text!r} is empty: {known}", parameter="methods")
    unknown = [key for key in keys if key not in METHODS]
    if unknown:
        raise InputError(
            f"methods={text}: {', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} not known; {known}",
            parameter="methods",
        )
    return list(dict.fromkeys(keys))


def _tasks(name: str, keys: Sequence[str] | None, draws: int | None, device: str) -> list[Task]:
    methods = [key for key in OFFERED[name] if keys is None or key in keys]
    makers = {
        "motions": motion_tasks,
        "pixels": pixel_tasks,
        "reading": reading_tasks,
        "beyond": beyond_tasks,
        "tradeoff": tradeoff_tasks,
        "robustness": robustness_tasks,
    }
    if name in makers:
        return makers[name](methods, draws)
    return table_tasks(name, methods, draws, device)


def _check(chosen: Sequence[str], plan: dict[str, list[Task]], device: str) -> None:
    """Check that matplotlib, the device and the data files are available."""
    from subspaces.paper.reproduce.data import fetch
    from subspaces.paper.reproduce.measure import check_device

    if any(name in PICTURES for name in chosen):
        check_matplotlib()
    check_device(device)
    fetch(task.data["set"] for tasks in plan.values() for task in tasks)


def _check_folder(out: Path) -> None:
    """Check that results can be written to the folder, and that existing results are valid."""
    if out.exists() and not out.is_dir():
        raise FileInTheWayError(f"{out} is a file: choose a folder for the results.", parameter="out")
    with file_errors():
        out.mkdir(parents=True, exist_ok=True)
    for name in (PAGE, *(f"{each}.json" for each in EXPERIMENTS), *(f"{each}.png" for each in PICTURES)):
        if (out / name).is_dir():
            raise FolderInTheWayError(f"{out / name} is a folder, but a file must be written there: move it.")
    write_whole(out / ".writable", b"")
    (out / ".writable").unlink(missing_ok=True)
    # The page includes the results of all experiments in the folder.
    read_records(out)


def _draw(name: str, out: Path) -> None:
    from subspaces.paper.reproduce.pictures import draw_reading, draw_robustness, draw_tradeoff

    drawers = {"reading": draw_reading, "tradeoff": draw_tradeoff, "robustness": draw_robustness}
    if name in drawers:
        write_whole(out / f"{name}.png", drawers[name](Kept(out, name).read()))


def _finish(out: Path, chosen: Sequence[str], say: Callable[[str], None]) -> None:
    records = read_records(out)
    tables = grids({name: record for name, record in records.items() if name in chosen})
    if tables:
        say(text_page(tables))
    pictures = {name: out / f"{name}.png" for name in PICTURES if (out / f"{name}.png").exists()}
    write_whole(out / PAGE, html(records, {name: path.read_bytes() for name, path in pictures.items()}))
    for name in chosen:
        if name in pictures:
            say(f"figure: {pictures[name]}")
    say(f"page: {out / PAGE}")
