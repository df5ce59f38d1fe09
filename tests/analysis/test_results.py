"""Results: the promise for those who came, what a tally must hold, and what files give back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import estimates
import krand
import world
from command_line import done, refused
from coverage_table import chances, draws_of, plan_of
from draws import tally_of

FEW = 150


@cache
def tally(noise: str = "flips", people: int = FEW) -> krand.Tally:
    """A round of the coverage table."""
    ends = np.rint(np.cumsum(chances(related=True)) * people).astype(np.int64)
    random = np.random.default_rng([people, *noise.encode()])
    return draws_of(noise).tally(np.diff(ends, prepend=0), random)


def promised(counted: krand.Tally, noise: str = "flips") -> krand.Promise:
    return krand.make_results(plan_of(noise), counted).promise


def test_the_promise_is_that_of_the_people_who_came() -> None:
    """Exactly the planned crowd: the plan's own; a larger one: a better one; a smaller: none."""
    plan = plan_of("flips")
    most = krand.promise_of(plan).delta
    assert 0.99 * most <= promised(tally()).delta <= most
    assert krand.make_results(plan, tally()).kept
    larger = promised(tally(people=2 * FEW))
    assert larger.crowd == 2 * FEW
    assert larger.delta < most / 2
    merged = promised(replace(tally(people=2 * FEW), crowd=FEW))
    assert merged.delta == promised(tally()).delta, "each batch hides its own people"
    with pytest.raises(krand.CrowdTooSmall):
        krand.make_results(plan, tally_of(plan, FEW - 1, np.zeros(plan.layout.positions)))


@pytest.mark.parametrize(("noise", "people"), [("mixer", 2), ("mixers", 12), ("mixers", 5_000)])
def test_mixers_promise_needs_no_crowd(noise: str, people: int) -> None:
    """However few came, and whatever was refused; but for who came it is said."""
    plan, whole = plan_of(noise), tally(noise, people)
    for found in (whole, replace(whole, rejected={"malformed": 7})):
        promise = promised(found, noise)
        assert promise.crowd == people
        most = krand.promise_of(plan).delta
        assert 0.99 * most <= promise.delta <= most
        assert krand.make_results(plan, found).kept


def test_each_refused_message_may_be_of_somebody_who_hides_nobody() -> None:
    """They add up with the colluding people of the plan; too many leave no promise at all."""
    plan, whole, deltas = world.plan("branches"), world.tally("branches"), []
    for refusals in (0, 150, 5_000):
        nulls = [
            whole.people * lane.messages
            - int(whole.counts[lane.offset : lane.offset + lane.positions].sum())
            for lane in plan.lanes
        ]
        nulls[-1] -= refusals
        more: dict[str, Any] = {"lane_nulls": np.array(nulls), "nulls": sum(nulls)}
        rejected = {"wrong_length": refusals} if refusals else {}
        results = krand.make_results(plan, replace(whole, rejected=rejected, **more))
        assert results.promise.colluding == 500 + refusals
        assert results.kept == (refusals < 5_000)
        deltas.append(results.promise.delta)
    assert deltas == sorted(set(deltas))
    linked, lanes = plan_of("record"), np.zeros(1, np.int64)
    few = tally_of(linked, FEW, np.zeros(10), rejected={"malformed": 149}, lane_nulls=lanes)
    says = "149 messages were refused, and the plan counts on 2"
    with pytest.raises(krand.CannotMeet, match=says):
        krand.make_results(linked, replace(few, responses=1))


def test_what_remains_if_others_work_together_is_told() -> None:
    """For a promise by mixers anybody but one mixer may; if all do, nothing is left."""
    rows = krand.make_results(plan_of("mixers"), tally("mixers", 700)).coalitions
    by_name = {str(row.coalition): row for row in rows}
    half = by_name["people"]
    assert (half.people, half.delta) == (350, krand.promise_of(plan_of("mixers")).delta)
    assert str(rows[-1].remains) == "nothing"


Change = Callable[[krand.Tally], krand.Tally]


def lane(number: int, more: int) -> Change:
    """So many more empty messages in a lane."""

    def change(whole: krand.Tally) -> krand.Tally:
        assert whole.lane_nulls is not None
        lanes = whole.lane_nulls.copy()
        lanes[number] += more
        return replace(whole, lane_nulls=lanes, nulls=int(lanes.sum()))

    return change


def ones(place: int, more: int) -> Change:
    """So many more at a position."""
    return lambda t: replace(t, counts=t.counts + more * (np.arange(t.positions) == place))


WRONG: dict[str, tuple[Change, str]] = {
    "another plan": (lambda t: replace(t, plan_hash="ab" * 32), "must be of the plan"),
    "a round that was not planned": (lambda t: replace(t, round=5), "round"),
    "two batches": (lambda t: replace(t, batches=("a" * 64, "b" * 64)), "batch"),
    "no batch": (lambda t: replace(t, batches=()), "batch"),
    "a message more": (lane(0, 1), "counts"),
    "a message fewer": (lane(0, -1), "counts"),
    "too many tokens": (ones(4, 10_000), "counts"),
    "one token more": (ones(0, 1), "counts"),
    "more refused than sent": (lambda t: replace(t, rejected={"malformed": 10**6}), "refused"),
    "fewer people than its batch": (lambda t: replace(t, people=699), "people"),
    "positions of another survey": (
        lambda t: replace(t, positions=5, counts=np.zeros(5, np.int64)),
        "positions",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_tally_that_does_not_add_up_gives_no_results(name: str) -> None:
    """Exactly the messages of people and dummies where their number is known; else a range."""
    change, says = WRONG[name]
    with pytest.raises(krand.InvalidInput, match=says):
        krand.make_results(plan_of("mixers"), change(tally("mixers", 700)))


def test_refused_messages_may_be_missing_anywhere() -> None:
    """As many as were refused, and no more."""
    missing = lane(0, -2)(tally("mixers", 700))
    krand.make_results(plan_of("mixers"), replace(missing, rejected={"malformed": 2}))
    with pytest.raises(krand.InvalidInput, match="counts"):
        krand.make_results(plan_of("mixers"), replace(missing, rejected={"malformed": 1}))


def test_nobody_has_more_responses_than_copies() -> None:
    """A record is sent as often as the plan says, or less often."""
    more = replace(tally("copies"), responses=4 * FEW + 1, table=None, histogram=None)
    with pytest.raises(krand.InvalidInput, match="more than 4 for each person"):
        krand.make_results(plan_of("copies"), more)


@pytest.mark.parametrize("name", world.COUNTED)
def test_files_give_back_every_number(name: str, tmp_path: Path) -> None:
    """A tally and results, written and read; standard JSON with the plan inside."""
    world.files(name, tmp_path)
    whole = world.tally(name)
    assert krand.read_tally(tmp_path / "tally.json").same_as(whole)
    assert krand.read_results(tmp_path / "results.json") == world.results(name)
    text = (tmp_path / "results.json").read_text(encoding="utf-8")
    values = json.loads(text, parse_constant=pytest.fail)
    assert (values["plan_hash"], values["people"]) == (world.plan(name).hash, whole.people)
    assert values["plan"] == json.loads(world.plan(name).bytes)
    assert not replace(whole, people=whole.people + 1).same_as(whole)


def test_options_are_in_the_results_and_their_file(tmp_path: Path) -> None:
    """Confidence and population, by Python and by the command."""
    world.files("weeks", tmp_path)
    plan, whole = world.plan("weeks"), world.tally("weeks")
    given = "--plan plan.json --confidence 0.8 --sample-of 1000000 -o mine.json"
    done("estimate tally.json", given, at=tmp_path)
    mine = krand.make_results(plan, whole, krand.ResultsOptions(confidence=0.8, sample_of=10**6))
    assert krand.read_results(tmp_path / "mine.json") == mine
    narrow = krand.make_results(plan, whole, krand.ResultsOptions(confidence=0.8))
    usual = estimates.shares(world.results("weeks"), "mood")
    for label, share in estimates.shares(narrow, "mood").items():
        wider = estimates.shares(mine, "mood")[label]
        assert share.high - share.low < usual[label].high - usual[label].low
        assert share.high - share.low < wider.high - wider.low
    for options, says in (
        ("absent.json", "no such file"),
        ("tally.json --sample-of 3", "crowd of"),
    ):
        error = refused(f"estimate {options} --plan plan.json -o other.json", at=tmp_path)
        assert says in error["message"]


def test_tallies_of_one_plan_add_up_in_any_order(tmp_path: Path) -> None:
    """Responses of different people, counted together; the smallest file is the crowd."""
    plan, files = world.plan("tiny"), []
    for number, people in enumerate((30, 45, 60)):
        files.append(tmp_path / f"{number}.parquet")
        table = world.table("tiny", people, seed=number + 1)
        krand.randomize_table(plan, table, files[-1], again=True)
    alone = [krand.tally_responses(plan, [path]) for path in files]
    for order in (files, files[::-1], [files[1], files[0], files[2]]):
        both = krand.tally_responses(plan, order, different_people=True)
        assert (both.people, both.crowd, both.responses) == (135, 30, 135)
        assert np.array_equal(both.counts, sum(each.counts for each in alone))
        assert set(both.batches) == {name for each in alone for name in each.batches}
        assert sorted(both.ids) == sorted(name for each in alone for name in each.ids)
    results = krand.make_results(plan, both)
    assert results.different_people
    parts = [krand.make_results(plan, each) for each in alone]
    question = plan.survey.questions[0].name
    sums = [estimates.counts(each, question) for each in (results, *parts)]
    for label, row in sums[0].items():
        assert row.unbiased == pytest.approx(sum(part[label].unbiased or 0 for part in sums[1:]))
