"""Every promise of docs/security.md names a test that exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROMISES = (ROOT / "docs" / "security.md").read_text().partition("## Promises")[2]
NAMED = re.findall(r"\| `(tests/[\w/]+\.py)::(?:\w+::)?(\w+)` \|", PROMISES)


def test_all_are_named():
    # All rows of the table but its two first lines.
    assert len(NAMED) == len(re.findall(r"^\|", PROMISES, re.MULTILINE)) - 2
    assert len(NAMED) > 20


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_is_held_by_a_test(path, name):
    assert f"def {name}(" in (ROOT / path).read_text()
