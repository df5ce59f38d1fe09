"""The lane of each message, stored in front of it.

A message's place in its submission is its lane, and the shuffle forgets places. So the lane is
stored with the message, where the plan has several lanes. Everybody sends the same lanes: a lane
tells which question a message is about, and nothing about who sent it or what else they sent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from krand.collector.store import LaneNumbers, Messages, SpoolConfig

__all__ = ["LaneColumn"]

LANE = np.dtype(">u4")
"""How a lane is written, on every machine."""


class LaneColumn:
    """Puts lanes in front of the messages of a plan, and reads them."""

    def __init__(self, config: SpoolConfig) -> None:
        self._length, self._counts = config.format.message_length, config.lane_messages
        places = np.repeat(np.arange(len(self._counts)), self._counts)
        self._prefixes = places.astype(LANE).view(np.uint8).reshape(-1, LANE.itemsize)

    @property
    def width(self) -> int:
        """Bytes of a lane; none where there is only one."""
        return LANE.itemsize if len(self._counts) > 1 else 0

    @property
    def stored_length(self) -> int:
        """Bytes of a message with its lane."""
        return self.width + self._length

    def added_to(self, messages: bytes) -> bytes:
        """The messages of one submission, each behind its lane."""
        if not self.width:
            return messages
        rows = np.frombuffer(messages, np.uint8).reshape(len(self._prefixes), self._length)
        return np.concatenate([self._prefixes, rows], axis=1).tobytes()

    def numbers(self, rows: Messages, start: int = 0) -> LaneNumbers:
        """The lane of each message; it stands at `start` of a row."""
        if not self.width:
            return np.zeros(len(rows), np.int64)
        found = np.ascontiguousarray(rows[:, start : start + self.width])
        return found.view(LANE).reshape(-1).astype(np.int64)

    def first_of_each(self, numbers: LaneNumbers, people: int) -> NDArray[np.bool_]:
        """Which rows are the first ones of their lane, as many as so many people send."""
        order = np.argsort(numbers, kind="stable")
        lanes = np.arange(len(self._counts))
        starts = np.searchsorted(numbers[order], lanes)
        ranks = np.empty(len(numbers), np.int64)
        ranks[order] = np.arange(len(numbers)) - starts[numbers[order]]
        return ranks < people * np.array(self._counts)[numbers]
