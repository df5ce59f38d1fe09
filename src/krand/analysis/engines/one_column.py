"""Batches without lanes: delete this module, and what calls it, when devices seal in lanes.

Such a batch is one lane, which has one column of messages of version 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from krand.batches.sealed import batch_id_in, batch_schema
from krand.errors import InvalidInput
from krand.wire.messages import MessageFormat
from krand.wire.sealing import Opened, Opener

if TYPE_CHECKING:
    import pyarrow.parquet as pq
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    from numpy.typing import NDArray

    from krand.survey.lanes import Lane
    from krand.survey.plan import Plan

__all__ = ["OneLaneOpener", "counts_without_lanes", "lanes_missing", "message_format"]


def lanes_missing(plan: Plan) -> bool:
    """Whether the plan's batches have no lanes."""
    return plan.mixing is None


def message_format(plan: Plan) -> MessageFormat:
    """The format of all messages of the plan."""
    return MessageFormat(plan.survey.linkage, plan.layout.positions)


class OneLaneOpener:
    """Opens like a LaneOpener."""

    def __init__(self, key: X25519PrivateKey, plan: Plan) -> None:
        self._opener = Opener(key, message_format(plan), bytes.fromhex(plan.hash))

    def open_all(self, lane: Lane, rows: NDArray[np.uint8]) -> Opened:
        """The payloads of many messages."""
        return self._opener.open_all(rows)


def counts_without_lanes(file: pq.ParquetFile, plan: Plan, batch_id: str) -> tuple[int, ...]:
    """How many messages there are, if the file has the format."""
    length = message_format(plan).sealed_length
    if not file.schema_arrow.equals(batch_schema(length, batch_id)):
        rule = f"must have one column of messages of {length} bytes"
        raise InvalidInput("batch", rule, str(file.schema_arrow.types))
    carried = batch_id_in(file.schema_arrow)
    if carried != batch_id:
        rule = f"must carry the id of its manifest, {batch_id}"
        raise InvalidInput("batch", rule, carried, "it is another batch, or of an older krand")
    return (file.metadata.num_rows,)
