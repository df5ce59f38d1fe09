"""What a person still has if shuffler and analyst collude, in words.

Then each report is seen alone, and ε₀ bounds what it reveals: somebody to whom two sets of answers
seemed equally likely may hold one of them for e^ε₀ times as likely as the other.
"""

from __future__ import annotations

from krand.showing import at_most

__all__ = ["REAL", "SLIGHT", "WEAK", "if_they_collude", "protection"]

REAL, WEAK, SLIGHT = 1.0, 3.0, 7.0
"""Up to these ε₀ the noise of one device alone protects well, weakly, hardly at all: from even odds
an attacker is then at most 73.2 %, 95.3 % or 99.91 % sure. Above, it is no protection."""


def protection(local_epsilon: float) -> str:
    """What ε₀ is worth; it stands before 'remains' unless it is none."""
    if local_epsilon <= REAL:
        return "real protection"
    if local_epsilon <= WEAK:
        return "only weak protection"
    if local_epsilon <= SLIGHT:
        return "hardly any protection"
    return "no protection"


def if_they_collude(local_epsilon: float) -> str:
    """If shuffler and analyst collude, there is no protection (ε₀ = 431)."""
    worth = protection(local_epsilon)
    said = f"there is {worth}" if local_epsilon > SLIGHT else f"{worth} remains"
    return f"If shuffler and analyst collude, {said} (ε₀ = {at_most(local_epsilon)})"
