"""Release files: JSON with everything, or a flat table (Parquet, CSV) of all estimates.

Every form carries the guarantee, the provenance and the plan's hash, the tables in each of their
rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from krand.analysis.estimates.values import QuestionEstimate, Row, Summary
from krand.analysis.results import JointResult, Release
from krand.errors import InvalidInput
from krand.files import complete_file, json_object, read_whole

__all__ = [
    "FORMAT",
    "FORMATS",
    "flat_table",
    "form_of",
    "read_estimates",
    "release_values",
    "save_release",
    "write_release",
]

FORMAT = "krand-release-2"
FORMATS = ("json", "parquet", "csv")


def release_values(release: Release) -> dict[str, Any]:
    """Everything as plain data; what is not a finite number is None."""
    plan = release.plan
    skipped = ("plan",)
    values = {f.name: getattr(release, f.name) for f in fields(release) if f.name not in skipped}
    return {"format": FORMAT, "plan_hash": plan.hash, "plan": plan.values(), **_plain(values)}


def save_release(release: Release, path: str | Path) -> None:
    """Write a release: everything as JSON, or a flat table if the name ends in .csv or .parquet.

    >>> import json
    >>> from krand import make_release, randomize_table, save_release, tally_responses
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> release = make_release(plan, tally_responses(plan, ["responses.parquet"]))
    >>> save_release(release, "release.json")
    >>> json.load(open("release.json"))["people"]
    100
    """
    write_release("output", Path(path), release, form_of(path))


def form_of(path: str | Path) -> str:
    """The form of a release that the ending of a name asks for; JSON if it has none."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending and ending not in FORMATS:
        known = ", ".join(f".{form}" for form in FORMATS)
        hint = "spreadsheets open .csv; --format says what a file of another name holds"
        raise InvalidInput("output", f"must end in {known}", str(path), hint)
    return ending or "json"


def write_release(field: str, path: Path, release: Release, form: str = "json") -> None:
    """Write a release in one of its forms; `field` names the option that asked for the file."""
    if form not in FORMATS:
        raise InvalidInput("format", f"must be one of {', '.join(FORMATS)}", form)
    with complete_file(field, path, replace=True) as stream:
        if form == "json":
            text = json.dumps(release_values(release), indent=1, ensure_ascii=False)
            stream.write(text.encode() + b"\n")
        elif form == "parquet":
            pq.write_table(flat_table(release), stream)
        else:
            pyarrow.csv.write_csv(_for_spreadsheets(flat_table(release)), stream)


def flat_table(release: Release) -> pa.Table:
    """One row for each estimate: questions, unanswered, cells of joint tables, words found."""
    promise = release.promise
    kept = {
        "people": release.people,
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "eta": promise.eta,
        "assurance": promise.assurance,
        "plan": release.plan.hash,
        "provenance": release.provenance.value,
    }
    return pa.Table.from_pylist([{**row, **kept} for row in _flat_rows(release)], _SCHEMA)


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


def _flat_rows(release: Release) -> Iterator[dict[str, Any]]:
    for question in release.questions:
        silent = () if question.unanswered is None else (question.unanswered,)
        for row in (*question.rows, *silent):
            yield {"question": question.name, "kind": question.kind.value, **_flat(row)}
        for summary in question.summaries:
            yield {"question": question.name, "kind": question.kind.value, **_summed_up(summary)}
    for joint in release.joint:
        yield from _flat_cells(joint)
    for words in release.words:
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
                "share": word.unclipped / release.people,
                "consistent_share": word.count / release.people,
                "share_low": word.low / release.people,
                "share_high": word.high / release.people,
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


def read_estimates(path: str | Path) -> tuple[dict[str, QuestionEstimate], dict[str, Any]]:
    """The questions of a release file by name, to be compared, and everything else of it."""
    from pydantic import TypeAdapter, ValidationError

    rule = f"must be a file of the format {FORMAT}"
    values = json_object("release", read_whole("release", path), str(path), rule)
    try:
        if values["format"] != FORMAT:
            raise ValueError
        content = json.dumps(values["questions"])
        found = TypeAdapter(tuple[QuestionEstimate, ...]).validate_json(content, strict=True)
    except (ValueError, KeyError, TypeError, ValidationError):
        raise InvalidInput("release", rule, str(path), "krand estimate writes it") from None
    return {question.name: question for question in found}, values


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        kept = (f.name for f in fields(value) if f.name != "noise")  # how cells vary: not for files
        return {name: _plain(getattr(value, name)) for name in kept}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
