"""The protection that is left if collector and analyst collude, in words.

They see each response by itself, and ε₀ bounds what it reveals: if two sets of answers were equally
likely before, one of them can become at most e^ε₀ times as likely as the other.
"""

from __future__ import annotations

from krand.showing import at_most

__all__ = ["REAL", "SLIGHT", "WEAK", "if_they_collude", "protection"]

REAL, WEAK, SLIGHT = 1.0, 3.0, 7.0
"""Up to these values of ε₀ the noise of one device alone protects well, weakly, hardly at all: an
attacker who starts at even odds becomes at most 73.2 %, 95.3 % or 99.91 % certain. Above the last
value there is no protection."""


def protection(local_epsilon: float) -> str:
    """How much protection ε₀ gives; "remains" follows it, except after "no protection"."""
    if local_epsilon <= REAL:
        return "real protection"
    if local_epsilon <= WEAK:
        return "only weak protection"
    if local_epsilon <= SLIGHT:
        return "hardly any protection"
    return "no protection"


def if_they_collude(local_epsilon: float) -> str:
    """If collector and analyst collude, there is no protection (ε₀ = 431)."""
    worth = protection(local_epsilon)
    said = f"there is {worth}" if local_epsilon > SLIGHT else f"{worth} remains"
    return f"If collector and analyst collude, {said} (ε₀ = {at_most(local_epsilon)})"
