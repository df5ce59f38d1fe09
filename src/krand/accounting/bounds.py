"""What all bounds share: how hard to try, both directions, and η from δ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from krand.accounting.coupling import NEAREST
from krand.promise import Bounds, Method, Policy, TwoWay

SMALLEST, LOG_NOTHING = 1e-300, -700.0
"""A bound that is no larger counts as 0, whose logarithm is taken to be this."""


class Effort(IntEnum):
    """NEAR shows a search where to look; QUICK and FULL are proven; REPORT adds lower ends."""

    NEAR = 0
    QUICK = 1
    FULL = 2
    REPORT = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A bound in both directions and the argument that gave it."""

    bounds: TwoWay
    method: Method


class Bound(Protocol):
    """One argument about one noise, asked about one ε."""

    @property
    def method(self) -> Method:
        """The argument behind δ."""

    @property
    def eta_method(self) -> Method:
        """The argument behind η."""

    def delta(self, effort: Effort) -> TwoWay:
        """δ(ε); where it has no lower ends of its own, `attack` has some."""

    def eta(self, effort: Effort) -> TwoWay:
        """η(ε): the bare tail as value, the proven one as upper end."""

    def attack(self) -> tuple[float, float]:
        """What a real attack achieves, rounded down: lower ends for both directions."""


def converted_eta(delta: Callable[[float], float], epsilon: float) -> float:
    """η(ε) ≤ min over ε' < ε of δ(ε')/(1-e^(ε'-ε)), always.

    See proofs.md, "Copies, bits, rounds: composition".
    """
    best = 1.0
    for share in (0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.88, 0.91, 0.94, NEAREST):
        nearer = epsilon * share
        best = min(best, delta(nearer) / -math.expm1(nearer - epsilon))
    return best


def log_excess(bound: float, policy: Policy) -> float:
    """log(bound/limit): the policy is met where this is not positive."""
    return math.log(bound / policy.limit) if bound > SMALLEST else LOG_NOTHING


def flat(top: float) -> TwoWay:
    """One proven upper bound for both directions."""
    both = Bounds.around(top, 0.0, top)
    return TwoWay(both, both)


def with_lower(ways: TwoWay, lower: tuple[float, float]) -> TwoWay:
    """The same with these lower ends."""
    up, down = ways.forward, ways.reverse
    return TwoWay(
        Bounds.around(up.value, lower[0], up.upper),
        Bounds.around(down.value, lower[1], down.upper),
    )


def either_way(values: Sequence[float], tops: Sequence[float]) -> TwoWay:
    """From mixtures with none … all bits falling; a mixed one counts for both directions."""
    ways = []
    for end in (0, -1):
        value = max(values[end], max(values[1:-1], default=0.0))
        top = max(tops[end], max(tops[1:-1], default=0.0))
        ways.append(Bounds.around(value, 0.0, top))
    return TwoWay(*ways)


def worst(ways: Sequence[TwoWay]) -> TwoWay:
    """The worst of several backgrounds in each direction."""
    return TwoWay(
        max((w.forward for w in ways), key=lambda b: b.upper),
        max((w.reverse for w in ways), key=lambda b: b.upper),
    )
