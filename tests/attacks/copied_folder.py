"""What somebody learns who copies a collector's folder. Shares no code with the collector.

The attacker has every byte of the folder and knows how SQLite lays out its files and its journal.
They look for messages and digests, and guess from where these lie whose is what and what came when.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Place:
    """Where one message or digest lies in the file."""

    at: int
    page: int
    inside: int


@dataclass(frozen=True)
class Copy:
    """The bytes of a folder."""

    file: bytes
    journal: bytes
    page_bytes: int

    @classmethod
    def of(cls, folder: Path) -> Copy:
        file = (folder / "spool.sqlite").read_bytes()
        path = folder / "spool.sqlite-wal"
        (size,) = struct.unpack(">H", file[16:18])
        return cls(file, path.read_bytes() if path.exists() else b"", 65_536 if size == 1 else size)

    def places(self, wanted: Iterable[bytes]) -> list[Place | None]:
        """Where each lies in the file, or else in the journal as if that went on behind the file.

        None for what is cut by the end of a page.
        """
        sought = list(wanted)
        found = _first_places(self.file + self.journal, sought)
        return [self._place(found.get(one, -1)) for one in sought]

    def _place(self, at: int) -> Place | None:
        return None if at < 0 else Place(at, at // self.page_bytes, at % self.page_bytes)

    def commits(self) -> list[bytes]:
        """The pages of each transaction in the journal, in the order in which they were written."""
        found, pages, at = [], [], 32
        while at + 24 + self.page_bytes <= len(self.journal):
            _, size = struct.unpack(">II", self.journal[at : at + 8])
            pages.append(self.journal[at + 24 : at + 24 + self.page_bytes])
            at += 24 + self.page_bytes
            if size:  # the last page of a transaction says how large the file is then
                found.append(b"".join(pages))
                pages = []
        return found


def _first_places(content: bytes, sought: Sequence[bytes]) -> dict[bytes, int]:
    """Where each lies first, all of them in eight passes: by their first eight bytes."""
    by_start = {int.from_bytes(one[:8], "little"): one for one in sought}
    starts = np.array(sorted(by_start), np.uint64)
    found: dict[bytes, int] = {}
    for phase in range(8):
        words = np.frombuffer(content, "<u8", (len(content) - phase) // 8, phase)
        near = np.minimum(np.searchsorted(starts, words), len(starts) - 1)
        for place in np.flatnonzero(starts[near] == words).tolist():
            one, at = by_start[int(words[place])], 8 * place + phase
            if at < found.get(one, len(content)) and content.startswith(one, at):
                found[one] = at
    return found


def tied_by_journal(
    copy: Copy, digests: Sequence[bytes], messages: Sequence[Sequence[bytes]]
) -> tuple[int, int]:
    """People, and messages, that are new together in a transaction which has only one person."""
    people = tied = 0
    known: set[bytes] = set()
    flat = {message: owner for owner, own in enumerate(messages) for message in own}
    for pages in copy.commits():
        here = _first_places(pages, [*digests, *flat]).keys() - known
        new_digests = [d for d in digests if d in here]
        new_messages = [m for m in flat if m in here]
        known.update(new_digests, new_messages)
        if len(new_digests) == 1:
            owner = digests.index(new_digests[0])
            right = sum(flat[m] == owner for m in new_messages)
            people, tied = people + (right > 0), tied + right
    return people, tied


Key = Callable[[Place], float]
CHANCE = random.Random(1)


def in_no_order(entries: Iterable[Entry]) -> list[Entry]:
    """What lies at equal places must not be ordered by what the attacker does not know."""
    found = list(entries)
    CHANCE.shuffle(found)
    return found


ORDERS: tuple[Key, ...] = (
    lambda place: place.at,
    lambda place: place.page * 1e6 - place.inside,
    lambda place: -place.inside,
    lambda place: place.page,
)
"""In the file; in the file with the newest first in each page; within pages; by page."""


def tied_by_place(
    copy: Copy, digests: Sequence[bytes], messages: Sequence[Sequence[bytes]]
) -> tuple[list[int], int]:
    """The n-th of the digests is taken for the owner of the n-th messages.

    How many guesses are right for each way to order both, and how many there are.
    """
    owners = in_no_order((p, o) for o, p in enumerate(copy.places(digests)) if p is not None)
    flat = [(m, owner) for owner, own in enumerate(messages) for m in own]
    found = zip(copy.places(m for m, _ in flat), flat, strict=True)
    placed = in_no_order((place, owner) for place, (_, owner) in found if place is not None)
    if not owners or not placed:
        return [0], 0
    right = []
    for by, other in product(ORDERS, ORDERS):
        first = [owner for _, owner in sorted(owners, key=lambda e, by=by: by(e[0]))]
        then = [owner for _, owner in sorted(placed, key=lambda e, by=other: by(e[0]))]
        each = len(then) / len(first)
        right.append(sum(first[int(at / each)] == owner for at, owner in enumerate(then)))
    return right, len(placed)


def orders(copy: Copy, messages: Sequence[bytes]) -> tuple[list[float], int]:
    """The rank correlation of a message's place with its arrival, for each way to order places,
    and of how many messages."""
    places = copy.places(messages)
    pairs = in_no_order((place, at) for at, place in enumerate(places) if place is not None)
    if len(pairs) < 2:
        return [0.0], len(pairs)
    arrival = _ranks([at for _, at in pairs])
    found = [
        float(np.corrcoef(_ranks([by(place) for place, _ in pairs]), arrival)[0, 1])
        for by in ORDERS
    ]
    return found, len(pairs)


def _ranks(values: Sequence[float]) -> NDArray[np.int64]:
    return np.argsort(np.argsort(values, kind="stable"))


def late_guesses(
    copy: Copy, messages: Sequence[bytes], late: int
) -> tuple[list[float], list[float], int]:
    """The share of late messages among as many that look latest, for each way and either end; the
    same for every page of many messages; and how many late ones there are."""
    latest = len(messages) - late
    places = copy.places(messages)
    pairs = in_no_order((p, at >= latest) for at, p in enumerate(places) if p is not None)
    count = sum(is_late for _, is_late in pairs)
    if not count:
        return [0.0], [0.0], 0
    found = []
    for by in ORDERS:
        ordered = [is_late for _, is_late in sorted(pairs, key=lambda e, by=by: by(e[0]))]
        found += [sum(ordered[:count]) / count, sum(ordered[-count:]) / count]
    pages: dict[int, list[bool]] = {}
    for place, is_late in pairs:
        pages.setdefault(place.page, []).append(is_late)
    by_page = [sum(here) / len(here) for here in pages.values() if len(here) >= count / 4]
    return found, by_page or [0.0], count
