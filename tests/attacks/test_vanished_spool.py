"""Somebody deletes, moves or replaces the spool under a running collector.

The process goes on writing to files that nobody will find again. So it must notice, refuse, and say
so: a 202 promises that the submission is in the spool that will be released.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from collecting import OCTETS, Running, asked, running
from collector.crowds import body_of, config_for, people, plan_of, stored
from components import require
from krand.collector.sqlite.spool import Spool

require("uvicorn")
require("starlette")

pytestmark = pytest.mark.check

CROWD = 200
OLD, STORED = range(5), range(10)
"""Who is in the older copy, and who has been acknowledged when the spool vanishes."""
REFUSED = range(10, 30)
GONE = re.compile(r"gone|vanish|missing|moved|replaced|removed|deleted|disappeared|no longer")


class Place(NamedTuple):
    """Where a collector and its spool are."""

    folder: Path
    spool: Path
    aside: Path
    """Where the spool, or its file, is moved to."""
    copy: Path
    """An older copy of the spool."""
    log: Path


def place_in(folder: Path) -> Place:
    return Place(folder, *(folder / name for name in ("spool", "aside", "copy", "log")))


@contextmanager
def collector(place: Place) -> Iterator[Running]:
    """`krand serve` as people run it."""
    plan = place.folder / "plan.json"
    plan.write_bytes(plan_of(CROWD).bytes)
    with running(plan, place.spool, place.log) as found:
        yield found


def submitted(port: int, numbers: range) -> list[int]:
    """What people are told, one after another."""
    path = f"/v1/{plan_of(CROWD).hash}/submissions"
    return [asked(port, "POST", path, body_of(number), OCTETS).status for number in numbers]


def ready(port: int) -> int:
    return asked(port, "GET", "/readyz").status


def errors_in(log: Path) -> list[str]:
    """Every event at level error."""
    found = []
    for line in log.read_text(encoding="utf-8").splitlines():
        if line.startswith('{"level"'):
            entry = json.loads(line)
            found += [entry["event"]] if entry["level"] in ("error", "critical") else []
    return found


def replace_by_an_older_copy(place: Place) -> None:
    place.spool.rename(place.aside)
    shutil.copytree(place.copy, place.spool)


def put_back(place: Place) -> None:
    shutil.rmtree(place.spool)
    place.aside.rename(place.spool)


Step = Callable[[Place], object]
ATTACKS: dict[str, tuple[Step, Step | None]] = {
    "rm -rf": (lambda place: shutil.rmtree(place.spool), None),
    "mv of the folder": (
        lambda place: place.spool.rename(place.aside),
        lambda place: place.aside.rename(place.spool),
    ),
    "mv of spool.sqlite": (
        lambda place: (place.spool / "spool.sqlite").rename(place.aside),
        lambda place: place.aside.rename(place.spool / "spool.sqlite"),
    ),
    "an older copy": (replace_by_an_older_copy, put_back),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_spool_that_vanishes_ends_acknowledgements(attack: str, tmp_path: Path) -> None:
    """503 from the first request on, not ready, one loud line; nobody acknowledged is lost."""
    vanish, restore = ATTACKS[attack]
    place = place_in(tmp_path)
    stored(place.spool, CROWD, OLD).close()
    shutil.copytree(place.spool, place.copy)
    with collector(place) as serving:
        assert submitted(serving.port, STORED) == [202] * len(STORED)
        assert ready(serving.port) == 200
        vanish(place)
        assert ready(serving.port) == 503
        assert submitted(serving.port, REFUSED) == [503] * len(REFUSED)
        assert ready(serving.port) == 503
        told = errors_in(place.log)
        assert len(told) == 1, told  # not one for each request
        assert str(place.spool) in told[0]
        assert GONE.search(told[0])
        if restore is None:
            return
        restore(place)
        after = submitted(serving.port, REFUSED)
        assert set(after) in ({202}, {503})  # 503 until it is started again is fine
        assert ready(serving.port) == (200 if after[0] == 202 else 503)
    check_stored(place, [*STORED, *(REFUSED if after[0] == 202 else ())])


def check_stored(place: Place, acknowledged: Sequence[int]) -> None:
    """Everybody who was acknowledged is in the spool, once; nobody else is."""
    with Spool(place.spool, config_for(CROWD)) as spool:
        spool.check()
        assert spool.batches()[0].people == len(acknowledged)
        assert not any(spool.add(people(acknowledged)))


def test_a_collector_stops_cleanly_though_its_spool_is_gone(tmp_path: Path) -> None:
    """SIGTERM after rm -rf: it ends by itself, without a traceback, and makes no new spool."""
    place = place_in(tmp_path)
    with collector(place) as serving:
        assert submitted(serving.port, OLD) == [202] * len(OLD)
        shutil.rmtree(place.spool)
        process = serving.process
    assert process.returncode is not None
    assert "Traceback" not in place.log.read_text(encoding="utf-8")
    assert not place.spool.exists()
