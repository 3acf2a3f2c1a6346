"""Docstrings are written for `help()`: |x - y|, eigenvalues_ and *args in them are text, not reStructuredText."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

# Outside backticks, what reStructuredText would take for a substitution, a reference or emphasis.
CODE = re.compile(r"(`+[^`]+`+)")
MARKUP = re.compile(r"(\||(?<=\w)_(?![\w])|\*)")


def escape(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    example = False
    for i, line in enumerate(lines):
        # Doctests go up to the next empty line, and directives that numpydoc makes are markup.
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example and not line.lstrip().startswith((":", "..")):
            parts = CODE.split(line)
            parts[::2] = [MARKUP.sub(r"\\\1", part) for part in parts[::2]]
            lines[i] = "".join(parts)


def setup(app: Sphinx) -> dict[str, Any]:
    # Before numpydoc, which makes markup of its own.
    app.connect("autodoc-process-docstring", escape, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
