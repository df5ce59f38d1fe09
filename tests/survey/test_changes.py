"""What the promise of privacy rests on: how many bits an answer sets, and how many it can change.

Every pair of answers of small surveys is compared; nothing here uses the formula for t.
"""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.layout import Layout, layout_of
from krand.survey.questions import Choice, Number, PickAny, Question, Scale, Words, YesNo
from krand.survey.survey import Survey, Together
from survey.drawing import answers, asking, every_answer, surveys

SMALL = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
THREE = Choices(["a", "b", "c"])

KINDS: list[tuple[Question, int, int]] = [
    (YesNo(name="q"), 1, 1),
    (YesNo(name="q", counts="both"), 2, 1),
    (Choice(name="q", choices=Choices(["a", "b"])), 2, 1),
    (Choice(name="q", choices=Choices(map(str, range(20)))), 2, 1),
    (Number(name="q", edges=(0, 10)), 1, 1),
    (Number(name="q", edges=(0, 10, 20), asked_as="ranges"), 2, 1),
    (Number(name="q", edges=(0, 10), open_above=True), 2, 1),
    (Number(name="q", edges=(0, 1, 2.5, 7), open_below=True, open_above=True), 2, 1),
    (Scale(name="q", lowest=1, highest=5), 2, 1),
    (Scale(name="q", lowest=-1, highest=0), 2, 1),
    (PickAny(name="q", choices=THREE), 3, 3),
    (PickAny(name="q", choices=THREE, at_most=1), 2, 1),
    (PickAny(name="q", choices=THREE, at_most=2), 3, 2),
    (PickAny(name="q", choices=Choices("abcdefg"), at_most=2), 4, 2),
    (Words(name="q", size=1000, hashes=2), 4, 2),
    (Words(name="q", size=1000, hashes=2, at_most=2), 8, 4),
    (Words(name="q", size=3, hashes=2, at_most=2), 3, 3),
]


def every_code(survey: Survey, layout: Layout) -> set[frozenset[int]]:
    """What all possible people would send."""
    names = [question.name for question in survey.questions]
    options = [list(every_answer(question)) for question in survey.questions]
    everything = (dict(zip(names, given, strict=True)) for given in product(*options))
    return {frozenset(encode(layout, person)) for person in everything}


@pytest.mark.parametrize(("question", "sensitivity", "most_ones"), KINDS)
def test_the_worst_pair_of_answers_differs_in_exactly_t_bits(
    question: Question, sensitivity: int, most_ones: int
) -> None:
    """t and the most ones of a question are reached by some answers and passed by none."""
    survey = asking(question)
    layout = layout_of(survey)
    codes = every_code(survey, layout)
    assert max(len(a ^ b) for a, b in combinations(codes, 2)) == sensitivity
    assert max(map(len, codes)) == most_ones
    (block,) = layout.blocks
    assert (block.sensitivity, block.most_ones) == (sensitivity, most_ones)


def test_a_group_changes_two_bits_however_many_questions_it_joins() -> None:
    """Joint questions are one choice: one bit set, two bits changed, one position for each cell."""
    asked = (
        YesNo(name="a"),
        Choice(name="b", choices=THREE),
        Number(name="c", edges=(0, 5, 10), open_above=True),
    )
    survey = asking(*asked, together=(Together(("c", "a", "b")),))
    layout = layout_of(survey)
    codes = every_code(survey, layout)
    assert layout.positions == 3 * 4 * 4 - 1
    assert codes == {frozenset()} | {frozenset([cell]) for cell in range(47)}
    assert layout.sensitivity == 2
    assert layout.most_ones == 1


def test_a_question_of_two_groups_counts_in_both() -> None:
    """The sensitivity is that of both groups, reached by some pair of people, passed by none."""
    asked = (YesNo(name="a"), Scale(name="b", lowest=1, highest=3), Choice(name="c", choices=THREE))
    groups = (Together(("a", "b")), Together(("b", "c")))
    survey = asking(*asked, together=groups)
    layout = layout_of(survey)
    assert [block.name for block in layout.blocks] == ["a+b", "b+c"]
    assert layout.positions == (3 * 4 - 1) + (4 * 4 - 1)
    codes = every_code(survey, layout)
    assert max(len(one ^ other) for one, other in combinations(codes, 2)) == 4
    assert max(map(len, codes)) == 2
    assert (layout.sensitivity, layout.most_ones) == (4, 2)
    alone = encode(layout, {"b": 1}), encode(layout, {"b": 2})
    assert len(set(alone[0]) ^ set(alone[1])) == 4


@pytest.mark.check
@SMALL
@given(st.data())
def test_no_two_people_differ_in_more_bits_than_the_layout_says(data: st.DataObject) -> None:
    """Whole surveys, all their answers: never more than t bits in any block, or in all."""
    survey = data.draw(surveys(most=2))
    layout = layout_of(survey)
    codes = sorted(every_code(survey, layout), key=sorted)
    if len(codes) > 200:  # all pairs of a sample
        codes = data.draw(st.permutations(codes))[:200]
    for one, other in combinations(codes, 2):
        assert len(one ^ other) <= layout.sensitivity
        for block in layout.blocks:
            assert len((one ^ other) & set(layout.positions_of(block))) <= block.sensitivity


@pytest.mark.check
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_answers_set_few_positions_inside_their_blocks(data: st.DataObject) -> None:
    """A person's positions rise, lie in the blocks of what was answered, and are not too many."""
    survey = data.draw(surveys())
    layout = layout_of(survey)
    person = data.draw(answers(survey))
    positions = encode(layout, person)
    assert list(positions) == sorted(set(positions))
    assert all(0 <= position < layout.positions for position in positions)
    for block in layout.blocks:
        inside = set(positions) & set(layout.positions_of(block))
        assert len(inside) <= block.most_ones
        if all(person.get(name) is None for name in block.question_names):
            assert not inside


@pytest.mark.check
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_an_answer_touches_no_other_block(data: st.DataObject) -> None:
    """Changing one answer moves bits of the blocks it is in only."""
    survey = data.draw(surveys())
    layout = layout_of(survey)
    person, other = data.draw(answers(survey)), data.draw(answers(survey))
    name = data.draw(st.sampled_from(layout.question_names))
    changed = {**person, name: other.get(name)}
    moved = set(encode(layout, person)) ^ set(encode(layout, changed))
    own = (layout.positions_of(block) for block in layout.blocks_of(name))
    assert moved <= set().union(*own)
