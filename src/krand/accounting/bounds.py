"""What all bounds share: how hard to try, η from δ, and what an overflow costs.

A submission has room for a fixed number of tokens; the analysis knows no such limit. The two run
with the same coins, so that they differ only if somebody's tokens overflow. If that has a
probability of at most τ, whatever the answers, every event's probability under the one is within τ
of that under the other, and

    P(S|D) ≤ P°(S|D) + τ ≤ λ·P°(S|D_m) + δ° + τ ≤ λ·P(S|D_m) + δ° + (1+λ)·τ,   λ = e^ε.

So δ ≤ δ° + (1+λ)·τ. A tail has no such property; a proven η is converted from δ, at smaller ε, and
the same term goes into that δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum

from krand.promise import Policy

SMALLEST, LOG_NOTHING = 1e-300, -700.0
"""A bound that is no larger counts as 0, whose logarithm is taken to be this."""
SHARE = 1000
"""What an overflow may cost is the policy's δ or η, divided by this."""
NEAREST = 0.97
"""η(ε) is converted from δ at ε' ≤ NEAREST·ε, which divides by at least 1 - e^(ε'-ε)."""
ROUNDING = 1 + 1e-12


class Effort(IntEnum):
    """NEAR shows a search where to look; QUICK and FULL are proven."""

    NEAR = 0
    QUICK = 1
    FULL = 2


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


def delta_of_distance(distance: float, epsilon: float) -> float:
    """(1+e^ε)·τ, rounded up."""
    return (1 + math.exp(epsilon)) * distance * ROUNDING


def delta_limit(policy: Policy) -> float:
    """What δ may be; where η is promised, what δ may be near ε for η to be converted from it."""
    if policy.delta is not None:
        return policy.delta
    assert policy.eta is not None
    return policy.eta * -math.expm1((NEAREST - 1) * policy.epsilon)


def allowed_distance(policy: Policy) -> float:
    """The largest τ that costs at most a thousandth of the policy's δ or η."""
    return delta_limit(policy) / SHARE / (1 + math.exp(policy.epsilon))
