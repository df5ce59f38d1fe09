"""How responses of each shape are counted, and what a tally of them must hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from krand.analysis.counting import (
    count_bits,
    count_joint,
    count_positions,
    count_set_bits,
    count_table,
)
from krand.analysis.tally import Tally
from krand.batches.responses import fixed_rows, positions_in
from krand.promise import Linkage
from krand.showing import some
from krand.survey.plan import Plan

if TYPE_CHECKING:
    from krand.wire.layers import Opened


class TallyShape(ABC):
    """Responses of one shape, as far as counting differs."""

    @abstractmethod
    def content(self, opened: Opened) -> NDArray[Any]:
        """What was in messages."""

    @abstractmethod
    def unsealed(self, column: pa.Array, width: int) -> NDArray[Any]:
        """What is in a column of responses of so many bytes."""

    @abstractmethod
    def counted(self, found: Tally, responses: NDArray[Any]) -> Tally:
        """The tally with these responses; its arrays are our own, and are added to in place."""

    @abstractmethod
    def responses(self, found: Tally, people: int) -> int:
        """How many responses stand behind every count."""

    @abstractmethod
    def kept(self, tally: Tally) -> int:
        """How many messages were counted, empty ones aside."""

    @abstractmethod
    def odd_counts(self, plan: Plan, tally: Tally) -> Iterator[str]:
        """What cannot be in a tally."""

    @abstractmethod
    def odd_rows(self, rows: int, people: int, copies: int) -> str:
        """What a file of responses must hold, if it does not; empty otherwise."""


class TalliedTokens(TallyShape):
    """Positions, which are counted for people who send none too."""

    def content(self, opened: Opened) -> NDArray[Any]:
        return opened.positions

    def unsealed(self, column: pa.Array, width: int) -> NDArray[Any]:
        return positions_in(column)

    def counted(self, found: Tally, responses: NDArray[Any]) -> Tally:
        count_positions(responses, found.counts)
        return found

    def responses(self, found: Tally, people: int) -> int:
        return people

    def kept(self, tally: Tally) -> int:
        return int(tally.counts.sum())

    def odd_counts(self, plan: Plan, tally: Tally) -> Iterator[str]:
        if tally.responses != tally.people:
            yield f"{tally.responses:,} responses of {tally.people:,} people"

    def odd_rows(self, rows: int, people: int, copies: int) -> str:
        return ""


class TalliedRecords(TallyShape):
    """Packed records, counted where they arrived."""

    def content(self, opened: Opened) -> NDArray[Any]:
        return opened.vectors

    def unsealed(self, column: pa.Array, width: int) -> NDArray[Any]:
        if pa.types.is_fixed_size_binary(column.type):
            return fixed_rows(column)
        # Some engines know no fixed sizes; a file of responses has only rows of one length.
        rows = np.frombuffer(b"".join(column.to_pylist()), np.uint8)
        return rows.reshape(len(column), width)

    def counted(self, found: Tally, responses: NDArray[Any]) -> Tally:
        count_bits(responses, found.positions, found.counts)
        if found.table is not None:
            count_table(responses, found.positions, found.table)
        for bits, into in found.joint.items():
            count_joint(responses, bits, into)
        if found.histogram is not None:
            count_set_bits(responses, found.positions, found.histogram)
        return replace(found, responses=found.responses + len(responses))

    def responses(self, found: Tally, people: int) -> int:
        return found.responses

    def kept(self, tally: Tally) -> int:
        return tally.responses

    def odd_counts(self, plan: Plan, tally: Tally) -> Iterator[str]:
        copies = plan.survey.copies
        if tally.responses > tally.people * copies:
            yield f"{tally.responses:,} responses are more than {copies:,} for each person"
        if np.any(tally.counts > tally.responses):
            yield "a bit is set more often than there are responses"
        if tally.histogram is not None:
            if int(tally.histogram.sum()) != tally.responses:
                yield "the histogram of set bits does not hold every response once"
            elif int(tally.histogram @ np.arange(len(tally.histogram))) != int(tally.counts.sum()):
                yield "the histogram of set bits disagrees with their number"
        tables = dict(tally.joint)
        if tally.table is not None:
            tables[tuple(range(tally.positions))] = tally.table
        for bits, counts in tables.items():
            if int(counts.sum()) != tally.responses:
                yield f"the table of bits {bits} does not hold every response once"
                continue
            table = counts.reshape((2,) * len(bits))
            for axis, bit in enumerate(bits):
                ones = int(np.take(table, 1, axis=axis).sum())
                if bit >= tally.positions or ones != int(tally.counts[bit]):
                    yield f"the table of bits {bits} disagrees with the count of bit {bit}"

    def odd_rows(self, rows: int, people: int, copies: int) -> str:
        if rows == people * copies:
            return ""
        return f"must hold {some(copies, 'record')} for each of {people:,} people"


_SHAPES: dict[Linkage, TallyShape] = {
    Linkage.BIT: TalliedTokens(),
    Linkage.RECORD: TalliedRecords(),
}


def tally_shape(linkage: Linkage) -> TallyShape:
    """How responses of this linkage are counted."""
    return _SHAPES[linkage]
