"""Which version of the code a stored result comes from: a hash of the source files that it depends on.

The files are found by following imports, without running anything. Comments, docstrings and blank lines do not count,
nor do rooms that cannot change a number.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence
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
)


def source_hash(modules: Sequence[str], scripts: Sequence[Path] = ()) -> str:
    """Hash of the code that modules of the package, and scripts outside of it, depend on."""
    return _hash(tuple(sorted(modules)), tuple(sorted(scripts)))


@lru_cache(maxsize=64)
def _hash(modules: tuple[str, ...], scripts: tuple[Path, ...]) -> str:
    total = hashlib.sha256()
    for path in sorted(_closure(modules, scripts), key=_name):
        total.update(f"{_name(path)}\n{_code(path)}\n".encode())
    return total.hexdigest()[:12]


def estimator_source(name: str, modules: Sequence[str] = ()) -> str:
    """Hash of the code of an estimator such as "FLS" or "FLS.paper", and of further modules; of those alone if it is
    not of this package."""
    home = _home(PACKAGE, name.split(".")[0])
    return source_hash([*modules, *([] if home is None else [home])])


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def _closure(modules: Iterable[str], scripts: Iterable[Path]) -> set[Path]:
    """All files that are imported, directly or not."""
    waiting = [path for path in map(_path, modules) if path is not None] + list(scripts)
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [each for each in _imported(path) if each not in found]
    return found


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


@lru_cache(maxsize=1024)
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=1024)
def _imported(path: Path) -> tuple[Path, ...]:
    """Files that one file imports, anywhere but for types alone."""
    return tuple(_each_imported(path))


def _each_imported(path: Path) -> Iterator[Path]:
    package_name = _is_imported_whole(path)
    for node in _nodes(_tree(path)):
        found: list[str | None] = []
        if isinstance(node, ast.Import):
            found = [each.name for each in node.names if each.name != PACKAGE]
        elif isinstance(node, ast.ImportFrom) and node.module:
            beside = path.parent / f"{node.module}.py"
            if node.module != "kept" and beside.exists() and not path.is_relative_to(ROOT):
                yield beside
            found = [_home(node.module, each.name) for each in node.names]
        elif package_name and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found = [_home(PACKAGE, node.attr)] if node.value.id == PACKAGE else []
        for name in found:
            own = _path(name) if name else None
            if own is not None:
                yield own


def _is_imported_whole(path: Path) -> bool:
    """Whether the file has `import subspaces`."""
    imports = (node for node in _nodes(_tree(path)) if isinstance(node, ast.Import))
    return any(each.name == PACKAGE for node in imports for each in node.names)


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _nodes(node)


def _home(module: str, name: str) -> str | None:
    """The module that defines what `from module import name` imports; None if it is not of this package."""
    if module.split(".")[0] != PACKAGE:
        return None
    if _path(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    path = _path(module)
    if path is None or path.name != "__init__.py":
        return module
    for node in _tree(path).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == "_HOMES" for each in node.targets
        ):
            homes = ast.literal_eval(node.value)
            if name in homes:
                return f"{PACKAGE}.{homes[name]}"
        if isinstance(node, ast.ImportFrom) and node.module and any(each.name in (name, "*") for each in node.names):
            return _home(node.module, name)
    return module


@lru_cache(maxsize=1024)
def _code(path: Path) -> str:
    """The text of a file without comments, docstrings and blank lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            first = node.body[0]
            for row in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[row] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())
