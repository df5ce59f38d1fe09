"""A question in one number, in words: its mean, or the share of some of its answers."""

from __future__ import annotations

from krand.analysis.estimates.values import Summary
from krand.wording.texts import ENGLISH, Texts

__all__ = ["summary_name", "summary_text"]


def summary_name(summary: Summary, texts: Texts = ENGLISH) -> str:
    """What the number is: "mean", or "top box, 4 and 5"."""
    own = texts.summaries
    name = own.names.get(summary.statistic, summary.statistic.value.replace("_", " "))
    if not summary.statistic.is_share:
        return name
    first, last = summary.answers[0], summary.answers[-1]
    between = own.two if len(summary.answers) == 2 else own.several
    answers = first if first == last else between.format(first=first, last=last)
    return own.box.format(name=name, answers=answers)


def summary_text(summary: Summary, texts: Texts = ENGLISH) -> str:
    """The number with its interval: "mean 3.62 (3.55 to 3.69)"."""
    own, numbers, name = texts.summaries, texts.numbers, summary_name(summary, texts)
    times = 100 if summary.statistic.is_share else 1
    ends = (times * summary.interval.low, times * summary.interval.high)
    digits = numbers.decimals(*ends)
    value, low, high = (numbers.rounded(end, digits) for end in (times * summary.value, *ends))
    if not summary.statistic.is_share:
        return own.value.format(name=name, value=value, low=low, high=high)
    return own.share.format(name=name, value=numbers.with_percent(value), low=low, high=high)
