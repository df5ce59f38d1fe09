"""A trend as a table for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from krand.analysis.trends.trend import LAST, Line
from krand.report.trend_texts import TrendWords
from krand.showing import some


def trend_table(words: TrendWords, most: int) -> Table:
    """Each answer now, before, and what changed; those with a change first."""
    trend = words.trend
    sure = words.numbers.confidence(trend.confidence)
    table = Table(title=trend.title, title_justify="left", caption_justify="left")
    table.add_column("answer")
    for name in ("counted last", f"{sure} interval", f"mean of last {LAST}", f"{sure} interval"):
        table.add_column(name, justify="right")
    table.add_column("last change found")
    for line in trend.lines[:most]:
        name, is_now = words.name(line), line.last.round == trend.rounds[-1].number
        table.add_row(
            name if is_now else f"{name} ({words.when(line)})",
            *words.share_now(line),
            *(words.mean(line) or ("", "")),
            _arrow(line),
        )
    if len(trend.lines) > most:
        table.caption = f"{some(len(trend.lines) - most, 'more line')}: in --output."
    return table


def _arrow(line: Line) -> str:
    if not line.changes:
        return ""
    last = line.changes[-1]
    return f"{'▲' if last.difference > 0 else '▼'} round {last.found:,}"


def trend_sentences(words: TrendWords, most: int) -> Iterator[str]:
    """What changed, and what has to be said beside an answer."""
    for line in words.trend.lines[:most]:
        if line.changes:
            yield words.headline(line)
        for note in words.notes(line):
            yield f"{words.name(line)}: {note}."
