"""Who came when, and what came together: neither the release nor the spool at rest can tell."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from collecting import LENGTH, number_of, quick_folder, released, spool_config, submitted
from krand.collector.release import release_sealed
from krand.collector.sqlite import mixing
from krand.collector.sqlite.disk import PAGE_BYTES
from krand.collector.sqlite.mixing import KEY_BYTES, MOST_IN_ROW, mixed_rows
from krand.collector.sqlite.spool import Spool
from krand.randomness.generator import secure_random
from krand.wire.keys import generate_signing_key

KEY = generate_signing_key()
UNLIKELY = 1e-7
"""How often each of these tests may fail although nothing is wrong."""
FAR = 5.3
"""So many standard deviations are as unlikely."""


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def filled(folder: Path, crowd: int, people: int, group: int, messages: int = 1) -> Spool:
    """A spool that people came to in the order of their numbers, some at a time."""
    spool = Spool(folder / "spool", spool_config(crowd, messages))
    submission_format = spool.config.format
    for first in range(0, people, group):
        numbers = range(first, min(first + group, people))
        spool.add([submitted(number, submission_format) for number in numbers])
    return spool


def too_many(count: int, mean: float) -> bool:
    """Whether a count of rare events is too large for chance: Chernoff's bound for a Poisson."""
    if count <= mean:
        return False
    return -mean + count - count * math.log(count / mean) < math.log(UNLIKELY)


@pytest.mark.check
@pytest.mark.parametrize("group", [1, 3])
def test_every_order_of_a_small_batch_is_equally_likely(place: Path, group: int) -> None:
    """Chi-square over the six orders of three people, who came one by one or all at once."""
    batches = 240
    with filled(place, 3, 3 * batches, group) as spool:
        done = release_sealed(spool, place / "out", KEY)
    assert len(done) == batches
    orders = Counter(
        tuple(number_of(message)[0] % 3 for message in released(entry.data)) for entry in done
    )
    expected = batches / 6
    statistic = sum((orders[order] - expected) ** 2 / expected for order in _orders())
    assert sum(orders[order] for order in _orders()) == batches
    assert statistic < 42, orders  # P[χ²(5) > 42] = 6e-8


def _orders() -> list[tuple[int, int, int]]:
    return [(a, b, 3 - a - b) for a in range(3) for b in range(3) if a != b]


@pytest.mark.check
@pytest.mark.parametrize("in_memory", [2**24, 0])
def test_the_order_of_release_is_not_that_of_arrival(
    place: Path, in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spearman's rank correlation of 10⁵ messages is within noise, overall and of neighbours.

    Sorted at once, and in piles as a batch that is larger than the memory.
    """
    monkeypatch.setattr(mixing, "IN_MEMORY_BYTES", in_memory)
    monkeypatch.setattr(mixing, "PIECE_BYTES", 2**18)
    people, messages = 50_000, 2
    with filled(place, people, people, 256, messages) as spool:
        (done,) = release_sealed(spool, place / "out", KEY)
    arrival = np.array([number_of(message)[0] for message in released(done.data)])
    count = len(arrival)
    assert count == people * messages
    noise = 1 / math.sqrt(count)
    rank = np.arange(count)
    assert abs(np.corrcoef(rank, arrival)[0, 1]) < FAR * noise
    assert abs(np.corrcoef(arrival[1:], arrival[:-1])[0, 1]) < FAR * noise
    together = int((arrival[1:] == arrival[:-1]).sum())
    assert not too_many(together, messages - 1)


@pytest.mark.check
@pytest.mark.parametrize(
    ("group", "people", "messages"), [(1, 150, 16), (3, 600, 4), (7, 150, 16), (100, 4_000, 4)]
)
def test_at_rest_neither_order_nor_company_is_left(
    place: Path, group: int, people: int, messages: int
) -> None:
    """In the file's own bytes: messages of one person are no neighbours, pages know no order."""
    filled(place, 10**6, people, group, messages).close()
    assert not (place / "spool" / "spool.sqlite-wal").exists()
    check_says_nothing(places_in(place), group, people, messages)


def check_says_nothing(
    found: list[tuple[int, int]], group: int, people: int, messages: int
) -> None:
    """Where messages lie tells neither whose they are nor when they came."""
    assert people * messages * 0.95 < len(found) <= people * messages
    owners = np.array([number for _, number in found])
    # Rows of several hold messages of different people, which makes it rarer, never more frequent.
    assert not too_many(int((owners[1:] == owners[:-1]).sum()), messages - 1)
    inside = [
        np.sign(other - number)
        for (at, number), (then, other) in pairwise(found)
        if at // PAGE_BYTES == then // PAGE_BYTES
    ]
    assert abs(sum(inside)) < FAR * math.sqrt(len(inside))
    # Those of one row came together: so many rows, not so many messages, are independent.
    rows = len(found) / min(group, MOST_IN_ROW)
    assert abs(np.corrcoef(np.arange(len(found)), owners)[0, 1]) < FAR / math.sqrt(rows)


def test_in_a_quiet_moment_the_journal_is_emptied(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the pages are written anew, while the collector goes on."""
    # Without this the journal would be empty anyway.
    monkeypatch.setattr("krand.collector.sqlite.spool.ALWAYS_MIXED_BYTES", 0)
    with filled(place, 10**6, 160, 40, 16) as spool:
        assert (place / "spool" / "spool.sqlite-wal").stat().st_size
        spool.tidy()
        assert not (place / "spool" / "spool.sqlite-wal").stat().st_size
        check_says_nothing(places_in(place), 1, 160, 16)
        spool.check()


def places_in(place: Path) -> list[tuple[int, int]]:
    """Where messages begin in the file, in that order, and whose they are.

    But for those few which are cut in two by the end of a page.
    """
    content = (place / "spool" / "spool.sqlite").read_bytes()
    whole = re.compile(rb"[\x80-\x8f]{10}[\x80-\xbf]\xe7{%d}" % (LENGTH - 11))
    return [(hit.start(), number_of(hit[0])[0]) for hit in whole.finditer(content)]


def test_a_row_holds_at_most_one_message_of_a_person() -> None:
    """Whatever the group: one person, a few, many; with one message each or several."""
    random = secure_random()
    for people in (*range(1, 20), 31, 32, 33, 64, 100, 257):
        for messages in (1, 2, 3, 7):
            submission_format = spool_config(10, messages).format
            group = [submitted(n, submission_format).messages for n in range(people)]
            rows = list(mixed_rows(group, LENGTH, random))
            assert len({key for key, _ in rows}) == len(rows)
            all_found: list[bytes] = []
            for _, content in rows:
                width = KEY_BYTES + LENGTH
                size = len(content) // width
                assert size * width == len(content)
                assert size & (size - 1) == 0, "sizes are powers of two"
                found = [content[i * width + KEY_BYTES : (i + 1) * width] for i in range(size)]
                owners = [number_of(message)[0] for message in found]
                assert len(set(owners)) == len(owners)
                all_found += found
            sent = b"".join(group)
            wanted = [sent[i : i + LENGTH] for i in range(0, len(sent), LENGTH)]
            assert sorted(all_found) == sorted(wanted)


def test_rows_of_a_group_are_mixed_independently() -> None:
    """Two messages of one person lie at the same place of their rows as often as by chance."""
    random, people, same = secure_random(), 8, 0
    submission_format = spool_config(10, 2).format
    group = [submitted(n, submission_format).messages for n in range(people)]
    draws = 2_000
    for _ in range(draws):
        rows = [content for _, content in mixed_rows(group, LENGTH, random)]
        width = KEY_BYTES + LENGTH
        orders = [
            [number_of(row[i * width + KEY_BYTES : (i + 1) * width])[0] for i in range(people)]
            for row in rows
        ]
        for first, second in combinations(orders, 2):
            same += sum(a == b for a, b in zip(first, second, strict=True))
    assert not too_many(same, draws)
    assert same > draws - 6 * math.sqrt(draws)
