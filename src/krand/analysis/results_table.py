"""Results as a flat table for other programs: one row for each estimate, Parquet or CSV.

Every row carries the guarantee, the provenance and the plan's hash.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from krand.analysis.estimates.values import Row, Summary
from krand.analysis.results import JointResult, Results

__all__ = ["flat_table", "write_csv", "write_parquet"]


def write_parquet(results: Results, stream: BinaryIO) -> None:
    """All estimates as Parquet."""
    pq.write_table(flat_table(results), stream)


def write_csv(results: Results, stream: BinaryIO) -> None:
    """All estimates as CSV that a spreadsheet can open without running any of it."""
    pyarrow.csv.write_csv(_for_spreadsheets(flat_table(results)), stream)


def flat_table(results: Results) -> pa.Table:
    """One row for each estimate: questions, unanswered, cells of joint tables, words found."""
    promise = results.promise
    kept = {
        "people": results.people,
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "eta": promise.eta,
        "assurance": promise.assurance,
        "plan": results.plan.hash,
        "provenance": results.provenance.value,
    }
    return pa.Table.from_pylist([{**row, **kept} for row in _flat_rows(results)], _SCHEMA)


_FORMULA = r"^([=+@\t\r]|-)"
_NEGATIVE = r"^-\d+(\.\d+)?$"


def _for_spreadsheets(table: pa.Table) -> pa.Table:
    """Texts that a spreadsheet would run as formulas get an apostrophe in front."""
    for place, column in enumerate(table.columns):
        if pa.types.is_string(column.type):
            risky = pc.and_not(
                pc.match_substring_regex(column, _FORMULA),
                pc.match_substring_regex(column, _NEGATIVE),
            )
            quoted = pc.binary_join_element_wise("'", column, "")
            table = table.set_column(place, table.field(place), pc.if_else(risky, quoted, column))
    return table


_NUMBERS = ("count", "consistent", "standard_error", "low", "high")
_SHARES = ("share", "consistent_share", "share_low", "share_high")
_VALUES = ("value", "value_low", "value_high")
_MORE = ("simultaneous_low", "simultaneous_high", *_SHARES, *_VALUES)
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("question", "kind", "answer")]
    + [(name, pa.float64()) for name in (*_NUMBERS, *_MORE)]
    + [("readable", pa.bool_()), ("method", pa.string()), ("people", pa.int64())]
    + [(name, pa.float64()) for name in ("epsilon", "delta", "eta")]
    + [(name, pa.string()) for name in ("assurance", "plan", "provenance")]
)


def _flat_rows(results: Results) -> Iterator[dict[str, Any]]:
    for question in results.questions:
        unanswered = () if question.unanswered is None else (question.unanswered,)
        for row in (*question.rows, *unanswered):
            yield {"question": question.name, "kind": question.kind.value, **_flat(row)}
        for summary in question.summaries:
            yield {"question": question.name, "kind": question.kind.value, **_summed_up(summary)}
    for joint in results.joint:
        yield from _flat_cells(joint)
    for words in results.words:
        for word in words.rows:
            yield {
                "question": words.question,
                "kind": "words",
                "answer": word.word,
                "count": word.unclipped,
                "consistent": word.count,
                "standard_error": word.standard_error,
                "low": word.low,
                "high": word.high,
                "share": word.unclipped / results.people,
                "consistent_share": word.count / results.people,
                "share_low": word.low / results.people,
                "share_high": word.high / results.people,
                "readable": word.readable,
                "method": "found" if word.found else "not found",
            }


def _flat(row: Row) -> dict[str, Any]:
    return {
        "answer": row.label,
        "count": row.count,
        "consistent": row.consistent,
        "standard_error": row.standard_error,
        "low": row.interval.low,
        "high": row.interval.high,
        "simultaneous_low": row.simultaneous.low,
        "simultaneous_high": row.simultaneous.high,
        "share": row.share,
        "consistent_share": row.consistent_share,
        "share_low": row.share_interval.low,
        "share_high": row.share_interval.high,
        "readable": row.readable,
        "method": row.method.value,
    }


def _summed_up(summary: Summary) -> dict[str, Any]:
    """A question in one number: no count of people, but a value of its own."""
    return {
        "answer": summary.statistic.value,
        "method": " + ".join(summary.answers) if summary.statistic.is_share else None,
        "value": summary.value,
        "value_low": summary.interval.low,
        "value_high": summary.interval.high,
    }


def _flat_cells(joint: JointResult) -> Iterator[dict[str, Any]]:
    table = joint.table
    for cell in np.ndindex(table.counts.shape):
        labels = [names[place] for names, place in zip(table.labels, cell, strict=True)]
        low, high = float(table.interval.low[cell]), float(table.interval.high[cell])
        count = float(table.counts[cell])
        yield {
            "question": " × ".join(table.questions),
            "kind": "together",
            "answer": " × ".join(labels),
            "count": count,
            "consistent": float(table.consistent[cell]),
            "standard_error": float(table.standard_errors[cell]),
            "low": low,
            "high": high,
            "simultaneous_low": float(table.simultaneous.low[cell]),
            "simultaneous_high": float(table.simultaneous.high[cell]),
            "share": count / table.people,
            "consistent_share": float(table.consistent[cell]) / table.people,
            "share_low": low / table.people,
            "share_high": high / table.people,
            "readable": bool(table.readable[cell]),
        }
