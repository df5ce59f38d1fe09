"""Encoding and decoding: answers become positions, positions become answers again."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.survey.choices import Choices
from krand.survey.document import document_of, survey_of
from krand.survey.encoding import describe, encode, levels_at, margin_positions
from krand.survey.layout import Layout, layout_of
from krand.survey.questions import Choice, Kind, Leveled, Number, PickAny, Scale, Words, YesNo
from krand.survey.reading import parse_survey
from krand.survey.survey import Survey, Together
from krand.tables.columns import MOST_DESCRIBED, Column, encode_columns
from survey.drawing import answers, asking, conditional_surveys, layout_for, surveys
from tables.rows import encode_lists

SLOW = [HealthCheck.too_slow]
COLOURS = Choices(["red", "green", "blue"])


def level_name(question: Leveled, answer: object) -> str | None:
    """The level of an answer, found without the encoder."""
    match question:
        case _ if answer is None:
            return None
        case YesNo():
            return "yes" if answer in (True, "yes") else "no"
        case Choice():
            return str(answer)
        case Number() if isinstance(answer, str):
            return answer
        case Number(edges=edges):
            assert isinstance(answer, (int, float))
            if answer < edges[0]:
                return f"below {edges[0]}"
            if answer >= edges[-1]:
                return f"{edges[-1]} or above"
            low = max(edge for edge in edges if edge <= answer)
            high = min(edge for edge in edges if edge > answer)
            if question.integer:
                return f"{low}" if low + 1 == high else f"{low} to {high - 1}"
            return f"{low} to under {high}"
        case Scale():
            assert isinstance(answer, int)
            values = list(range(question.lowest, question.highest + 1))
            ends = {values[0]: 0, values[-1]: -1}
            place = (
                values.index(answer) if len(question.labels) == len(values) else ends.get(answer)
            )
            label = question.labels[place] if question.labels and place is not None else None
            return f"{answer}" if label is None else f"{answer} ({label})"
    raise AssertionError(question)


@pytest.mark.check
@settings(max_examples=200, suppress_health_check=SLOW)
@given(st.data())
def test_positions_tell_the_answers_again(data: st.DataObject) -> None:
    """describe() and levels_at() invert encode() for choices, numbers, picks and groups."""
    survey = data.draw(surveys())
    where = layout_of(survey)
    person = data.draw(answers(survey))
    positions = encode(where, person)
    for block in where.blocks:
        told = [levels_at(where, p) for p in positions if p in where.positions_of(block)]
        if block.kind is Kind.PICK_ANY:
            assert {level[block.name] for level in told} == set(person.get(block.name) or ())
        elif block.kind is Kind.YES_NO and block.positions == 1:
            assert told == [{block.name: "yes"}] * (person.get(block.name) in (True, "yes"))
        elif block.kind is not Kind.WORDS:
            meant = {q.name: level_name(q, person.get(q.name)) for q in block.levels}
            assert told == ([meant] if any(meant.values()) else [])


@settings(max_examples=50, suppress_health_check=SLOW)
@given(surveys())
def test_every_position_has_its_own_meaning(survey: Survey) -> None:
    """No two positions are described alike."""
    where = layout_of(survey)
    cells = [(where.block_at(p).name, *levels_at(where, p).items()) for p in range(where.positions)]
    assert len(set(cells)) == where.positions
    assert describe(where, 0).name == where.blocks[0].name


@pytest.mark.check
@settings(max_examples=100, suppress_health_check=SLOW)
@given(st.data())
def test_margins_of_a_group_count_each_answer(data: st.DataObject) -> None:
    """A person is in the margin of an answer exactly if that was the answer."""
    survey = data.draw(surveys())
    where = layout_of(survey)
    person = data.draw(answers(survey))
    positions = set(encode(where, person))
    for block in where.blocks:
        for question in block.levels if block.kind is Kind.TOGETHER else ():
            meant = level_name(question, person.get(question.name))
            for index in range(question.levels):
                level = question.level_name(index)
                margin = positions & set(margin_positions(where, question.name, level))
                assert len(margin) == (level == meant)


def test_margins_of_single_questions_are_one_position() -> None:
    """Alone, an answer is counted by its own position; silence and "no" are not counted."""
    where = layout_for(
        YesNo(name="y"), PickAny(name="p", choices=COLOURS), Number(name="n", edges=(0, 1))
    )
    assert margin_positions(where, "y", "yes") == (0,)
    assert margin_positions(where, "p", "blue") == (3,)
    assert margin_positions(where, "n", "0 to under 1") == (4,)
    with pytest.raises(InvalidInput, match="cannot be told apart"):
        margin_positions(where, "y", "no")
    with pytest.raises(InvalidInput, match="one of its answers"):
        margin_positions(where, "p", "pink")


def test_labels_read_well() -> None:
    """Positions are described in the words of the survey."""
    where = layout_for(
        YesNo(name="smokes"),
        Choice(name="colour", choices=COLOURS),
        Number(name="age", edges=(0, 17.5, 65.0), open_below=True, open_above=True),
        Words(name="town", size=4, hashes=1),
        together=(Together(("colour", "smokes")),),
    )
    labels = [describe(where, position).label for position in range(where.positions)]
    assert labels[:3] == [
        "colour=unanswered, smokes=yes",
        "colour=unanswered, smokes=no",
        "colour=red, smokes=unanswered",
    ]
    assert labels[10] == "colour=blue, smokes=no"
    assert labels[11:15] == ["below 0", "0 to under 17.5", "17.5 to under 65", "65 or above"]
    assert labels[15] == "position 0"
    assert describe(where, 0).name == "colour+smokes"


def test_bins_hold_their_lower_edge() -> None:
    """A value on an edge belongs to the bin that begins there; infinities to the open bins."""
    where = layout_for(Number(name="n", edges=(0, 10, 20), open_below=True, open_above=True))
    values = [-math.inf, -1e-300, 0, 9.999, 10, 19, 20, 10**400]
    found = [encode(where, {"n": value})[0] for value in values]
    assert found == [0, 0, 1, 1, 2, 2, 3, 3]


GOOD = layout_for(
    YesNo(name="y"),
    Choice(name="c", choices=COLOURS),
    PickAny(name="p", choices=COLOURS, at_most=2),
    Number(name="n", edges=(0, 10, 20)),
    Number(name="r", edges=(18, 30, 67), integer=True, open_above=True, asked_as="ranges"),
    Words(name="w", size=64, hashes=2, at_most=2),
    Scale(name="s", lowest=1, highest=5, labels=("very bad", "very good")),
    YesNo(name="g1"),
    Number(name="g2", edges=(0, 1, 2)),
    together=(Together(("g1", "g2")),),
)
WRONG = [
    ("y", "maybe", "true or false"),
    ("y", 2, "1 or 0"),
    ("y", "y", "yes or no"),
    ("c", "pink", "one of its choices"),
    ("c", "Red", "did you mean 'red'"),
    ("c", 3, "one of its choices"),
    ("c", ["red"], "one of its choices"),
    ("p", "red", "list of choices"),
    ("p", ["red", "green", "blue"], "at most 2"),
    ("p", ["pink"], "one of its choices"),
    ("n", "7", "must be a number"),
    ("n", "0 to under 10", "must be a number"),
    ("r", "18 to under 30", "one of its ranges.*'18 to 29', '30 to 66', '67 or above'"),
    ("r", "67 or above ", "one of its ranges"),
    ("r", 17, "below 18"),
    ("n", True, "must be a number"),
    ("n", math.nan, "must be a number"),
    ("n", -1, "below 0.*lower edge"),
    ("n", 20, "must be below 20.*higher edge"),
    ("n", math.inf, "must be below 20"),
    ("w", "  ", "empty word"),
    ("w", ["a", "b", "c"], "at most 2 words"),
    ("w", 7, "a word or a list"),
    ("w", [7], "a word or a list"),
    ("w", "x" * 1001, "at most 1,000"),
    ("w", "bad \ud800", "valid Unicode"),
    *(("s", value, "whole number from 1 to 5") for value in (0, 6, 2.5, True, "3", "very bad")),
    *(("s", value, "whole number from 1 to 5") for value in (math.nan, math.inf, [3])),
    ("g1", "maybe", "true or false"),
    ("g2", 2, "must be below 2"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_answer_is_refused_by_name(name: str, value: object, message: str) -> None:
    """With the rule; a column finds the same mistake, whatever stands around it."""
    with pytest.raises(InvalidInput, match=message) as caught:
        encode(GOOD, {name: value})
    assert caught.value.field == name
    assert caught.value.rule
    table = encode_lists(GOOD, {name: [None, value, None, value]})
    assert list(table.bad) == [mistake.row for mistake in table.mistakes] == [1, 3]
    assert re.search(message, str(table.mistakes[0].error))
    assert table.mistakes[0].error.field == name


@settings(max_examples=200, suppress_health_check=SLOW)
@given(st.data())
def test_numbers_as_they_come_fall_into_the_same_bins(data: st.DataObject) -> None:
    """An array of numbers, not written down once each, is encoded like single answers."""
    edges = sorted(data.draw(st.lists(st.floats(-9, 9), min_size=2, max_size=5, unique=True)))
    opened = data.draw(st.booleans()), data.draw(st.booleans())
    whole = data.draw(st.booleans())
    edges = sorted({math.floor(edge) + 0.0 for edge in edges} | {10.0}) if whole else edges
    ends = {"open_below": opened[0], "open_above": opened[1]}
    asked = Number(name="n", edges=tuple(edges), **ends, integer=whole)
    where = layout_for(asked)
    inside = st.sampled_from(edges) | st.floats(allow_nan=True) | st.floats(-9, 9)
    given = np.array(data.draw(st.lists(inside, max_size=9)))
    codes = np.arange(len(given))
    codes[::4] = -1
    table = encode_columns(where, {"n": Column(given.astype(float), codes, len(given))})
    told = {mistake.row: str(mistake.error) for mistake in table.mistakes}
    assert sorted(told) == list(table.bad)
    for row, (value, code) in enumerate(zip(given.tolist(), codes, strict=True)):
        expected = outcome(where, {"n": value if code >= 0 else None})
        assert told.get(row, tuple(table.positions[table.rows == row])) == expected


def outcome(where: Layout, person: dict[str, object]) -> object:
    """What a single person's answers set, or what is said against them."""
    try:
        return encode(where, person)
    except InvalidInput as error:
        return str(error)


def test_more_mistakes_than_anybody_reads_are_counted() -> None:
    """All bad rows are known; only the first are told in words."""
    table = encode_lists(GOOD, {"y": ["?"] * 1000, "c": ["?"] * 1000})
    assert table.bad.size == 1000
    assert len(table.mistakes) == MOST_DESCRIBED
    assert {mistake.row for mistake in table.mistakes} <= set(range(MOST_DESCRIBED))


def test_an_answer_to_no_question_is_refused() -> None:
    """A misspelled question is not silently lost."""
    with pytest.raises(InvalidInput, match="did you mean g1"):
        encode(GOOD, {"g_1": True})


def test_repeated_picks_and_words_count_once() -> None:
    """at_most speaks of different picks and different words."""
    assert encode(GOOD, {"p": ["red", "red", "blue"]}) == encode(GOOD, {"p": {"blue", "red"}})
    twice = encode(GOOD, {"w": ["Tree", " tree", "ＴＲＥＥ"]})
    assert twice == encode(GOOD, {"w": "tree"})


@pytest.mark.check
@settings(max_examples=100, suppress_health_check=SLOW)
@given(st.data())
def test_columns_encode_like_single_people(data: st.DataObject) -> None:
    """A table of answers sets, row by row, what each person's answers set."""
    survey = data.draw(conditional_surveys())
    where = layout_of(survey)
    people = data.draw(st.lists(answers(survey), max_size=6))
    columns = {name: [person.get(name) for person in people] for name in where.question_names}
    table = encode_lists(where, columns)
    assert table.mistakes == ()
    for row, person in enumerate(people):
        assert tuple(table.positions[table.rows == row]) == encode(where, person)


def test_bad_rows_are_reported_and_set_nothing() -> None:
    """All mistakes are found; a row with one is left out of every column."""
    columns = {"y": [True, "x", True, None], "n": [5, 5, 99, None], "g2": ["?", 1, 1, 1]}
    table = encode_lists(GOOD, columns)
    found = [(mistake.row, mistake.error.field) for mistake in table.mistakes]
    assert found == [(0, "g2"), (1, "y"), (2, "n")]
    assert set(table.rows) == {3}


def test_columns_must_fit_together() -> None:
    """Columns of different height and unknown columns are refused."""
    with pytest.raises(InvalidInput, match="same number of rows"):
        encode_lists(GOOD, {"y": [True], "c": []})
    with pytest.raises(InvalidInput, match="questions of the survey"):
        encode_lists(GOOD, {"zzz": []})
    assert encode_lists(GOOD, {}).rows.size == 0


HEAD = 'id = "s"\npolicy = { epsilon = 1, delta = 1e-6, minimum_crowd = 1000 }\n'
RATED = '[[question]]\nname = "q"\ntype = "scale"\n'
RATING = Scale(name="q", lowest=1, highest=5, labels=("very bad", "very good"))


def test_a_scale_is_read_from_a_file() -> None:
    """Ends, labels and box; what is left out has its default."""
    text = HEAD + RATED + 'lowest = 1\nhighest = 5\nlabels = ["very bad", "very good"]\n'
    (question,) = parse_survey(text).questions
    assert question == RATING
    assert isinstance(question, Scale)
    assert question.box == 2


@pytest.mark.parametrize(
    ("highest", "box", "bottom", "top"),
    [
        (2, None, [0], [1]),
        (3, None, [0], [2]),
        (4, None, [0, 1], [2, 3]),
        (7, 3, [0, 1, 2], [4, 5, 6]),
    ],
)
def test_boxes_have_no_value_in_common(
    highest: int, box: int | None, bottom: list[int], top: list[int]
) -> None:
    """The usual box is two values, and one on a short scale."""
    found = Scale(name="q", lowest=1, highest=highest, box=box).boxes
    assert [list(part) for part in found] == [bottom, top]


def test_labels_are_for_the_ends_or_for_every_value() -> None:
    """The value comes first, so that nobody has to know which end is which."""
    assert [RATING.level_name(k) for k in range(5)] == [
        "1 (very bad)",
        "2",
        "3",
        "4",
        "5 (very good)",
    ]
    every = Scale(name="q", lowest=-1, highest=1, labels=("worse", "same", "better"))
    assert [every.level_name(k) for k in range(3)] == ["-1 (worse)", "0 (same)", "1 (better)"]
    assert Scale(name="q", lowest=0, highest=1).level_name(0) == "0"


@pytest.mark.parametrize("answer", [4, 4.0, Fraction(4), np.int64(4), np.float64(4)])
def test_a_value_sets_its_position(answer: object) -> None:
    """However the number is written."""
    layout = layout_for(RATING)
    assert encode(layout, {"q": answer}) == (3,)
    assert describe(layout, 3) == ("q", "4")
    assert (
        margin_positions(layout, "q", "5") == margin_positions(layout, "q", "5 (very good)") == (4,)
    )


def test_columns_of_numbers_are_encoded_as_people_are() -> None:
    """An array at once gives what each of its numbers gives alone."""
    layout = layout_for(RATING)
    values = np.array([1, 5, 3, 2.5, 0, 6, np.nan, np.inf, -np.inf, 2**60])
    found = encode_columns(layout, {"q": Column(values, np.arange(len(values)), len(values))})
    assert (found.rows.tolist(), found.positions.tolist()) == ([0, 1, 2], [0, 4, 2])
    assert found.bad.tolist() == list(range(3, 10))
    assert "must be a whole number from 1 to 5" in str(found.mistakes[0].error)


def test_a_plan_writes_every_value_of_a_scale() -> None:
    """So that another default later cannot change an old survey."""
    survey = asking(RATING)
    (written,) = document_of(survey)["question"]
    assert (written["lowest"], written["highest"], written["box"]) == (1, 5, 2)
    assert survey_of(json.loads(json.dumps(document_of(survey)))) == survey
