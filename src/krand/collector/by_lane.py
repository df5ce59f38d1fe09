"""The messages of a sealed batch lane by lane, by way of a nameless file on the disk."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from krand.collector.store import Batch, Messages, Store
from krand.errors import InternalError

__all__ = ["by_lane", "reserved"]

PIECE_BYTES = 2**22


def by_lane(store: Store, batch: Batch, folder: Path) -> Iterator[tuple[int, Messages]]:
    """Chunks of messages with their lane; lanes rise, and each keeps the order of the store.

    The order in a lane was drawn once, so that an interrupted release writes the same bytes again.
    """
    length, counts = store.config.format.message_length, np.array(store.config.lane_messages)
    ends = np.cumsum(batch.people * counts)
    taken, step = ends - batch.people * counts, max(1, PIECE_BYTES // length)
    # Nameless: it disappears with the process, however that ends.
    with tempfile.TemporaryFile(dir=folder) as scratch:
        messages = reserved(scratch, (batch.messages, length))
        for numbers, rows in store.lane_messages(batch, folder):
            order = np.argsort(numbers, kind="stable")
            lanes, here = numbers[order], np.bincount(numbers, minlength=len(counts))
            places = taken[lanes] + np.arange(len(lanes)) - (np.cumsum(here) - here)[lanes]
            messages[places] = rows[order]
            taken += here
        if (taken != ends).any():
            raise InternalError(f"{batch.people} people: lanes end at {taken}, not at {ends}")
        for lane, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
            for start in range(end - batch.people * count, end, step):
                yield lane, messages[start : min(end, start + step)]


def reserved(scratch: IO[bytes], shape: tuple[int, ...]) -> Messages:
    """A memory map of a file that has all its space: later a full disk would end the process."""
    left = math.prod(shape)
    while left:
        left -= scratch.write(bytes(min(left, PIECE_BYTES)))
    scratch.flush()
    return np.memmap(scratch, np.uint8, "r+", shape=shape)
