"""Import layers: a room imports lower rooms only, and no private name of another room.

Read from the syntax trees of all modules, so imports inside functions count too.
"""

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import subspaces

SOURCE = Path(subspaces.__file__).parent
# Lowest first. Rooms of the same layer do not import each other.
LAYERS = (
    ("_core",),
    ("flats",),
    ("metrics", "datasets"),
    ("spectral", "self_expression"),
    ("features",),
    ("saving",),
    ("rows",),
    ("selection",),
    ("estimators",),
    ("show", "paper"),
    ("cli",),
)
LAYER = {room: i for i, rooms in enumerate(LAYERS) for room in rooms}
# Thin modules that keep public names; they may import any room, and count as the room that they stand for.
ALIASES = {
    "choice": "selection",
    "inputs": "rows",
    "kernels": "features",
    "plots": "show",
    "progress": "_core",
    "report": "show",
    "theory": "paper",
}
TOP = {*ALIASES, "__init__", "__main__"}
# Imported inside functions only: they are optional, slow to import, or both.
FRAMEWORKS = {
    "cupy", "dask", "distributed", "duckdb", "h5py", "jax", "matplotlib", "openpyxl", "pandas", "polars", "pooch",
    "pyarrow", "torch", "triton", "zarr",
}  # fmt: skip
# Modules of kernels, which are themselves imported inside functions.
KERNELS = {"flats/triton.py", "spectral/triton.py"}


@cache
def modules() -> dict[str, ast.Module]:
    """The syntax tree of each module, by its path below the package."""
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


def room_of(path: str) -> str:
    """The first folder of a path, or the name of a module at the top."""
    return path.split("/")[0].removesuffix(".py")


def imports(path: str, tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """Full names of everything of this package that a module imports or reads from an imported module."""
    package = ("subspaces", *path.split("/")[:-1])
    bound: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {each.asname or each.name: tuple(each.name.split(".")) for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            names = {each.asname or each.name: (*base, each.name) for each in node.names}
        else:
            continue
        for alias, name in names.items():
            if name[0] == "subspaces":
                bound[alias] = name
                yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            yield (*bound[node.value.id], node.attr)


def target_room(name: tuple[str, ...]) -> str | None:
    """The room that a full name belongs to; None for the package itself and its dunder names."""
    if len(name) == 1 or name[1].startswith("__"):
        return None
    if name[1] in LAYER:
        return name[1]
    if name[1] in ALIASES:
        return ALIASES[name[1]]
    return getattr(subspaces, name[1]).__module__.split(".")[1]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def violations(path: str, tree: ast.Module) -> set[tuple[str, str]]:
    """Imports of a module that the rules forbid, as pairs of its path and the full name."""
    room = room_of(path)
    found = set()
    for name in imports(path, tree):
        target = target_room(name)
        if room in TOP or target is None or target == room:
            continue
        if LAYER[target] >= LAYER[room] or any(map(is_private, name[2:])):
            found.add((path, ".".join(name)))
    return found


def run_at_import(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported; those for type checkers alone are left out."""
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]


def test_every_module_is_in_a_room():
    assert {room_of(path) for path in modules()} == TOP | set(LAYER)


def test_rooms_import_public_names_of_lower_rooms_only():
    found = {each for path, tree in modules().items() for each in violations(path, tree)}
    assert found == set()


def test_frameworks_are_imported_inside_functions():
    found = set()
    for path, tree in modules().items():
        for node in run_at_import(tree):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            found |= {(path, name) for name in names if name.split(".")[0] in FRAMEWORKS}
    assert {(path, name) for path, name in found if path not in KERNELS} == set()


@pytest.mark.parametrize("room", sorted(LAYER))
def test_all_names_of_an_interface_exist(room):
    interface = import_module(f"subspaces.{room}")
    assert interface.__doc__
    names = getattr(interface, "__all__", [])
    assert len(set(names)) == len(names)
    assert [name for name in names if not hasattr(interface, name)] == []


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("flats/a.py", "from subspaces.spectral.graph import cut", "subspaces.spectral.graph.cut"),
        ("flats/a.py", "def f():\n    import subspaces.cli", "subspaces.cli"),
        ("flats/a.py", "from ..rows import feed", "subspaces.rows.feed"),
        ("flats/a.py", "from subspaces import FLS", "subspaces.FLS"),
        ("metrics/a.py", "from subspaces.datasets import make_motions", "subspaces.datasets.make_motions"),
        ("cli/a.py", "from subspaces.flats.flats import _hidden", "subspaces.flats.flats._hidden"),
        ("cli/a.py", "from subspaces.flats._hidden import name", "subspaces.flats._hidden.name"),
        ("cli/a.py", "from subspaces.flats import flats as f\nf._hidden()", "subspaces.flats.flats._hidden"),
        ("cli/a.py", "from subspaces._core.errors import InputError\nfrom subspaces import FLS, __version__", None),
        ("cli/a.py", "from subspaces.cli import _parser", None),
        ("inputs.py", "from subspaces.cli import _parser", None),
    ],
)
def test_the_rules_see_violations(path, code, expected):
    found = violations(path, ast.parse(code))
    assert found == (set() if expected is None else {(path, expected)})
