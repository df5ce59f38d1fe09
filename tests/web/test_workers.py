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

QUICK = {"query": {"epsilon": "no"}}
SLOW = {"query": {"bits": "100000", "crowd": "1G", "linkage": "record", "promise": "eta"}}
LONG = 300.0


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
        await workers.run("numbers", QUICK, LONG)
        first = process_of(workers)
        with pytest.raises(TooSlow, match="longer than"):
            await workers.run("numbers", SLOW, 0.5)
        assert first.returncode == -signal.SIGKILL
        answer = await workers.run("numbers", {"query": {"epsilon": "0"}}, LONG)
        assert answer["state"] == "invalid"

    run(story)


def test_too_many_are_told_so() -> None:
    """One works, one waits, the next is told at once; those before get their answers."""

    async def story(workers: Workers) -> None:
        queries: list[dict[str, Any]] = [{"query": {"epsilon": f"-{n}"}} for n in range(2)]
        tasks = [asyncio.create_task(workers.run("numbers", q, LONG)) for q in queries]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await workers.run("numbers", QUICK, LONG)
        assert [(await task)["state"] for task in tasks] == ["invalid", "invalid"]
        assert (await workers.run("numbers", QUICK, LONG))["state"] == "invalid"

    run(story, most=1, most_waiting=1)


def test_waiting_is_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """24 at once that would take for ever: all are told, and nobody waits for all others."""
    monkeypatch.setattr("krand.web.workers.WAIT_SECONDS", 1.0)
    asked = [{"query": {**SLOW["query"], "bits": f"{10**5 - n}"}} for n in range(24)]

    async def story(workers: Workers) -> None:
        work = [workers.run("numbers", one, 3.0) for one in asked]
        found = await asyncio.gather(*work, return_exceptions=True)
        assert Counter(map(type, found)) == {TooSlow: 2, Busy: 22}
        assert (await workers.run("numbers", QUICK, LONG))["state"] == "invalid"

    run(story, most=2, most_waiting=8)


def test_work_that_nobody_waits_for_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a little patience; its place is free again."""
    monkeypatch.setattr("krand.web.workers.PATIENCE_SECONDS", 0.1)

    async def story(workers: Workers) -> None:
        await workers.run("numbers", QUICK, LONG)
        process = process_of(workers)
        job = asyncio.create_task(workers.run("numbers", SLOW, LONG))
        await asyncio.sleep(0.3)
        job.cancel()
        await asyncio.wait_for(process.wait(), LONG)
        assert process.returncode == -signal.SIGKILL
        assert (await workers.run("numbers", {"query": {"bits": "0"}}, LONG))["state"] == "invalid"

    run(story, most=1)


def test_answers_are_kept_and_processes_that_died_replaced() -> None:
    """The same question needs no process; a dead one is told once, and is no trouble after."""

    async def story(workers: Workers) -> None:
        first = await workers.run("numbers", QUICK, LONG)
        process = process_of(workers)
        process.kill()
        await process.wait()
        assert await workers.run("numbers", QUICK, LONG) is first
        with pytest.raises(InternalError):
            await workers.run("numbers", {"query": {"bits": "-1"}}, LONG)
        answer = await workers.run("numbers", {"query": {"bits": "-1"}}, LONG)
        assert answer["state"] == "invalid"

    run(story)
