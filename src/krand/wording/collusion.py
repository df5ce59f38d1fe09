"""The protection that is left if collector and analyst collude, in words.

They see each response by itself, and ε₀ bounds what it reveals: if two sets of answers were equally
likely before, one of them can become at most e^ε₀ times as likely as the other.

Where mixers add the noise, one of them must follow the rules; devices alone hide nothing.
"""

from __future__ import annotations

from krand.wording.texts import ENGLISH, Texts

__all__ = [
    "REAL",
    "SLIGHT",
    "WEAK",
    "if_mixers_collude",
    "if_they_collude",
    "protection",
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


def if_they_collude(local_epsilon: float, texts: Texts = ENGLISH) -> str:
    """If collector and analyst collude, there is no protection (ε₀ = 431)."""
    return texts.collusion.if_they_collude.format(
        said=what_remains(local_epsilon, texts), epsilon=texts.numbers.at_most(local_epsilon)
    )


def if_mixers_collude(mixers: int, texts: Texts = ENGLISH) -> str:
    """The promise holds as long as one of so many mixers follows the rules."""
    return texts.collusion.mixers.of(mixers).format(number=texts.numbers.whole(mixers))
