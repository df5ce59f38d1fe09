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

import numpy as np
from numpy.typing import NDArray

from krand.client.randomness import SecureRandom

__all__ = ["KEY_BYTES", "mixed_rows"]

KEY_BYTES = 8
"""Of the key in front of each message: its place in the release, drawn once and for all."""
MOST_IN_ROW = 32

Rows = NDArray[np.uint8]


def mixed_rows(
    submissions: Sequence[bytes], length: int, random: SecureRandom
) -> Iterator[tuple[bytes, bytes]]:
    """Rows (key, messages with their keys) for submissions that are stored together."""
    for stratum in _strata(submissions, length, random):
        mixed = random.shuffled(stratum)
        keys = np.frombuffer(random.bytes(KEY_BYTES * len(mixed)), np.uint8)
        keyed = np.concatenate([keys.reshape(-1, KEY_BYTES), mixed], axis=1)
        start = 0
        for size in _sizes(len(keyed)):
            yield random.bytes(16), keyed[start : start + size].tobytes()
            start += size


def _strata(submissions: Sequence[bytes], length: int, random: SecureRandom) -> Iterator[Rows]:
    """One message of everybody, then another one, and so on; larger submissions for themselves."""
    for size in sorted({len(body) for body in submissions}):
        alike = b"".join(body for body in submissions if len(body) == size)
        messages = np.frombuffer(alike, np.uint8).reshape(-1, size // length, length)
        # In which order a person's messages are taken is drawn for all at once: it must differ
        # from submission to submission only in so far as clients have shuffled theirs.
        for place in random.permutation(messages.shape[1]):
            yield messages[:, place]


def _sizes(count: int) -> Iterator[int]:
    """Powers of two that add up, the largest first, none above the limit."""
    while count:
        size = min(MOST_IN_ROW, 1 << (count.bit_length() - 1))
        yield size
        count -= size
