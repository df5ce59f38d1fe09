"""How messages lie in the spool: mixed, so that nothing ties those of one person together.

Submissions that arrive within a few milliseconds are stored together. Each of the rows made of
them holds at most one message of each person, in random order, and every message has a random key
that decides where it will be in the released batch. Rows have 1, 2, 4, 8, … messages, so that
their sizes do not tell which of them were written together. A row lies in the table under a
random key of its own, and has no number; that its place in the file does not say when it came
either, is the work of `arranging`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from krand.randomness.generator import SecureRandom

__all__ = ["KEY_BYTES", "keyed", "mixed_rows", "rows_of", "sorted_by_key"]

KEY_BYTES = 8
"""Of the key in front of each message: its place in the release, drawn once and for all."""
MOST_IN_ROW = 64

Rows = NDArray[np.uint8]


def mixed_rows(
    submissions: Sequence[bytes], length: int, random: SecureRandom
) -> Iterator[tuple[bytes, bytes]]:
    """Rows (key, messages with their keys) for submissions that are stored together."""
    mixed = _mixed(_by_place(submissions, length), random)
    places, people, _ = mixed.shape
    keys = np.frombuffer(random.bytes(places * people * KEY_BYTES), np.uint8)
    keyed = np.concatenate([keys.reshape(places, people, KEY_BYTES), mixed], axis=2)
    ends = list(accumulate(_sizes(people)))
    for stratum in keyed:
        for start, end in pairwise((0, *ends)):
            yield random.bytes(16), stratum[start:end].tobytes()


def keyed(submissions: Sequence[bytes], length: int, random: SecureRandom) -> Rows:
    """All messages of these submissions, each behind a new key."""
    messages = np.frombuffer(b"".join(submissions), np.uint8).reshape(-1, length)
    keys = np.frombuffer(random.bytes(len(messages) * KEY_BYTES), np.uint8)
    return np.concatenate([keys.reshape(-1, KEY_BYTES), messages], axis=1)


def rows_of(messages: Rows, random: SecureRandom) -> Iterator[tuple[bytes, bytes]]:
    """Rows (key, messages with their keys) of messages that are mixed already."""
    for start, end in pairwise((0, *accumulate(_sizes(len(messages))))):
        yield random.bytes(16), messages[start:end].tobytes()


def sorted_by_key(messages: Rows) -> Rows:
    """Messages in the order of the keys in front of them; equal keys stay as they lie."""
    keys = np.ascontiguousarray(messages[:, :KEY_BYTES]).view(">u8").reshape(-1)
    return messages[np.argsort(keys.astype(np.uint64), kind="stable")]


def _by_place(submissions: Sequence[bytes], length: int) -> Rows:
    """The messages in first place, in second place, …; all submissions have as many."""
    joined = np.frombuffer(b"".join(submissions), np.uint8)
    return joined.reshape(len(submissions), -1, length).swapaxes(0, 1)


def _mixed(messages: Rows, random: SecureRandom) -> Rows:
    """People in a random order of its own for every place, by sorting random words.

    Two words are alike in fewer than one of 10^14 groups; then two people keep their order.
    """
    places, people, _ = messages.shape
    words = random.words(places * people, np.uint64).reshape(places, people)
    return np.take_along_axis(messages, words.argsort(axis=1)[:, :, None], axis=1)


def _sizes(count: int) -> Iterator[int]:
    """Powers of two that add up, the largest first, none above the limit."""
    while count:
        size = min(MOST_IN_ROW, 1 << (count.bit_length() - 1))
        yield size
        count -= size
