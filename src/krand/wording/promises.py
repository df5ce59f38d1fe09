"""What stands behind a promise, in words: plans and results carry codes, people read these.

A sentence can be corrected or translated without changing any file or any plan's hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krand.promise import Assumption, Assurance, Method
from krand.wording.plan_texts import PLANS
from krand.wording.texts import ENGLISH, Texts

if TYPE_CHECKING:
    from krand.promise import Promise

__all__ = ["assumption_text", "assumption_texts", "how_known", "known_word", "method_text"]


def how_known(assurance: Assurance) -> str:
    """What sort of statement a promise is."""
    return PLANS.assurances[assurance]


def known_word(promise: str) -> str:
    """The promise of a row of a frontier: an assurance is a code, others are words already.

    >>> known_word("certified"), known_word("trusted curator")
    ('proven', 'trusted curator')
    """
    return Assurance(promise).shown if promise in set(Assurance) else promise


def method_text(method: Method, texts: Texts = ENGLISH) -> str:
    """The argument behind a promise's bounds."""
    known = texts.proofs.methods
    if method in known:
        return known[method]
    direct = Method(method.removesuffix("-converted"))
    return texts.proofs.converted.format(method=known[direct])


def assumption_text(assumption: Assumption, promise: Promise, texts: Texts = ENGLISH) -> str:
    """One thing that a promise rests on, with the promise's own numbers."""
    own, whole = texts.proofs, texts.numbers.whole
    colluding = promise.colluding
    text = own.assumptions[assumption].format(honest=whole(promise.crowd - colluding))
    if assumption is Assumption.HONEST_CROWD and colluding:
        return own.colluders.format(crowd=text, colluding=whole(colluding))
    return text


def assumption_texts(promise: Promise, texts: Texts = ENGLISH) -> tuple[str, ...]:
    """Everything that a promise rests on."""
    return tuple(assumption_text(each, promise, texts) for each in promise.assumptions)
