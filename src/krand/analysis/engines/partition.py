"""Some responses become a partial tally: the one function that every engine runs.

It needs plain data only, so that it can travel to another process or machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from krand.analysis.shapes import tally_shape
from krand.analysis.tally import Bits, Tally, empty_tally
from krand.errors import InternalError
from krand.promise import Linkage
from krand.survey.plan import Plan

if TYPE_CHECKING:
    from krand.wire.layers import LaneOpener, Opened


PLACE = np.dtype("<i8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker must know: the plan, what to count, the key if messages are sealed."""

    plan: Plan
    round: int
    joint: tuple[Bits, ...] = ()
    key: bytes | None = field(default=None, repr=False)
    """The analyst's private key; None for responses that are not sealed."""
    counts: tuple[int, ...] = ()
    """Of a batch: how many messages each lane has."""
    copies: bytes = field(default=b"", repr=False)
    """The places of messages in the batch that are copies of earlier ones: they do not count."""

    @property
    def linkage(self) -> Linkage:
        """Whether responses are tokens or records."""
        return self.plan.survey.linkage

    @property
    def report_bytes(self) -> int:
        """The size of a response that is not sealed."""
        return self.plan.response_bytes

    @property
    def nothing(self) -> Tally:
        """The partial tally of no responses."""
        positions, lanes = self.plan.layout.positions, len(self.plan.lanes)
        return empty_tally(
            self.plan.hash,
            self.linkage,
            positions,
            self.round,
            self.joint,
            lanes=0 if self.key is None else lanes,
        )

    def opener(self) -> LaneOpener:
        """Opens the messages of the plan, lane by lane."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        from krand.wire.layers import LaneOpener

        if self.key is None:
            raise InternalError("responses that are not sealed need not be opened")
        return LaneOpener(X25519PrivateKey.from_private_bytes(self.key), self.plan, self.round)


def tally_part(work: Work, chunks: Iterable[pa.RecordBatch]) -> Tally:
    """Count chunks of responses that are not sealed, each with one column.

    People and batches are for those to add who know them.
    """
    found, shape = work.nothing, tally_shape(work.linkage)
    for chunk in chunks:
        found = shape.counted(found, shape.unsealed(chunk.column(0), work.report_bytes))
    return found


def tally_messages(work: Work, start: int, rows: NDArray[np.uint8]) -> Tally:
    """Open and count messages that follow each other in a batch, the first at place `start`.

    The lane of each follows from its place.
    """
    found, opener = work.nothing, work.opener()
    places = np.arange(start, start + len(rows))
    once = ~np.isin(places, np.frombuffer(work.copies, PLACE))
    lanes = np.searchsorted(np.cumsum(work.counts), places, side="right")
    for number in np.unique(lanes).tolist():
        own = rows[(lanes == number) & once]
        found = _opened(found, number, opener.open_all(work.plan.lanes[number], own))
    return found


def _opened(found: Tally, lane: int, opened: Opened) -> Tally:
    """The tally with what was in these messages; refused ones are counted by reason."""
    assert found.lane_nulls is not None
    shape = tally_shape(found.linkage)
    rejected = Counter(found.rejected)
    rejected.update({reason.value: count for reason, count in opened.rejected.items()})
    found.lane_nulls[lane] += opened.nulls
    counted = shape.counted(found, shape.content(opened))
    return replace(counted, nulls=found.nulls + opened.nulls, rejected=dict(rejected))
