"""kill -9 at any moment: nothing acknowledged is lost, nothing is counted twice.

Every message is unique, so that a message that is there twice proves a replay. Most kills at a
random time, or at a random call of Python code, miss the few milliseconds in which files are
written: some are at each system call with which a release changes files. The large counts of
docs/explanation/reliability.md:
KRAND_LONG=1 KRAND_FAULTS=1000 pytest tests/collector/test_kills.py -s
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collecting import files_in
from collector.callers import Callers, Collector, Repeated, post
from collector.crowds import (
    check_wiped,
    config_for,
    crowd_of,
    everybody,
    linkage_now,
    manifests_in,
    messages_in,
    people,
    stored,
)
from collector.halting import Held, spread_over
from collector.lives import Nursery
from components import require
from krand.collector.sqlite.spool import Spool
from krand.collector.store import State
from krand.promise import Linkage

require("uvicorn")
require("starlette")

FAULTS = int(os.environ.get("KRAND_FAULTS", "16"))
RELEASE_FAULTS = max(10, FAULTS // 5)
KILLED = -9
CROWD = 200
STEP = 15
"""People whom a writer is to store in one life, in three groups."""


@pytest.fixture(params=["record", "bit"])
def faults(request: pytest.FixtureRequest) -> Iterator[int]:
    """How many, in plans of both linkages; of bits fewer."""
    with crowd_of(Linkage(request.param)):
        yield FAULTS if request.param == "record" else max(6, FAULTS // 5)


def check_released(collector: Collector, count: int) -> None:
    """These people and nobody else are in the released batch, once."""
    assert Counter(messages_in(collector.output)) == everybody(range(count))
    assert [manifest.submissions for manifest in manifests_in(collector.output)] == [count]


@pytest.mark.check
@pytest.mark.loop
def test_kills_of_a_serving_collector_lose_and_double_nobody(
    tmp_path: Path, home: Nursery, faults: int
) -> None:
    """`krand serve` dies again and again while people submit: all are released exactly once."""
    draw = random.Random(faults)
    collector = Collector(tmp_path, CROWD, home)
    callers = Callers(collector, threads=8, seed=faults)
    for life in range(faults):
        collector.start()
        if life % 5:  # every fifth dies while it begins
            collector.wait()
        time.sleep(draw.uniform(0, 0.06))
        assert home.kill() == KILLED
    collector.started()
    count = callers.finish(CROWD)
    home.stop()
    assert collector.release() == 0
    check_released(collector, count)
    assert callers.interrupted > faults // 10 or faults < 10
    print(
        f"\n{faults} kills of a serving collector, {linkage_now().value}: {count:,} people,"
        f" {callers.interrupted:,} attempts cut off, {callers.repeated:,} repeated, all once"
    )


@pytest.mark.check
@pytest.mark.loop
def test_kills_at_chosen_calls_of_the_spool_lose_and_double_nobody(
    tmp_path: Path, home: Nursery, faults: int
) -> None:
    """A writer dies at its n-th call, for many n: what it had told of is there, and once."""
    folder, note, counted = tmp_path / "spool", tmp_path / "acknowledged", tmp_path / "count"
    task: dict[str, Any] = {"folder": str(folder), "crowd": CROWD, "group": STEP // 3}
    task["linkage"] = linkage_now().value
    first = {"first": 0, "last": STEP, "told": str(note)}
    home.start("add", **task, **first, count_into=str(counted))
    assert home.wait() == 0
    calls, start = int(counted.read_text()), STEP
    for fault in range(faults):
        last = start + STEP
        note.write_text("")
        arguments = {"first": start, "last": last, "told": str(note)}
        home.start("add", **task, **arguments, stop_at=1 + fault * calls // faults)
        assert home.wait() == KILLED
        told = set(map(int, note.read_text().split()))
        with Spool(folder, config_for(CROWD)) as spool:
            # Whoever was told is known; the others come again, as clients do.
            new = spool.add(people(range(start, last)))
        assert not any(new[number - start] for number in told)
        start = last
    count = max(start, CROWD)
    collector = Collector(tmp_path, CROWD, home)
    stored(folder, CROWD, range(start, count)).close()
    assert collector.release() == 0
    check_released(collector, count)
    print(
        f"\n{faults} kills at calls 1 to {calls} of a writer, {linkage_now().value}:"
        f" {count:,} people, all once"
    )


class Releases(Repeated):
    """One release of a full spool."""

    def __init__(self, folder: Path, home: Nursery) -> None:
        (folder / "work").mkdir()
        self.collector = Collector(folder / "work", CROWD, home)
        with stored(self.collector.spool, CROWD, range(CROWD)) as spool:
            spool.close_batch()
        changing = (self.collector.spool.name, self.collector.output.name)
        super().__init__(home, folder / "work", changing, self.collector.releasing)
        assert self.collector.release() == 0
        check_released(self.collector, CROWD)
        check_wiped(self.collector.spool, range(CROWD))
        self.expected = files_in(self.collector.output)

    def killed(self, end: Callable[[], int], may_be_done: bool = False) -> str:
        """What a release leaves that is ended; repeated, it gives the same bytes."""
        self.begin_again()
        ended = end()
        assert ended == KILLED or (may_be_done and ended == 0)
        found = files_in(self.collector.output)
        assert found == {name: self.expected[name] for name in found}
        assert {*found} in [set(), {"batch-000001.parquet"}, {*self.expected}]
        with Spool(self.collector.spool, config_for(CROWD)) as spool:
            state = spool.batches()[0].state
            if state.has_messages:
                spool.check()
        assert state is not State.SEALED or not found
        assert state is not State.RELEASED or found == self.expected
        assert self.collector.release() == 0
        assert files_in(self.collector.output) == self.expected
        check_wiped(self.collector.spool, range(CROWD))
        return f"{len(found)} files, {state}{', ended before' if ended == 0 else ''}"


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("way", ["at a time", "at a call"])
def test_kills_of_a_release_leave_whole_files_and_the_same_bytes(
    tmp_path: Path, home: Nursery, way: str
) -> None:
    """`krand release` dies: files are absent or whole; repeated, they are the same; then wiped."""
    draw, counted = random.Random(RELEASE_FAULTS), tmp_path / "count"
    releases = Releases(tmp_path, home)
    releases.begin_again()
    began = time.monotonic()
    releases.collector.begin_release(count_into=str(counted))
    assert home.wait() == 0
    duration, calls = time.monotonic() - began, int(counted.read_text())

    def at_a_time() -> int:
        releases.collector.begin_release()
        time.sleep(draw.uniform(0, duration))
        return home.kill()

    def at_a_call(fault: int) -> int:
        """Most calls only read; the nearer to the end, the more is at stake."""
        left = (1 - fault / RELEASE_FAULTS) ** 3
        releases.collector.begin_release(stop_at=1 + int(calls * (1 - left)))
        return home.wait()

    seen: Counter[str] = Counter()
    for fault in range(RELEASE_FAULTS):
        end = at_a_time if way == "at a time" else lambda fault=fault: at_a_call(fault)
        seen[releases.killed(end, may_be_done=True)] += 1
    print(f"\n{RELEASE_FAULTS} kills of a release {way}: {dict(seen)}")


WAYS: dict[str, dict[str, Any]] = {
    "in memory": {},
    "in piles": {
        "krand.collector.sqlite.mixing.IN_MEMORY_BYTES": 0,
        "krand.collector.sqlite.mixing.PIECE_BYTES": 2**12,
    },
}
"""A large batch is put in order in nameless files."""


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize(("way", "linkage"), [("in memory", "bit"), ("in piles", "record")])
def test_kills_while_a_release_writes_leave_whole_files(
    tmp_path: Path, home: Nursery, way: str, linkage: str
) -> None:
    """No file, the batch alone, or both; each whole; repeated, they have the same bytes."""
    with crowd_of(Linkage(linkage)):
        releases = Releases(tmp_path, home)
        releases.begin_again()
        assert releases.run(WAYS[way]) == 0
        calls = releases.calls()
        stops = places_to_stop(calls, str(releases.collector.output))
        seen = Counter(
            releases.killed(lambda stop_at=stop_at: releases.run(WAYS[way], stop_at=stop_at))
            for stop_at in stops
        )
    wanted = {*(f"{count} files, releasing" for count in range(3)), "2 files, released"}
    assert wanted <= {*seen} <= wanted | {"0 files, sealed"}
    print(
        f"\n{seen.total()} kills of a release at {len({*stops})} of its calls from {min(stops)} to"
        f" {len(calls)}, {way}: {dict(seen)}"
    )


def places_to_stop(calls: list[Held], output: str) -> list[int]:
    """Half of them from the first change of the output to the last of the spool, the other half
    where files are synced and get their names."""
    ours = [n for n, (_, path) in enumerate(calls, 1) if path.startswith(output)]
    synced = next(n for n in ours if calls[n - 1][0] == "fsync")
    some = FAULTS // 4
    return [*spread_over(ours[0], len(calls), some), *spread_over(synced, ours[-1], some)]


def test_a_collector_that_is_told_to_stop_answers_first(tmp_path: Path, home: Nursery) -> None:
    """SIGTERM in the middle of things: nobody is cut off who was listened to, nothing is lost."""
    collector = Collector(tmp_path, CROWD, home)
    collector.started()
    assert post(collector, range(5)) == [(202, "accepted")] * 5
    home.stop()
    assert sorted(path.name for path in collector.spool.iterdir()) == ["spool.mark", "spool.sqlite"]
    with Spool(collector.spool, config_for(CROWD)) as spool:
        assert spool.batches()[0].people == 5
