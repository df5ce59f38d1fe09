"""The layout: blocks side by side, groups in one place; lanes: every message has its subject."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from krand.accounting.blanket import blanket_law
from krand.errors import InvalidInput
from krand.planning.record import record_blocks, record_reports
from krand.promise import AtMost, FreeBits, Linkage
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.lanes import Lane, lanes_of
from krand.survey.layout import layout_of
from krand.survey.mechanisms.mixers import MOST_OPTIONS_APART
from krand.survey.questions import Choice, Kind, Number, PickAny, Question, Scale, Words, YesNo
from krand.survey.survey import Survey, Together, Trust
from krand.testing import small_survey
from schedules import days
from survey.drawing import asking, layout_for, surveys

COLOURS = Choices(["red", "green", "blue"])


@given(surveys())
def test_blocks_lie_side_by_side(survey: Survey) -> None:
    """Every position belongs to exactly one block, every question to each of its groups."""
    layout = layout_of(survey)
    owned = [position for block in layout.blocks for position in layout.positions_of(block)]
    assert owned == list(range(layout.positions))
    assert sorted(layout.question_names) == sorted(question.name for question in survey.questions)
    for block in layout.blocks:
        assert layout.block_at(block.offset) is block
        assert layout.block_at(block.offset + block.positions - 1) is block
        assert all(block in layout.blocks_of(name) for name in block.question_names)


def test_a_group_stands_where_its_first_question_is_asked() -> None:
    """Groups keep their own order of questions and take the largest weight or their own."""
    asked = (
        YesNo(name="a"),
        YesNo(name="b", weight=5),
        Words(name="w", size=8, hashes=1),
        Choice(name="c", choices=COLOURS, weight=2),
    )
    layout = layout_for(*asked, together=(Together(("c", "b")),))
    assert [block.name for block in layout.blocks] == ["a", "c+b", "w"]
    group = layout.blocks[1]
    assert (group.kind, group.offset, group.positions, group.weight) == (Kind.TOGETHER, 1, 11, 5)
    own = layout_for(*asked, together=(Together(("c", "b"), weight=0.5),))
    assert own.blocks[1].weight == 0.5


def test_the_record_is_described_as_it_is() -> None:
    """Yes/no and unlimited picks are free bits; everything else is "at most so many of C"."""
    asked = (
        YesNo(name="a"),
        Choice(name="c", choices=COLOURS),
        PickAny(name="p", choices=COLOURS),
        PickAny(name="m", choices=COLOURS, at_most=1),
        YesNo(name="b"),
        Number(name="n", edges=(0, 1, 2, 3)),
        Words(name="w", size=64, hashes=2, at_most=3),
    )
    survey = asking(*asked, linkage=Linkage.RECORD, copies=4, rounds=2, schedule=days(2))
    layout = layout_of(survey)
    blocks = record_blocks(layout)
    sparse = (AtMost(1, 3), AtMost(1, 3), AtMost(1, 3), AtMost(6, 64))
    assert blocks == (FreeBits(5), *sparse)
    responses = record_reports(survey, layout)
    assert (responses.bits, responses.copies, responses.rounds) == (layout.positions, 4, 2)
    assert responses.linkage is Linkage.RECORD
    assert responses.sensitivity == layout.sensitivity
    assert blanket_law(0.3, blocks[:3]).log_odds > 0


@given(surveys())
def test_the_record_has_all_positions_and_changes(survey: Survey) -> None:
    """The engine is told about as many positions and changed bits as the layout has."""
    layout = layout_of(survey)
    blocks = record_blocks(layout)
    assert sum(block.options for block in blocks) == layout.positions
    assert sum(block.sensitivity for block in blocks) == layout.sensitivity


@pytest.mark.parametrize("position", [-1, 3])
def test_positions_outside_are_refused(position: int) -> None:
    """There is no block beyond the last position, nor before the first."""
    with pytest.raises(InvalidInput, match="from 0 to 2"):
        layout_for(Choice(name="c", choices=COLOURS)).block_at(position)


def test_an_unknown_question_is_refused() -> None:
    """A question that is not asked has no block, and the error says which are asked."""
    with pytest.raises(InvalidInput, match="smokes"):
        layout_for(YesNo(name="smokes")).first_block_of("drinks")


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
