"""What a copied folder of a collector tells: measured by an attacker, and bounded by chance.

The attacker has every byte of the folder and knows how SQLite lays out its files and its journal.
They look for messages and digests, and guess from where these lie whose is what and what came when.
What they compute shares no code with the collector.

The first column of the table in docs/explanation/threat-model.md is this attack on the spool as it
was before there was a pool: 60 of 60 people and 300 of 300 messages were tied by the journal, and
late messages were guessed with a precision of .46 where chance gives .10.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import shutil
import statistics
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from collecting import quick_folder, spool_config
from krand.collector.sqlite.spool import Spool
from krand.collector.store import MINIMUM_GROUP
from krand.wire.submissions import Submitted

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


LENGTH, MESSAGES = 54, 5
WAYS = 16
"""How many ways to guess the attacker tries: the luckiest of them counts."""


@dataclass
class Crowd:
    """People who come to a spool, in the order of their numbers."""

    ids: list[bytes]
    messages: list[list[bytes]]
    digests: list[bytes]

    @property
    def flat(self) -> list[bytes]:
        return [message for own in self.messages for message in own]


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def copied(
    place: Path,
    people: int,
    group: int,
    quiet: tuple[int, ...] = (),
    crowd: int = 10**6,
    lanes: tuple[int, ...] = (),
) -> tuple[Copy, Crowd]:
    """The folder of a collector that runs on, after these people have come, so many at a time.

    `quiet` are the numbers of people after whom there was a quiet moment.
    """
    config = spool_config(crowd, MESSAGES, LENGTH)
    config = replace(config, lanes=lanes, closings=1 if lanes else 0)
    spool = Spool(place / "spool", config)
    ids = [os.urandom(16) for _ in range(people)]
    messages = [[os.urandom(LENGTH) for _ in range(MESSAGES)] for _ in range(people)]
    for first in range(0, people, group):
        numbers = range(first, min(first + group, people))
        spool.add([Submitted(ids[n], b"".join(messages[n])) for n in numbers])
        if any(number - 1 in numbers for number in quiet):
            spool.tidy()
    shutil.copytree(place / "spool", place / "copy")
    key = spool._digest_key  # the attacker may have that, too
    spool.close()
    digests = [hashlib.blake2b(one, digest_size=16, key=key).digest() for one in ids]
    return Copy.of(place / "copy"), Crowd(ids, messages, digests)


def best_order(copy: Copy, crowd: Crowd) -> tuple[float, int]:
    """Of the best way to order places: the correlation with arrival, and of how many people."""
    found, count = orders(copy, [own[0] for own in crowd.messages])
    return max(map(abs, found)), count


def best_late_guess(copy: Copy, crowd: Crowd) -> tuple[float, int]:
    """Of the best way to guess the last tenth: how often it is right, and how many they are."""
    by_place, by_page, count = late_guesses(copy, crowd.flat, len(crowd.flat) // 10)
    return max(*by_place, *by_page), count


def chance_at_most(mean: float, ways: int = WAYS) -> float:
    """A count that the luckiest of so many independent guesses exceeds in one of 10^7 tests."""
    level = math.log(1e7 * ways)
    return mean + math.sqrt(2 * mean * level) + level


@pytest.mark.slow
@pytest.mark.parametrize("people", [60, 300])
@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("quiet", [False, True])
def test_no_person_is_tied_to_a_message(place: Path, people: int, group: int, quiet: bool) -> None:
    """People come one by one, or three at a time; the folder is copied while the collector runs."""
    copy, crowd = copied(place, people, group, (people,) if quiet else ())
    assert tied_by_journal(copy, crowd.digests, crowd.messages) == (0, 0)
    assert not copy.journal
    ways, guessed = tied_by_place(copy, crowd.digests, crowd.messages)
    right = max(ways)
    assert guessed > 0.98 * people * MESSAGES
    print(f"\n{people} people, {group} at a time: {right} of {guessed} guesses right")
    assert right <= chance_at_most(guessed / min(people, MINIMUM_GROUP))


@pytest.mark.slow
@pytest.mark.parametrize(("people", "group"), [(60, 1), (300, 1), (300, 3), (300, 40)])
@pytest.mark.parametrize("quiet", [False, True])
def test_lanes_do_not_tie_messages_of_one_person(
    place: Path, people: int, group: int, quiet: bool
) -> None:
    """The attacker knows every lane: ids to messages, and a message of one lane to the others."""
    lanes = (1, 1, 1, 1, 1)
    copy, crowd = copied(place, people, group, (people,) if quiet else (), crowd=1, lanes=lanes)
    firsts, others = [own[0] for own in crowd.messages], [own[1:] for own in crowd.messages]
    for anchors, messages in ((crowd.digests, crowd.messages), (firsts, others)):
        ways, guessed = tied_by_place(copy, anchors, messages)
        assert guessed > 0.98 * people * len(messages[0])
        assert max(ways) <= chance_at_most(guessed / min(people, MINIMUM_GROUP))
    right = same_rank(copy, crowd)
    assert right <= chance_at_most(people * len(lanes) / min(people, MINIMUM_GROUP))


def same_rank(copy: Copy, crowd: Crowd) -> int:
    """How often the n-th message of one lane and of the next are of one person."""
    ranked = []
    for lane in range(MESSAGES):
        places = copy.places(own[lane] for own in crowd.messages)
        found = [(place.at, owner) for owner, place in enumerate(places) if place is not None]
        ranked.append([owner for _, owner in sorted(found)])
    return sum(a == b for one, two in pairwise(ranked) for a, b in zip(one, two, strict=False))


@pytest.mark.parametrize(("people", "group"), [(60, 1), (300, 1), (300, 7), (1_000, 40)])
def test_after_a_quiet_moment_nothing_tells_what_came_when(
    place: Path, people: int, group: int
) -> None:
    """Rank correlation and late messages are what chance gives."""
    copy, crowd = copied(place, people, group, (people,))
    order, count = best_order(copy, crowd)
    late, of = best_late_guess(copy, crowd)
    print(f"\n{people} people, {group} at a time: order {order:.3f}, late {late:.3f} of {of}")
    assert order < 6.1 / math.sqrt(count)
    assert late * of <= chance_at_most(0.1 * of, 400)


@pytest.mark.check
def test_in_a_busy_moment_only_the_pool_tells_late_ones(place: Path) -> None:
    """People come one by one without a pause: at most half of the pool is new."""
    copy, crowd = copied(place, 1_000, 1)
    order, count = best_order(copy, crowd)
    late, of = best_late_guess(copy, crowd)
    print(f"\norder {order:.3f}, late {late:.3f} of {of}")
    assert order < 0.25
    assert late < 0.6
    assert count > 980


def test_a_late_tenth_is_not_recognised_after_an_earlier_quiet_moment(place: Path) -> None:
    """The others lay mixed already when they came; then it was quiet again."""
    copy, crowd = copied(place, 1_000, 1, (900, 1_000))
    late, of = best_late_guess(copy, crowd)
    assert late * of <= chance_at_most(0.1 * of, 400)


@pytest.mark.check
@pytest.mark.parametrize("quiet", [(), (1_500,)])
def test_a_batch_that_is_complete_does_not_tell_who_completed_it(
    place: Path, quiet: tuple[int, ...]
) -> None:
    """The pool goes to the table when a batch is sealed: its people must not lie together there."""
    copy, crowd = copied(place, 1_500, 1, quiet, crowd=1_500)
    late, of = best_late_guess(copy, crowd)
    print(f"\nlate {late:.3f} of {of}")
    assert late * of <= chance_at_most(0.1 * of, 400)


SCENES = {
    "60, one by one": (60, 1, (), 0.3, 0.3),
    "300, one by one": (300, 1, (), 0.3, 0.3),
    "1,000, one by one": (1_000, 1, (), 0.1, 0.3),
    "1,000, 40 at a time": (1_000, 40, (), 0.1, 0.2),
    "300, then a quiet second": (300, 1, (300,), 0.0, 0.1),
    "1,000, two quiet seconds": (1_000, 1, (900, 1_000), 0.0, 0.1),
    "5,000, 40 at a time": (5_000, 40, (), 1.0, 1.0),
    "5,000, then a quiet second": (5_000, 40, (5_000,), 0.0, 0.1),
}
"""People, how many came at a time, after whom it was quiet; then the most that may be learned of
the order (a rank correlation) and of the last tenth (the share that is guessed)."""
COPIES = 20


@pytest.mark.long
@pytest.mark.parametrize("scene", SCENES)
def test_many_copies_tell_no_more_than_one(scene: str) -> None:
    """The attacker chooses on half of the copies how to guess, and is measured on the other half.

    Where nothing may be learned, chance is allowed for: four standard errors of the mean.
    """
    people, group, quiet, most_order, most_late = SCENES[scene]
    tied: list[list[float]] = []
    order: list[list[float]] = []
    late: list[list[float]] = []
    for _ in range(COPIES):
        with quick_folder() as folder:
            copy, crowd = copied(folder, people, group, quiet)
        assert tied_by_journal(copy, crowd.digests, crowd.messages) == (0, 0)
        right, guessed = tied_by_place(copy, crowd.digests, crowd.messages)
        tied.append([one / guessed for one in right])
        order.append(orders(copy, [own[0] for own in crowd.messages])[0])
        late.append(late_guesses(copy, crowd.flat, len(crowd.flat) // 10)[0])
    limits = (1 / min(people, MINIMUM_GROUP), most_order, most_late)
    found = [learned(ways) for ways in (tied, order, late)]
    print(f"\n{scene}: owner, order, last tenth:", [f"{x:.4f} ± {e:.4f}" for x, e in found])
    for (mean, error), limit in zip(found, limits, strict=True):
        assert mean <= limit + 4 * error


def learned(copies: list[list[float]]) -> tuple[float, float]:
    """Of the way that is best on the first half: its mean on the second, and the standard error."""
    half = len(copies) // 2
    means = [abs(statistics.mean(way)) for way in zip(*copies[:half], strict=True)]
    best = means.index(max(means))
    values = [copy[best] for copy in copies[half:]]
    return abs(statistics.mean(values)), statistics.stdev(values) / math.sqrt(len(values))


def test_the_folder_alone_does_not_tell_whose_ids_came(place: Path) -> None:
    """The key of the digests is not in it, whatever it is called."""
    spool = Spool(place / "spool", spool_config(100, MESSAGES, LENGTH))
    spool.add([Submitted(os.urandom(16), os.urandom(LENGTH * MESSAGES)) for _ in range(3)])
    key = spool._digest_key
    for path in (place / "spool").iterdir():
        content = path.read_bytes()
        assert key not in content
        assert key.hex().encode() not in content
    spool.close()
