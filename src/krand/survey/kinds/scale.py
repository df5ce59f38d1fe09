"""scale: a whole number from a lowest to a highest value, a position for each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from krand.errors import InvalidInput
from krand.mistakes import Broken
from krand.models import unsaid, wrong
from krand.survey.kinds.number import comma_hint, is_whole
from krand.survey.kinds.question import WRONG, Leveled
from krand.survey.rules import MAX_CHOICES, SHOWN_FAULTS, different_items

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_VALUE = 2**53
"""Up to here every whole number is exact in floating point, on every device."""
USUAL_BOX = 2
Value = Annotated[int, Field(ge=-MOST_VALUE, le=MOST_VALUE)]


def _labels(labels: Any) -> Any:
    """Different, visible texts; how many there must be depends on the values."""
    if not isinstance(labels, (list, tuple)) or not len(labels):
        return labels
    broken = []
    if len(labels) < 2:
        hint = 'for example labels = ["very bad", "very good"]'
        broken.append(Broken((), "must hold at least 2 labels, for the ends", list(labels), hint))
    if broken := [*broken, *islice(different_items(labels, "label"), SHOWN_FAULTS)]:
        raise wrong(broken)
    return tuple(labels)


class Scale(Leveled):
    """A whole number from `lowest` to `highest`, such as a rating.

    >>> from krand import Scale
    >>> Scale(name="pay", lowest=1, highest=5, labels=["unfair", "fair"]).level_name(4)
    '5 (fair)'
    """

    type: Literal["scale"] = "scale"
    lowest: Annotated[Value, Field(examples=[1])]
    """The lowest value of the scale."""
    highest: Annotated[Value, Field(examples=[5])]
    """The highest value of the scale; every whole number between is a value too."""
    labels: Annotated[
        tuple[str, ...],
        BeforeValidator(_labels),
        Field(
            exclude_if=unsaid,
            examples=[["very bad", "very good"]],
            json_schema_extra={"minItems": 2, "uniqueItems": True},
        ),
    ] = ()
    """What the ends of the scale mean, two labels; or one label for every value."""
    box: Annotated[int | None, Field(ge=1, le=MAX_CHOICES // 2, examples=[2])] = None
    """How many values the top box and the bottom box add up. If it is left out: 2, and 1 on a scale
    of fewer than 4 values."""
    numeric = True
    takes_statements = True
    worded = ("labels",)

    def _rules(self) -> Iterator[Broken]:
        if not 2 <= self.positions <= MAX_CHOICES:
            rule = f"must be above lowest, {self.lowest:,}, by at most {MAX_CHOICES - 1:,}"
            hint = "for example 1 to 5, or 0 to 10"
            yield Broken(("highest",), rule, self.highest, hint)
            return
        if len(self.labels) not in (0, 2, self.levels):
            rule = f"must hold 2 labels, for the ends, or {self.levels:,}, for every value"
            yield Broken(("labels",), rule, f"{len(self.labels):,} labels")
        if self.box is not None and self.box > self.levels // 2:
            rule = f"must be at most half of the {self.levels:,} values, {self.levels // 2:,}"
            hint = "top box and bottom box must have no value in common"
            yield Broken(("box",), rule, self.box, hint)

    @model_validator(mode="after")
    def _with_a_box(self) -> Self:
        if self.box is None:
            self.__dict__["box"] = min(USUAL_BOX, self.levels // 2)
        return self

    @property
    def positions(self) -> int:
        return self.highest - self.lowest + 1

    @property
    def boxes(self) -> tuple[range, range]:
        """The levels of the bottom box and of the top box."""
        size = self.box or 0
        return range(size), range(self.levels - size, self.levels)

    def level_name(self, level: int) -> str:
        label = self._label(level)
        return f"{self.lowest + level} ({label})" if label else str(self.lowest + level)

    def _label(self, level: int) -> str:
        if len(self.labels) == self.levels:
            return self.labels[level]
        ends = {0: 0, self.levels - 1: -1}
        return self.labels[ends[level]] if self.labels and level in ends else ""

    def level_of(self, answer: object) -> int:
        rule = f"must be a whole number from {self.lowest} to {self.highest}"
        if isinstance(answer, bool) or not isinstance(answer, Real) or answer != answer:
            raise InvalidInput(self.name, rule, answer, comma_hint(answer))
        value: Any = answer
        if not self.lowest <= value <= self.highest or not is_whole(answer):
            raise InvalidInput(self.name, rule, answer)
        return int(value) - self.lowest

    def answer_at(self, level: int) -> object:
        return self.lowest + level

    def levels_of(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """As `level_of` for many numbers at once; WRONG instead of an error."""
        import numpy as np

        right = (values >= self.lowest) & (values <= self.highest) & (values == np.floor(values))
        return np.where(right, np.where(right, values, self.lowest) - self.lowest, WRONG).astype(
            np.int64
        )

    def find(self, label: str) -> int | None:
        """By the whole name, or by the value alone."""
        for level in range(self.levels):
            if label in (self.level_name(level), str(self.lowest + level)):
                return level
        return None
