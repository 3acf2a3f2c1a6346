"""Sizes: no function of more than 60 lines of code, no file of more than 450 lines, in the package."""

import ast
from pathlib import Path

import pytest

import subspaces

SOURCE = Path(subspaces.__file__).parent
FUNCTION_LINES = 60
FILE_LINES = 450


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    """Lines of a function without its docstring, comments and empty lines."""
    first = function.body[0]
    docstring: set[int] = set()
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        docstring = set(range(first.lineno, first.end_lineno + 1))
    numbers = set(range(function.lineno, function.end_lineno + 1)) - docstring
    return sum(1 for number in numbers if lines[number - 1].strip() and not lines[number - 1].strip().startswith("#"))


def long_functions(name: str, text: str) -> set[str]:
    """Names of functions of a file that are too long."""
    lines = text.splitlines()
    return {
        f"{name}:{node.name}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and code_lines(node, lines) > FUNCTION_LINES
    }


@pytest.fixture(scope="module")
def files():
    return {path.relative_to(SOURCE).as_posix(): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}


def test_functions(files):
    found = set().union(*(long_functions(name, text) for name, text in files.items()))
    assert found == set(), "split these functions"


def test_files(files):
    found = {name for name, text in files.items() if len(text.splitlines()) > FILE_LINES}
    assert found == set(), "split these files"


@pytest.mark.parametrize(("count", "is_long"), [(59, False), (60, True)])
def test_lines_are_counted_without_docstring_and_comments(count, is_long):
    body = "".join(f"    x = {i}\n    # why\n\n" for i in range(count))
    text = f'def f():\n    """Two\n    lines."""\n{body}'
    assert bool(long_functions("a.py", text)) is is_long
