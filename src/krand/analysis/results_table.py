"""Results as a flat table: one row for each estimate.

Every row carries the promise, the provenance and the plan's hash. docs/reference/formats.md
describes the columns.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from krand.analysis.estimates.values import AskedEstimate, Row, Summary
from krand.analysis.results import JointResult, Results
from krand.analysis.words.decoding import WordsEstimate
from krand.errors import InvalidInput
from krand.survey.questions import Number


def flat_table(
    results: Results, joint: Sequence[str] | None = None, invited: int | None = None
) -> pa.Table:
    """One row for each estimate: questions, unanswered, cells of joint tables, words found.

    With `joint`: the cells of this joint table alone, and one column more for each question.
    Without `invited`, so many people were asked to take part as the survey says.
    """
    asked = invited or results.plan.survey.invited
    if joint is None:
        return _table(results, asked, _flat_rows(results), _SCHEMA)
    found = joint_result(results, joint)
    more = [pa.field(f"answer_{name}", pa.string()) for name in found.table.questions]
    return _table(results, asked, _labelled_cells(found), pa.schema([*_SCHEMA, *more]))


def question_table(results: Results, question: str) -> pa.Table:
    """The answers to one question, with the columns that a reader of tables wants first."""
    table = flat_table(results)
    known = results.plan.layout.question_names
    if question not in known:
        near = difflib.get_close_matches(question, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"the questions are {', '.join(known)}"
        raise InvalidInput("question", "must be the name of a question", question, hint)
    is_here = pc.and_(pc.equal(table["question"], question), pc.equal(table["share_of"], PEOPLE))
    return table.filter(is_here).select(_SMALL)


def _table(
    results: Results, invited: int | None, rows: Iterator[dict[str, Any]], schema: pa.Schema
) -> pa.Table:
    promise = results.promise
    kept = {
        "people": results.people,
        "invited": invited,
        "participation": None if invited is None else results.people / invited,
        "round": results.round,
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "eta": promise.eta,
        "plan": results.plan.hash,
        "provenance": results.provenance.value,
    }
    return pa.Table.from_pylist([{**row, **kept} for row in rows], schema)


def joint_result(results: Results, names: Sequence[str]) -> JointResult:
    """The joint table of these questions, in any order."""
    known = [joint.table.questions for joint in results.joint]
    for joint, questions in zip(results.joint, known, strict=True):
        if sorted(questions) == sorted(names):
            return joint
    listed = "; ".join(", ".join(questions) for questions in known)
    hint = f"the joint tables are: {listed}" if listed else "the results have no joint table"
    raise InvalidInput("joint", "must be the questions of a joint table", list(names), hint)


PEOPLE = "people"
"""Shares are of all people, but those that name another base."""
_NUMBERS = ("count", "consistent", "standard_error", "low", "high")
_SHARES = ("share", "consistent_share", "share_low", "share_high")
_VALUES = ("value", "value_low", "value_high")
_MORE = ("simultaneous_low", "simultaneous_high", *_SHARES, *_VALUES)
_SMALL = ["answer", "consistent", "low", "high"]
_SMALL += ["consistent_share", "share_low", "share_high", "readable"]
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("question", "kind", "answer")]
    + [(name, pa.float64()) for name in (*_NUMBERS, *_MORE)]
    + [("share_of", pa.string()), ("unit", pa.string())]
    + [("confidence", pa.float64()), ("readable", pa.bool_()), ("method", pa.string())]
    + [("people", pa.int64()), ("round", pa.int64())]
    + [("invited", pa.int64()), ("participation", pa.float64())]
    + [(name, pa.float64()) for name in ("epsilon", "delta", "eta")]
    + [(name, pa.string()) for name in ("plan", "provenance")]
)


def _flat_rows(results: Results) -> Iterator[dict[str, Any]]:
    units = {
        question.name: question.unit
        for question in results.plan.survey.questions
        if isinstance(question, Number) and question.unit
    }
    among = {entry.question: entry for entry in results.asked}
    for question in results.questions:
        about = {
            "question": question.name,
            "kind": question.kind.value,
            "unit": units.get(question.name),
            "confidence": question.confidence,
        }
        yield from ({**about, **_flat(row)} for row in question.all_rows)
        yield from ({**about, **_summed_up(summary)} for summary in question.summaries)
        if question.name in among:
            yield from ({**about, **row} for row in _of_those_asked(among[question.name]))
    for joint in results.joint:
        yield from _flat_cells(joint)
    for words in results.words:
        yield from _flat_words(words, results.people)


def _flat_words(words: WordsEstimate, people: int) -> Iterator[dict[str, Any]]:
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
            "share": word.unclipped / people,
            "consistent_share": word.count / people,
            "share_low": word.low / people,
            "share_high": word.high / people,
            "share_of": PEOPLE,
            "confidence": words.confidence,
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
        "share_of": PEOPLE,
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


def _of_those_asked(found: AskedEstimate) -> Iterator[dict[str, Any]]:
    """How many were asked or answered, and shares of them."""
    yield {
        "answer": found.base.value,
        "count": found.count,
        "consistent": found.consistent,
        "low": found.interval.low,
        "high": found.interval.high,
        "share_of": found.base.value,
    }
    for row in (*found.rows, *(() if found.unanswered is None else (found.unanswered,))):
        yield {
            "answer": row.label,
            "share": row.share,
            "consistent_share": row.consistent,
            "share_low": row.interval.low,
            "share_high": row.interval.high,
            "share_of": found.base.value,
            "readable": row.readable,
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
            "share_of": PEOPLE,
            "confidence": table.confidence,
            "readable": bool(table.readable[cell]),
        }


def _labelled_cells(joint: JointResult) -> Iterator[dict[str, Any]]:
    """The cells, with a column for the answer to each question."""
    table = joint.table
    columns = [f"answer_{name}" for name in table.questions]
    for cell, labels in zip(_flat_cells(joint), product(*table.labels), strict=True):
        yield {**cell, **dict(zip(columns, labels, strict=True))}
