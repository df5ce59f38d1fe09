"""Some responses become a partial tally: the one function that every engine runs.

It needs plain data only, so that it can travel to another process or machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from krand.analysis.counting.counts import (
    count_bits,
    count_joint,
    count_positions,
    count_set_bits,
    count_table,
)
from krand.analysis.engines.repeats import DIGEST_BYTES, are_repeated
from krand.analysis.tally import Bits, Tally, empty_tally
from krand.batches.sealed import fixed_rows, positions_in
from krand.errors import InternalError
from krand.promise import Linkage
from krand.wire.messages import MessageFormat

if TYPE_CHECKING:
    from krand.wire.sealing import Opened, Opener

__all__ = ["Work", "tally_part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker must know: how responses look, what to count, the key if they are sealed."""

    plan_hash: str
    linkage: Linkage
    positions: int
    round: int
    joint: tuple[Bits, ...] = ()
    key: bytes | None = field(default=None, repr=False)
    """The analyst's private key; None for responses that are not sealed."""
    repeated: bytes = field(default=b"", repr=False)
    """Digests of messages that are there several times: they are left to whoever adds up."""

    @property
    def report_bytes(self) -> int:
        """The size of a response that is not sealed."""
        return 4 if self.linkage is Linkage.BIT else (self.positions + 7) // 8

    @property
    def nothing(self) -> Tally:
        """The partial tally of no responses."""
        return empty_tally(self.plan_hash, self.linkage, self.positions, self.round, self.joint)

    def opener(self) -> Opener:
        """Opens the messages of the plan."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        from krand.wire.sealing import Opener

        if self.key is None:
            raise InternalError("responses that are not sealed need not be opened")
        form = MessageFormat(self.linkage, self.positions)
        key = X25519PrivateKey.from_private_bytes(self.key)
        return Opener(key, form, bytes.fromhex(self.plan_hash))


def tally_part(work: Work, columns: Iterable[pa.Array]) -> Tally:
    """Count columns of responses; people and batches are for those to add who know them."""
    found = work.nothing
    opener = None if work.key is None else work.opener()
    for column in columns:
        if opener is None:
            found = _counted(found, _unsealed(work, column))
        else:
            found = _opened(found, opener.open_all(_messages(work, column)))
    return found


def _opened(found: Tally, opened: Opened) -> Tally:
    """The tally with what was in these messages; refused ones are counted by reason."""
    content = opened.positions if found.linkage is Linkage.BIT else opened.vectors
    rejected = Counter(found.rejected)
    rejected.update({reason.value: count for reason, count in opened.rejected.items()})
    return replace(
        _counted(found, content), nulls=found.nulls + opened.nulls, rejected=dict(rejected)
    )


def _counted(found: Tally, responses: NDArray[Any]) -> Tally:
    """The tally with these responses; its arrays are our own, so they are added to in place."""
    if found.linkage is Linkage.BIT:
        count_positions(responses, found.counts)
        return found
    count_bits(responses, found.positions, found.counts)
    if found.table is not None:
        count_table(responses, found.positions, found.table)
    for bits, into in found.joint.items():
        count_joint(responses, bits, into)
    if found.histogram is not None:
        count_set_bits(responses, found.positions, found.histogram)
    return replace(found, responses=found.responses + len(responses))


def _unsealed(work: Work, column: pa.Array) -> NDArray[Any]:
    if work.linkage is Linkage.BIT:
        return positions_in(column)
    if pa.types.is_fixed_size_binary(column.type):
        return fixed_rows(column)
    # Some engines know no fixed sizes; a file of responses has only rows of one length.
    rows = np.frombuffer(b"".join(column.to_pylist()), np.uint8)
    return rows.reshape(len(column), work.report_bytes)


def _messages(work: Work, column: pa.Array) -> NDArray[np.uint8]:
    """One message in each row, without those that are there several times."""
    if not len(column) or pa.types.is_fixed_size_binary(column.type):
        rows = fixed_rows(column) if len(column) else np.empty((0, DIGEST_BYTES), np.uint8)
    else:  # some engines know no fixed sizes; a batch has only messages of one length
        joined = np.frombuffer(b"".join(column.to_pylist()), np.uint8)
        rows = joined.reshape(len(column), -1)
    return rows[~are_repeated(rows, work.repeated)] if work.repeated else rows
