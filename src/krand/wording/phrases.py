"""Numbers and promises in words, shared by tables and pages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from krand.showing import at_most, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from krand.accounting.curator import Curator
    from krand.analysis.estimates.values import MeanEstimate
    from krand.promise import Guarantee, NoisePlan, Policy, Precision
    from krand.survey.plan import Plan, Promise, WorstShift

__all__ = [
    "EVENLY",
    "MARGIN",
    "against_curator",
    "at_most",
    "factor",
    "gap",
    "half_width",
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


MARGIN = "typical margin of error (95 %)"
"""The half-width of a count's 95 % confidence interval, as noise alone makes it."""

EVENLY = "estimates assume that values are spread evenly within each range; intervals do not"
"""What estimated quantiles and means assume where a range holds several values."""


def open_mean(mean: MeanEstimate) -> str:
    """Why a mean cannot be estimated, and its known bound if there is one."""
    cannot = "the mean cannot be estimated: the"
    if mean.low is None and mean.high is None:
        return f"{cannot} lowest and top ranges are open-ended"
    if mean.high is None:
        return f"{cannot} top range is open-ended; the mean is at least {mean.low:,.4g}"
    return f"{cannot} lowest range is open-ended; the mean is at most {mean.high:,.4g}"


def refused_messages(
    plan: Plan,
    promise: Promise,
    rejected: Mapping[str, int],
    shown: Callable[[float], str] = at_most,
) -> str:
    """What refused messages mean for the promise: how many the plan allowed for, and δ now."""
    many, policy = sum(rejected.values()), plan.survey.policy
    reasons = ", ".join(f"{count:,} {why.replace('_', ' ')}" for why, count in rejected.items())
    if policy.delta is not None:
        name, now, asked = "δ", promise.delta, policy.delta
    else:
        name, now, asked = "η", promise.eta, policy.eta or 0.0
    were = "message was" if many == 1 else "messages were"
    return (
        f"{many:,} {were} refused ({reasons}) and not counted. {_senders(many, plan.messages)} may"
        f" not help to hide anybody. The promise allowed for {_such_people(policy.colluding)}; in"
        f" the worst case there are now {promise.colluding:,} among {promise.crowd:,}, so"
        f" {name} is {shown(now)}. The survey promised {shown(asked)}."
    )


def _senders(many: int, each: int) -> str:
    """Who may have sent this many messages, if each person sends `each`."""
    least = -(-many // each)
    if many == 1:
        return "Whoever sent it"
    return f"The {'' if least == many else f'{least:,} to '}{many:,} people who sent them"


def _such_people(count: int) -> str:
    many = f"{count:,}" if count else "no"
    return f"{many} such {'person' if count == 1 else 'people'}"


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
    """typical margin of error (95 %) ± 28 people (0.00028 %)."""
    return f"{MARGIN} {people(precision)} ({percent(precision.half_width_percent)})"


def promise(policy: Policy, guarantee: Guarantee) -> str:
    """The promise as a sentence."""
    ratio = factor(policy.epsilon)
    subject = "Changing one person's answers changes the probability of"
    if policy.delta is not None:
        return (
            f"{subject} anything the analyst can see by a factor of at most {ratio}, plus at most"
            f" δ = {at_most(policy.delta)}."
        )
    assert policy.eta is not None
    return (
        f"{subject} what the analyst sees by a factor of at most {ratio}, except with probability"
        f" η = {at_most(policy.eta)}."
    )


def factor(epsilon: float) -> str:
    """2.72 (ε = 1): e^ε, rounded up."""
    return f"{at_most(math.exp(epsilon), 3)} (ε = {at_most(epsilon)})"


def liars_can(shifts: Sequence[WorstShift]) -> str:
    """The most that dishonest clients can do, known before anybody is asked."""
    return _liars(shifts, "can raise", "lower")


def liars_could_have(shifts: Sequence[WorstShift]) -> str:
    """The same for a crowd that has been counted."""
    return _liars(shifts, "could have raised", "lowered")


def _liars(shifts: Sequence[WorstShift], raised: str, lowered: str) -> str:
    worst = max(shifts, key=lambda shift: shift.too_high)
    many = worst.corrupted
    who = "One dishonest client" if many == 1 else f"{many:,} dishonest clients together"
    return (
        f"{who} {raised} the count of an answer by at most {whole_people(worst.too_high)}"
        f" ({worst.name}), or {lowered} a count by at most {math.ceil(worst.too_low):,}."
    )


def whole_people(bound: float) -> str:
    """A bound in people, rounded up."""
    most = math.ceil(bound)
    return "1 person" if most == 1 else f"{most:,} people"


def against_curator(plan: NoisePlan, curator: Curator) -> str:
    """The σ of a curator who is trusted with the raw answers, and how krand compares."""
    return (
        f"a trusted curator ({curator.noise} noise) would reach"
        f" σ = {number(curator.sigma)}; {gap(plan, curator)}"
    )


def gap(plan: NoisePlan, curator: Curator) -> str:
    """krand's σ compared with the curator's."""
    ratio = plan.precision.sigma / curator.sigma
    if ratio >= 2:
        return f"krand's σ is {number(ratio, 3)} times as large"
    if ratio >= 1:
        return f"krand's σ is {percent(100 * (ratio - 1))} higher"
    return f"krand's σ is {percent(100 * (1 - ratio))} lower"
