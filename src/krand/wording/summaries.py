"""A question in one number, in words: its mean, or the share of some of its answers."""

from __future__ import annotations

from krand.analysis.estimates.values import Summary

__all__ = ["summary_name", "summary_text"]


def summary_name(summary: Summary) -> str:
    """What the number is: "mean", or "top box, 4 and 5"."""
    name = summary.statistic.value.replace("_", " ")
    if not summary.statistic.is_share:
        return name
    first, last = summary.answers[0], summary.answers[-1]
    answers = first if first == last else f"{first} {_between(summary)} {last}"
    return f"{name}, {answers}"


def _between(summary: Summary) -> str:
    return "and" if len(summary.answers) == 2 else "to"


def summary_text(summary: Summary) -> str:
    """The number with its interval: "mean 3.62 (3.55 to 3.69)"."""
    low, high = summary.interval.low, summary.interval.high
    if not summary.statistic.is_share:
        return f"{summary_name(summary)} {summary.value:,.4g} ({low:,.4g} to {high:,.4g})"
    return (
        f"{summary_name(summary)}: {100 * summary.value:.1f} %"
        f" ({100 * low:.1f} to {100 * high:.1f}) of those who answered"
    )
