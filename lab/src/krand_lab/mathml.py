"""Formulas as MathML, which browsers set by themselves: no script, no font, no other host."""

from __future__ import annotations

import re
from functools import cache

from latex2mathml.converter import convert
from markupsafe import Markup, escape

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$")
TOKEN = re.compile(r"\\(?:left|right|sqrt|[bB]ig+[lr]?)\s*[\[\]().|]|\\[A-Za-z]+|\\.|.", re.DOTALL)
TALL = frozenset((r"\frac", r"\dfrac", r"\binom", r"\sum", r"\prod"))
PAIRS = {"(": ")", "[": "]"}


def formulas(text: str) -> Markup:
    """Prose with LaTeX between dollar signs as HTML; two dollar signs set a line of its own."""
    parts, end = [], 0
    for found in FORMULA.finditer(text):
        parts.append(escape(text[end : found.start()]))
        display, inline = found.groups()
        parts.append(Markup(mathml(display or inline, "block" if display else "inline")))
        end = found.end()
    parts.append(escape(text[end:]))
    return Markup("").join(parts)


@cache
def mathml(latex: str, display: str) -> str:
    """A formula that browsers set by themselves and screen readers read aloud."""
    return convert(stretched(latex), display=display)


def stretched(latex: str) -> str:
    r"""Brackets around something tall grow with it: `(\frac pq)` is `\left(\frac pq\right)`."""
    tokens = TOKEN.findall(latex)
    tall = [place for place, token in enumerate(tokens) if token in TALL]
    for opening, closing in _pairs(tokens):
        if any(opening < place < closing for place in tall):
            tokens[opening] = rf"\left{tokens[opening]}"
            tokens[closing] = rf"\right{tokens[closing]}"
    return "".join(tokens)


def _pairs(tokens: list[str]) -> list[tuple[int, int]]:
    """Places of brackets that belong together; a group in braces has brackets of its own."""
    found, groups = [], [list[int]()]
    for place, token in enumerate(tokens):
        opened = groups[-1]
        if token == "{":
            groups.append([])
        elif token == "}" and len(groups) > 1:
            groups.pop()
        elif token in PAIRS:
            opened.append(place)
        elif opened and token == PAIRS[tokens[opened[-1]]]:
            found.append((opened.pop(), place))
    return found
