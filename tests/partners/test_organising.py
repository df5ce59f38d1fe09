"""Publishing a survey: alone at once, with partners in steps that go on where they were."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import krand
import world
from parties import until
from partners.mixers import Party, fetching, identity, organising, policy, state

SURVEY = world.survey("trio")
FREE = SURVEY.changed(trust=SURVEY.trust.changed(mixers=1))
"""It leaves open who mixes."""


def mixer(at: Path) -> Party:
    return Party(at, policy=policy.AcceptPolicy())


def test_alone_it_is_published_at_once(tmp_path: Path) -> None:
    """With fourteen days where it names no last one; called again, it is the same plan."""
    council = Party(tmp_path / "council")
    plan = asyncio.run(council.publish(FREE))
    assert isinstance(plan, krand.Plan)
    today = datetime.now(UTC).date()
    assert plan.survey.closes in (today + timedelta(days=14), today + timedelta(days=15))
    assert [each.identity for each in plan.mixers] == [council.identity.public]
    assert plan.survey.trust.analyst_runs == (1,)
    assert asyncio.run(council.publish(FREE)) == plan
    with pytest.raises(krand.InvalidInput, match="must be as it was published"):
        asyncio.run(council.publish(FREE.changed(title="Another")))


def test_an_analyst_elsewhere(tmp_path: Path) -> None:
    """Its line is one word; who collects then holds no key for answers."""
    council, other = Party(tmp_path / "council"), Party(tmp_path / "other")
    line = identity.analyst_line(krand.Analyst(key="ab" * 32, identity=other.identity.public))
    plan = asyncio.run(council.publish(FREE, analyst=identity.parse_analyst(line)))
    assert plan.analyst == krand.Analyst(key="ab" * 32, identity=other.identity.public)
    assert plan.survey.trust.analyst_runs == ()
    assert not council.folder.analyst_key.exists()
    for wrong in ("", line[14:], line.upper(), line + "0", f"{line}.{line}"):
        with pytest.raises(krand.InvalidInput, match="analyst"):
            identity.parse_analyst(wrong)


@pytest.mark.parametrize(
    ("survey", "links", "field"),
    [
        (SURVEY, 0, "trust.mixers"),
        (SURVEY, 1, "trust.mixers"),
        (world.survey("kinds"), 1, "trust.noise"),
    ],
)
def test_partners_that_the_survey_does_not_want(
    tmp_path: Path, survey: krand.Survey, links: int, field: str
) -> None:
    council, others = Party(tmp_path / "council"), Party(tmp_path / "other")
    with pytest.raises(krand.InvalidInput) as refused:
        asyncio.run(council.publish(survey, *[others.link] * links))
    assert refused.value.field == field


def test_one_party_twice(tmp_path: Path) -> None:
    council = Party(tmp_path / "council")
    with pytest.raises(krand.InvalidInput, match="different parties"):
        asyncio.run(council.publish(FREE, council.link))


def test_with_partners_it_goes_on_where_it_was(tmp_path: Path) -> None:
    """Requests wait, are accepted, keys come, the plan is made and signed; a page is at each."""

    async def go() -> None:
        council = Party(tmp_path / "council")
        partners = [mixer(tmp_path / name) for name in ("university", "union")]
        links = [each.link for each in partners]
        later = await council.publish(FREE, *links)
        assert {each.name for each in later} == {each.url for each in partners}
        async with partners[0].working() as university, partners[1].working() as union:
            later = await council.publish(FREE)
            assert {each.name for each in later} == {"university", "union"}
            assert {each.why for each in later} == {organising.WAITS["keys"]}
            university.pairings.decide("accept", number=1)
            assert [each.name for each in await council.publish(FREE)] == ["union"]
            union.pairings.decide("accept", number=1)

            async def signed() -> Any:
                return await council.publish(FREE)

            while not isinstance(found := await signed(), krand.Plan):
                assert {each.why for each in found} <= {organising.WAITS["signature"]}
                await asyncio.sleep(0.05)
            assert [each.name for each in found.mixers] == ["council", "university", "union"]
            assert await council.publish(FREE, *links) == found
            with closing(state.State(council.folder)) as kept:
                progress = organising.progress(kept, "trio")
            assert [each["state"] for each in progress] == ["signed", "signed"]
            async with council.working():
                pages = [each.folder.public / found.hash / "index.html" for each in partners]
                await until(lambda: all(page.exists() for page in pages))
                rules = fetching.Rules(local=True)
                asked = fetching.Partner(council.identity, links[0].identity, links[0].url, rules)
                (told,) = (await asyncio.to_thread(asked.status, found.hash)).rounds
                assert (told.round, told.key, told.fetched, told.mixed) == (1, True, False, False)
                outside = fetching.Partner(
                    mixer(tmp_path / "x").identity, links[0].identity, links[0].url, rules
                )
                with pytest.raises(krand.Unavailable):
                    await asyncio.to_thread(outside.status, found.hash)

    asyncio.run(go())


def test_a_partner_that_refuses_is_named_and_may_be_replaced(tmp_path: Path) -> None:
    async def go() -> None:
        council, union = Party(tmp_path / "council"), mixer(tmp_path / "union")
        async with union.working() as working:
            await council.publish(FREE, union.link)
            working.pairings.decide("refuse", number=1, reason="no time")
            with pytest.raises(krand.InvalidInput, match="union, keys: no time"):
                await council.publish(FREE)
            (later,) = await council.publish(FREE, union.link)
            assert later.why == organising.WAITS["keys"], "another request"
            with pytest.raises(krand.InvalidInput, match="as its partners know it"):
                await council.publish(FREE.changed(title="Another"))

    asyncio.run(go())


def test_somebody_else_at_the_address_is_no_answer(tmp_path: Path) -> None:
    async def go() -> None:
        council, union = Party(tmp_path / "council"), mixer(tmp_path / "union")
        async with union.working():
            forged = identity.Link(union.url, Party(tmp_path / "other").identity.public)
            (later,) = await council.publish(FREE, forged)
            assert "did not sign" in later.why

    asyncio.run(go())
