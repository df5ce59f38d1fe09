"""The sides of a joint table: which answers, and at which bits of a record they are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from krand.analysis.tally import MAX_TABLE_BITS, Bits
from krand.errors import InvalidInput
from krand.survey.encoding import UNANSWERED, margin_positions
from krand.survey.layout import Layout
from krand.survey.plan import Plan
from krand.survey.questions import Leveled, any_of, joinable_kinds


@dataclass(frozen=True, slots=True)
class Axis:
    """One side: answers that exclude each other, a bit for each, and last none of them."""

    name: str
    bits: Bits
    labels: tuple[str, ...]
    rest_is_answer: bool
    """Whether "none of them" is an answer (not yes, not this item) rather than no answer."""

    @property
    def answers(self) -> int:
        """How many of the labels are answers."""
        return len(self.bits) + self.rest_is_answer


def axes_of(plan: Plan, names: Sequence[str]) -> tuple[Axis, ...]:
    """The sides of a table of whole records.

    A name is that of a question with one answer of several, or `question=answer` for one answer
    against all others: the way to ask for an item of a pick_any question.
    """
    axes = tuple(_axis(plan.layout, name) for name in names)
    bits = [bit for axis in axes for bit in axis.bits]
    if len(axes) < 2 or len(set(bits)) != len(bits):
        raise InvalidInput("questions", "must be at least two, all different", tuple(names))
    return axes


def bits_needed(plan: Plan, names: Sequence[str]) -> tuple[Bits, ...]:
    """Which bits a tally of long records must count jointly for this table.

    A cell needs no more than one bit of each question. All bits at once are one table, and are
    asked for where it is small; otherwise every combination of one bit from each.
    """
    if plan.survey.shape.record_cells(plan.layout.positions) <= 1 << MAX_TABLE_BITS:
        return ()
    axes = axes_of(plan, names)
    whole = tuple(bit for axis in axes for bit in axis.bits)
    if len(whole) <= MAX_TABLE_BITS:
        return (whole,)
    cells: list[Bits] = [()]
    for axis in axes:
        cells = [(*cell, bit) for cell in cells for bit in axis.bits]
    return tuple(cells)


def _axis(layout: Layout, name: str) -> Axis:
    question_name, _, answer = name.partition("=")
    block = layout.first_block_of(question_name)
    if answer:
        (bit,) = margin_positions(layout, question_name, answer)
        return Axis(name, (bit,), (answer, f"not {answer}"), True)
    (question,) = block.questions
    if not isinstance(question, Leveled):
        hint = f"ask for one of its answers: {name}=…"
        rule = f"must be {any_of(joinable_kinds())} questions"
        raise InvalidInput("questions", rule, name, hint)
    labels = tuple(question.level_name(level) for level in range(block.positions))
    bits = tuple(layout.positions_of(block))
    if len(bits) < question.levels:  # alone, a yes_no counts yes only
        return Axis(name, bits, (*labels, "no or unanswered"), True)
    return Axis(name, bits, (*labels, UNANSWERED), False)
