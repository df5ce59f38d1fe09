"""Numbers, promises and conditions in words, shared by tables and pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from krand.wording.number_format import with_unit
from krand.wording.plan_texts import PLANS
from krand.wording.texts import SPOKEN, Texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from krand.accounting.baselines import Curator
    from krand.analysis.estimates.values import AskedEstimate, MeanEstimate, Summary
    from krand.promise import NoisePlan, Precision
    from krand.survey.plan import WorstShift


EVENLY = SPOKEN.phrases.evenly
"""What estimated quantiles and means assume where a range holds several values."""


def whole(value: int) -> str:
    """1,234, as the language that is spoken writes it."""
    return SPOKEN.numbers.whole(value)


def number(value: float, digits: int = 4) -> str:
    """12,726, 0.3509, 2.09×10⁻⁵."""
    return SPOKEN.numbers.number(value, digits)


def at_most(value: float, digits: int = 4) -> str:
    """A proven bound, rounded up."""
    return SPOKEN.numbers.at_most(value, digits)


def open_mean(mean: MeanEstimate, texts: Texts = SPOKEN, unit: str = "") -> str:
    """Why a mean cannot be estimated, and its known bound if there is one."""
    own, numbers = texts.phrases, texts.numbers
    if mean.high is not None:
        return own.open_below.format(bound=with_unit(numbers.written(mean.high, ",.4g"), unit))
    if mean.low is not None:
        return own.open_above.format(bound=with_unit(numbers.written(mean.low, ",.4g"), unit))
    return own.open_both


def reasons_text(rejected: Mapping[str, int], texts: Texts) -> str:
    """How many were refused for which reason; a reason without words is told by its code."""
    own, whole = texts.phrases, texts.numbers.whole
    return ", ".join(
        own.reason.format(number=whole(count), why=own.reasons.get(why, why.replace("_", " ")))
        for why, count in rejected.items()
    )


def listed(names: Sequence[str], last_two: str) -> str:
    """The names with commas, and a word before the last."""
    *others, last = names
    return last_two.format(first=", ".join(others), last=last) if others else last


def percent(value: float, texts: Texts = SPOKEN) -> str:
    """Two significant digits without an exponent: 0.00028 %."""
    return texts.numbers.short_percent(value)


def some_people(width: float, texts: Texts = SPOKEN) -> str:
    """How many people, with no more digits than mean something: 28, 2.8."""
    numbers = texts.numbers
    return numbers.written(width, ",.0f") if width >= 10 else numbers.number(width, 2)


def between(least: float, most: float) -> str:
    """Half-widths of several questions: 28, or 28 to 41."""
    best, worst = some_people(least), some_people(most)
    return best if best == worst else PLANS.between.format(best=best, worst=worst)


def people(precision: Precision) -> str:
    """± 28 people."""
    return PLANS.people.format(number=some_people(precision.half_width_95))


def half_width(precision: Precision) -> str:
    """typical margin of error (95 %) ± 28 people (0.00028 %)."""
    return PLANS.half_width.format(
        margin=PLANS.margin,
        people=people(precision),
        percent=percent(precision.half_width_percent),
    )


def dishonest_can(shifts: Sequence[WorstShift]) -> str:
    """The most that dishonest people can do, known before anybody is asked."""
    return _dishonest(shifts, PLANS.dishonest_can)


def dishonest_could_have(shifts: Sequence[WorstShift]) -> str:
    """The same for a crowd that has been counted."""
    return _dishonest(shifts, PLANS.dishonest_could_have)


def _dishonest(shifts: Sequence[WorstShift], said: str) -> str:
    worst = max(shifts, key=lambda shift: shift.too_high)
    return said.format(
        high=whole_people(worst.too_high),
        low=whole(math.ceil(worst.too_low)),
        name=worst.name,
    )


def whole_people(bound: float) -> str:
    """A bound in people, rounded up."""
    most = math.ceil(bound)
    return PLANS.whole_people.of(most).format(number=whole(most))


def against_curator(plan: NoisePlan, curator: Curator) -> str:
    """The σ of a curator who is trusted with the raw answers, and how krand compares."""
    return PLANS.against_curator.format(
        noise=curator.noise,
        sigma=number(curator.sigma),
        gap=gap(plan.precision.sigma, curator.sigma),
    )


def gap(own: float, curator: float) -> str:
    """krand's σ compared with the curator's."""
    ratio = own / curator
    if ratio >= 2:
        return PLANS.times_as_large.format(ratio=number(ratio, 3))
    if ratio >= 1:
        return PLANS.higher.format(percent=percent(100 * (ratio - 1)))
    return PLANS.lower.format(percent=percent(100 * (1 - ratio)))


def summary_name(summary: Summary, texts: Texts = SPOKEN) -> str:
    """What the number is: "mean", or "top box, 4 and 5"."""
    own = texts.summaries
    name = own.names.get(summary.statistic, summary.statistic.value.replace("_", " "))
    if not summary.statistic.is_share:
        return name
    first, last = summary.answers[0], summary.answers[-1]
    between = own.two if len(summary.answers) == 2 else own.several
    answers = first if first == last else between.format(first=first, last=last)
    return own.box.format(name=name, answers=answers)


def summary_text(summary: Summary, texts: Texts = SPOKEN) -> str:
    """The number with its interval: "mean 3.62 (3.55 to 3.69)"."""
    own, numbers, name = texts.summaries, texts.numbers, summary_name(summary, texts)
    times = 100 if summary.statistic.is_share else 1
    ends = (times * summary.interval.low, times * summary.interval.high)
    digits = numbers.decimals(*ends)
    value, low, high = (numbers.rounded(end, digits) for end in (times * summary.value, *ends))
    if not summary.statistic.is_share:
        return own.value.format(name=name, value=value, low=low, high=high)
    return own.share.format(name=name, value=numbers.with_percent(value), low=low, high=high)


def condition_text(gate: str, answers: Sequence[str], texts: Texts = SPOKEN) -> str:
    """Whom a question was asked."""
    own = texts.asked
    named = listed([own.answer.format(answer=answer) for answer in answers], own.either)
    return own.condition.format(question=gate, answers=named)


def asked_texts(found: AskedEstimate | None, texts: Texts = SPOKEN) -> Iterator[str]:
    """How many were asked or answered, and why no share of them is given, if none is."""
    own, numbers = texts.asked, texts.numbers
    if found is None:
        yield own.unknown
        return
    low, high = found.interval.low, found.interval.high
    yield own.people[found.base].format(
        people=numbers.count(found.consistent), low=numbers.count(low), high=numbers.count(high)
    )
    if found.withheld:
        yield own.withheld[found.base]
