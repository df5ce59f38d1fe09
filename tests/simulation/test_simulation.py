"""Simulated people: they answer every survey without mistakes, skewed, and never quite alike."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2_contingency

import krand
import world
from coverage_table import plan_of
from draws import noises, survey_of
from effort import EFFORT
from krand.simulation import simulated_people, simulated_table, unsafe_simulated_tally
from krand.testing import unsafe_exact_plan

COLOURS = krand.Choices(["red", "green", "blue", "white", "black", "none"])
PEOPLE = 12_000
ASKED = (
    krand.YesNo(name="likes_it"),
    krand.Choice(name="colour", choices=COLOURS),
    krand.Number(name="age", edges=(18, 30, 45, 60), open=True),
    krand.Number(name="height", edges=(1.5, 1.7, 1.9, 2.1)),
    krand.PickAny(name="seen", choices=COLOURS),
    krand.PickAny(name="best", choices=COLOURS, at_most=2),
    krand.Words(name="brand", size=64, hashes=2, at_most=3),
    krand.Scale(name="mood", lowest=1, highest=5),
)

ONE = ("likes_it", "colour", "age", "height", "mood")
"""Those to which people give one answer."""


@cache
def people_of(seed: int, name: str) -> Any:
    return simulated_table(survey_of(*ASKED, id=name), PEOPLE, seed)


def answers(question: str, seed: int = 1, name: str = "s") -> list[Any]:
    column: list[Any] = people_of(seed, name)[question].to_pylist()
    return column


def true_counts(survey: krand.Survey, people: int, seed: int) -> Any:
    """How many people set each position; wrong answers would be refused."""
    alone = survey.changed(policy=survey.policy.changed(minimum_crowd=2, colluding=0))
    table = simulated_table(survey, people, seed)
    return unsafe_simulated_tally(unsafe_exact_plan(alone), table, seed=1).counts


@pytest.mark.parametrize("name", ["kinds", "branches", "weeks", "tiny"])
def test_every_survey_is_answered_without_mistakes(name: str) -> None:
    """By people of any seed, one by one as in a table; and only what they are asked."""
    survey = world.survey(name)
    for seed in (0, 1, 2**64 - 1, *range(2, 2 + EFFORT)):
        people, table = simulated_people(survey, 40, seed), simulated_table(survey, 40, seed)
        assert [
            {k: v for k, v in row.items() if v is not None} for row in table.to_pylist()
        ] == people
        assert true_counts(survey, 40, seed).sum() > 0
        for question in survey.questions:
            gate = question.asked_if
            for person in people:
                if gate is not None and question.name in person:
                    said = {True: "yes", False: "no"}.get(person.get(gate.question))  # type: ignore[call-overload]
                    assert said in gate.answers


def test_answers_look_as_people_write_them() -> None:
    """Whole numbers where the edges are whole, lists where several are asked for."""
    kinds = {q.name: {type(each) for each in answers(q.name)} - {type(None)} for q in ASKED}
    assert kinds == {
        **{"likes_it": {bool}, "colour": {str}, "age": {int}, "height": {float}, "mood": {int}},
        **{"seen": {list}, "best": {list}, "brand": {list}},
    }
    for name, limit in (("seen", 6), ("best", 2), ("brand", 3)):
        lists = [answer for answer in answers(name) if answer is not None]
        assert max(map(len, lists)) == limit, "limits are kept, and reached"
        assert all(1 <= len(set(answer)) == len(answer) for answer in lists)
    ages, heights = ([n for n in answers(name) if n is not None] for name in ("age", "height"))
    assert min(ages) < 18 - 12
    assert max(ages) > 60 + 15
    assert 1.5 <= min(heights) < 1.51
    assert 2.09 < max(heights) < 2.1
    middle = [n for n in heights if 1.7 <= n < 1.9]
    assert abs(np.mean(middle) - 1.8) < 5 * 0.2 / np.sqrt(12 * len(middle))
    narrow = krand.Number(name="n", edges=(1.0, float(np.nextafter(1.0, 2.0))))
    found = simulated_table(survey_of(narrow), 1_000, 13)["n"].to_pylist()
    assert set(found) - {None} == {1.0}, "rounding does not leave a bin"


def test_answers_are_skewed_go_together_and_some_are_missing() -> None:
    """As real ones are: no answer is all people's, and each person has a disposition."""
    silent = {
        q.name: float(np.mean([a is None for a in answers(q.name)])) for q in ASKED if q.name in ONE
    }
    assert all(0.01 < share < 0.1 for share in silent.values()), silent
    assert max(silent.values()) > 1.5 * min(silent.values())
    shares = [answers("colour").count(colour) / PEOPLE for colour in COLOURS]
    assert 0 < 2 * min(shares) < max(shares) < 0.8
    pairs = [p for p in zip(answers("colour"), answers("likes_it"), strict=True) if None not in p]
    table = [[pairs.count((colour, likes)) for likes in (True, False)] for colour in COLOURS]
    assert chi2_contingency(table).pvalue < 1e-12


def test_the_seed_says_who_answers_and_the_survey_what_people_are_like() -> None:
    """The same seed gives the same people; two seeds have nobody in common, but one population."""
    assert simulated_people(survey_of(*ASKED), 50, 5) == simulated_people(survey_of(*ASKED), 50, 5)
    first, second = answers("colour", 1), answers("colour", 2)
    table = np.zeros((6, 6))
    for one, other in zip(first, second, strict=True):
        if one and other:
            table[COLOURS.index(one), COLOURS.index(other)] += 1
    assert chi2_contingency(table).pvalue > 1e-7, "the same row is another person"
    here, there = (true_counts(survey_of(*ASKED), PEOPLE, seed) for seed in (1, 2))
    assert np.all(np.abs(here - there) <= 6 * np.sqrt(here + there + 1))
    assert np.any(here != there)
    other = answers("colour", 1, "t")
    counts = [(first.count(colour), other.count(colour)) for colour in COLOURS]
    assert any(abs(a - b) > 7 * np.sqrt(a + b) for a, b in counts), "another survey"


def test_a_further_question_changes_no_answer() -> None:
    """Nobody answers otherwise because more is asked."""
    few, many = (simulated_table(survey_of(*ASKED[:n]), 1_000, 7) for n in (4, 8))
    assert few.equals(many.select(few.column_names))


def test_simulated_noise_is_that_of_the_plan_and_new_in_each_round() -> None:
    """It can be repeated, and results say that they are a simulation."""
    plan = plan_of("flips")
    names = [question.name for question in plan.survey.questions]
    nobody = pa.table({name: pa.nulls(20_000) for name in names})
    rounds = [unsafe_simulated_tally(plan, nobody, 7, number) for number in (1, 2)]
    again = unsafe_simulated_tally(plan, nobody, 7)
    assert rounds[0].same_as(again)
    assert np.mean(rounds[0].counts == rounds[1].counts) < 0.2
    q = noises(plan)
    for tally in rounds:
        off = (tally.counts - 20_000 * q) / np.sqrt(20_000 * q * (1 - q))
        assert np.abs(off).max() < 6
        assert 0.5 < np.mean(off**2) < 1.8
    assert str(krand.make_results(plan, again).provenance) == "simulation"
    for noise in ("mixer", "copies"):
        with pytest.raises(krand.InvalidInput, match="in which devices add the noise"):
            unsafe_simulated_tally(plan_of(noise), nobody, 7)


@pytest.mark.parametrize(
    ("people", "seed", "field"),
    [
        *((people, 1, "people") for people in (0, -1, True, 1.5)),
        *((10, seed, "seed") for seed in (-1, None, "x")),
    ],
)
def test_people_and_seed_are_whole_numbers(people: Any, seed: Any, field: str) -> None:
    """A mistake names its field: there is no simulation without a seed."""
    with pytest.raises(krand.InvalidInput, match=field):
        simulated_people(world.survey("tiny"), people, seed)
