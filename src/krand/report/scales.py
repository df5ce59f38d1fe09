"""A scale in one line: how many are at each end and between; the mean, and what the ends mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from krand.analysis.estimates.values import QuestionEstimate, Statistic, Summary
from krand.promise import READABLE
from krand.report.answers import share_ends
from krand.report.languages import Language
from krand.survey.questions import Question, Scale
from krand.wording.phrases import listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Values of a scale that belong together, among those who answered."""

    share: str
    name: str
    """dissatisfied."""
    values: str = ""
    """1–2."""
    interval: str
    """Empty for the values between both ends, of which none is computed."""
    part: float
    tone: str
    readable: bool = True


def boxes_of(
    question: Question | None, estimate: QuestionEstimate | None, language: Language
) -> tuple[Box, ...]:
    """The lowest values, those between, and the highest ones; none if it is no scale."""
    known = {} if estimate is None else {each.statistic: each for each in estimate.summaries}
    low, high = known.get(Statistic.BOTTOM_BOX), known.get(Statistic.TOP_BOX)
    if not isinstance(question, Scale) or low is None or high is None:
        return ()
    bottom, top = question.boxes
    between = range(bottom.stop, top.start)
    numbers = language.numbers
    intervals = low.interval, high.interval
    digits = max(numbers.decimals(100 * each.low, 100 * each.high) for each in intervals)

    def box(levels: range, value: float, tone: str, found: Summary | None = None) -> Box:
        ends = None if found is None else found.interval
        return Box(
            share=numbers.with_percent(numbers.share(value, digits)),
            name=_meaning(question, levels, language),
            values=_values(question, levels, language),
            interval="" if ends is None else share_ends(ends.low, ends.high, digits, language),
            part=round(100 * value, 2),
            tone=tone,
            readable=ends is None or (ends.high - ends.low) / 2 <= READABLE,
        )

    middle = [box(between, max(0.0, 1 - low.value - high.value), "mid")] if between else []
    return (
        box(bottom, low.value, "low-strong", low),
        *middle,
        box(top, high.value, "high-strong", high),
    )


def _values(question: Scale, levels: range, language: Language) -> str:
    first, last = (language.numbers.edge(question.lowest + at) for at in (levels[0], levels[-1]))
    return first if first == last else f"{first}–{last}"


def _meaning(question: Scale, levels: range, language: Language) -> str:
    own, labels = language.texts.scales, question.labels
    if len(labels) == question.levels:
        return listed([labels[level] for level in levels], language.shared.asked.either)
    if not labels:
        return _values(question, levels, language)
    if levels[0] == 0:
        return _milder(labels[0], levels, own.very)
    if levels[-1] == question.levels - 1:
        return _milder(labels[-1], levels, own.very)
    return own.neither if len(levels) == 1 else own.between


def _milder(label: str, levels: range, very: str) -> str:
    """Of an end that several values are: "satisfied" if the last one is "very satisfied"."""
    strong = len(levels) > 1 and label.casefold().startswith(f"{very.casefold()} ")
    return label[len(very) + 1 :] if strong else label


def mean_text(
    question: Question | None, estimate: QuestionEstimate | None, language: Language
) -> str:
    """Of those who answered: the mean, and what the ends of the scale mean."""
    known: Sequence[Summary] = () if estimate is None else estimate.summaries
    mean = next((each for each in known if each.statistic is Statistic.MEAN), None)
    if mean is None or not isinstance(question, Scale):
        return ""
    numbers, low, high = language.numbers, mean.interval.low, mean.interval.high
    value, least, most = (
        numbers.rounded(each, numbers.decimals(low, high)) for each in (mean.value, low, high)
    )
    first, last = ends_of(question)
    return language.texts.scales.mean.format(
        value=value, low=least, high=most, first=first, last=last
    )


def ends_of(question: Question | None) -> tuple[str, ...]:
    """The lowest and the highest value with their labels; none if it is no scale."""
    if not isinstance(question, Scale):
        return ()
    return question.level_name(0), question.level_name(question.levels - 1)
