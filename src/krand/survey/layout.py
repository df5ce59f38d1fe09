"""Which position belongs to what: the survey as a row of blocks.

A block is a question, or a group of questions analysed jointly: that is one choice over the cells
of their product, where each question may also be unanswered, so that margins come for free. The
promise of privacy rests on two numbers of a block: how many ones an answer can set, and how many
bits a change of mind can touch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from krand.errors import InvalidInput
from krand.survey.questions import Kind, Leveled, Question
from krand.survey.survey import Survey, Together


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Neighbouring positions that answer one question, or one group of questions."""

    name: str
    kind: Kind
    questions: tuple[Question, ...]
    offset: int
    positions: int
    most_ones: int
    """The most true ones that one person's answer sets."""
    weight: float

    @property
    def sensitivity(self) -> int:
        """t: the most bits that differ between two answers of one person."""
        return min(2 * self.most_ones, self.positions)

    @property
    def question_names(self) -> tuple[str, ...]:
        return tuple(question.name for question in self.questions)

    @property
    def levels(self) -> tuple[Leveled, ...]:
        """The questions of a group, or of a block with one answer of several."""
        return tuple(q for q in self.questions if isinstance(q, Leveled))

    def cells_of(self, question: str) -> int:
        """How many positions the count of one answer to a question adds up: 1 outside of groups."""
        if self.kind is not Kind.TOGETHER:
            return 1
        return math.prod(other.levels + 1 for other in self.levels if other.name != question)

    @property
    def strides(self) -> tuple[int, ...]:
        """How far apart two cells are whose answers to one question differ by one level."""
        sizes = [question.levels + 1 for question in self.levels]
        return tuple(math.prod(sizes[place + 1 :]) for place in range(len(sizes)))


@dataclass(frozen=True)
class Layout:
    """All blocks of a survey, in the order of the file."""

    survey_id: str
    blocks: tuple[Block, ...]
    questions: tuple[Question, ...]
    """In the order of the survey, which conditions follow."""

    @property
    def positions(self) -> int:
        """P: how many bits a person's answers are."""
        last = self.blocks[-1]
        return last.offset + last.positions

    @property
    def most_ones(self) -> int:
        return sum(block.most_ones for block in self.blocks)

    @property
    def sensitivity(self) -> int:
        """t of the whole survey: blocks have no position in common."""
        return sum(block.sensitivity for block in self.blocks)

    @property
    def question_names(self) -> tuple[str, ...]:
        """Each once, however many groups it is in."""
        return tuple(self._by_question)

    def positions_of(self, block: Block) -> range:
        """The positions of a block."""
        return range(block.offset, block.offset + block.positions)

    def first_block_of(self, question: str) -> Block:
        """The first block that answers the question."""
        return self.blocks_of(question)[0]

    def blocks_of(self, question: str) -> tuple[Block, ...]:
        """The blocks that answer the question: several if it is in several groups."""
        found = self._by_question.get(question)
        if found:
            return tuple(found)
        hint = f"the questions are {', '.join(self.question_names)}"
        raise InvalidInput("question", "must be a question of the survey", question, hint)

    @cached_property
    def _by_question(self) -> dict[str, list[Block]]:
        found: dict[str, list[Block]] = {}
        for block in self.blocks:
            for name in block.question_names:
                found.setdefault(name, []).append(block)
        return found


def layout_of(survey: Survey) -> Layout:
    """The blocks of a survey; a group stands where the first of its questions is asked."""
    blocks: list[Block] = []
    placed: set[str] = set()
    in_groups: dict[str, list[Together]] = {}
    for group in survey.together:
        for name in group.questions:
            in_groups.setdefault(name, []).append(group)
    asked = {question.name: question for question in survey.questions}
    offset = 0
    for question in survey.questions:
        groups = in_groups.get(question.name, [])
        blocks_here = [group for group in groups if group.name not in placed]
        placed.update(group.name for group in blocks_here)
        for part in blocks_here if groups else [question]:
            names = part.questions if isinstance(part, Together) else (part.name,)
            blocks.append(_block(part, tuple(asked[name] for name in names), offset))
            offset += blocks[-1].positions
    return Layout(survey.id, tuple(blocks), survey.questions)


def _block(part: Question | Together, questions: tuple[Question, ...], offset: int) -> Block:
    """A question; or one choice over the cells of a group: where nothing is answered is no bit."""
    if isinstance(part, Question):
        kind, positions, most_ones, weight = part.kind, part.positions, part.most_ones, part.weight
    else:
        kind = Kind.TOGETHER
        positions = math.prod(q.levels + 1 for q in questions if isinstance(q, Leveled)) - 1
        most_ones = 1
        weight = part.weight or max(question.weight for question in questions)
    return Block(
        name=part.name,
        kind=kind,
        questions=questions,
        offset=offset,
        positions=positions,
        most_ones=most_ones,
        weight=weight,
    )
