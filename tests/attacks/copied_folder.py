"""What somebody learns who copies a collector's folder. Shares no code with the collector.

The attacker has every byte of the folder and knows how SQLite lays out its files and its journal.
They look for messages and digests, and guess from where these lie whose is what and what came when.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

__all__ = ["Copy", "Place", "best_late_guess", "best_order", "tied_by_journal", "tied_by_place"]

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
        """Where each lies in the file; None for what is cut by the end of a page, or not there."""
        return [self._place(self.file.find(one)) for one in wanted]

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


def tied_by_journal(
    copy: Copy, digests: Sequence[bytes], messages: Sequence[Sequence[bytes]]
) -> tuple[int, int]:
    """People, and messages, that are new together in a transaction which has only one person."""
    people = tied = 0
    known: set[bytes] = set()
    flat = {message: owner for owner, own in enumerate(messages) for message in own}
    for pages in copy.commits():
        new_digests = [d for d in digests if d not in known and d in pages]
        new_messages = [m for m in flat if m not in known and m in pages]
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
) -> tuple[int, int]:
    """(right, guessed): the n-th of the digests is taken for the owner of the n-th messages.

    The best of all ways to order both.
    """
    best, guessed = 0, 0
    owners = in_no_order((p, o) for o, p in enumerate(copy.places(digests)) if p is not None)
    flat = [(m, owner) for owner, own in enumerate(messages) for m in own]
    found = zip(copy.places(m for m, _ in flat), flat, strict=True)
    placed = in_no_order((place, owner) for place, (_, owner) in found if place is not None)
    for by in ORDERS:
        for other in ORDERS:
            first = [owner for _, owner in sorted(owners, key=lambda e: by(e[0]))]
            then = [owner for _, owner in sorted(placed, key=lambda e: other(e[0]))]
            if not first or not then:
                continue
            each = len(then) / len(first)
            right = sum(first[int(at / each)] == owner for at, owner in enumerate(then))
            best, guessed = max(best, right), len(then)
    return best, guessed


def best_order(copy: Copy, messages: Sequence[bytes]) -> tuple[float, int]:
    """The largest rank correlation of a message's place with its arrival, and of how many."""
    places = copy.places(messages)
    pairs = in_no_order((place, at) for at, place in enumerate(places) if place is not None)
    if len(pairs) < 2:
        return 0.0, len(pairs)
    arrival = np.array([at for _, at in pairs])
    best = 0.0
    for by in ORDERS:
        ranks = np.argsort(np.argsort([by(place) for place, _ in pairs], kind="stable"))
        best = max(best, abs(float(np.corrcoef(ranks, np.argsort(np.argsort(arrival)))[0, 1])))
    return best, len(pairs)


def best_late_guess(copy: Copy, messages: Sequence[bytes], late: int) -> tuple[float, int]:
    """The share of late messages among as many that look latest, and how many there are.

    The best of all ways to order them, from either end; and those outside the tables, which lie in
    no row of many.
    """
    places = copy.places(messages)
    latest = len(messages) - late
    pairs = in_no_order((p, at >= latest) for at, p in enumerate(places) if p is not None)
    count = sum(is_late for _, is_late in pairs)
    if not count:
        return 0.0, 0
    best = 0.0
    for by in ORDERS:
        ordered = [is_late for _, is_late in sorted(pairs, key=lambda e: by(e[0]))]
        best = max(best, sum(ordered[:count]) / count, sum(ordered[-count:]) / count)
    pages = {p.page for p, _ in pairs}
    for page in pages:  # any page, or any run of pages, may be where the last ones are
        here = [is_late for p, is_late in pairs if p.page == page]
        if len(here) >= count / 4:
            best = max(best, sum(here) / len(here))
    return best, count
