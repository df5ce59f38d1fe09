"""number: a number, known by its range; a position for each range."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from krand.errors import InvalidInput
from krand.mistakes import Broken
from krand.models import unsaid, wrong
from krand.survey.kinds.question import WRONG, Leveled
from krand.survey.rules import MAX_CHOICES, SHOWN_FAULTS, Line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_EDGE = 2**53
"""Up to here every whole number is exact in floating point, on every device."""
OPEN = (False, True, "below", "above")
MOST_EDGES = 30
"""Of ranges that people tick: nobody looks through a longer list."""
_COMMA = re.compile(r"-?\d[\d.]*,\d+")


def _edges(edges: Any) -> Any:
    """At least two finite numbers, each larger than the one before."""
    if not isinstance(edges, (list, tuple)):
        return edges
    broken = []
    if not 2 <= len(edges) <= MAX_CHOICES - 1:
        rule = f"must hold 2 to {MAX_CHOICES - 1:,} edges"
        found = "1 edge" if len(edges) == 1 else f"{len(edges):,} edges"
        broken.append(Broken((), rule, found, "for example edges = [0, 10, 20, 50]"))
    last: float | None = None
    for index, edge in enumerate(edges):
        if isinstance(edge, bool) or not isinstance(edge, (int, float)):
            broken.append(Broken((index,), "must be a number", edge))
        elif not abs(edge) <= MAX_EDGE:  # also true of what is not a number
            hint = 'for bins without an end say open = true, "below" or "above"'
            broken.append(Broken((index,), "must be a number between -2^53 and 2^53", edge, hint))
        elif last is not None and edge <= last:
            rule = f"must be larger than the edge before it, {_plain(last)}"
            broken.append(Broken((index,), rule, edge, "write the edges in rising order"))
        else:
            last = edge
        if len(broken) == SHOWN_FAULTS:
            break
    if broken:
        raise wrong(broken)
    return tuple(edges)


def _open(value: Any) -> Any:
    """Which ends of a number's bins are open."""
    if not isinstance(value, (bool, str)) or value not in OPEN:  # 1 == True is not meant
        raise wrong([Broken((), 'must be true, false, "below" or "above"', value)])
    return value


class Number(Leveled):
    """A number, known by its range: from one edge up to, not including, the next.

    >>> from krand import Number
    >>> Number(name="age", edges=[0, 18, 65], open="above").level_name(1)
    '18 to under 65'
    """

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"integer": {"const": True}}, "required": ["integer"]},
            "then": {"properties": {"edges": {"items": {"type": "integer"}}}},
        }
    )

    type: Literal["number"] = "number"
    edges: Annotated[
        tuple[int | float, ...],
        BeforeValidator(_edges),
        Field(examples=[[0, 10, 20, 50]], json_schema_extra={"minItems": 2, "uniqueItems": True}),
    ]
    """Rising edges: a range reaches from one edge up to, not including, the next."""
    open: Annotated[
        bool | str,
        BeforeValidator(_open),
        WithJsonSchema({"enum": list(OPEN)}),
        Field(examples=[True]),
    ] = False
    """Ranges without an end: below the first edge, from the last edge on, or both (true)."""
    integer: Annotated[bool, Field(examples=[True])] = False
    """Answers are whole numbers: the range from 5 to 10 holds 5, 6, 7, 8 and 9. Then edges are
    whole too, and the mean of ranges that hold one number each is known without assumptions."""
    unit: Annotated[Line, Field(examples=["hours a week"], exclude_if=unsaid)] = ""
    """What the number counts or measures, such as km or hours a week; one line."""
    asked_as: Annotated[Literal["figure", "ranges"], Field(examples=["ranges"])] = "figure"
    """What people give: "figure", or "ranges": one of the ranges, which the form lists. Then an
    answer may also be the name of a range."""
    numeric = True
    worded = ("unit",)

    def _rules(self) -> Iterator[Broken]:
        for index, edge in enumerate(self.edges):
            if self.integer and edge != int(edge):
                rule = "must be a whole number, for integer = true"
                hint = "write whole edges, or leave integer out if answers may lie between"
                yield Broken(("edges", index), rule, edge, hint)
        if self.is_ticked and len(self.edges) > MOST_EDGES:
            rule = f'must hold at most {MOST_EDGES} edges, for asked_as = "ranges"'
            hint = "write fewer edges, or ask for the figure"
            yield Broken(("edges",), rule, f"{len(self.edges):,} edges", hint)

    @property
    def open_below(self) -> bool:
        """Whether numbers below the first edge have a range."""
        return self.open in (True, "below")

    @property
    def open_above(self) -> bool:
        """Whether numbers from the last edge on have a range."""
        return self.open in (True, "above")

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
            raise InvalidInput(self.name, f"must not be below {_plain(edges[0])}", answer, hint)
        if edge == len(edges) - 1 and not self.open_above:
            hint = 'add a higher edge, or say open = "above" or true'
            raise InvalidInput(self.name, f"must be below {_plain(edges[-1])}", answer, hint)
        return edge + self.open_below

    def _range_named(self, name: str) -> int:
        if (level := self.find(name)) is not None:
            return level
        few = ", ".join(repr(self.level_name(level)) for level in range(min(3, self.levels)))
        hint = f"the ranges are {few}" + (" and so on" if self.levels > 3 else "")
        raise InvalidInput(self.name, "must be a number, or one of its ranges", name, hint)

    def levels_of(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """As `level_of` for many numbers at once; WRONG instead of an error."""
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
