"""A trend as a table for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from krand.analysis.trends.trend import Line, Trend
from krand.report.trend_texts import (
    GRADUAL,
    ends,
    headline,
    line_name,
    notes,
    now,
    percent,
)


def trend_table(trend: Trend, most: int) -> Table:
    """Each answer now, before, and what changed; those with a change first."""
    sure = f"{trend.confidence:.0%}".replace("%", " %")
    table = Table(title=trend.title, title_justify="left", caption_justify="left")
    table.add_column("answer")
    for name in ("counted last", f"{sure} interval", "smoothed now", f"{sure} interval"):
        table.add_column(name, justify="right")
    table.add_column("last change found")
    for line in trend.lines[:most]:
        last, level = line.last, now(line)
        margins = [(each.high - each.low) / 2 for each in (last.interval, level.interval)]
        smoothed = (percent(level.share, margins[1]), ends(level.interval))
        table.add_row(
            line_name(line),
            percent(last.share, margins[0]),
            ends(last.interval),
            *(smoothed if last.smoothed else ("", "")),
            _arrow(line),
        )
    captions = [f"Smoothed: {GRADUAL}."]
    if len(trend.lines) > most:
        captions.append(f"{len(trend.lines) - most:,} more lines: --output has them.")
    table.caption = " ".join(captions)
    return table


def _arrow(line: Line) -> str:
    if not line.changes:
        return ""
    last = line.changes[-1]
    return f"{'▲' if last.difference > 0 else '▼'} round {last.found:,}"


def trend_sentences(trend: Trend, most: int) -> Iterator[str]:
    """What changed, and what has to be said beside an answer."""
    for line in trend.lines[:most]:
        if line.changes:
            yield headline(line, trend)
        for note in notes(line, trend.rounds):
            yield f"{line_name(line)}: {note}."
