"""The promise as the chance of a right guess, which needs no symbols."""

from __future__ import annotations

import math

from krand.wording.plan_texts import PLANS

__all__ = ["guess_sentence", "in_rounds", "right_guess"]

MOST_TRIES = 1_000_000
"""The largest number of guesses that is told; a chance closer to 1 protects nobody."""


def right_guess(epsilon: float, delta: float) -> float:
    """The largest probability of a right guess between two equally likely sets of answers.

    For all events E, P(E) ≤ e^ε·Q(E) + δ and the other way round, so the total variation is at most
    (e^ε - 1 + 2δ)/(e^ε + 1), and a guess is right with half of one plus that: (e^ε + δ)/(e^ε + 1).

    >>> right_guess(0.0, 0.0), round(right_guess(1.0, 1e-6), 4)
    (0.5, 0.7311)
    """
    shrunk = math.exp(-epsilon)
    return min(1.0, (1.0 + delta * shrunk) / (1.0 + shrunk))


def guess_sentence(epsilon: float, delta: float, rounds: int = 1) -> str:
    """How often a guess is right, rounded up to whole times in 100, or in more if need be.

    >>> guess_sentence(1.0, 1e-6).partition(" is ")[2]
    'right at most 74 times in 100; tossing a coin, 50 times.'
    """
    right = right_guess(epsilon, delta)
    tries = 100
    while math.ceil(right * tries) >= tries and tries <= MOST_TRIES:
        tries *= 10
    if tries > MOST_TRIES:
        return PLANS.guess_always.format(rounds=in_rounds(rounds))
    return PLANS.guess.format(
        rounds=in_rounds(rounds),
        right=f"{math.ceil(right * tries):,}",
        of=f"{tries:,}",
        half=f"{tries // 2:,}",
    )


def in_rounds(rounds: int) -> str:
    """In all rounds together; empty for one."""
    return "" if rounds == 1 else PLANS.rounds.format(rounds=f"{rounds:,}")
