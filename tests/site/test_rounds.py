"""Rounds from the first submission to the report, with all parties on one machine."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import krand
from parties import DAY, Chain, FakeTime, Party, passes, until

PEOPLE = 5


def shown(party: Party, chain: Chain, kind: str, number: int = 1) -> Path:
    return party.at / "public" / chain.plan.hash / f"{number}.{kind}"


def results(party: Party, number: int | None = None) -> Any:
    name = "results.json" if number is None else f"results-{number}.json"
    return json.loads(next(party.at.rglob(name)).read_bytes())


@pytest.mark.parametrize("analyst", [None, 3])
def test_a_chain_of_many(tmp_path: Path, analyst: int | None) -> None:
    """Everybody's noise is in it; what the next party has taken is removed, keys are gone."""
    chain = Chain.made(tmp_path, "trio", analyst=analyst)

    async def scene() -> None:
        async with chain.running():
            await chain.answer(PEOPLE)
            closed = chain.close()
            assert closed["rounds"][0]["people"] == PEOPLE
            assert (await chain.analyst.told("reported"))["people"] == PEOPLE
            mixers = chain.parties[:3]
            await until(
                lambda: not any(shown(each, chain, "batch").exists() for each in mixers[:2])
            )
            assert shown(mixers[2], chain, "batch").exists(), "the analyst may fetch it again"
            for each in mixers:
                left = [path.name for path in (each.at / "keys" / chain.plan.hash).iterdir()]
                assert left == (["1.mixed"] if each is mixers[0] else [])
                assert not [*each.at.rglob("work/*"), *each.at.rglob("in")]

    asyncio.run(scene())
    assert results(chain.analyst)["people"] == PEOPLE
    (last,) = chain.analyst.at.rglob("round-1.chain.json")
    check_numbers(chain, json.loads(last.read_bytes())["links"])


def test_chain_of_one(tmp_path: Path) -> None:
    """One party alone, with the noise of devices or its own; the same numbers add up."""
    for survey, people in (("mixer", PEOPLE), ("tiny", 13)):
        chain = Chain.made(tmp_path / survey, survey, analyst=1)

        async def scene(chain: Chain = chain, people: int = people) -> None:
            async with chain.running():
                await chain.answer(people)
                chain.close()
                await chain.analyst.told("reported")

        asyncio.run(scene())
        assert results(chain.analyst)["people"] == people
        (link,) = json.loads(shown(chain.parties[0], chain, "chain").read_bytes())["links"]
        check_numbers(chain, [link])


def check_numbers(chain: Chain, links: list[Any]) -> None:
    plan, before = chain.plan, None
    for place, link in enumerate(links, 1):
        assert (link["plan"], link["round"], link["place"]) == (plan.hash, 1, place)
        for lane, counts in zip(plan.lanes, link["lanes"], strict=True):
            wanted = link["people"] * lane.messages
            if before:
                wanted = before["lanes"][lane.number]["out"]
            assert counts["came"] == wanted
            kept = counts["came"] - counts["repeats"] - counts["refused"]
            assert counts["out"] == kept + counts["dummies"]
            assert bool(counts["dummies"]) <= bool(plan.laws)
        assert link["input"] == (before["output"] if before else "")
        before = link
    assert len(links) == len(plan.mixers)


def test_repeats_leave_once(tmp_path: Path) -> None:
    """One submission under twenty ids is twenty people to the collector, and one in the batch."""
    chain = Chain.made(tmp_path, "trio")

    async def scene() -> None:
        async with chain.running():
            collector = chain.parties[0].worker
            assert collector is not None
            body = chain.body()
            bodies = [body[:3] + bytes([n]) * 16 + body[19:] for n in range(20)]
            found = collector.rounds[chain.plan.hash, 1].verdicts(bodies)
            assert {verdict.name for verdict in found} == {"ACCEPTED"}
            chain.close()
            await chain.analyst.told("fetched")

    asyncio.run(scene())
    (last,) = chain.analyst.at.rglob("round-1.chain.json")
    first = json.loads(last.read_bytes())["links"][0]
    assert first["people"] == 20
    for lane, counts in zip(chain.plan.lanes, first["lanes"], strict=True):
        assert counts["came"] - counts["repeats"] == lane.messages


def test_a_crowd_that_is_missed(tmp_path: Path) -> None:
    """Nothing leaves; the operator has to say that what was sent is erased."""
    chain = Chain.made(tmp_path, "tiny", analyst=1)
    (party,) = chain.parties

    async def scene() -> None:
        async with chain.running():
            await chain.answer(3)
            with pytest.raises(krand.CrowdTooSmall):
                chain.close()
            assert chain.close(erase=True)["rounds"][0]["state"] == "ERASED"
            await party.told("missed")
            assert party.worker is not None
            await until(lambda: party.worker and party.worker.is_over)
        async with chain.running():  # it stays so
            await until(lambda: party.worker and party.worker.is_over)

    asyncio.run(scene())
    assert not shown(party, chain, "batch").exists()
    assert not [*party.at.rglob("results.json")]


def test_a_schedule(tmp_path: Path) -> None:
    """Rounds open and close by date; a missed one is no end, and the last ones may be left out."""
    starts = datetime.now(UTC).date() + 3 * DAY
    weeks = krand.Schedule(every="week", starts=starts).filled("weeks", 4)
    chain = Chain.made(tmp_path, "mixer", analyst=1, schedule=weeks, rounds=4)
    (party,), time = chain.parties, FakeTime()

    def go_to(moment: float) -> None:
        time.wall = moment
        time.steady += 10

    def is_open(number: int) -> bool:
        about = json.loads((party.at / "public" / chain.plan.hash / "about.json").read_bytes())
        return bool(about["open"]) and about["round"] == number

    async def scene() -> None:
        go_to(weeks.window(1)[0] - 100)
        async with chain.running(time=time):
            assert party.worker is not None
            rounds = [party.worker.rounds[chain.plan.hash, n] for n in (1, 2, 3, 4)]
            assert rounds[0].state == "WAITING"
            go_to(weeks.window(1)[0] + 1)
            await until(lambda: is_open(1))
            bodies = [chain.body(now=lambda: time.wall) for _ in range(PEOPLE)]
            assert {v.name for v in rounds[0].verdicts(bodies)} == {"ACCEPTED"}
            assert {v.name for v in rounds[1].verdicts(bodies)} == {"REFUSED"}
            go_to(weeks.window(2)[0] + 1)
            await until(lambda: is_open(2))
            fresh = chain.body(now=lambda: weeks.window(1)[0] + 1)
            assert [v.name for v in rounds[0].verdicts([bodies[0], fresh])] == ["KNOWN", "CLOSED"]
            assert rounds[0].state == "OPEN", "closing is for good, and waits"
            await passes(time, lambda: party.said("fetched"))
            assert (party.said("fetched")[0]["round"], rounds[1].state) == (1, "OPEN")
            go_to(weeks.window(3)[0] + 1)
            await passes(time, lambda: party.said("missed"))
            assert (party.said("missed")[0]["round"], rounds[1].state) == (2, "MISSED")
            await until(lambda: is_open(3))
            chain.close(erase=True, end=True)
            await until(lambda: [each.state for each in rounds[2:]] == ["MISSED"] * 2)
            go_to(weeks.window(4)[0] + 1)
            await until(lambda: not is_open(3))
            assert not is_open(4)

    asyncio.run(scene())


def test_the_end_of_all_copies(tmp_path: Path) -> None:
    """Thirty-one days after the last day nothing is left that anybody could open, or fetch."""
    chain, time = Chain.made(tmp_path, "mixer", analyst=1), FakeTime()
    (party,) = chain.parties
    until_day = chain.plan.survey.until(1)

    def left() -> list[str]:
        folders = ("keys", "rounds", "public")
        found = (p for f in folders for p in (party.at / f / chain.plan.hash).rglob("*"))
        return [p.name for p in found if p.is_file() and p.name.startswith(("1.", "spool"))]

    def state() -> str:
        (listed,) = json.loads((party.at / "public" / "plans.json").read_bytes())["plans"]
        return str(listed["state"])

    async def scene() -> None:
        async with chain.running(time=time):
            await chain.answer(PEOPLE)
            chain.close()
            await party.told("reported")
            assert {"1.batch", "1.chain", "1.mixed", "spool.sqlite"} <= {*left()}
            time.wall = midnight(until_day)
            await passes(time, lambda: time.wall > midnight(until_day) + 3000)
            assert left(), "the day itself is the last one"
            time.wall = midnight(until_day + DAY)
            assert state() == "signed"
            await passes(time, lambda: party.said("expired"))
            assert not left()
            assert state() == "ended"
        async with chain.running(time=time):
            assert party.worker is not None
            assert party.worker.is_over

    asyncio.run(scene())
    assert results(party)["people"] == PEOPLE


def midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def test_several_plans_in_one_folder(tmp_path: Path) -> None:
    chain = Chain.made(tmp_path / "one", "mixer", analyst=1)
    other = Chain.made(tmp_path / "two", "tiny", analyst=1, party=chain.parties[0])

    async def scene() -> None:
        async with chain.running():
            for each, people in ((chain, PEOPLE), (other, 13)):
                await each.answer(people)
            with pytest.raises(krand.InvalidInput, match="plan"):
                chain.close()
            for each in (chain, other):
                chain.close(plan=each.plan.hash)
            await until(lambda: len(chain.analyst.said("reported")) == 2)

    asyncio.run(scene())
    said = {each["plan"]: each["people"] for each in chain.analyst.said("reported")}
    assert said == {chain.plan.hash: PEOPLE, other.plan.hash: 13}
