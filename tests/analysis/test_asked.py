"""Shares of those who were asked: what they are shares of, and how often intervals miss them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analysis.mixed_surveys import mixed_plan_of, mixed_tallies
from analysis.simulated_surveys import inside, plan_of, simulated_tallies, true_counts
from effort import LONG
from krand.analysis.estimates.asked import base_of, estimate_asked
from krand.analysis.estimates.intervals import Sampling
from krand.analysis.estimates.questions import estimate_questions
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.values import AskedEstimate, AskedShare, Base
from krand.analysis.joint.conditional import conditional_table
from krand.analysis.joint.tables import joint_table
from krand.analysis.tally import Tally
from krand.survey.choices import Choices
from krand.survey.conditions import Condition
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, Question, Scale, Words, YesNo

ABC = Choices(["a", "b", "c"])
YES = YesNo(name="gate")
SCALE = Scale(name="gate", lowest=1, highest=4)
PICKS = PickAny(name="gate", choices=ABC)
NOISE = 0.02
PEOPLE = 2000
Crowd = dict[tuple[tuple[str, object], ...], int]


def asked(question: type[Question], answers: Any, **more: Any) -> Question:
    """A question of this type, asked of those who gave these answers to the gate."""
    return question(name="q", asked_if=Condition("gate", answers), **more)


@pytest.mark.parametrize(
    ("gate", "answers", "together", "base"),
    [
        (YES, True, (), Base.ASKED),
        (YES, False, (), Base.ANSWERED),
        (replace(YES, counts="both"), False, (), Base.ASKED),
        (YES, [True, False], (), Base.ANSWERED),
        (YES, False, ("gate", "q"), Base.ASKED),
        (SCALE, [1, 4], (), Base.ASKED),
        (Choice(name="gate", choices=ABC), ["a", "b", "c"], (), Base.ASKED),
        (Number(name="gate", edges=(0, 1, 2)), 0.5, (), Base.ASKED),
        (PICKS, "b", (), Base.ASKED),
        (PICKS, ["a", "b"], (), Base.ANSWERED),
    ],
)
def test_a_share_is_of_those_asked_where_they_are_counted(
    gate: Question, answers: Any, together: Sequence[str], base: Base
) -> None:
    """One answer of each person, all of them counted, or one item of a list."""
    scale = asked(Scale, answers, lowest=1, highest=2)
    plan = plan_of([gate, scale], NOISE, PEOPLE, [together] if together else [])
    assert base_of(plan, plan.survey.questions[1]) is base
    if base is Base.ANSWERED:  # of what counts only some answers, there is nothing to divide by
        for other in (asked(YesNo, answers), asked(PickAny, answers, choices=ABC)):
            alone = plan_of([gate, other], NOISE, PEOPLE)
            assert base_of(alone, alone.survey.questions[1]) is None
    words = asked(Words, answers, size=8, hashes=1)
    plan = plan_of([gate, words], NOISE, PEOPLE)
    tally = next(simulated_tallies(plan, true_counts(plan, {}), PEOPLE, 1, 1))
    assert estimate_asked(plan, tally) == ()


def shares_of(found: AskedEstimate) -> dict[str, AskedShare]:
    rows = {row.label: row for row in found.rows}
    return rows if found.unanswered is None else rows | {"nothing": found.unanswered}


CASES: dict[str, tuple[tuple[Question, ...], Sequence[Sequence[str]], Crowd, int]] = {
    "yes": (
        (YES, asked(Scale, True, lowest=1, highest=3)),
        (),
        {
            (("gate", True), ("q", 1)): 300,
            (("gate", True), ("q", 3)): 100,
            (("gate", True),): 100,
            (("gate", False), ("q", 3)): 700,
        },
        500,
    ),
    "several values": (
        (SCALE, asked(YesNo, [2, 3])),
        (),
        {
            (("gate", 2), ("q", True)): 150,
            (("gate", 3), ("q", False)): 350,
            (("gate", 4), ("q", True)): 700,
        },
        500,
    ),
    "an item of a list": (
        (PICKS, asked(PickAny, "b", choices=ABC)),
        (),
        {
            (("gate", ("a", "b")), ("q", ("a", "c"))): 200,
            (("gate", ("b",)), ("q", ("c",))): 50,
            (("gate", ("a",)), ("q", ("c",))): 500,
        },
        250,
    ),
    "a group": (
        (YES, asked(Choice, False, choices=ABC), Scale(name="z", lowest=1, highest=2)),
        (("z", "q", "gate"),),
        {
            (("gate", False), ("q", "a"), ("z", 1)): 100,
            (("gate", False), ("q", "b")): 200,
            (("gate", False), ("z", 2)): 100,
            (("gate", True), ("q", "b"), ("z", 2)): 800,
        },
        400,
    ),
    "those who answered": (
        (PICKS, asked(Choice, ["a", "c"], choices=ABC)),
        (),
        {(("gate", ("a",)), ("q", "a")): 300, (("gate", ("c",)), ("q", "c")): 100},
        400,
    ),
}
TRUTH: dict[str, dict[str, float]] = {
    "yes": {"1": 0.6, "2": 0.0, "3": 0.2, "nothing": 0.2},
    "several values": {"yes": 0.3},
    "an item of a list": {"a": 0.8, "b": 0.0, "c": 1.0},
    "a group": {"a": 0.25, "b": 0.5, "c": 0.0, "nothing": 0.25},
    "those who answered": {"a": 0.75, "b": 0.0, "c": 0.25},
}


@pytest.mark.parametrize("case", CASES)
def test_without_noise_shares_are_the_true_ones(case: str) -> None:
    """Of those asked, whatever others answered; their number too."""
    questions, together, crowd, number = CASES[case]
    plan = plan_of(questions, 1e-9, PEOPLE, together)
    tally = next(simulated_tallies(plan, true_counts(plan, crowd), PEOPLE, 1, 1))
    (found,) = estimate_asked(plan, tally)
    assert found.question == "q"
    assert found.consistent == pytest.approx(number, abs=0.01)
    shares = shares_of(found)
    assert {name: row.consistent for name, row in shares.items()} == pytest.approx(
        TRUTH[case], abs=1e-4
    )
    assert all(inside(row.interval, TRUTH[case][name]) for name, row in shares.items())


def test_cells_of_a_group_give_what_its_conditional_table_has() -> None:
    """Computed another way: shares of answers among those who gave one answer to the gate.

    The table divides by those who answered both questions, these shares by all who were asked.
    """
    questions, _, crowd, _ = CASES["a group"]
    plan = plan_of(questions[:2], NOISE, PEOPLE, [("gate", "q")])
    tally = next(simulated_tallies(plan, true_counts(plan, _without_z(crowd)), PEOPLE, 1, 3))
    (found,) = estimate_asked(plan, tally)
    table = conditional_table(joint_table(plan, tally, ("gate", "q"), 0.95), "gate")
    assert found.unanswered is not None
    whole = 1 - found.unanswered.share
    for row, share in zip(found.rows, table.group("no"), strict=True):
        assert share.share == pytest.approx(row.share / whole)


def _without_z(crowd: Crowd) -> Crowd:
    return {tuple(p for p in person if p[0] != "z"): n for person, n in crowd.items()}


def test_nothing_is_given_where_nobody_may_have_been_asked() -> None:
    """As far as the noise tells; the number of those asked is given all the same."""
    questions = CASES["yes"][0]
    plan = plan_of(questions, NOISE, PEOPLE)
    tallies = simulated_tallies(plan, true_counts(plan, {}), PEOPLE, 200, 4)
    found = [estimate_asked(plan, tally)[0] for tally in tallies]
    assert all(each.withheld == (each.unanswered is None) for each in found)
    assert all(each.interval.low > 0 for each in found if not each.withheld)
    assert sum(each.withheld for each in found) >= 0.93 * len(found)
    assert sum(inside(each.interval, 0) for each in found) >= 0.93 * len(found)


def test_a_sample_has_wider_intervals() -> None:
    """Who happened to be drawn adds to what the noise hides."""
    questions, together, crowd, _ = CASES["yes"]
    plan = plan_of(questions, NOISE, PEOPLE, together)
    tally = next(simulated_tallies(plan, true_counts(plan, crowd), PEOPLE, 1, 5))
    kinds = (None, Sampling(10 * PEOPLE), Sampling())
    found = [estimate_asked(plan, tally, EstimateOptions(sampling=kind))[0] for kind in kinds]
    widths = [[row.interval.high - row.interval.low for row in each.rows] for each in found]
    for narrow, wide in ((0, 1), (1, 2)):
        assert all(a < b for a, b in zip(widths[narrow], widths[wide], strict=True))


SURVEYS = 1000 if LONG else 60
GATES = (0, 1, 3, 10, 40, 150, 600) if LONG else (0, 3, 10, 600)
"""How many are asked: from nobody, and fewer than the noise hides, to many."""
SHARES = (0.0, 0.1, 0.5, 1.0) if LONG else (0.1, 1.0)
WAYS = ("devices, few flips", "devices, many flips", "mixers", "mixers, in a group")
COVERED = (YES, asked(Choice, True, choices=Choices(["rare", "usual"])))


def _planned(way: str) -> Plan:
    groups = [("gate", "q")] if "group" in way else []
    if way.startswith("devices"):
        return plan_of(COVERED, 0.0025 if "few" in way else 0.05, PEOPLE, groups)
    return mixed_plan_of(COVERED, groups, crowd=PEOPLE, epsilon=2.0)


def _tallies(way: str, plan: Plan, true: Any, seed: int) -> Iterator[Tally]:
    if way.startswith("devices"):
        return simulated_tallies(plan, true, PEOPLE, SURVEYS, seed)
    return mixed_tallies(plan, true, PEOPLE, SURVEYS, seed)


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("way", WAYS)
def test_intervals_of_shares_of_those_asked_cover(way: str) -> None:
    """Tallies from the plan's own laws: a share is withheld, or its interval misses at most 5 %.

    Where nobody was asked, every share that is given is a miss.
    """
    plan, table = _planned(way), []
    for number in GATES:
        for share in SHARES if number else SHARES[:1]:
            rare = round(share * number)
            crowd: Crowd = {
                (("gate", True), ("q", "rare")): rare,
                (("gate", True), ("q", "usual")): number - rare,
                (("gate", False),): PEOPLE - number,
            }
            true = true_counts(plan, crowd)
            found = [estimate_asked(plan, tally)[0] for tally in _tallies(way, plan, true, number)]
            shown = [each.rows[0].interval for each in found if not each.withheld]
            missed = sum(not number or not inside(each, rare / number) for each in shown)
            table.append((number, share, len(shown), missed))
            assert missed <= 0.05 * SURVEYS + 4 * math.sqrt(0.05 * 0.95 * SURVEYS)
            if number == GATES[-1]:
                assert len(shown) == SURVEYS, "enough were asked"
    print(f"\n{way}: asked, share, shown, missed of {SURVEYS}", *table, sep="\n")


def test_estimates_of_all_people_do_not_know_of_conditions() -> None:
    """The same tally, estimated as if everybody had been asked: the same numbers."""
    questions, together, crowd, _ = CASES["yes"]
    plan = plan_of(questions, NOISE, PEOPLE, together)
    plain = plan_of([replace(q, asked_if=None) for q in questions], NOISE, PEOPLE, together)
    tally = next(simulated_tallies(plan, true_counts(plan, crowd), PEOPLE, 1, 6))
    again = replace(tally, plan_hash=plain.hash)
    assert estimate_questions(plan, tally) == estimate_questions(plain, again)
    assert np.array_equal(tally.counts, again.counts)
