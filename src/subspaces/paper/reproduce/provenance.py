"""Which version of the code a stored result comes from: a hash of the definitions that it depends on.

Functions, classes and constants are found by following the names that each of them uses, without running anything.
Comments, docstrings, blank lines and annotations do not count, nor do rooms that cannot change a number.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

PACKAGE = "subspaces"
ROOT = Path(__file__).parents[2]
# They read files, save models, report progress or show results.
WITHOUT_EFFECT = (
    "subspaces.cli",
    "subspaces.rows.formats",
    "subspaces.saving",
    "subspaces.show",
    "subspaces._core.files",
    "subspaces._core.progress",
    "subspaces.estimators._parts",
    "subspaces.estimators._states",
    "subspaces.paper.reproduce.provenance",
    "subspaces.selection.record_plot",
    "subspaces.selection.record_text",
    "subspaces.selection.record_words",
)
ESTIMATORS = "subspaces.estimators"
# Scripts run in processes and store results with these modules; how does not change them.
STORING = ("kept", "measuring", "processes")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement at the top of a file, such as the definition of a function."""

    text: str
    used: frozenset[tuple[str, str]]  # names, each with the attribute that is used of it, "" for the object itself


@dataclass(frozen=True, slots=True)
class Source:
    """What a file defines and imports."""

    statements: tuple[Statement, ...]
    defined: dict[str, list[int]]  # statements that define a name; those that define none are at ""
    imported: dict[str, set[tuple[str, str]]]  # modules and their names, "" for the module itself


# A statement: the file and its number there.
Place = tuple[Path, int]


def source_hash(modules: Sequence[str], scripts: Sequence[Path] = ()) -> str:
    """Hash of the code that modules of the package, and scripts outside of it, depend on."""
    return _hash(tuple(modules), tuple(scripts), None)


def estimator_source(name: str, modules: Sequence[str] = (), scripts: Sequence[Path] = ()) -> str:
    """Hash of the code of an estimator such as "FLS" or "FLS.paper", and of further modules and scripts; of those alone
    if it is not of this package. Other estimators that scripts use do not count."""
    return _hash(tuple(modules), tuple(scripts), name.split(".")[0])


@lru_cache(maxsize=256)
def _hash(modules: tuple[str, ...], scripts: tuple[Path, ...], estimator: str | None) -> str:
    if estimator is None:
        places = reached(modules, scripts)
    else:
        places = reached(modules, scripts, without=ESTIMATORS) | reached((), names=[estimator])
    total = hashlib.sha256()
    for path, number in sorted(places, key=lambda place: (_name(place[0]), place[1])):
        total.update(f"{_name(path)}\n{_source(path).statements[number].text}\n".encode())
    return total.hexdigest()[:12]


def reached(
    modules: Iterable[str], scripts: Iterable[Path] = (), names: Iterable[str] = (), *, without: str | None = None
) -> set[Place]:
    """All statements that modules, scripts and public names of the package depend on, but those of a room `without`."""
    room = _path(without) if without else None
    left_out = room.parent if room else None
    files = [path for path in map(_path, modules) if path is not None] + list(scripts)
    waiting = [place for path in files for place in _whole(path)]
    public = _homes(ROOT / "__init__.py")
    waiting += [place for name in names if name in public for place in _places(PACKAGE, name)]
    found: set[Place] = set()
    while waiting:
        place = waiting.pop()
        if place not in found and place[0].parent != left_out:
            found.add(place)
            waiting += [each for each in _needed(place) if each not in found]
    return found


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def _path(module: str) -> Path | None:
    """The file of a module of the package; None for other modules and those without effect."""
    head, *parts = module.split(".")
    if head != PACKAGE or any(module == each or module.startswith(f"{each}.") for each in WITHOUT_EFFECT):
        return None
    place = ROOT.joinpath(*parts)
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.exists():
            return path
    return None


def _whole(path: Path) -> list[Place]:
    return [(path, number) for number in range(len(_source(path).statements))]


def _needed(place: Place) -> Iterator[Place]:
    """The statements whose names one statement uses, and those of its file that define none."""
    path, number = place
    source = _source(path)
    yield from ((path, other) for other in source.defined.get("", ()))
    for name, attribute in source.statements[number].used:
        yield from ((path, other) for other in source.defined.get(name, ()))
        for module, original in source.imported.get(name, ()):
            whole = f"{module}.{original}" if original else module
            file = _beside(path, whole) or _path(whole)
            if file is None:
                yield from _places(module, original, path)
            elif not attribute:
                yield from _whole(file)
            else:
                yield from _places(whole, attribute, path)


def _places(module: str, name: str, beside: Path | None = None) -> list[Place]:
    """The statements that define a name of a module; all of the module if it is not known which."""
    path = (_beside(beside, module) if beside else None) or _path(module)
    if path is None:
        return []
    source = _source(path)
    home = _homes(path).get(name)
    if home:
        return _places(f"{PACKAGE}.{home}", name)
    if name in source.defined:
        return [(path, number) for number in source.defined[name]]
    inner = _path(f"{module}.{name}")
    if inner is not None:
        return _whole(inner)
    targets = source.imported.get(name)
    if targets:
        return [place for target in targets for place in _places(*target, path)]
    everything = [module for module, each in source.imported.get("*", ()) if each == "*"]
    return [place for each in everything for place in _places(each, name, path)] or (
        [] if targets is not None else _whole(path)
    )


def _beside(path: Path, module: str) -> Path | None:
    """The file of a module that is not of the package, but beside a script or its folder."""
    if path.is_relative_to(ROOT) or module in STORING:
        return None
    found = (folder / f"{module}.py" for folder in path.parents[:2])
    return next((file for file in found if file.exists()), None)


def _homes(path: Path) -> dict[str, str]:
    """Modules of the names that a package imports when they are used."""
    return _lazy(path) if path.name == "__init__.py" else {}


@lru_cache(maxsize=1024)
def _lazy(path: Path) -> dict[str, str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == "_HOMES" for each in node.targets
        ):
            homes: dict[str, str] = ast.literal_eval(node.value)
            return homes
    return {}


@lru_cache(maxsize=1024)
def _source(path: Path) -> Source:
    """The statements of a file, without docstring, imports and what is for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = _code(path, tree)
    statements: list[Statement] = []
    defined: dict[str, list[int]] = {}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_for_types(node):
            continue
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        text = "\n".join(line for line in lines[first - 1 : node.end_lineno] if line)
        if text:
            for name in set(_bound(node)) or {""}:
                defined.setdefault(name, []).append(len(statements))
            statements.append(Statement(text, frozenset(_used(node))))
    return Source(tuple(statements), defined, _imports(tree))


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _used(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that a statement uses, each with its attribute; names in annotations are not used."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield node.value.id, node.attr
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id, ""
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_for_types(child):
                    yield from _used(child)


def _imports(tree: ast.Module) -> dict[str, set[tuple[str, str]]]:
    """The names that a file imports anywhere, but for types alone."""
    found: dict[str, set[tuple[str, str]]] = {}
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                # `import a.b` defines a.
                name = each.asname or each.name.split(".")[0]
                found.setdefault(name, set()).add((each.name if each.asname else name, ""))
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                found.setdefault(each.asname or each.name, set()).add((node.module, each.name))
    return found


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not _is_for_types(node):
            yield node
            yield from _nodes(node)


def _code(path: Path, tree: ast.Module) -> list[str]:
    """The lines of a file without comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            first = node.body[0]
            for row in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[row] = ""
    return [line.rstrip() for line in lines]
