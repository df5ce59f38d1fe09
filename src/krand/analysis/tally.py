"""What was counted: the only thing that estimates are made from.

Tallies of one plan and round add up, in any order and grouping, so that many machines, batches
and collectors can count apart. A batch counts once: its name and its id travel with its counts.

Tally files are JSON, which `Tally.save` writes and `read_tally` reads back strictly.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from krand.batches.provenance import Provenance, check_one_provenance
from krand.errors import InvalidInput
from krand.files import json_object, read_whole, write_atomically
from krand.promise import MAX_BITS, MAX_CROWD, Linkage
from krand.showing import Shown, one_line, some
from krand.survey.canonical import sha256_of
from krand.survey.plain_values import (
    Count,
    Malformed,
    Positive,
    arrays,
    as_file,
    part,
    said_format,
    typed_fields,
    within,
)

Counts = Annotated[NDArray[np.int64], arrays(np.int64)]
Bits = tuple[int, ...]

FORMAT = "krand-tally-1"

MAX_TABLE_BITS = 16
"""The full table of 2^b vectors is kept for records of up to so many bits."""

_MAPPINGS = ("joint", "rejected")
"""The fields that are read-only views of dicts."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tally(Shown):
    """Counts of one plan and round.

    >>> from krand import randomize_table, tally_responses
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> tally = tally_responses(plan, ["responses.parquet"])
    >>> len(tally.counts) == plan.layout.positions, tally.people
    (True, 100)
    """

    plan_hash: str
    linkage: Linkage
    positions: Annotated[int, within(1, MAX_BITS)]
    round: Positive
    people: Annotated[int, within(0, MAX_CROWD)]
    """Submissions: what the collector counted, or the rows that were randomized."""
    crowd: Annotated[int, within(0, MAX_CROWD)]
    """The people of the smallest batch: each was shuffled alone, so nobody hides in more."""
    responses: Count
    """Bit linkage: the people. Record linkage: the vectors that were counted, k for each person."""
    counts: Counts
    """How many responses have a 1 at each position."""
    table: Counts | None = None
    """Records of at most 16 bits: how many responses are each vector, first bit highest."""
    joint: Mapping[Bits, Counts] = field(default_factory=dict)
    """Longer records: the same table for the bits that were asked for."""
    histogram: Counts | None = None
    """Records: how many responses have 0, 1, 2, … set bits; T of draft 001 (3.3)."""
    nulls: Count = 0
    rejected: Mapping[str, Count] = field(default_factory=dict)
    """Messages that were refused, by reason."""
    batches: tuple[str, ...] = ()
    """SHA-256 of every batch file that was counted, sorted."""
    ids: tuple[str, ...] = ()
    """The random ids of a data holder's runs, sorted."""
    provenance: Provenance = Provenance.SIMULATION
    """How noise was added to answers; what nobody vouches for is nothing but a simulation."""
    different_people: bool = False
    """Whether the analyst declared that the files of several runs are about different people."""
    lane_nulls: Counts | None = None
    """Sealed batches: how many messages of every lane are empty; `nulls` in all."""
    chains: tuple[str, ...] = ()
    """What all mixers signed about the batch that people sent, as it stands in its file."""

    def __post_init__(self) -> None:
        for name in _MAPPINGS:
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __repr__(self) -> str:
        places, of = some(self.positions, "position"), f"plan {self.plan_hash[:16]}…"
        return one_line("Tally", f"{self.people:,} people", f"round {self.round:,}", places, of)

    def __reduce__(self) -> tuple[Any, ...]:
        """Partial tallies travel between processes; read-only views of dicts do not."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values |= {name: dict(values[name]) for name in _MAPPINGS}
        return partial(Tally, **values), ()

    def same_as(self, other: Tally) -> bool:
        """Whether every number of the two is the same."""
        return self.values() == other.values()

    @property
    def sha256(self) -> str:
        """By which results name this tally; whoever counts again gets the same."""
        return sha256_of(self.values())

    def save(self, path: str | Path) -> None:
        """Write the tally to a file, which `krand estimate` and `krand verify` read.

        >>> from krand import randomize_table, read_tally, tally_responses
        >>> from krand.testing import simulated_table, small_plan
        >>> plan = small_plan()
        >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "r.parquet")
        >>> tally = tally_responses(plan, ["r.parquet"])
        >>> tally.save("tally.json")
        >>> read_tally("tally.json").same_as(tally)
        True
        """
        write_atomically("output", Path(path), json.dumps(self.values()) + "\n")

    def values(self) -> dict[str, Any]:
        """Everything as plain data; `tally_from` reads it back."""
        return {
            "format": FORMAT,
            "plan": self.plan_hash,
            "linkage": self.linkage.value,
            "positions": self.positions,
            "round": self.round,
            "people": self.people,
            "crowd": self.crowd,
            "responses": self.responses,
            "counts": self.counts.tolist(),
            "table": None if self.table is None else self.table.tolist(),
            "joint": [
                {"bits": list(bits), "counts": self.joint[bits].tolist()}
                for bits in sorted(self.joint)
            ],
            "histogram": None if self.histogram is None else self.histogram.tolist(),
            "nulls": self.nulls,
            "lane_nulls": None if self.lane_nulls is None else self.lane_nulls.tolist(),
            "rejected": dict(sorted(self.rejected.items())),
            "batches": list(self.batches),
            "ids": list(self.ids),
            "provenance": self.provenance.value,
            "different_people": self.different_people,
            "chains": list(self.chains),
        }


def empty_tally(
    plan_hash: str,
    linkage: Linkage,
    positions: int,
    round_number: int = 1,
    joint: tuple[Bits, ...] = (),
    lanes: int = 0,
) -> Tally:
    """Nothing counted yet: the beginning of every sum; lanes, where messages are sealed."""
    cells = 1 << positions if linkage is Linkage.RECORD else 0
    return Tally(
        plan_hash=plan_hash,
        linkage=linkage,
        positions=positions,
        round=round_number,
        people=0,
        crowd=0,
        responses=0,
        counts=np.zeros(positions, np.int64),
        table=np.zeros(cells, np.int64) if 0 < cells <= 1 << MAX_TABLE_BITS else None,
        joint={chosen: np.zeros(1 << len(chosen), np.int64) for chosen in joint},
        histogram=np.zeros(positions + 1, np.int64) if cells else None,
        lane_nulls=np.zeros(lanes, np.int64) if lanes else None,
    )


def merged(first: Tally, second: Tally) -> Tally:
    """Both together; they must be of one plan and round, and share no batch."""
    _check_alike(first, second)
    return Tally(
        plan_hash=first.plan_hash,
        linkage=first.linkage,
        positions=first.positions,
        round=first.round,
        people=first.people + second.people,
        crowd=min(first.crowd or second.crowd, second.crowd or first.crowd),
        responses=first.responses + second.responses,
        counts=first.counts + second.counts,
        table=_sum(first.table, second.table),
        joint={bits: counts + second.joint[bits] for bits, counts in first.joint.items()},
        histogram=_sum(first.histogram, second.histogram),
        nulls=first.nulls + second.nulls,
        lane_nulls=_sum(first.lane_nulls, second.lane_nulls),
        rejected=dict(Counter(first.rejected) + Counter(second.rejected)),
        batches=tuple(sorted(first.batches + second.batches)),
        ids=tuple(sorted(first.ids + second.ids)),
        provenance=first.provenance,
        different_people=first.different_people or second.different_people,
        chains=tuple(sorted(first.chains + second.chains)),
    )


def _sum(first: Counts | None, second: Counts | None) -> Counts | None:
    return None if first is None or second is None else first + second


def _lanes(tally: Tally) -> int:
    return 0 if tally.lane_nulls is None else len(tally.lane_nulls)


def _check_alike(first: Tally, second: Tally) -> None:
    if first.plan_hash != second.plan_hash:
        rule = f"must be of the plan {first.plan_hash}"
        raise InvalidInput("plan", rule, second.plan_hash, "tallies of one plan add up")
    if first.round != second.round:
        rule = f"must be of round {first.round}"
        raise InvalidInput("round", rule, second.round, "tally each round apart")
    if set(first.joint) != set(second.joint):
        rule = f"must count the same bits jointly, {sorted(first.joint)}"
        raise InvalidInput("joint", rule, sorted(second.joint))
    if _lanes(first) != _lanes(second):
        rule = f"must count empty messages in the same lanes, {_lanes(first):,}"
        raise InvalidInput("lane_nulls", rule, _lanes(second))
    check_one_provenance(first.provenance, second.provenance)
    twice = sorted({*first.batches, *first.ids} & {*second.batches, *second.ids})
    if twice:
        rule = "must not be counted twice"
        raise InvalidInput("batch", rule, twice[0], "leave it out of one of the tallies")


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
        raise Malformed("is not a field of this object", ("plan_hash",))
    given["plan_hash"] = part(str, given, "plan")
    del given["plan"]
    tables = part(tuple[_JointTable, ...], {"joint": joint}, "joint")
    found = typed_fields(Tally, given, but="joint")
    tally = Tally(**found, joint={table.bits: table.counts for table in tables})
    record = 1 << tally.positions if tally.linkage is Linkage.RECORD else 0
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
