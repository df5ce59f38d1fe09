"""scale: a whole number from a lowest to a highest value, a position for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from krand.errors import InvalidInput
from krand.survey.kinds.number import comma_hint, is_whole
from krand.survey.kinds.question import WRONG, Key, Kind, Leveled
from krand.survey.rules import MAX_CHOICES, Broken, item_fault, whole_rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_VALUE = 2**53
"""Up to here every whole number is exact in floating point, on every device."""
USUAL_BOX = 2
VALUE_LIMITS = {"ge": -MOST_VALUE, "le": MOST_VALUE}


def _label_rules(labels: Sequence[str]) -> Iterator[Broken]:
    """Different, visible texts; how many there must be depends on the values."""
    if len(labels) < 2:
        hint = 'for example labels = ["very bad", "very good"]'
        yield Broken((), "must hold at least 2 labels, for the ends", list(labels), hint)
    for index, label in enumerate(labels):
        if fault := item_fault(label):
            yield Broken((index,), fault[0], label, fault[1])
        elif label in labels[:index]:
            yield Broken((index,), "must be different from the other labels", label, "rename one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale(Leveled):
    """A whole number from `lowest` to `highest`, such as a rating.

    >>> from krand import Scale
    >>> Scale(name="pay", lowest=1, highest=5, labels=["unfair", "fair"]).level_name(4)
    '5 (fair)'
    """

    lowest: int
    highest: int
    labels: tuple[str, ...] = ()
    """None; or two, for the ends; or one for every value, the lowest first."""
    box: int | None = None
    """How many values the top box and the bottom box add up; None becomes the usual number."""
    kind = Kind.SCALE
    summary = "A whole number on a scale, such as a rating."
    numeric = True
    takes_statements = True
    worded = ("labels",)
    keys = (
        Key(
            name="lowest",
            form=int,
            says="The lowest value of the scale.",
            example=1,
            default=...,
            limits=VALUE_LIMITS,
        ),
        Key(
            name="highest",
            form=int,
            says="The highest value of the scale; every whole number between is a value too.",
            example=5,
            default=...,
            limits=VALUE_LIMITS,
        ),
        Key(
            name="labels",
            form=list,
            says="What the ends of the scale mean, two labels; or one label for every value.",
            example=["very bad", "very good"],
            rule=_label_rules,
            schema={"items": {"type": "string"}, "minItems": 2, "uniqueItems": True},
        ),
        Key(
            name="box",
            form=int,
            says=(
                "How many values the top box and the bottom box add up. If it is left out: 2, and"
                " 1 on a scale of fewer than 4 values."
            ),
            example=2,
            limits={"ge": 1, "le": MAX_CHOICES // 2},
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        Leveled.__post_init__(self)
        if self.box is None:
            object.__setattr__(self, "box", min(USUAL_BOX, self.levels // 2))

    def _own_rules(self) -> Iterator[Broken]:
        yield from whole_rules(self.lowest, -MOST_VALUE, MOST_VALUE, ("lowest",))
        yield from whole_rules(self.highest, -MOST_VALUE, MOST_VALUE, ("highest",))
        if self.box is not None:
            yield from whole_rules(self.box, 1, MAX_CHOICES // 2, ("box",))
        if self.labels:
            yield from (broken.under(("labels",)) for broken in _label_rules(self.labels))
        given = {"labels": self.labels, "box": self.box}
        given = {key: value for key, value in given.items() if value}
        yield from self.pair_rules({"lowest": self.lowest, "highest": self.highest, **given})

    @classmethod
    def pair_rules(cls, values: Mapping[str, Any]) -> Iterator[Broken]:
        if "lowest" not in values or "highest" not in values:
            return
        levels = values["highest"] - values["lowest"] + 1
        if not 2 <= levels <= MAX_CHOICES:
            rule = f"must be above lowest, {values['lowest']:,}, by at most {MAX_CHOICES - 1:,}"
            yield Broken(("highest",), rule, values["highest"], "for example 1 to 5, or 0 to 10")
            return
        if "labels" in values and len(values["labels"]) not in (2, levels):
            rule = f"must hold 2 labels, for the ends, or {levels:,}, for every value"
            yield Broken(("labels",), rule, f"{len(values['labels']):,} labels")
        if "box" in values and values["box"] > levels // 2:
            rule = f"must be at most half of the {levels:,} values, {levels // 2:,}"
            hint = "top box and bottom box must have no value in common"
            yield Broken(("box",), rule, values["box"], hint)

    @classmethod
    def arguments(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "lowest": values["lowest"],
            "highest": values["highest"],
            "labels": tuple(values.get("labels", ())),
            "box": values.get("box"),
        }

    def own_values(self) -> dict[str, Any]:
        return {
            "lowest": self.lowest,
            "highest": self.highest,
            "labels": list(self.labels) or None,
            "box": self.box,
        }

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
