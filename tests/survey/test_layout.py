"""The layout: blocks side by side without gaps, groups in one place, the record's structure."""

from __future__ import annotations

import pytest
from hypothesis import given

from krand.accounting.blanket import blanket_law
from krand.errors import InvalidInput
from krand.planning.record import record_blocks, record_reports
from krand.promise import AtMost, FreeBits, Linkage
from krand.survey.choices import Choices
from krand.survey.layout import layout_of
from krand.survey.questions import Choice, Kind, Number, PickAny, Words, YesNo
from krand.survey.survey import Survey, Together
from survey.drawing import POLICY, surveys

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
    layout = layout_of(
        Survey(id="s", policy=POLICY, questions=asked, together=(Together(("c", "b")),))
    )
    assert [block.name for block in layout.blocks] == ["a", "c+b", "w"]
    group = layout.blocks[1]
    assert (group.kind, group.offset, group.positions, group.weight) == (Kind.TOGETHER, 1, 11, 5)
    own = layout_of(
        Survey(id="s", policy=POLICY, questions=asked, together=(Together(("c", "b"), weight=0.5),))
    )
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
    survey = Survey(
        id="s", policy=POLICY, questions=asked, linkage=Linkage.RECORD, copies=4, rounds=2
    )
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
    layout = layout_of(
        Survey(id="s", policy=POLICY, questions=(Choice(name="c", choices=COLOURS),))
    )
    with pytest.raises(InvalidInput, match="from 0 to 2"):
        layout.block_at(position)


def test_an_unknown_question_is_refused() -> None:
    """A question that is not asked has no block, and the error says which are asked."""
    layout = layout_of(Survey(id="s", policy=POLICY, questions=(YesNo(name="smokes"),)))
    with pytest.raises(InvalidInput, match="smokes"):
        layout.first_block_of("drinks")
