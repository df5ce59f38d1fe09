"""How messages are mixed when they are stored, and ordered when they are released.

Submissions that arrive within a few milliseconds are stored together. Each of the rows made of them
holds at most one message of each person, in random order. Every message has a random key, and a
batch is released in the order of these keys. Rows have 1, 2, 4, 8, … messages, so that their sizes
do not tell which of them were written together. A row lies in the table under a random key of its
own and has no number. `tables.rearrange` removes what its place in the file would tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from krand.collector.store import LaneNumbers, Messages, SpoolConfig
from krand.randomness.generator import SecureRandom
from krand.randomness.shuffling import open_piles, throw

KEY_BYTES = 8
"""Of the key in front of each message: its place in the released batch, drawn once."""
MOST_IN_ROW = 64
PIECE_BYTES = 2**22
IN_MEMORY_BYTES = 2**24
"""A batch up to this size is sorted in memory."""
LANE = np.dtype(">u4")
"""How a lane is written, on every machine."""


def mixed_rows(
    submissions: Sequence[bytes], length: int, random: SecureRandom
) -> Iterator[tuple[bytes, bytes]]:
    """Rows (key, messages with their keys) for submissions that are stored together."""
    joined = np.frombuffer(b"".join(submissions), np.uint8)
    by_place = joined.reshape(len(submissions), -1, length).swapaxes(0, 1)
    places, people, _ = by_place.shape
    # For every place, people in an independent random order, by sorting random words. Two words
    # are equal in fewer than one of 10^14 groups. Then two people keep their order.
    words = random.words(places * people, np.uint64).reshape(places, people)
    mixed = np.take_along_axis(by_place, words.argsort(axis=1)[:, :, None], axis=1)
    keys = np.frombuffer(random.bytes(places * people * KEY_BYTES), np.uint8)
    keyed = np.concatenate([keys.reshape(places, people, KEY_BYTES), mixed], axis=2)
    ends = list(accumulate(_sizes(people)))
    for place in keyed:
        for start, end in pairwise((0, *ends)):
            yield random.bytes(16), place[start:end].tobytes()


def keyed(submissions: Sequence[bytes], length: int, random: SecureRandom) -> Messages:
    """All messages of these submissions, each behind a new key."""
    messages = np.frombuffer(b"".join(submissions), np.uint8).reshape(-1, length)
    keys = np.frombuffer(random.bytes(len(messages) * KEY_BYTES), np.uint8)
    return np.concatenate([keys.reshape(-1, KEY_BYTES), messages], axis=1)


def rows_of(messages: Messages, random: SecureRandom) -> Iterator[tuple[bytes, bytes]]:
    """Rows (key, messages with their keys) of messages that are mixed already."""
    for start, end in pairwise((0, *accumulate(_sizes(len(messages))))):
        yield random.bytes(16), messages[start:end].tobytes()


def sorted_by_key(messages: Messages) -> Messages:
    """Messages in the order of the keys in front of them. Equal keys keep their order."""
    keys = np.ascontiguousarray(messages[:, :KEY_BYTES]).view(">u8").reshape(-1)
    return messages[np.argsort(keys.astype(np.uint64), kind="stable")]


def in_key_order(
    rows: Iterable[bytes], width: int, total_bytes: int, scratch: Path
) -> Iterator[Messages]:
    """All messages in the order of their keys, without the keys; `width` is that of both together.

    A large batch is sorted by way of nameless files in the scratch folder.
    """
    if total_bytes <= IN_MEMORY_BYTES:
        yield _without_keys(b"".join(rows), width)
        return
    with ExitStack() as stack:
        piles = open_piles(scratch, stack)
        for piece in _pieces(rows, width):
            throw(piece, piece[:, 0], piles)
        for pile in piles:
            pile.seek(0)
            yield _without_keys(pile.read(), width)
            pile.close()


def _without_keys(content: bytes, width: int) -> Messages:
    """Messages in the order of their keys, without the keys."""
    return sorted_by_key(np.frombuffer(content, np.uint8).reshape(-1, width))[:, KEY_BYTES:]


def _pieces(rows: Iterable[bytes], width: int) -> Iterator[Messages]:
    held: list[bytes] = []
    size = 0
    for content in rows:
        held.append(content)
        size += len(content)
        if size >= PIECE_BYTES:
            yield np.frombuffer(b"".join(held), np.uint8).reshape(-1, width)
            held, size = [], 0
    if held:
        yield np.frombuffer(b"".join(held), np.uint8).reshape(-1, width)


def _sizes(count: int) -> Iterator[int]:
    """Powers of two that add up, the largest first, none above the limit."""
    while count:
        size = min(MOST_IN_ROW, 1 << (count.bit_length() - 1))
        yield size
        count -= size


class LaneColumn:
    """Puts lanes in front of the messages of a plan, and reads them.

    A message's place in its submission is its lane, and the shuffle forgets places. So the lane is
    stored with the message, where the plan has several lanes. Everybody sends the same lanes: one
    tells which question a message is about, and nothing about who sent it or what else they sent.
    """

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
