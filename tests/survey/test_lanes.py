"""Lanes: every message of a submission has its subject, every position its lane."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krand.promise import Linkage
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.lanes import Lane, lanes_of
from krand.survey.layout import layout_of
from krand.survey.mechanisms.mixers import MOST_OPTIONS_APART
from krand.survey.questions import Choice, PickAny, Question, Scale, Words, YesNo
from krand.survey.survey import Survey, Together, Trust
from krand.testing import small_survey


def options(count: int) -> Choices:
    return Choices(tuple(f"option {number}" for number in range(count)))


def lanes(*questions: Question, groups: tuple[Together, ...] = ()) -> tuple[Lane, ...]:
    survey = Survey(
        id="s",
        policy=small_survey().policy,
        questions=questions,
        together=groups,
        trust=Trust(noise=mechanisms.MIXERS),
    )
    layout = layout_of(survey)
    found = lanes_of(survey, layout)
    assert [lane.number for lane in found] == list(range(len(found)))
    covered = [p for lane in found for p in range(lane.offset, lane.offset + lane.positions)]
    assert covered == list(range(layout.positions)), "every position is in exactly one lane"
    return found


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (YesNo(name="q"), [(1, 1)]),
        (Choice(name="q", choices=options(5)), [(5, 1)]),
        (Scale(name="q", lowest=1, highest=7), [(7, 1)]),
        (PickAny(name="q", choices=options(3), at_most=2), [(1, 1)] * 3),
        (PickAny(name="q", choices=options(MOST_OPTIONS_APART), at_most=2), [(1, 1)] * 32),
        (PickAny(name="q", choices=options(33), at_most=4), [(33, 4)]),
        (Words(name="q", size=64, hashes=2, at_most=3), [(32, 3)] * 2),
        (Words(name="q", size=7, hashes=3, at_most=3), [(2, 2), (2, 2), (3, 3)]),
    ],
)
def test_each_kind_has_its_lanes(question: Question, expected: list[tuple[int, int]]) -> None:
    """(positions, messages) of the lanes of a question."""
    assert [(lane.positions, lane.messages) for lane in lanes(question)] == expected


def test_a_group_is_one_lane_with_one_message() -> None:
    """One cell, or none; the questions of the group have no lanes of their own."""
    asked = (YesNo(name="a"), Choice(name="b", choices=options(2)), YesNo(name="c"))
    found = lanes(*asked, groups=(Together(("a", "b")),))
    assert [(lane.block, lane.positions, lane.messages) for lane in found] == [
        ("a+b", 8, 1),
        ("c", 1, 1),
    ]
    assert [lane.has_noisy_nulls for lane in found] == [True, False]
    assert [lane.is_single for lane in found] == [False, True]


def test_with_flips_every_block_has_a_lane() -> None:
    """With the room that the plan gives it."""
    survey = small_survey()
    layout = layout_of(survey)
    found = lanes_of(survey, layout, (1, 3))
    assert [(lane.offset, lane.positions, lane.messages) for lane in found] == [
        (block.offset, block.positions, room)
        for block, room in zip(layout.blocks, (1, 3), strict=True)
    ]


def test_whole_records_are_one_lane() -> None:
    """All copies together: that tells less than a lane for each copy would."""
    survey = replace(small_survey(), linkage=Linkage.RECORD, copies=5)
    layout = layout_of(survey)
    (lane,) = lanes_of(survey, layout)
    assert (lane.positions, lane.messages) == (layout.positions, 5)


def test_a_position_is_held_by_its_lane_alone() -> None:
    """Tokens of any other position are refused there."""
    first, second = lanes(YesNo(name="a"), Choice(name="b", choices=options(3)))
    assert [first.holds(p) for p in range(-1, 5)] == [False, True, False, False, False, False]
    assert [second.holds(p) for p in range(-1, 5)] == [False, False, True, True, True, False]
