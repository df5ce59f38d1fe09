"""A trend as a flat table: one row for each answer and round."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from krand.analysis.trends.trend import Line, Point, Trend

SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("survey", "question", "kind", "answer")]
    + [("round", pa.int64()), ("people", pa.int64())]
    + [(name, pa.float64()) for name in ("count", "share", "standard_error")]
    + [(name, pa.float64()) for name in ("share_low", "share_high")]
    + [(name, pa.float64()) for name in ("mean", "mean_low", "mean_high")]
    + [("confidence", pa.float64()), ("break", pa.string()), ("change", pa.string())]
)
"""docs/reference/formats.md describes the columns."""


def trend_table(trend: Trend) -> pa.Table:
    """Each line in the order of its rounds."""
    about = {"survey": trend.survey, "confidence": trend.confidence}
    rows = [{**about, **_row(line, point)} for line in trend.lines for point in line.points]
    return pa.Table.from_pylist(rows, SCHEMA)


def _row(line: Line, point: Point) -> dict[str, Any]:
    told = {
        "question": line.question,
        "kind": line.kind.value,
        "answer": line.answer,
        "round": point.round,
        "people": point.people,
        "count": point.count,
        "share": point.share,
        "standard_error": point.standard_error,
        "share_low": point.interval.low,
        "share_high": point.interval.high,
        "break": next((b.reason for b in line.breaks if b.round == point.round), None),
        "change": next(
            ("up" if c.difference > 0 else "down" for c in line.changes if c.found == point.round),
            None,
        ),
    }
    if line.mean is not None and line.mean.rounds[1] == point.round:
        low, high = line.mean.interval.low, line.mean.interval.high
        told |= {"mean": line.mean.share, "mean_low": low, "mean_high": high}
    return told
