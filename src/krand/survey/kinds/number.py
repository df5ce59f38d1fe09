"""number: a number, known by its range; a position for each range."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

from krand.errors import InvalidInput
from krand.survey.kinds.question import WRONG, Key, Kind, Leveled
from krand.survey.rules import (
    MAX_CHOICES,
    MAX_LINE_LENGTH,
    Broken,
    line_rules,
    one_of_rules,
    raise_first,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_EDGE = 2**53
"""Up to here every whole number is exact in floating point, on every device."""
OPEN = (False, True, "below", "above")
ASKED_AS = ("figure", "ranges")
MOST_EDGES = 30
"""Of ranges that people tick: nobody looks through a longer list."""
_COMMA = re.compile(r"-?\d[\d.]*,\d+")


def _edge_rules(edges: Sequence[float]) -> Iterator[Broken]:
    """What bin edges must be: at least two finite numbers, each larger than the one before."""
    if not 2 <= len(edges) <= MAX_CHOICES - 1:
        rule = f"must hold 2 to {MAX_CHOICES - 1:,} edges"
        yield Broken((), rule, f"{len(edges):,} edges", "for example edges = [0, 10, 20, 50]")
    last: float | None = None
    for index, edge in enumerate(edges):
        if isinstance(edge, bool) or not isinstance(edge, (int, float)):
            yield Broken((index,), "must be a number", edge)
        elif not abs(edge) <= MAX_EDGE:  # also true of what is not a number
            hint = 'for bins without an end say open = true, "below" or "above"'
            yield Broken((index,), "must be a number between -2^53 and 2^53", edge, hint)
        elif last is not None and edge <= last:
            rule = f"must be larger than the edge before it, {last!r}"
            yield Broken((index,), rule, edge, "write the edges in rising order")
        else:
            last = edge


def _whole_edge_rules(edges: Sequence[float]) -> Iterator[Broken]:
    """Ranges of whole numbers begin at whole numbers."""
    for index, edge in enumerate(edges):
        if edge != int(edge):
            hint = "write whole edges, or leave integer out if answers may lie between"
            rule = "must be a whole number, for integer = true"
            yield Broken(("edges", index), rule, edge, hint)


def _open_rules(value: object) -> Iterator[Broken]:
    """Which ends of a number's bins are open."""
    if not isinstance(value, (bool, str)) or value not in OPEN:  # 1 == True is not meant
        yield Broken((), 'must be true, false, "below" or "above"', value)


def _ticked_rules(edges: Sequence[float]) -> Iterator[Broken]:
    """Ranges that people tick are few."""
    if len(edges) > MOST_EDGES:
        rule = f'must hold at most {MOST_EDGES} edges, for asked_as = "ranges"'
        hint = "write fewer edges, or ask for the figure"
        yield Broken(("edges",), rule, f"{len(edges):,} edges", hint)


_asked_as_rules = partial(one_of_rules, known=ASKED_AS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Leveled):
    """A number, known by its range: from one edge up to, not including, the next.

    >>> from krand import Number
    >>> Number(name="age", edges=[0, 18, 65], open_above=True).level_name(1)
    '18 to under 65'
    """

    edges: tuple[float, ...]
    open_below: bool = False
    open_above: bool = False
    integer: bool = False
    """Answers are whole numbers: the range from 5 to 10 holds 5, 6, 7, 8 and 9."""
    unit: str = ""
    """What the number counts or measures, such as km or hours a week."""
    asked_as: str = "figure"
    """What people give: the figure, or the range that it is in."""
    kind = Kind.NUMBER
    summary = "A number, known by its range."
    numeric = True
    worded = ("unit",)
    keys = (
        Key(
            name="edges",
            form=list,
            says="Rising edges: a range reaches from one edge up to, not including, the next.",
            example=[0, 10, 20, 50],
            default=...,
            rule=_edge_rules,
            schema={"items": {"type": "number"}, "minItems": 2, "uniqueItems": True},
        ),
        Key(
            name="open",
            form=None,
            says=(
                "Ranges without an end: below the first edge, from the last edge on, or both"
                " (true)."
            ),
            example=True,
            default=False,
            rule=_open_rules,
            schema={"enum": list(OPEN)},
        ),
        Key(
            name="integer",
            form=bool,
            says=(
                "Answers are whole numbers: the range from 5 to 10 holds 5, 6, 7, 8 and 9. Then"
                " edges are\nwhole too, and the mean of ranges that hold one number each is known"
                " without assumptions."
            ),
            example=True,
            default=False,
        ),
        Key(
            name="unit",
            form=str,
            says="What the number counts or measures, such as km or hours a week; one line.",
            example="hours a week",
            default="",
            rule=line_rules,
            schema={"maxLength": MAX_LINE_LENGTH},
        ),
        Key(
            name="asked_as",
            form=str,
            says=(
                'What people give: "figure", or "ranges": one of the ranges, which the form lists.'
                "\nThen an answer may also be the name of a range."
            ),
            example="ranges",
            default="figure",
            rule=_asked_as_rules,
            schema={"enum": list(ASKED_AS)},
        ),
    )
    schema: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"integer": {"const": True}}, "required": ["integer"]},
        "then": {"properties": {"edges": {"items": {"type": "integer"}}}},
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(self.edges))
        Leveled.__post_init__(self)

    def _own_rules(self) -> Iterator[Broken]:
        yield from (broken.under(("edges",)) for broken in _edge_rules(self.edges))
        if self.integer:
            yield from _whole_edge_rules(self.edges)
        yield from (broken.under(("unit",)) for broken in line_rules(self.unit))
        yield from (broken.under(("asked_as",)) for broken in _asked_as_rules(self.asked_as))
        if self.is_ticked:
            yield from _ticked_rules(self.edges)

    @classmethod
    def pair_rules(cls, values: Mapping[str, Any]) -> Iterator[Broken]:
        if values.get("integer") and "edges" in values:
            yield from _whole_edge_rules(values["edges"])
        if values.get("asked_as") == "ranges" and "edges" in values:
            yield from _ticked_rules(values["edges"])

    @classmethod
    def arguments(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        ends = values.get("open", False)
        raise_first((broken.under(("open",)) for broken in _open_rules(ends)), ("question",))
        return {
            "edges": tuple(values["edges"]),
            "open_below": ends in (True, "below"),
            "open_above": ends in (True, "above"),
            "integer": values.get("integer", False),
            "unit": values.get("unit", ""),
            "asked_as": values.get("asked_as", "figure"),
        }

    def own_values(self) -> dict[str, Any]:
        ends: bool | str = self.open_below
        if self.open_below != self.open_above:
            ends = "below" if self.open_below else "above"
        return {
            "edges": list(self.edges),
            "open": ends,
            "integer": self.integer,
            "unit": self.unit or None,
            "asked_as": self.asked_as,
        }

    @property
    def is_ticked(self) -> bool:
        """Whether people tick a range instead of giving a figure."""
        return self.asked_as == "ranges"

    @property
    def positions(self) -> int:
        return len(self.edges) - 1 + self.open_below + self.open_above

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

    def level_of(self, answer: object) -> int:
        if self.is_ticked and isinstance(answer, str):
            return self._range_named(answer)
        if isinstance(answer, bool) or not isinstance(answer, Real) or answer != answer:
            raise InvalidInput(self.name, "must be a number", answer, comma_hint(answer))
        if self.integer and not is_whole(answer):
            raise InvalidInput(self.name, "must be a whole number", answer)
        edges = self.edges
        edge = bisect_right(edges, answer) - 1  # the last edge not above the answer
        if edge < 0 and not self.open_below:
            hint = 'add a lower edge, or say open = "below" or true'
            raise InvalidInput(self.name, f"must not be below {edges[0]!r}", answer, hint)
        if edge == len(edges) - 1 and not self.open_above:
            hint = 'add a higher edge, or say open = "above" or true'
            raise InvalidInput(self.name, f"must be below {edges[-1]!r}", answer, hint)
        return edge + self.open_below

    def _range_named(self, name: str) -> int:
        if (level := self.find(name)) is not None:
            return level
        few = ", ".join(repr(self.level_name(level)) for level in range(min(3, self.levels)))
        hint = f"the ranges are {few}" + (" and so on" if self.levels > 3 else "")
        raise InvalidInput(self.name, "must be a number, or one of its ranges", name, hint)

    def levels_of(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        import numpy as np

        edges = np.array(self.edges)
        place = np.searchsorted(edges, values, side="right") - 1
        wrong = np.isnan(values)
        if self.integer:
            wrong |= ~np.isfinite(values) | (values != np.floor(values))
        wrong |= (place < 0) & (not self.open_below)
        wrong |= (place == len(edges) - 1) & (not self.open_above)
        return np.where(wrong, WRONG, place + self.open_below)


def _plain(edge: float) -> str:
    """The same text for 10 and 10.0, which JSON does not tell apart."""
    return str(int(edge)) if edge == int(edge) else repr(edge)


def comma_hint(answer: object) -> str:
    """1,5 is a number to some people, and 1,500 another one to others."""
    if isinstance(answer, str) and _COMMA.fullmatch(answer.strip()):
        return "write decimals with a point, and thousands without a sign"
    return ""


def is_whole(answer: Real) -> bool:
    """Whether a number has no decimals; infinity has no value to tell."""
    try:
        return bool(answer == math.floor(answer))
    except OverflowError:  # infinity
        return False
