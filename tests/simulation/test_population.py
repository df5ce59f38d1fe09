"""Simulated people: they answer every survey without mistakes, skewed, and never quite alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from krand.errors import InvalidInput
from krand.simulation import simulated_people
from krand.simulation.population import plain_answers, simulated_answers
from krand.survey.choices import Choices
from krand.survey.conditions import asked_answers
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.questions import Choice, Number, PickAny, Question, Words, YesNo
from krand.survey.reading import read_survey
from krand.survey.survey import Survey
from krand.tables.columns import Column, encode_columns
from survey.drawing import POLICY, conditional_surveys

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BROWSER = read_survey(EXAMPLES / "browser.toml")
COLOURS = Choices(["red", "green", "blue", "white", "black", "none"])
PEOPLE = 20_000
ASKED = (
    YesNo(name="likes_it"),
    Choice(name="colour", choices=COLOURS),
    Number(name="age", edges=(18, 30, 45, 60), open_below=True, open_above=True),
    Number(name="height", edges=(1.5, 1.7, 1.9, 2.1)),
    PickAny(name="seen", choices=COLOURS),
    PickAny(name="best", choices=COLOURS, at_most=2),
    Words(name="brand", size=64, hashes=2, at_most=3),
)


def survey(*asked: Question) -> Survey:
    return Survey(id="s", policy=POLICY, questions=asked)


def counts(asked: Survey, seed: int, people: int = PEOPLE) -> NDArray[np.int64]:
    """How many people set each position."""
    layout = layout_of(asked)
    encoded = encode_columns(layout, simulated_answers(asked, people, seed))
    return np.bincount(encoded.positions, minlength=layout.positions)


def same(first: Column, second: Column) -> bool:
    rows = [column.rows if column.rows is not None else np.empty(0) for column in (first, second)]
    return (
        list(first.values) == list(second.values)
        and np.array_equal(first.codes, second.codes)
        and np.array_equal(*rows)
    )


def chi_square(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """How far the joint table of two columns is from independence."""
    heard = (first >= 0) & (second >= 0)
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first[heard], second[heard]), 1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


@pytest.mark.check
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conditional_surveys(), st.integers(1, 200), st.integers(0, 2**64 - 1))
def test_every_survey_is_answered_without_mistakes(asked: Survey, people: int, seed: int) -> None:
    """Whatever is asked, there is a column for each question, and none of its answers is wrong."""
    columns = simulated_answers(asked, people, seed)
    assert list(columns) == [question.name for question in asked.questions]
    assert {column.height for column in columns.values()} == {people}
    for person in simulated_people(asked, min(people, 20), seed):
        assert asked_answers(asked.questions, person) == person, "only what they are asked"
    assert encode_columns(layout_of(asked), columns).bad.size == 0


def test_plain_answers_are_those_of_the_column() -> None:
    """What a person gives one by one sets the positions that the columns set."""
    asked, people = survey(*ASKED), 500
    columns = simulated_answers(asked, people, 3)
    layout = layout_of(asked)
    plain = {name: plain_answers(column) for name, column in columns.items()}
    encoded = encode_columns(layout, columns)
    for person in range(people):
        answers = {name: column[person] for name, column in plain.items()}
        assert encode(layout, answers) == tuple(encoded.positions[encoded.rows == person])


def test_plain_answers_look_as_people_write_them() -> None:
    """Whole numbers where the edges are whole, lists where several are asked for, None else."""
    columns = simulated_answers(survey(*ASKED), PEOPLE, 4)
    kinds = {
        name: {type(answer) for answer in plain_answers(column)} - {type(None)}
        for name, column in columns.items()
    }
    assert kinds == {
        "likes_it": {bool},
        "colour": {str},
        "age": {int},
        "height": {float},
        "seen": {list},
        "best": {list},
        "brand": {list},
    }


def test_the_seed_says_who_answers() -> None:
    """The same seed gives the same people, another seed gives others."""
    first, again, others = (simulated_answers(survey(*ASKED), 1000, seed) for seed in (5, 5, 6))
    assert all(same(first[name], again[name]) for name in first)
    assert not any(np.array_equal(first[name].codes, others[name].codes) for name in first)


def test_two_crowds_have_nobody_in_common() -> None:
    """What the same row answers under two seeds is independent: χ² is that of chance."""
    first, second = (
        simulated_answers(BROWSER, PEOPLE, seed)["operating_system"].codes for seed in (1, 2)
    )
    assert chi_square(first, second) < 80  # 25 degrees of freedom: once in ten million


def test_two_crowds_are_of_one_population() -> None:
    """Counts of two seeds differ by no more than drawing people from one population explains."""
    asked = survey(*ASKED)
    first, second = counts(asked, 1), counts(asked, 2)
    assert np.all(np.abs(first - second) <= 5 * np.sqrt(first + second + 1))
    assert np.any(first != second)


def test_surveys_differ() -> None:
    """A question of the same name has other shares in a survey with another id."""
    here, there = (Survey(id=name, policy=POLICY, questions=ASKED[1:2]) for name in ("s", "t"))
    first, second = counts(here, 1), counts(there, 1)
    assert np.any(np.abs(first - second) > 10 * np.sqrt(first + second))


def test_a_further_question_changes_no_answer() -> None:
    """Nobody answers otherwise because more is asked."""
    few, many = (simulated_answers(survey(*ASKED[:n]), 1000, 7) for n in (4, 7))
    assert all(same(few[name], many[name]) for name in few)


def test_answers_are_skewed_but_all_are_given() -> None:
    """Every answer of the example is given, and of every list some at least twice as often."""
    layout, found = layout_of(BROWSER), counts(BROWSER, 1, 100_000)
    assert found.min() > 0
    for block in layout.blocks:
        inside = found[block.offset : block.offset + block.positions]
        assert inside.max() < 80_000
        assert len(inside) == 1 or inside.max() >= 2 * inside.min()


def test_some_people_leave_a_question_out() -> None:
    """Between one and ten in a hundred, in each question by itself."""
    columns = simulated_answers(BROWSER, PEOPLE, 8)
    silent = [c.codes == -1 for c in columns.values() if c.rows is None]
    shares = [float(part.mean()) for part in silent]
    assert len(silent) == 8
    assert min(shares) > 0.01
    assert max(shares) < 0.1
    assert max(shares) > 1.5 * min(shares)
    assert not np.any(np.logical_and.reduce(silent[:4]))


def test_answers_go_together() -> None:
    """A joint table is far from independent: χ² is many times its degrees of freedom."""
    columns = simulated_answers(BROWSER, PEOPLE, 9)
    assert chi_square(columns["operating_system"].codes, columns["crashed"].codes) > 20 * 5


def test_nobody_names_more_than_allowed() -> None:
    """Limits are kept, reached, and nothing is named twice."""
    columns = simulated_answers(survey(*ASKED), PEOPLE, 10)
    for name, limit in (("seen", 6), ("best", 2), ("brand", 3)):
        lists = [answer for answer in plain_answers(columns[name]) if answer is not None]
        assert max(map(len, lists)) == limit
        assert all(len(set(answer)) == len(answer) for answer in lists)


def test_a_person_with_a_word_names_at_least_one() -> None:
    """Only the silent name none, and words are different texts."""
    column = simulated_answers(survey(*ASKED), PEOPLE, 11)["brand"]
    silent = sum(answer is None for answer in plain_answers(column))
    assert 0.01 * PEOPLE < silent < 0.1 * PEOPLE
    assert len(set(column.values)) == len(column.values) == 2000


def test_numbers_fill_their_bins() -> None:
    """Numbers lie evenly inside a bin, reach far beyond open edges, and not beyond closed ones."""
    columns = simulated_answers(survey(*ASKED), PEOPLE, 12)
    ages, heights = np.asarray(columns["age"].values), np.asarray(columns["height"].values)
    assert ages.min() < 18 - 12
    assert ages.max() > 60 + 15
    assert 1.5 <= heights.min() < 1.51
    assert 2.09 < heights.max() < 2.1
    middle = heights[(heights >= 1.7) & (heights < 1.9)]
    assert abs(middle.mean() - 1.8) < 5 * 0.2 / np.sqrt(12 * len(middle))


def test_rounding_does_not_leave_a_bin() -> None:
    """Between two neighbouring floating-point numbers there is one answer, and it is given."""
    high = float(np.nextafter(1.0, 2.0))
    asked = survey(Number(name="narrow", edges=(1.0, high)))
    column = simulated_answers(asked, 1000, 13)["narrow"]
    assert set(np.asarray(column.values).tolist()) == {1.0}
    assert encode_columns(layout_of(asked), {"narrow": column}).bad.size == 0


@pytest.mark.parametrize("people", [0, -1, True, 1.5])
def test_people_must_be_some(people: int) -> None:
    """A crowd of nobody, or of one and a half, is a mistake that names its field."""
    with pytest.raises(InvalidInput, match="people"):
        simulated_answers(BROWSER, people, 1)


@pytest.mark.parametrize("seed", [-1, None, "x"])
def test_a_seed_must_be_a_number(seed: int) -> None:
    """Simulations can be repeated: there is no crowd without a seed."""
    with pytest.raises(InvalidInput, match="seed"):
        simulated_answers(BROWSER, 10, seed)
