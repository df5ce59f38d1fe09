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
    length, counts = store.config.format.message_length, store.config.lane_messages
    # Nameless: it disappears with the process, however that ends.
    with tempfile.TemporaryFile(dir=folder) as scratch:
        _sorted_into(scratch, store, batch, folder)
        scratch.seek(0)
        for lane, count in enumerate(counts):
            left = batch.people * count
            while left:
                some = min(left, max(1, PIECE_BYTES // length))
                content = np.frombuffer(scratch.read(some * length), np.uint8)
                yield lane, content.reshape(some, length)
                left -= some


def _sorted_into(scratch: IO[bytes], store: Store, batch: Batch, folder: Path) -> None:
    """Write every message to the part of its lane, behind those that are there."""
    length, counts = store.config.format.message_length, np.array(store.config.lane_messages)
    ends = np.cumsum(batch.people * counts)
    taken = ends - batch.people * counts
    for numbers, rows in store.lane_messages(batch, folder):
        ordered = rows[np.argsort(numbers, kind="stable")]
        here = np.bincount(numbers, minlength=len(counts))
        for lane, part in enumerate(np.split(ordered, np.cumsum(here)[:-1])):
            if len(part):
                scratch.seek(int(taken[lane]) * length)
                scratch.write(part.tobytes())
        taken += here
    if (taken != ends).any():
        raise InternalError(f"{batch.people} people: lanes end at {taken}, not at {ends}")


def reserved(scratch: IO[bytes], shape: tuple[int, ...]) -> Messages:
    """A memory map of a file that has all its space: later a full disk would end the process."""
    left = math.prod(shape)
    while left:
        left -= scratch.write(bytes(min(left, PIECE_BYTES)))
    scratch.flush()
    return np.memmap(scratch, np.uint8, "r+", shape=shape)
