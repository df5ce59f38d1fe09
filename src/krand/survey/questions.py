"""The five kinds of question, as frozen values.

Each knows how many positions it needs and how many ones a true answer can set; privacy rests on
these two numbers. Answers may always be missing: then no position is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from krand.survey.choices import Choices
from krand.survey.rules import (
    MAX_CHOICES,
    MAX_HASHES,
    MAX_WEIGHT,
    MAX_WORDS,
    Broken,
    at_most_rules,
    edge_rules,
    hash_rules,
    name_rules,
    raise_first,
    range_rules,
    text_rules,
    whole_edge_rules,
    whole_rules,
)

__all__ = [
    "Choice",
    "Kind",
    "Leveled",
    "Number",
    "PickAny",
    "Question",
    "Words",
    "YesNo",
]


class Kind(StrEnum):
    """What a question, or a group of questions, asks for."""

    YES_NO = "yes_no"
    CHOICE = "choice"
    PICK_ANY = "pick_any"
    NUMBER = "number"
    WORDS = "words"
    TOGETHER = "together"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What all questions have; `weight` says how much precision one deserves."""

    name: str
    text: str = ""
    weight: float = 1.0
    kind: ClassVar[Kind]

    def __post_init__(self) -> None:
        raise_first(name_rules(self.name), ("name",))
        raise_first(text_rules(self.text), (self.name, "text"))
        raise_first(range_rules(self.weight, MAX_WEIGHT, ("weight",)), (self.name,))
        raise_first(self._own_rules(), (self.name,))

    def _own_rules(self) -> Iterator[Broken]:
        yield from ()

    @property
    def positions(self) -> int:
        """How many bits the question takes when it stands alone."""
        raise NotImplementedError

    @property
    def most_ones(self) -> int:
        """The most bits that one true answer sets."""
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Leveled(Question):
    """A question whose answer is exactly one of some levels; only these can be analysed jointly."""

    @property
    def levels(self) -> int:
        """How many different answers there are, silence not counted."""
        raise NotImplementedError

    def level_name(self, level: int) -> str:
        """The answer as people read it."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNo(Leveled):
    """Yes or no. Alone it is one bit, and "no" and silence look the same."""

    kind = Kind.YES_NO

    @property
    def positions(self) -> int:
        return 1

    @property
    def levels(self) -> int:
        return 2

    def level_name(self, level: int) -> str:
        return ("yes", "no")[level]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Leveled):
    """One of a list."""

    choices: Choices
    kind = Kind.CHOICE

    @property
    def positions(self) -> int:
        return len(self.choices)

    @property
    def levels(self) -> int:
        return len(self.choices)

    def level_name(self, level: int) -> str:
        return self.choices[level]


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Leveled):
    """A number, known by its range: from one edge up to, not including, the next."""

    edges: tuple[float, ...]
    open_below: bool = False
    open_above: bool = False
    integer: bool = False
    """Answers are whole numbers: the range from 5 to 10 holds 5, 6, 7, 8 and 9."""
    kind = Kind.NUMBER

    def _own_rules(self) -> Iterator[Broken]:
        yield from (broken.under(("edges",)) for broken in edge_rules(self.edges))
        if self.integer:
            yield from (broken.under(("edges",)) for broken in whole_edge_rules(self.edges))

    @property
    def positions(self) -> int:
        return len(self.edges) - 1 + self.open_below + self.open_above

    @property
    def levels(self) -> int:
        return self.positions

    def level_name(self, level: int) -> str:
        low, high = self.ends(level)
        if low is None:
            return f"below {_plain(self.edges[0])}"
        if high is None:
            return f"{_plain(low)} or above"
        if not self.integer:
            return f"{_plain(low)} to under {_plain(high)}"
        return _plain(low) if low == high else f"{_plain(low)} to {_plain(high)}"

    def ends(self, level: int) -> tuple[float | None, float | None]:
        """Where the numbers of a range lie; None where it is open.

        The upper end is the next edge, or the last whole number below it.
        """
        edge = level - self.open_below  # the range begins at this edge
        low = None if edge < 0 else self.edges[edge]
        if edge == len(self.edges) - 1:
            return low, None
        return low, self.edges[edge + 1] - self.integer


def _plain(edge: float) -> str:
    """The same text for 10 and 10.0, which JSON does not tell apart."""
    return str(int(edge)) if edge == int(edge) else repr(edge)


@dataclass(frozen=True, slots=True, kw_only=True)
class PickAny(Question):
    """Any of a list, or at most so many of them."""

    choices: Choices
    at_most: int | None = None
    kind = Kind.PICK_ANY

    def _own_rules(self) -> Iterator[Broken]:
        if self.at_most is not None:
            yield from at_most_rules(self.at_most, len(self.choices))

    @property
    def positions(self) -> int:
        return len(self.choices)

    @property
    def most_ones(self) -> int:
        return len(self.choices) if self.at_most is None else self.at_most


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(Question):
    """Free words, hashed: to be counted later for candidates thought of by then."""

    size: int
    hashes: int
    at_most: int = 1
    kind = Kind.WORDS

    def _own_rules(self) -> Iterator[Broken]:
        yield from whole_rules(self.size, 2, MAX_CHOICES, ("positions",))
        yield from whole_rules(self.hashes, 1, MAX_HASHES, ("hashes",))
        yield from whole_rules(self.at_most, 1, MAX_WORDS, ("at_most",))
        yield from hash_rules(self.hashes, self.size)

    @property
    def positions(self) -> int:
        return self.size

    @property
    def most_ones(self) -> int:
        return min(self.hashes * self.at_most, self.size)
