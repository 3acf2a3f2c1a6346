"""Every promise of docs/security.md names a test that exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROMISES = (ROOT / "docs" / "security.md").read_text().partition("## Promises")[2]
NAMED = re.findall(r"\| `(tests/[\w/]+\.py)::([\w:]+)` \|", PROMISES)


def test_all_are_named():
    # All rows of the table but its two first lines.
    assert len(NAMED) == len(re.findall(r"^\|", PROMISES, re.MULTILINE)) - 2
    assert len(NAMED) > 20


def names_in(path):
    """The tests of a file as pytest names them."""
    for node in ast.parse((ROOT / path).read_text()).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        yield from (f"{prefix}{each.name}" for each in inside if isinstance(each, ast.FunctionDef))


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_is_held_by_a_test(path, name):
    assert name in names_in(path)
