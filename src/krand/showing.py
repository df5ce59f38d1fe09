"""How values show themselves in notebooks: small tables in plain HTML, everything escaped.

A table takes its colours and fonts from the notebook. Numbers are written here for every layer;
what is proven is rounded up, so that no table promises more than the proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Decimal
from html import escape

__all__ = ["MOST_ROWS", "at_most", "number", "pairs", "table"]

MOST_ROWS = 20
"""Rows that a table shows; its note says how many there are."""

WORD = "text-align: left; vertical-align: top; padding: 0.1em 1em 0.1em 0"
FIGURE = "text-align: right; vertical-align: top; padding: 0.1em 0 0.1em 1em"


def number(value: float, digits: int = 4) -> str:
    """Thousands with commas, small numbers with significant digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if abs(value) >= 1e9 or abs(value) < 1e-3:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def at_most(value: float, digits: int = 4) -> str:
    """A bound, rounded up: what is shown must not promise more than what is proven."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    unit = Decimal(1).scaleb(math.floor(math.log10(abs(value))) - digits + 1)
    return number(float(Decimal(repr(float(value))).quantize(unit, ROUND_CEILING)), digits)


def pairs(title: str, rows: Iterable[tuple[str, str]], note: str = "") -> str:
    """A table of names and what they stand for."""
    lines = (_row([_cell("th", name, WORD), _cell("td", text, WORD)]) for name, text in rows)
    return _whole(title, "", lines, note)


def table(
    title: str, head: Sequence[str], rows: Iterable[Sequence[str]], note: str = "", words: int = 1
) -> str:
    """A table under a head: the first columns hold words, the others numbers."""
    styles = [WORD] * words + [FIGURE] * (len(head) - words)
    top = _row([_cell("th", name, style) for name, style in zip(head, styles, strict=True)])
    lines = (
        _row([_cell("td", text, style) for text, style in zip(row, styles, strict=True)])
        for row in rows
    )
    return _whole(title, f"<thead>{top}</thead>", lines, note)


def _cell(tag: str, text: str, style: str) -> str:
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _whole(title: str, head: str, rows: Iterable[str], note: str) -> str:
    caption = f'<caption style="{WORD}; caption-side: top"><b>{escape(title)}</b></caption>'
    below = f"<div><small>{escape(note)}</small></div>" if note else ""
    return f"<div><table>{caption}{head}<tbody>{''.join(rows)}</tbody></table>{below}</div>"
