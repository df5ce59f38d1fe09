"""Copies of messages: the same encapsulated key twice is the same message sent again.

Every message is sealed with a key of its own (HPKE's `enc`, its first bytes). Somebody who sends
a person's messages again under other ids would be counted as more people. So before anything is
counted, all messages of all batches are looked at, and the first of several copies counts. A batch
of a collector that shares a message with another one is refused as a whole. Batches of mixers are
not: their number of people is no part of the promise, and a mixer that lets a message through twice
would make the round useless. The result does not depend on who counts afterwards.

The first 16 of its 32 bytes are compared. Two honest messages agree in them with probability
2^-128. A look takes up to 50 bytes of memory for each message, and at most `AT_ONCE` messages at a
time. Larger batches are read several times, each time for another part of the keys. A secret factor
decides which part a key belongs to, so that nobody can make one part large. Reading is fast beside
opening: 54 bytes, against some 200 microseconds of a core.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from krand.analysis.engines.source import Source, chunks_of
from krand.batches.sealed import MESSAGE, fixed_rows
from krand.errors import InvalidInput

COMPARED_BYTES = 16
AT_ONCE = 2**22
ROWS_AT_A_TIME = 2**18

Rows = NDArray[np.uint8]
Words = NDArray[np.uint64]
WORD = np.dtype("<u8")


@dataclass(frozen=True, slots=True)
class Repeats:
    """The messages of one batch that are there several times."""

    digests: bytes = b""
    """Of each of them once, sorted, end to end."""
    firsts: pa.RecordBatch | None = None
    """The first of each, but for those whose first is in a batch before this one."""
    surplus: int = 0
    """All the others."""


def find_repeats(sources: Sequence[Source]) -> list[Repeats]:
    """What is there several times in each batch.

    A message in two batches of a collector is an error; with mixers, the later ones are surplus.
    """
    parts = 1
    while sum(source.rows for source in sources) > parts * AT_ONCE:
        parts *= 2
    factor = np.uint64(secrets.randbits(64) | 1)
    found = [_Found() for _ in sources]
    for part in range(parts):
        words, owners = _part_of(sources, part, parts, factor)
        order = np.lexsort((owners, words[:, 1], words[:, 0]))
        words, owners = words[order], owners[order]
        again = np.flatnonzero((words[1:] == words[:-1]).all(axis=1)) + 1
        if not sources[0].mixed:
            _check_apart(sources, owners, again)
        for number, own in enumerate(found):
            own.add(words, owners, again, number)
    return [_repeats(source, own) for source, own in zip(sources, found, strict=True)]


class _Found:
    """What is known of one batch after some parts."""

    def __init__(self) -> None:
        self.surplus = 0
        self.words = [np.empty((0, 2), WORD)]
        """Of messages that are there several times, each once."""
        self.elsewhere = [np.empty((0, 2), WORD)]
        """Those of them that are in an earlier batch."""

    def add(
        self, words: Words, owners: NDArray[np.int32], again: NDArray[np.int64], number: int
    ) -> None:
        """Take up the copies in sorted words; `again` are the places of all but the first."""
        copies = again[owners[again] == number]
        self.surplus += len(copies)
        self.words.append(np.unique(words[copies], axis=0))
        # Owners rise: where the one before is another, the first of all copies is not here.
        entered = copies[owners[copies - 1] != number]
        self.elsewhere.append(words[entered])


def are_repeated(rows: Rows, digests: bytes) -> NDArray[np.bool_]:
    """For each message, whether it is one of those that are there several times."""
    own, known = _words(rows), np.frombuffer(digests, WORD).reshape(-1, 2)
    begin = np.searchsorted(known[:, 0], own[:, 0], "left")
    end = np.searchsorted(known[:, 0], own[:, 0], "right")
    found: NDArray[np.bool_] = end > begin
    for place in np.flatnonzero(found):  # few, and with one candidate each
        found[place] = own[place, 1] in known[begin[place] : end[place], 1]
    return found


def _words(rows: Rows) -> Words:
    """The bytes of each message that are compared, as two numbers."""
    return np.ascontiguousarray(rows[:, :COMPARED_BYTES]).view(WORD)


def _part_of(
    sources: Sequence[Source], part: int, parts: int, factor: np.uint64
) -> tuple[Words, NDArray[np.int32]]:
    """The words of all messages that belong to a part, and whose they are."""
    words, owners = [np.empty((0, 2), WORD)], [np.empty(0, np.int32)]
    shift = np.uint64(64 - parts.bit_length() + 1)
    for number, source in enumerate(sources):
        for chunk in chunks_of(source.uri, ROWS_AT_A_TIME):
            own = _words(fixed_rows(chunk.column(MESSAGE)))
            if parts > 1:
                own = own[((own[:, 0] ^ own[:, 1]) * factor) >> shift == part]
            words.append(own)
            owners.append(np.full(len(own), number, np.int32))
    return np.concatenate(words), np.concatenate(owners)


def _check_apart(
    sources: Sequence[Source], owners: NDArray[np.int32], again: NDArray[np.int64]
) -> None:
    """No message may be in two batches: people of one would be in the other."""
    shared = again[owners[again] != owners[again - 1]]
    if shared.size:
        first, second = (sources[owners[shared[0] - back]].uri for back in (1, 0))
        raise InvalidInput(
            "responses",
            "must not share messages",
            f"{first} and {second}",
            "people who are in both would be counted twice: one of them comes from an older copy of"
            " the spool, or somebody sent messages again; leave one of them out",
        )


def _repeats(source: Source, found: _Found) -> Repeats:
    if not found.surplus:
        return Repeats()
    digests, elsewhere = _sorted(found.words), _sorted(found.elsewhere)
    seen, firsts = set[bytes](), list[pa.RecordBatch]()
    for chunk in chunks_of(source.uri, ROWS_AT_A_TIME):
        rows, places = fixed_rows(chunk.column(MESSAGE)), list[int]()
        first = are_repeated(rows, digests) & ~are_repeated(rows, elsewhere)
        for place in np.flatnonzero(first):
            digest = _words(rows[place : place + 1]).tobytes()
            if digest not in seen:
                seen.add(digest)
                places.append(int(place))
        if places:
            firsts.append(chunk.take(pa.array(places)))
    joined = pa.Table.from_batches(firsts).combine_chunks().to_batches()[0] if firsts else None
    return Repeats(digests, joined, found.surplus)


def _sorted(words: list[Words]) -> bytes:
    joined = np.concatenate(words)
    return joined[np.lexsort((joined[:, 1], joined[:, 0]))].tobytes()
