"""Numbers between two proven ends, in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from krand.errors import InternalError


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number between two ends. Both are proven, so a lower end above the upper one is a bug."""

    value: float
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InternalError(f"a lower end {self.lower!r} above the upper end {self.upper!r}")

    @classmethod
    def around(cls, value: float, lower: float, upper: float) -> Bounds:
        """Two proven ends of a probability, and a value that is not proven: it is kept between."""
        ends = cls(lower, lower, upper)  # before anything is cut off
        low, high = max(0.0, ends.lower), min(1.0, ends.upper)
        return cls(min(max(value, low), high), low, high)

    @classmethod
    def exactly(cls, value: float) -> Bounds:
        return cls(value, value, value)


@dataclass(frozen=True, slots=True)
class TwoWay:
    """Both directions: forward asks P(S|D_m)/P(S|D) > λ, reverse the opposite ratio."""

    forward: Bounds
    reverse: Bounds

    @property
    def upper(self) -> float:
        """The proven end of the worse direction."""
        return max(self.forward.upper, self.reverse.upper)

    @property
    def value(self) -> float:
        return max(self.forward.value, self.reverse.value)

    @property
    def lower(self) -> float:
        return max(self.forward.lower, self.reverse.lower)


def flat(top: float) -> TwoWay:
    """One proven upper bound for both directions."""
    both = Bounds.around(top, 0.0, top)
    return TwoWay(both, both)


def worst(ways: Sequence[TwoWay]) -> TwoWay:
    """The worst of several backgrounds in each direction."""
    return TwoWay(
        max((w.forward for w in ways), key=lambda b: b.upper),
        max((w.reverse for w in ways), key=lambda b: b.upper),
    )
