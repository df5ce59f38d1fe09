"""Formulas as MathML, which browsers set by themselves: no script, no font, no other host."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from krand_lab.mathml import mathml


def inline_formula(writer: Any, node: nodes.math) -> None:
    """A formula within a line."""
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def displayed_formula(writer: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own, which scrolls where the page is narrow."""
    formula = mathml(node.astext(), "block")
    writer.body.append(f'<div class="formula" tabindex="0">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer; conf.py chooses it."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(inline_formula, None),
        block_renderers=(displayed_formula, None),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
