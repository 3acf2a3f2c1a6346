"""Formulas as MathML, which browsers draw by themselves: no script, no font and no network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def mathml(node: nodes.Element, **options: Any) -> str:
    """The formula of a node; slashes and bars take no more room than in print."""
    found = tex2mathml(node.astext(), **options)
    return re.sub(r'<mo stretchy="false">([/|])</mo>', r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', found)


def visit_inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    # A formula wider than the page scrolls by itself.
    translator.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
