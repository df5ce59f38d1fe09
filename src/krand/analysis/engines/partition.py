"""Some responses become a partial tally: the one function that every engine runs.

It needs plain data only, so that it can travel to another process or machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from krand.analysis.engines.repeats import are_repeated
from krand.analysis.shapes import tally_shape
from krand.analysis.tally import Bits, Tally, empty_tally
from krand.batches.sealed import LANE, MESSAGE, fixed_rows, positions_in
from krand.errors import InternalError
from krand.promise import Linkage
from krand.survey.plan import Plan

if TYPE_CHECKING:
    from krand.wire.layers import LaneOpener, Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker must know: the plan, what to count, the key if messages are sealed."""

    plan: Plan
    round: int
    joint: tuple[Bits, ...] = ()
    key: bytes | None = field(default=None, repr=False)
    """The analyst's private key; None for responses that are not sealed."""
    repeated: bytes = field(default=b"", repr=False)
    """Digests of messages that are there several times: they are left to whoever adds up."""

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
    """Count chunks of responses; people and batches are for those to add who know them.

    A chunk has one column of responses, or the columns of a sealed batch: lanes and messages.
    """
    found = work.nothing
    opener, shape = None if work.key is None else work.opener(), tally_shape(work.linkage)
    for chunk in chunks:
        if opener is None:
            responses = shape.unsealed(chunk.column(0), work.report_bytes)
            found = shape.counted(found, responses)
            continue
        for number, rows in _by_lane(work, chunk):
            found = _opened(found, number, opener.open_all(work.plan.lanes[number], rows))
    return found


def _by_lane(work: Work, chunk: pa.RecordBatch) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """The messages of each lane, without those that are there several times."""
    if not len(chunk):
        return
    rows, numbers = _messages(chunk.column(MESSAGE)), positions_in(chunk.column(LANE))
    if work.repeated:
        once = ~are_repeated(rows, work.repeated)
        rows, numbers = rows[once], numbers[once]
    for number in np.unique(numbers).tolist():
        yield number, rows[numbers == number]


def _opened(found: Tally, lane: int, opened: Opened) -> Tally:
    """The tally with what was in these messages; refused ones are counted by reason."""
    assert found.lane_nulls is not None
    shape = tally_shape(found.linkage)
    rejected = Counter(found.rejected)
    rejected.update({reason.value: count for reason, count in opened.rejected.items()})
    found.lane_nulls[lane] += opened.nulls
    counted = shape.counted(found, shape.content(opened))
    return replace(counted, nulls=found.nulls + opened.nulls, rejected=dict(rejected))


def _messages(column: pa.Array) -> NDArray[np.uint8]:
    """One message in each row."""
    if pa.types.is_fixed_size_binary(column.type):
        return fixed_rows(column)
    # Some engines know no fixed sizes; a batch has only messages of one length.
    return np.frombuffer(b"".join(column.to_pylist()), np.uint8).reshape(len(column), -1)
