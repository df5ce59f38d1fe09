"""What a response looks like: tokens, which travel apart, or a whole record.

A survey has one of these values by its `linkage`. Code asks the value, and never which one it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.lanes import Lane
from krand.survey.rules import HINT, Broken

if TYPE_CHECKING:
    from krand.survey.coherence import Outline
    from krand.survey.layout import Layout
    from krand.survey.plan import Plan
    from krand.survey.survey import Survey

NO_GROUPS = (
    'remove [[together]]: a record keeps all answers together already; or say linkage = "bit"'
)


class Shape(ABC):
    """What one person's response consists of."""

    linkage: Linkage

    @abstractmethod
    def rules(
        self, questions: Sequence[Outline], groups: Sequence[Sequence[str] | None], copies: int
    ) -> Iterator[Broken]:
        """What goes with it in a survey file."""

    @abstractmethod
    def lanes(self, survey: Survey, layout: Layout, rooms: Sequence[int]) -> tuple[Lane, ...]:
        """The lanes of a submission, in the order of its messages."""

    @abstractmethod
    def has_room(self, survey: Survey) -> bool:
        """Whether a block has messages of its own, for tokens that appear by flips."""

    @abstractmethod
    def check(self, plan: Plan) -> None:
        """Refuse a plan whose noise such responses cannot have."""

    @abstractmethod
    def response_bytes(self, positions: int) -> int:
        """The size of a response that is not sealed."""

    @abstractmethod
    def record_cells(self, positions: int) -> int:
        """How many different records there can be; 0 where bits travel apart."""

    @abstractmethod
    def token_lanes(self, plan: Plan) -> tuple[Lane, ...]:
        """The lanes whose messages are single positions."""


@dataclass(frozen=True)
class Tokens(Shape):
    """Every position that is reported as 1 is a message of its own."""

    linkage = Linkage.BIT

    def rules(
        self, questions: Sequence[Outline], groups: Sequence[Sequence[str] | None], copies: int
    ) -> Iterator[Broken]:
        if copies > 1:
            rule = 'must be 1 with linkage = "bit", where bits travel apart'
            yield Broken(("copies",), rule, copies, 'leave it out, or say linkage = "record"')

    def lanes(self, survey: Survey, layout: Layout, rooms: Sequence[int]) -> tuple[Lane, ...]:
        noise, pairs = survey.trust.noise, zip(layout.blocks, rooms, strict=True)
        parts = [part for block, room in pairs for part in noise.lane_parts(block, room)]
        return tuple(Lane(number=number, **part._asdict()) for number, part in enumerate(parts))

    def has_room(self, survey: Survey) -> bool:
        return not survey.trust.noise.has_dummies

    def check(self, plan: Plan) -> None:
        """Every block may have its own."""

    def response_bytes(self, positions: int) -> int:
        return 4

    def record_cells(self, positions: int) -> int:
        return 0

    def token_lanes(self, plan: Plan) -> tuple[Lane, ...]:
        return plan.lanes


@dataclass(frozen=True)
class Records(Shape):
    """All bits of a person travel together, in k copies."""

    linkage = Linkage.RECORD

    def rules(
        self, questions: Sequence[Outline], groups: Sequence[Sequence[str] | None], copies: int
    ) -> Iterator[Broken]:
        for index in range(len(groups)):
            rule = 'must not be used with linkage = "record"'
            yield Broken(("together", index), rule, None, NO_GROUPS)
        for question in questions:
            if question.weight not in (1, None):
                rule = 'must be 1 with linkage = "record", where all bits have the same noise'
                hint = 'leave it out, or say linkage = "bit"'
                yield Broken((*question.where, "weight"), rule, question.weight, hint)

    def lanes(self, survey: Survey, layout: Layout, rooms: Sequence[int]) -> tuple[Lane, ...]:
        """One lane: all copies of all people are shuffled together."""
        return (
            Lane(
                number=0,
                block="",
                offset=0,
                positions=layout.positions,
                messages=survey.copies,
                records=True,
            ),
        )

    def has_room(self, survey: Survey) -> bool:
        return False

    def check(self, plan: Plan) -> None:
        """A device flips all bits of a record with one noise."""
        different = {each.numerator for each in plan.blocks}
        if len(different) > 1:
            rule = "must be the same for all bits of whole records"
            raise InvalidInput("noise_numerator", rule, sorted(different), HINT)

    def response_bytes(self, positions: int) -> int:
        return (positions + 7) // 8

    def record_cells(self, positions: int) -> int:
        return 1 << positions

    def token_lanes(self, plan: Plan) -> tuple[Lane, ...]:
        return ()


TOKENS, RECORDS = Tokens(), Records()
_SHAPES: dict[Linkage, Shape] = {shape.linkage: shape for shape in (TOKENS, RECORDS)}


def shape_of(linkage: Linkage) -> Shape:
    """What responses of this linkage look like."""
    return _SHAPES[linkage]
