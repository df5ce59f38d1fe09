"""kill -9 between any two system calls: nothing acknowledged is lost, nothing is counted twice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from chaos import free_port, until
from components import require
from effort import EFFORT
from halting import KILLED, Faults, Nursery, Repeated, calls_noted, nursery, spread_over
from rounds import ACCEPTED, KNOWN, Collector, Round

require("uvicorn")
require("starlette")

KILLS = 10 * EFFORT
PEOPLE = range(20)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Where collectors begin that are there to be killed."""
    with nursery(tmp_path_factory.mktemp("lives") / "errors", "rounds") as made:
        yield made


@pytest.mark.parametrize(
    ("survey", "fault"), [("tiny", "stop_at"), ("mixer", "stop_at"), ("tiny", "refuse_from")]
)
def test_a_release_that_ends_anywhere_goes_on_with_the_same_bytes(
    tmp_path: Path, home: Nursery, survey: str, fault: str
) -> None:
    """It is killed, or its disk turns read-only: files are absent or whole, then wiped."""
    round = Round.begun(tmp_path / "round", survey)
    with round.served() as collector:
        collector.send(PEOPLE, at_once=8)
    releases = Repeated(home, round.study.at, [*round.study.release(), "--close --yes"])
    assert releases.run() == 0
    for place in spread_over(1, len(releases.calls()), KILLS):
        releases.begin_again()
        ended = releases.run(**{fault: place})
        assert ended in ((KILLED,) if fault == "stop_at" else (0, 2, 75)), (place, ended)
        found = {n: c for n, c in round.released().items() if not n.startswith(".")}
        round.close()  # where it was closed already, the rest of the release is done
        whole = round.released()
        assert {name: whole.get(name) for name in found} == found, f"others after call {place}"
        round.check_released(PEOPLE)
        assert round.left_in_spool(PEOPLE) == 0, f"not wiped after call {place}"


def come(collector: Collector, people: range) -> list[int]:
    """Who of these people is told that they are counted before the collector dies."""
    told = []
    with suppress(OSError, HTTPException, ValueError):
        for number in people:
            assert collector.send([number]) == [ACCEPTED]
            told.append(number)
    return told


def test_a_collector_that_is_killed_anywhere_keeps_whom_it_has_told(
    tmp_path: Path, home: Nursery
) -> None:
    """It dies again and again while people come; then those come again who were not told."""
    round, port = Round.begun(tmp_path / "round"), free_port()
    collector, note, draw = Collector(round, port), tmp_path / "note", random.Random(KILLS)
    told: set[int] = set()
    calls = 60
    for life in range(KILLS):
        stop = 0 if not life else draw.randrange(1, calls)
        held = Faults(under=str(round.spool), note=str(note), stop_at=stop)
        home.call("rounds:serve", held, folder=str(round.study.at), port=port)
        group = range(10 * life, 10 * life + 10)
        until(lambda: collector.is_up() or note.exists())
        told.update(come(collector, group))
        if life:
            assert home.kill() == KILLED
        else:
            assert home.stop() in (0, -15)
            assert len(told) == len(group), "it answers before it stops"
            calls = len(calls_noted(note))
        until(note.exists)
        note.unlink()
    with round.served() as again:
        said = again.send(range(10 * KILLS))
        forgotten = [n for n in told if said[n] != KNOWN]
        assert not forgotten, f"{forgotten} were told that they are counted"
        assert {*said} == {ACCEPTED, KNOWN}
    round.close()
    round.check_released(range(10 * KILLS))
