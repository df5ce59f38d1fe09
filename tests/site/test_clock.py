"""Whoever sets a clock ends nothing by it, unless they do so for longer than ten minutes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import krand
from chaos import files_in
from parties import Chain, FakeTime, passes, until

MINUTE, DAY, YEAR = 60.0, 86_400.0, 365 * 86_400.0


def test_clock(tmp_path: Path) -> None:
    """Two days back, ten years ahead for five minutes: nothing closes, nothing is erased."""
    chain, time = Chain.made(tmp_path, "mixer", analyst=1), FakeTime()
    (party,) = chain.parties

    rests: list[None] = []

    async def goes_on(minutes: int) -> None:
        """Every minute somebody looks at the clock, and in the end the round itself does."""
        assert party.worker is not None
        for _ in range(minutes):
            time.pass_(MINUTE)
            assert not party.worker.clock.has_passed(midnight_after_last_day)
        looks = len(rests)
        await until(lambda: len(rests) > looks + 1)

    async def scene() -> None:
        async with chain.running(time=time):
            assert party.worker is not None
            await chain.answer(5)
            current = party.worker.rounds[chain.plan.hash, 1]
            worker, shown = party.worker, party.worker.show_open

            def rested(plan: krand.Plan) -> None:
                rests.append(None)
                shown(plan)

            worker.show_open = rested
            await goes_on(90)  # longer than an hour: the time is recorded
            keys = files_in(party.at / "keys")
            time.wall -= 2 * DAY
            await goes_on(60)
            time.wall += 10 * YEAR
            await goes_on(5)
            assert current.verdicts([chain.body()])[0].name == "CLOSED", "which may be undone"
            time.wall -= 10 * YEAR - 2 * DAY
            await goes_on(1)
            assert current.state == "OPEN"
            assert files_in(party.at / "keys") == keys
            assert current.verdicts([chain.body()])[0].name == "ACCEPTED"
            time.wall += 8 * DAY
            await passes(time, lambda: party.said("round closed"))

    closes = chain.plan.survey.closes
    assert closes is not None
    midnight_after_last_day = datetime(
        *(closes + timedelta(1)).timetuple()[:3], tzinfo=UTC
    ).timestamp()
    asyncio.run(scene())


def test_a_clock_that_went_back_while_nothing_ran(tmp_path: Path) -> None:
    """The time that was recorded is a day ahead: nothing is done that cannot be undone."""
    chain, time = Chain.made(tmp_path, "mixer", analyst=1), FakeTime()
    (party,) = chain.parties

    async def scene() -> None:
        async with chain.running(time=time):
            await chain.answer(5)
            time.pass_(10 * MINUTE)
            assert party.worker is not None
            await until(lambda: party.worker and party.worker.state.fact("time"))
        time.wall -= 300 * DAY
        async with chain.running(time=time):
            assert party.worker is not None
            clock = party.worker.clock
            time.pass_(30 * MINUTE)
            assert not clock.has_passed(0.0)
            assert not clock.has_passed(0.0)
            time.wall += 300 * DAY
            assert not clock.has_passed(0.0)
            time.pass_(11 * MINUTE)
            assert clock.has_passed(0.0)
            assert not clock.has_passed(time.wall - MINUTE)

    asyncio.run(scene())
