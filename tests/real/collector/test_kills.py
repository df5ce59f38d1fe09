"""kill -9 between any two system calls: nobody who was told that they are counted is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from chaos import until
from components import require
from effort import EFFORT
from halting import KILLED, Faults, Nursery, calls_noted, nursery
from rounds import ACCEPTED, KNOWN, Collector, Round

require("uvicorn")
require("starlette")

KILLS = 10 * EFFORT


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Where collectors begin that are there to be killed."""
    with nursery(tmp_path_factory.mktemp("lives") / "errors", "rounds") as made:
        yield made


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
    round = Round.begun(tmp_path / "round")
    port = round.party.port
    assert port is not None
    collector, note, draw = Collector(round, port), tmp_path / "note", random.Random(KILLS)
    told: set[int] = set()
    calls = 60
    for life in range(KILLS):
        stop = 0 if not life else draw.randrange(1, calls)
        held = Faults(under=str(round.spool), note=str(note), stop_at=stop)
        home.call("rounds:serve", held, at=str(round.spool), port=port)
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
