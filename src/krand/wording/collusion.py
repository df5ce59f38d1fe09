"""The protection that is left if collector and analyst collude, in words.

They see each response by itself, and ε₀ bounds what it reveals: if two sets of answers were equally
likely before, one of them can become at most e^ε₀ times as likely as the other.

Where mixers add noise, one of them must follow the rules; otherwise only the noise of devices is
left, if they add any.
"""

from __future__ import annotations

import math

from krand.promise import Promise
from krand.showing import at_most
from krand.survey.plan import Plan
from krand.wording.plan_texts import PLANS
from krand.wording.texts import ENGLISH, Texts

__all__ = [
    "REAL",
    "SLIGHT",
    "WEAK",
    "if_mixers_collude",
    "if_they_collude",
    "protection",
    "what_flips_promise",
    "what_remains",
]

REAL, WEAK, SLIGHT = 1.0, 3.0, 7.0
"""Up to these values of ε₀ the noise of one device alone protects well, weakly, hardly at all: an
attacker who starts at even odds becomes at most 73.2 %, 95.3 % or 99.91 % certain. Above the last
value there is no protection."""


def protection(local_epsilon: float, texts: Texts = ENGLISH) -> str:
    """How much protection ε₀ gives; "remains" follows it, except after "no protection"."""
    if local_epsilon <= REAL:
        return texts.collusion.real
    if local_epsilon <= WEAK:
        return texts.collusion.weak
    if local_epsilon <= SLIGHT:
        return texts.collusion.slight
    return texts.collusion.none


def what_remains(local_epsilon: float, texts: Texts = ENGLISH) -> str:
    """There is no protection; only weak protection remains."""
    known = texts.collusion.there_is if local_epsilon > SLIGHT else texts.collusion.remains
    return known.format(protection=protection(local_epsilon, texts))


def if_they_collude(local_epsilon: float) -> str:
    """If collector and analyst collude, there is no protection (ε₀ = 431)."""
    return PLANS.if_they_collude.format(
        said=what_remains(local_epsilon), epsilon=at_most(local_epsilon)
    )


def if_mixers_collude(mixers: int, local_epsilon: float = math.inf, texts: Texts = ENGLISH) -> str:
    """The promise holds as long as one of so many mixers follows the rules."""
    number = texts.numbers.whole(mixers)
    if math.isinf(local_epsilon):
        return texts.collusion.mixers.of(mixers).format(number=number)
    return texts.collusion.if_no_mixer.of(mixers).format(
        number=number,
        said=what_remains(local_epsilon, texts),
        epsilon=texts.numbers.at_most(local_epsilon),
    )


def what_flips_promise(plan: Plan, flips: Promise | None, texts: Texts = ENGLISH) -> str:
    """What the noise of devices alone promises to a crowd; None is a crowd that is too small."""
    own, numbers = texts.collusion, texts.numbers
    if flips is None:
        return own.flips_void.format(crowd=numbers.whole(plan.survey.policy.minimum_crowd))
    if plan.survey.policy.delta is not None:
        slack = f"δ = {numbers.at_most(flips.delta)}"
    else:
        slack = f"η = {numbers.at_most(flips.eta)}"
    return own.flips_kept.format(epsilon=numbers.at_most(flips.epsilon), slack=slack)
