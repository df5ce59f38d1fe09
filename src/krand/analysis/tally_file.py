"""Tally files: JSON, which `Tally.save` writes, read back strictly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from krand.analysis.tally import FORMAT, MAX_TABLE_BITS, UNSIGNED, Bits, Counts, Tally
from krand.analysis.tally_signatures import TallySignature
from krand.batches.provenance import DistinctPeople, Provenance
from krand.errors import InvalidInput
from krand.files import json_object, read_whole, whole
from krand.promise import MAX_BITS, MAX_CROWD, Linkage
from krand.survey.plain_values import typed
from krand.survey.shapes import shape_of

__all__ = ["NAMES", "read_tally", "tally_from"]

NAMES = (
    *("format", "plan", "linkage", "positions", "round", "people", "crowd", "responses", "counts"),
    *("table", "joint", "histogram", "nulls", "lane_nulls", "rejected", "batches", "ids"),
    *("provenance", "distinct_people", "manifests", "signatures"),
)
"""All keys of a file."""


def read_tally(path: str | Path) -> Tally:
    """The tally in a file, or an error that says why it is none.

    >>> from krand import InvalidInput, read_tally
    >>> try:
    ...     read_tally("missing.json")
    ... except InvalidInput as error:
    ...     print(error.field)
    tally
    """
    rule = f"must be a file of the format {FORMAT}"
    values = json_object("tally", read_whole("tally", path), str(path), rule)
    try:
        return tally_from(values)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fault = str(error)
        fault = f"{fault}; " if isinstance(error, ValueError) and fault else ""
        raise InvalidInput("tally", rule, str(path), f"{fault}krand tally writes it") from None


def tally_from(values: dict[str, Any]) -> Tally:
    """What `Tally.values` gave; ValueError and the like for anything else."""
    if values["format"] == UNSIGNED and "signatures" not in values:
        values = {**values, "signatures": []}
    elif values["format"] != FORMAT:
        raise ValueError
    if values.keys() != set(NAMES):
        odd = min(values.keys() ^ set(NAMES))
        raise ValueError(f"{odd:.60} {'must not be there' if odd in values else 'is missing'}")
    linkage = Linkage(values["linkage"])
    positions = whole("positions", values["positions"], 1, MAX_BITS)
    record = shape_of(linkage).record_cells(positions)
    table = record if 0 < record <= 1 << MAX_TABLE_BITS else None
    return Tally(
        plan_hash=_text("plan", values["plan"]),
        linkage=linkage,
        positions=positions,
        round=whole("round", values["round"], 1),
        people=whole("people", values["people"], 0, MAX_CROWD),
        crowd=whole("crowd", values["crowd"], 0, MAX_CROWD),
        responses=whole("responses", values["responses"]),
        counts=_counts("counts", values["counts"], positions),
        table=_optional("table", values["table"], table),
        joint=dict(_joint(entry, positions) for entry in values["joint"]),
        histogram=_optional("histogram", values["histogram"], positions + 1 if record else None),
        nulls=whole("nulls", values["nulls"]),
        lane_nulls=_lane_nulls(values),
        rejected={str(reason): whole("rejected", n) for reason, n in values["rejected"].items()},
        batches=_texts("batches", values["batches"]),
        ids=_texts("ids", values["ids"]),
        provenance=Provenance(values["provenance"]),
        distinct_people=None
        if values["distinct_people"] is None
        else DistinctPeople(values["distinct_people"]),
        manifests=_texts("manifests", values["manifests"]),
        signatures=typed(tuple[TallySignature, ...], values["signatures"]),
    )


def _texts(name: str, values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise ValueError(f"{name} must be a list")
    return tuple(_text(name, value) for value in values)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text")
    return value


def _joint(entry: dict[str, Any], positions: int) -> tuple[Bits, Counts]:
    if entry.keys() != {"bits", "counts"}:
        raise ValueError("joint must have bits and counts, and nothing else")
    bits = tuple(whole("joint", bit, 0, positions - 1) for bit in entry["bits"])
    if not 1 <= len(bits) <= MAX_TABLE_BITS:
        raise ValueError(f"joint must be about 1 to {MAX_TABLE_BITS} bits, found {len(bits):,}")
    return bits, _counts("joint", entry["counts"], 1 << len(bits))


def _lane_nulls(values: dict[str, Any]) -> Counts | None:
    found = values["lane_nulls"]
    if found is None and values["nulls"] == 0:  # nothing was sealed
        return None
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_BITS:
        raise ValueError(f"lane_nulls must be a list of 1 to {MAX_BITS:,} counts")
    counts = _counts("lane_nulls", found, len(found))
    if sum(counts.tolist()) != values["nulls"]:
        raise ValueError("lane_nulls must add up to nulls")
    return counts


def _optional(name: str, values: list[Any] | None, size: int | None) -> Counts | None:
    if (values is None) != (size is None):
        raise ValueError(f"{name} must {'not ' if size is None else ''}be there")
    return None if values is None or size is None else _counts(name, values, size)


def _counts(name: str, values: list[Any], size: int) -> Counts:
    if not isinstance(values, list) or len(values) != size:
        raise ValueError(f"{name} must be a list of {size:,} counts")
    return np.array([whole(name, value) for value in values], np.int64)
