"""What stands behind a guarantee, in words: plans and results carry codes, people read these.

A sentence can be corrected or translated without changing any file or any plan's hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krand.promise import Assumption, Assurance, Method
from krand.wording.plan_texts import PLANS
from krand.wording.texts import ENGLISH, Texts

if TYPE_CHECKING:
    from krand.promise import Guarantee
    from krand.survey.plan import Promise

__all__ = ["assumption_text", "assumption_texts", "how_known", "known_word", "method_text"]


def how_known(assurance: Assurance) -> str:
    """What sort of statement a guarantee is."""
    return PLANS.assurances[assurance]


def known_word(guarantee: str) -> str:
    """The guarantee of a row of a frontier: an assurance is a code, others are words already.

    >>> known_word("certified"), known_word("trusted curator")
    ('proven', 'trusted curator')
    """
    return Assurance(guarantee).shown if guarantee in set(Assurance) else guarantee


def method_text(method: Method, texts: Texts = ENGLISH) -> str:
    """The argument behind a guarantee's bounds."""
    known = texts.guarantees.methods
    if method in known:
        return known[method]
    direct = Method(method.removesuffix("-converted"))
    return texts.guarantees.converted.format(method=known[direct])


def assumption_text(
    assumption: Assumption, guarantee: Guarantee | Promise, texts: Texts = ENGLISH
) -> str:
    """One thing that a guarantee rests on, with the guarantee's own numbers."""
    own, whole = texts.guarantees, texts.numbers.whole
    colluding = guarantee.colluding
    text = own.assumptions[assumption].format(honest=whole(guarantee.crowd - colluding))
    if assumption is Assumption.HONEST_CROWD and colluding:
        return own.colluders.format(crowd=text, colluding=whole(colluding))
    return text


def assumption_texts(guarantee: Guarantee | Promise, texts: Texts = ENGLISH) -> tuple[str, ...]:
    """Everything that a guarantee rests on."""
    return tuple(assumption_text(each, guarantee, texts) for each in guarantee.assumptions)
