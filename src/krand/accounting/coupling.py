"""What it costs that a mechanism is, once in a while, not the one that was analysed.

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

from krand.promise import Policy

SHARE = 1000
"""What the difference may cost is the policy's δ or η, divided by this."""
NEAREST = 0.97
"""η(ε) is converted from δ at ε' ≤ NEAREST·ε, which divides by at least 1 - e^(ε'-ε)."""
ROUNDING = 1 + 1e-12


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
