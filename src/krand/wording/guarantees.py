"""What stands behind a guarantee, in words: plans and results carry codes, people read these.

A sentence can be corrected or translated without changing any file or any plan's hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krand.promise import Assumption, Assurance, Method

if TYPE_CHECKING:
    from krand.promise import Guarantee
    from krand.survey.plan import Promise

__all__ = ["assumption_text", "assumption_texts", "how_known", "method_text"]

ASSURANCES = {
    Assurance.CERTIFIED: "proven, whatever the other participants answer",
    Assurance.OUTLIER: "exact for the attack analysed in the drafts; otherwise a conjecture",
}

METHODS = {
    Method.EXACT_BITS: "worst crowd for each bit, all bits composed",
    Method.BLANKET_BITS: (
        "privacy blanket of each bit, all bits composed: the crowd is too large for the exact law"
    ),
    Method.UNIFORM_BITS: "exact law of each bit in a crowd that answers alike, all bits composed",
    Method.PRIVACY_BLANKET: "privacy blanket of the record, all copies composed",
    Method.UNIFORM_RECORDS: (
        "exact law of the record in the worst crowd that answers alike, all copies composed"
    ),
    Method.LOCAL_NOISE: "the noise of each device alone: the collector need not be trusted",
    Method.NONE: "none: this plan is for tests, and hides nobody",
}
CONVERTED = "{method}; η follows from δ"

ASSUMPTIONS = {
    Assumption.HONEST_CROWD: "at least {honest:,} honest people respond in the same batch",
    Assumption.COLLECTOR_KEEPS_SECRETS: (
        "the collector removes identity, order and time, and does not work with the analyst"
    ),
    Assumption.DATA_HOLDER_KEEPS_SECRETS: (
        "the data holder, who saw all answers, hands on nothing but the noisy responses, and"
        " randomized everybody's answers once"
    ),
    Assumption.PARTICIPATION_VISIBLE: (
        "a person's answers are hidden; that the person took part is not"
    ),
    Assumption.OUTLIER_IS_WORST: (
        "attacks other than that on an outlier rest on a conjecture of the first papers on this"
        " method"
    ),
    Assumption.LIMITED_ANSWERS: "no true answer sets more bits than its question allows",
}
COLLUDERS = "{crowd} ({colluding:,} more may work with the analyst)"


def how_known(assurance: Assurance) -> str:
    """What sort of statement a guarantee is."""
    return ASSURANCES[assurance]


def method_text(method: Method) -> str:
    """The argument behind a guarantee's bounds."""
    if method in METHODS:
        return METHODS[method]
    return CONVERTED.format(method=METHODS[Method(method.removesuffix("-converted"))])


def assumption_text(assumption: Assumption, guarantee: Guarantee | Promise) -> str:
    """One thing that a guarantee rests on, with the guarantee's own numbers."""
    colluding = guarantee.colluding
    text = ASSUMPTIONS[assumption].format(honest=guarantee.crowd - colluding)
    if assumption is Assumption.HONEST_CROWD and colluding:
        return COLLUDERS.format(crowd=text, colluding=colluding)
    return text


def assumption_texts(guarantee: Guarantee | Promise) -> tuple[str, ...]:
    """Everything that a guarantee rests on."""
    return tuple(assumption_text(each, guarantee) for each in guarantee.assumptions)
