"""Planning processes: bounded in number and time, and none of them lost."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from krand.errors import InternalError
from krand.web.workers import Busy, TooSlow, Workers

pytestmark = pytest.mark.check

LONG = 300.0


def wrong(number: int) -> dict[str, Any]:
    """What a task refuses at once; another one for each number."""
    return {"text": f'id = "wrong"\nexpected = -{number}', "directory": "."}


def slow(questions: int = 1_000) -> dict[str, Any]:
    """A survey that takes far longer to plan than anybody waits."""
    head = 'linkage = "record"\n[policy]\nepsilon = 2.0\neta = 0.003\nminimum_crowd = 1_000_000_000'
    asked = (f'[[question]]\nname = "q{n}"\ntype = "yes_no"' for n in range(questions))
    return {"text": "\n".join(['id = "slow"', head, *asked]), "directory": "."}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine is not a failure."""
    monkeypatch.setattr("krand.web.workers.WAIT_SECONDS", LONG)


def run(story: Callable[[Workers], Awaitable[None]], **options: int) -> None:
    """A story with workers, which are stopped at its end."""

    async def whole() -> None:
        workers = Workers(**options)
        try:
            await story(workers)
        finally:
            await workers.stop()

    asyncio.run(whole())


def process_of(workers: Workers) -> Any:
    return workers._idle[0]._process


def test_what_takes_too_long_is_ended_and_the_next_one_works() -> None:
    """The process is gone, not only the wait for it; another takes its place."""

    async def story(workers: Workers) -> None:
        await workers.run("promise", wrong(1), LONG)
        first = process_of(workers)
        with pytest.raises(TooSlow, match="longer than"):
            await workers.run("promise", slow(), 0.5)
        assert first.returncode == -signal.SIGKILL
        answer = await workers.run("promise", wrong(2), LONG)
        assert answer["state"] == "invalid"

    run(story)


def test_too_many_are_told_so() -> None:
    """One works, one waits, the next is told at once; those before get their answers."""

    async def story(workers: Workers) -> None:
        tasks = [asyncio.create_task(workers.run("promise", wrong(n), LONG)) for n in (2, 3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await workers.run("promise", wrong(1), LONG)
        assert [(await task)["state"] for task in tasks] == ["invalid", "invalid"]
        assert (await workers.run("promise", wrong(1), LONG))["state"] == "invalid"

    run(story, most=1, most_waiting=1)


def test_waiting_is_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """24 at once that would take for ever: all are told, and nobody waits for all others."""
    monkeypatch.setattr("krand.web.workers.WAIT_SECONDS", 1.0)
    asked = [slow(1_000 + n) for n in range(24)]

    async def story(workers: Workers) -> None:
        work = [workers.run("promise", one, 3.0) for one in asked]
        found = await asyncio.gather(*work, return_exceptions=True)
        assert Counter(map(type, found)) == {TooSlow: 2, Busy: 22}
        assert (await workers.run("promise", wrong(1), LONG))["state"] == "invalid"

    run(story, most=2, most_waiting=8)


def test_work_that_nobody_waits_for_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a little patience; its place is free again."""
    monkeypatch.setattr("krand.web.workers.PATIENCE_SECONDS", 0.1)

    async def story(workers: Workers) -> None:
        await workers.run("promise", wrong(1), LONG)
        process = process_of(workers)
        job = asyncio.create_task(workers.run("promise", slow(), LONG))
        await asyncio.sleep(0.3)
        job.cancel()
        await asyncio.wait_for(process.wait(), LONG)
        assert process.returncode == -signal.SIGKILL
        assert (await workers.run("promise", wrong(2), LONG))["state"] == "invalid"

    run(story, most=1)


def test_answers_are_kept_and_processes_that_died_replaced() -> None:
    """The same question needs no process; a dead one is told once, and is no trouble after."""

    async def story(workers: Workers) -> None:
        first = await workers.run("promise", wrong(1), LONG)
        process = process_of(workers)
        process.kill()
        await process.wait()
        assert await workers.run("promise", wrong(1), LONG) is first
        with pytest.raises(InternalError):
            await workers.run("promise", wrong(2), LONG)
        answer = await workers.run("promise", wrong(2), LONG)
        assert answer["state"] == "invalid"

    run(story)
