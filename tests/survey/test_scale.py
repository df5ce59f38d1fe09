"""scale: whole numbers between two ends, one position each."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from krand.errors import InvalidInput
from krand.survey.decoding import describe, margin_positions
from krand.survey.document import document_of, survey_of
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.questions import Scale
from krand.survey.reading import SurveyErrors, parse_survey
from krand.survey.survey import Survey
from krand.tables.columns import Column, encode_columns
from survey.drawing import POLICY

HEAD = 'id = "s"\npolicy = { epsilon = 1, delta = 1e-6, minimum_crowd = 1000 }\n'
SCALE = '[[question]]\nname = "q"\ntype = "scale"\n'
RATING = Scale(name="q", lowest=1, highest=5, labels=("very bad", "very good"))


def test_a_scale_is_read_from_a_file() -> None:
    """Ends, labels and box; what is left out has its default."""
    text = HEAD + SCALE + 'lowest = 1\nhighest = 5\nlabels = ["very bad", "very good"]\n'
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


MISTAKES = [
    ("lowest = 1\n", "highest", "must be given"),
    ("lowest = 5\nhighest = 5\n", "highest", "above lowest, 5"),
    ("lowest = 5\nhighest = 1\n", "highest", "above lowest, 5"),
    ("lowest = 0\nhighest = 1_000_000\n", "highest", "by at most 999,999"),
    ("lowest = 1.5\nhighest = 5\n", "lowest", "whole number"),
    (f"lowest = 1\nhighest = {2**54}\n", "highest", "at most"),
    ('lowest = 1\nhighest = 5\nlabels = ["bad"]\n', "labels", "at least 2"),
    (
        'lowest = 1\nhighest = 5\nlabels = ["a", "b", "c"]\n',
        "labels",
        "2 labels, for the ends, or 5",
    ),
    ('lowest = 1\nhighest = 5\nlabels = ["a", "a"]\n', "labels[1]", "different"),
    ('lowest = 1\nhighest = 5\nlabels = ["a", "b\u202e"]\n', "labels[1]", "reorders"),
    ("lowest = 1\nhighest = 5\nbox = 3\n", "box", "at most half of the 5 values, 2"),
    ("lowest = 1\nhighest = 5\nbox = 0\n", "box", "at least 1"),
]


@pytest.mark.parametrize(("keys", "field", "rule"), MISTAKES)
def test_a_broken_scale_is_refused_with_its_rule(keys: str, field: str, rule: str) -> None:
    """One mistake, one problem, at the key that is wrong."""
    with pytest.raises(SurveyErrors) as error:
        parse_survey(HEAD + SCALE + keys)
    (problem,) = error.value.problems
    assert problem.path == f"question[0].{field}"
    assert rule in problem.rule


@pytest.mark.parametrize(
    "keys",
    [
        {"lowest": 2, "highest": 1},
        {"lowest": 1, "highest": "5"},
        {"lowest": True, "highest": 5},
        {"lowest": 1, "highest": 5, "labels": ("a", "b", "c")},
        {"lowest": 1, "highest": 5, "labels": ("a", "a")},
        {"lowest": 1, "highest": 5, "box": 3},
    ],
)
def test_a_broken_scale_cannot_be_built(keys: dict[str, object]) -> None:
    """The same rules hold in Python."""
    with pytest.raises(InvalidInput):
        Scale(name="q", **keys)  # type: ignore[arg-type]


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
    layout = layout_of(Survey(id="s", policy=POLICY, questions=(RATING,)))
    assert encode(layout, {"q": answer}) == (3,)
    assert describe(layout, 3) == ("q", "4")
    assert (
        margin_positions(layout, "q", "5") == margin_positions(layout, "q", "5 (very good)") == (4,)
    )


WRONG = [0, 6, 2.5, True, "3", "very bad", float("nan"), float("inf"), [3]]


@pytest.mark.parametrize("answer", WRONG, ids=repr)
def test_what_is_no_value_of_the_scale_is_refused(answer: object) -> None:
    """Never a guess; the error says which values there are."""
    layout = layout_of(Survey(id="s", policy=POLICY, questions=(RATING,)))
    with pytest.raises(InvalidInput, match="q: must be a whole number from 1 to 5"):
        encode(layout, {"q": answer})


def test_columns_of_numbers_are_encoded_as_people_are() -> None:
    """An array at once gives what each of its numbers gives alone."""
    layout = layout_of(Survey(id="s", policy=POLICY, questions=(RATING,)))
    values = np.array([1, 5, 3, 2.5, 0, 6, np.nan, np.inf, -np.inf, 2**60])
    found = encode_columns(layout, {"q": Column(values, np.arange(len(values)), len(values))})
    assert (found.rows.tolist(), found.positions.tolist()) == ([0, 1, 2], [0, 4, 2])
    assert found.bad.tolist() == list(range(3, 10))
    assert "must be a whole number from 1 to 5" in str(found.mistakes[0].error)


def test_a_plan_writes_every_value_of_a_scale() -> None:
    """So that another default later cannot change an old survey."""
    survey = Survey(id="s", policy=POLICY, questions=(RATING,))
    (written,) = document_of(survey)["question"]
    assert (written["lowest"], written["highest"], written["box"]) == (1, 5, 2)
    assert survey_of(json.loads(json.dumps(document_of(survey)))) == survey
