"""kill -9 at any moment: nothing acknowledged is lost, nothing is counted twice.

Every message is unique, so that a message that is there twice proves a replay. The large counts of
docs/explanation/reliability.md:
KRAND_LONG=1 KRAND_FAULTS=1000 pytest tests/collector/test_kills.py -s
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collecting import files_in
from collector.callers import Callers, Collector, post
from collector.crowds import (
    config_for,
    crowd_of,
    filled,
    linkage_now,
    manifests_in,
    messages_in,
    messages_of,
    people,
)
from collector.lives import Nursery, nursery
from components import require
from krand.collector.sqlite.spool import Spool
from krand.collector.states import State
from krand.promise import Linkage

require("uvicorn")
require("starlette")

FAULTS = int(os.environ.get("KRAND_FAULTS", "16"))
RELEASE_FAULTS = max(10, FAULTS // 5)
KILLED = -9
CROWD = 200
STEP = 15
"""People whom a writer is to store in one life, in three groups."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    with nursery(tmp_path_factory.mktemp("kills") / "errors") as made:
        yield made


@pytest.fixture(params=["record", "bit"])
def faults(request: pytest.FixtureRequest) -> Iterator[int]:
    """How many, in plans of both linkages; of bits fewer."""
    with crowd_of(Linkage(request.param)):
        yield FAULTS if request.param == "record" else max(6, FAULTS // 5)


def everybody(count: int) -> Counter[bytes]:
    """Every message of the first so many people, once."""
    return Counter(message for number in range(count) for message in messages_of(number))


def check_released(collector: Collector, count: int) -> None:
    """These people and nobody else are in the released batches, once, in crowds as planned."""
    assert Counter(messages_in(collector.output)) == everybody(count)
    submissions = [manifest.submissions for manifest in manifests_in(collector.output)]
    assert submissions == [CROWD] * (count // CROWD)


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
    count = -(-start // CROWD) * CROWD
    collector = Collector(tmp_path, CROWD, home)
    filled(folder, CROWD, range(start, count)).close()
    assert collector.release() == 0
    check_released(collector, count)
    print(
        f"\n{faults} kills at calls 1 to {calls} of a writer, {linkage_now().value}:"
        f" {count:,} people, all once"
    )


def whole_or_absent(output: Path, expected: dict[str, bytes]) -> tuple[str, ...]:
    """Which files are there: whole, under their names, and nothing else."""
    found = files_in(output)
    assert all(expected.get(name) == content for name, content in found.items())
    return tuple(sorted(found))


def check_wiped(folder: Path, count: int) -> None:
    """No message is anywhere in the spool's files."""
    content = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    assert not any(message[:24] in content for message in everybody(count))


def calls_of_a_release(collector: Collector, full: Path) -> int:
    """How many calls the collector's code makes until a batch is out."""
    counted = full.with_name("count")
    shutil.rmtree(collector.spool)
    shutil.rmtree(collector.output)
    shutil.copytree(full, collector.spool)
    collector.begin_release(count_into=str(counted))
    assert collector.home.wait() == 0
    return int(counted.read_text())


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("way", ["at a time", "at a call"])
def test_kills_of_a_release_leave_whole_files_and_the_same_bytes(
    tmp_path: Path, home: Nursery, way: str
) -> None:
    """`krand release` dies: files are absent or whole; repeated, they are the same; then wiped."""
    draw = random.Random(RELEASE_FAULTS)
    collector = Collector(tmp_path, CROWD, home)
    full = tmp_path / "full"
    filled(full, CROWD, range(CROWD)).close()
    shutil.copytree(full, collector.spool)
    began = time.monotonic()
    assert collector.release() == 0
    duration = time.monotonic() - began
    check_released(collector, CROWD)
    check_wiped(collector.spool, CROWD)
    expected = {path.name: path.read_bytes() for path in collector.output.iterdir()}
    seen: Counter[str] = Counter()
    calls = calls_of_a_release(collector, full) if way == "at a call" else 0
    for fault in range(RELEASE_FAULTS):
        shutil.rmtree(collector.spool)
        shutil.rmtree(collector.output)
        shutil.copytree(full, collector.spool)
        if way == "at a time":
            collector.begin_release()
            time.sleep(draw.uniform(0, duration))
            ended = home.kill()
        else:
            # Most calls only read; the nearer to the end, the more is at stake.
            left = (1 - fault / RELEASE_FAULTS) ** 3
            collector.begin_release(stop_at=1 + int(calls * (1 - left)))
            ended = home.wait()
        assert ended in (KILLED, 0)
        found = whole_or_absent(collector.output, expected)
        with Spool(collector.spool, config_for(CROWD)) as spool:
            state = spool.batches()[0].state
            if state.has_messages:
                spool.check()
        assert state is not State.SEALED or not found
        assert state is not State.RELEASED or len(found) == len(expected)
        seen[f"{len(found)} files, {state}{', ended before' if ended == 0 else ''}"] += 1
        assert collector.release() == 0
        assert whole_or_absent(collector.output, expected) == tuple(sorted(expected))
        check_wiped(collector.spool, CROWD)
    print(f"\n{RELEASE_FAULTS} kills of a release {way}: {dict(seen)}")


def test_a_collector_that_is_told_to_stop_answers_first(tmp_path: Path, home: Nursery) -> None:
    """SIGTERM in the middle of things: nobody is cut off who was listened to, nothing is lost."""
    collector = Collector(tmp_path, CROWD, home)
    collector.started()
    assert post(collector, range(5)) == [(202, "accepted")] * 5
    home.stop()
    assert sorted(path.name for path in collector.spool.iterdir()) == ["spool.mark", "spool.sqlite"]
    with Spool(collector.spool, config_for(CROWD)) as spool:
        assert spool.batches()[0].people == 5
