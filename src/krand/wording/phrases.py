"""Numbers and promises in plain words, shared by tables and pages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from krand.promise import Assurance
from krand.showing import at_most, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from krand.accounting.curator import Curator
    from krand.analysis.estimates.values import MeanEstimate
    from krand.promise import Guarantee, NoisePlan, Policy, Precision
    from krand.survey.plan import Plan, Promise, WorstShift

__all__ = [
    "EVENLY",
    "against_curator",
    "at_most",
    "gap",
    "half_width",
    "how_known",
    "liars_can",
    "liars_could_have",
    "number",
    "open_mean",
    "people",
    "percent",
    "promise",
    "refused_messages",
    "whole_people",
]


EVENLY = "estimates assume that values are spread evenly within their ranges, intervals do not"
"""What a number's quantiles and mean rest on, where ranges hold several values."""


def open_mean(mean: MeanEstimate) -> str:
    """What is known of a mean that cannot be estimated, and why it cannot."""
    cannot = "the mean cannot be estimated, because the"
    if mean.low is None and mean.high is None:
        return f"{cannot} first and the last range are open-ended"
    if mean.high is None:
        return f"{cannot} top range is open-ended; the mean is at least {mean.low:,.4g}"
    return f"{cannot} lowest range is open-ended; the mean is at most {mean.high:,.4g}"


def refused_messages(
    plan: Plan,
    promise: Promise,
    rejected: Mapping[str, int],
    shown: Callable[[float], str] = at_most,
) -> str:
    """What it means that messages were refused: how many people were planned for, what δ is now."""
    many, policy = sum(rejected.values()), plan.survey.policy
    reasons = ", ".join(f"{count:,} {why.replace('_', ' ')}" for why, count in rejected.items())
    if policy.delta is not None:
        name, now, asked = "δ", promise.delta, policy.delta
    else:
        name, now, asked = "η", promise.eta, policy.eta or 0.0
    were = "message was" if many == 1 else "messages were"
    return (
        f"{many:,} {were} refused ({reasons}) and not counted. {_senders(many, plan.messages)} may"
        f" hide nobody. The promise was planned for {_persons(policy.colluding)} of that kind; at"
        f" worst there are now {promise.colluding:,} among {promise.population:,}, so {name} is"
        f" {shown(now)}. Promised was {shown(asked)}."
    )


def _senders(many: int, each: int) -> str:
    """Who sent so many messages, if everybody sends `each`: nobody can tell more."""
    least = -(-many // each)
    if many == 1:
        return "Whoever sent it"
    return f"The {'' if least == many else f'{least:,} to '}{many:,} people who sent them"


def _persons(count: int) -> str:
    if not count:
        return "nobody"
    return "1 person" if count == 1 else f"{count:,} people"


def percent(value: float) -> str:
    """Two significant digits without an exponent: 0.00028 %."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g} %"
    decimals = min(12, max(0, 1 - math.floor(math.log10(abs(value)))))
    text = f"{value:,.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def people(precision: Precision) -> str:
    """± 28 people."""
    width = precision.half_width_95
    return f"± {f'{width:,.0f}' if width >= 10 else number(width, 2)} people"


def half_width(precision: Precision) -> str:
    """± 28 people (0.00028 %) at 95 %."""
    return f"{people(precision)} ({percent(precision.half_width_percent)}) at 95 %"


def how_known(assurance: Assurance) -> str:
    """What stands behind a promise."""
    return {
        Assurance.CERTIFIED: "proven, whatever everybody else answers",
        Assurance.OUTLIER: "exact for the attack that the drafts analyse; otherwise a conjecture",
        Assurance.DRAFT: "a formula of the drafts, for comparison only",
    }[assurance]


def promise(policy: Policy, guarantee: Guarantee) -> str:
    """The promise as a sentence; for a draft's noise, what it really gives instead."""
    ratio = f"e^{policy.epsilon:g} ≈ {number(math.exp(policy.epsilon))}"
    if guarantee.assurance is Assurance.DRAFT:
        return (
            f"None. Against the attack that the drafts analyse, the ratio exceeds {ratio} with"
            f" probability {at_most(guarantee.eta.upper)} and δ = {at_most(guarantee.delta.upper)}."
        )
    subject = "Exchanging one person's answers for any others"
    if policy.delta is not None:
        return (
            f"{subject} changes the probability of anything the analyst can see by a factor of at"
            f" most {ratio}, give or take δ = {at_most(policy.delta)}."
        )
    assert policy.eta is not None
    return (
        f"{subject} changes the probability of what the analyst sees by a factor of at most"
        f" {ratio}, except with probability η = {at_most(policy.eta)}."
    )


def liars_can(shifts: Sequence[WorstShift]) -> str:
    """What one or more people who lie can do at worst, before anybody is asked."""
    return _liars(shifts, "can raise", "lower")


def liars_could_have(shifts: Sequence[WorstShift]) -> str:
    """The same about a crowd that was counted."""
    return _liars(shifts, "could have raised", "lowered")


def _liars(shifts: Sequence[WorstShift], raised: str, lowered: str) -> str:
    worst = max(shifts, key=lambda shift: shift.too_high)
    who = "1 client" if worst.corrupted == 1 else f"{worst.corrupted:,} clients"
    return (
        f"{who} lying as well as possible {raised} the count of an answer by at most"
        f" {whole_people(worst.too_high)} ({worst.name}), or {lowered} one by"
        f" {math.ceil(worst.too_low):,}."
    )


def whole_people(bound: float) -> str:
    """A bound in people, rounded up."""
    most = math.ceil(bound)
    return "1 person" if most == 1 else f"{most:,} people"


def against_curator(plan: NoisePlan, curator: Curator) -> str:
    """σ beside that of somebody who is trusted with the raw answers."""
    return (
        f"a trusted curator ({curator.noise} noise) would have"
        f" σ = {number(curator.sigma)}; {gap(plan, curator)}"
    )


def gap(plan: NoisePlan, curator: Curator) -> str:
    """How far krand's σ is from the curator's."""
    ratio = plan.precision.sigma / curator.sigma
    if ratio >= 2:
        return f"krand's is {number(ratio, 3)} times that"
    if ratio >= 1:
        return f"krand's is {percent(100 * (ratio - 1))} above"
    return f"krand's is {percent(100 * (1 - ratio))} below"
