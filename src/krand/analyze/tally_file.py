"""Tally files: JSON, written whole, read back strictly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from krand.analyze.tally import FORMAT, MAX_TABLE_BITS, Counts, Tally
from krand.errors import InvalidInput
from krand.files import read_whole, write_atomically
from krand.privacy.guarantee import Linkage
from krand.wire.provenance import DistinctPeople, Provenance

__all__ = ["read_tally", "tally_from", "write_tally"]


def write_tally(field: str, path: Path, tally: Tally) -> None:
    """Write a tally; `field` names the option that asked for the file."""
    write_atomically(field, path, json.dumps(tally.values()) + "\n")


def read_tally(path: str | Path) -> Tally:
    """The tally in a file, or an error that says why it is none."""
    content = read_whole("tally", path)
    try:
        return tally_from(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        rule = f"must be a file of the format {FORMAT}"
        raise InvalidInput("tally", rule, str(path), "krand tally writes it") from None


def tally_from(values: dict[str, Any]) -> Tally:
    """What `Tally.values` gave; ValueError and the like for anything else."""
    if values["format"] != FORMAT:
        raise ValueError
    linkage, positions = Linkage(values["linkage"]), _whole(values["positions"])
    record = linkage is Linkage.RECORD
    table = 1 << positions if record and positions <= MAX_TABLE_BITS else None
    return Tally(
        str(values["plan"]),
        linkage,
        positions,
        _whole(values["round"]),
        _whole(values["people"]),
        _whole(values["crowd"]),
        _whole(values["reports"]),
        _counts(values["counts"], positions),
        _optional(values["table"], table),
        {tuple(e["bits"]): _counts(e["counts"], 1 << len(e["bits"])) for e in values["joint"]},
        _optional(values["histogram"], positions + 1 if record else None),
        _whole(values["nulls"]),
        {str(reason): _whole(count) for reason, count in values["rejected"].items()},
        tuple(map(str, values["batches"])),
        tuple(map(str, values["ids"])),
        Provenance(values["provenance"]),
        None if values["distinct_people"] is None else DistinctPeople(values["distinct_people"]),
        tuple(map(str, values["manifests"])),
    )


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def _optional(values: list[Any] | None, size: int | None) -> Counts | None:
    if (values is None) != (size is None):
        raise ValueError
    return None if values is None or size is None else _counts(values, size)


def _counts(values: list[Any], size: int) -> Counts:
    if len(values) != size:
        raise ValueError
    return np.array([_whole(value) for value in values], np.int64)
