"""Tally files: JSON, which `Tally.save` writes, read back strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from krand.analysis.tally import FORMAT, MAX_TABLE_BITS, Counts, Tally
from krand.files import json_object, read_whole
from krand.promise import MAX_BITS
from krand.survey.plain_values import (
    Count,
    Malformed,
    as_file,
    part,
    said_format,
    typed_fields,
)
from krand.survey.shapes import shape_of

RULE = f"must be a file of the format {FORMAT}"


def read_tally(path: str | Path) -> Tally:
    """The tally in a file, or an error that says why it is none.

    >>> from krand import InvalidInput, read_tally
    >>> try:
    ...     read_tally("missing.json")
    ... except InvalidInput as error:
    ...     print(error.field)
    tally
    """
    values = json_object("tally", read_whole("tally", path), str(path), RULE)
    with as_file("tally", FORMAT, str(path), "krand tally writes it"):
        return tally_from(values)


def tally_from(values: Mapping[str, Any]) -> Tally:
    """What `Tally.values` gave; Malformed for anything else."""
    given = dict(values)
    form, joint = given.pop("format", None), given.pop("joint", None)
    if form != FORMAT:
        raise Malformed(said_format(values), ("format",))
    if "plan_hash" in given:
        raise Malformed("should not be there", ("plan_hash",))
    given["plan_hash"] = part(str, given, "plan")
    del given["plan"]
    tables = part(tuple[_JointTable, ...], {"joint": joint}, "joint")
    found = typed_fields(Tally, given, but=("joint",))
    tally = Tally(**found, joint={table.bits: table.counts for table in tables})
    record = shape_of(tally.linkage).record_cells(tally.positions)
    table = record if 0 < record <= 1 << MAX_TABLE_BITS else None
    _check_counts("counts", tally.counts, tally.positions)
    _check_counts("table", tally.table, table)
    _check_counts("histogram", tally.histogram, tally.positions + 1 if record else None)
    for bits, counts in tally.joint.items():
        if not 1 <= len(bits) <= MAX_TABLE_BITS or max(bits) >= tally.positions:
            raise Malformed(f"should name 1 to {MAX_TABLE_BITS} bits of the plan", ("joint",))
        _check_counts("joint", counts, 1 << len(bits))
    if tally.lane_nulls is not None or tally.nulls:  # otherwise nothing was sealed
        lanes = tally.lane_nulls
        if lanes is None or lanes.ndim != 1 or not 1 <= len(lanes) <= MAX_BITS:
            raise Malformed(f"should be a list of 1 to {MAX_BITS:,} counts", ("lane_nulls",))
        _check_counts("lane_nulls", lanes, len(lanes))
        if sum(lanes.tolist()) != tally.nulls:
            raise Malformed("should add up to nulls", ("lane_nulls",))
    return tally


@dataclass(frozen=True, slots=True, eq=False)
class _JointTable:
    """A table of bits that were counted jointly, as it stands in the file."""

    bits: tuple[Count, ...]
    counts: Counts


def _check_counts(name: str, counts: Counts | None, size: int | None) -> None:
    if (counts is None) != (size is None):
        raise Malformed(f"should {'not ' if size is None else ''}be present", (name,))
    if counts is not None and (counts.shape != (size,) or (counts < 0).any()):
        raise Malformed(f"should be a list of {size:,} counts", (name,))
