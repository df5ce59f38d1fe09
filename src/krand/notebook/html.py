"""Small tables in plain HTML, everything escaped; colours and fonts are those of the notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape

MOST_ROWS = 20
"""Rows that a table shows; its note says how many there are."""

WORD = "text-align: left; vertical-align: top; padding: 0.1em 1em 0.1em 0"
FIGURE = "text-align: right; vertical-align: top; padding: 0.1em 0 0.1em 1em"


@singledispatch
def html_of(value: object) -> str:
    """A value as HTML; modules register their values."""
    raise TypeError(f"there is no table for a {type(value).__name__}")


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
