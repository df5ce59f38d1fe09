"""What a copied folder of a collector tells: measured by an attacker, and bounded by chance.

The first column of the table in docs/explanation/threat-model.md is this attack on the spool as it
was before there was a pool: 60 of 60 people and 300 of 300 messages were tied by the journal, and
late messages were guessed with a precision of .46 where chance gives .10.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from attacks.copied_folder import Copy, late_guesses, orders, tied_by_journal, tied_by_place
from collecting import quick_folder, spool_config
from krand.collector.sqlite.spool import Spool
from krand.collector.store import MINIMUM_GROUP
from krand.wire.submissions import Submitted

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
