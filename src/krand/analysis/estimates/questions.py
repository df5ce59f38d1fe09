"""Every question of a survey, estimated.

A question alone is a block of its own; a question of a group is a margin: its answers are sums
over cells, and so is their variance. A question of several groups is estimated from the group in
which its margin is most precise (`Plan.block_of`). `words` are not answered here: they are hashed,
and need candidates to be decoded against.

Every question is a row for each answer. What its kind has beyond that is added: a distribution, a
mean, picks; of a scale the mean, top box and bottom box among those who answered. How many answered
is itself estimated, so these are ratios with Fieller's interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from krand.analysis.estimates.counted import BlockCounts, block_counts
from krand.analysis.estimates.distributions import Bins, distribution_of
from krand.analysis.estimates.intervals import check_confidence, quantile_of
from krand.analysis.estimates.ratios import weighted_limits
from krand.analysis.estimates.rows import EstimateOptions, answer_rows, unanswered_row
from krand.analysis.estimates.values import (
    Interval,
    PicksEstimate,
    QuestionEstimate,
    Row,
    Statistic,
    Summary,
)
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.analysis.tally import Counts, Tally
from krand.errors import InvalidInput
from krand.survey.encoding import UNANSWERED
from krand.survey.plan import Plan
from krand.survey.questions import Kind, Leveled, Number, PickAny, Question, Scale, Words, YesNo


def scale_summaries(
    question: Scale, counts: Floats, consistent: Floats, variances: Floats, z: float
) -> tuple[Summary, ...]:
    """Mean and both boxes, z deviations each way, from independent counts; none without answers."""
    if consistent.sum() <= 0:
        return ()
    bottom, top = question.boxes
    parts = {
        Statistic.MEAN: range(question.levels),
        Statistic.TOP_BOX: top,
        Statistic.BOTTOM_BOX: bottom,
    }
    return tuple(
        Summary(
            statistic=statistic,
            answers=tuple(question.level_name(level) for level in levels),
            value=(value := float(weight @ consistent / consistent.sum())),
            unadjusted=_ratio(weight, counts),
            interval=_interval(weight, counts, variances, z).containing(value),
        )
        for statistic, levels in parts.items()
        for weight in [_weights(question, statistic, levels)]
    )


def _weights(question: Scale, statistic: Statistic, levels: range) -> Floats:
    """What an answer of each level adds: its value to a mean, 1 to a box that it is in."""
    every = np.arange(question.levels, dtype=np.float64)
    return (
        np.isin(every, levels).astype(np.float64) if statistic.is_share else every + question.lowest
    )


def _ratio(weights: Floats, counts: Floats) -> float | None:
    answered = float(counts.sum())
    return float(weights @ counts) / answered if answered > 0 else None


def _interval(weights: Floats, counts: Floats, variances: Floats, z: float) -> Interval:
    """A mean cannot lie outside its values, however large the noise."""
    limits = Interval(*weighted_limits(weights, counts, variances, z))
    return limits.within(float(weights.min()), float(weights.max()))


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Those who gave no answer, where they are counted like an answer."""

    ones: int
    consistent: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnswerCounts:
    """The counts of every answer to one question, alone or as the margin of a group."""

    ones: Counts
    consistent: Floats
    law: CountModel
    """Of the count of one answer."""
    unanswered: Unanswered | None = None
    """None where it is what all answers leave."""

    @property
    def estimate(self) -> Floats:
        """Unbiased."""
        return self.law.estimate(self.ones)

    def variances(self, options: EstimateOptions) -> Floats:
        """By noise, and by sampling where the crowd is a sample."""
        sampled = 0.0 if options.sampling is None else options.sampling.correction(self.law.people)
        return self.law.sigma**2 + sampled * self.consistent


@singledispatch
def estimate_kind(
    question: Question, counts: AnswerCounts, options: EstimateOptions
) -> QuestionEstimate:
    """A question of any kind but words."""
    raise NotImplementedError(f"no estimator for questions of type {question.kind}")


@estimate_kind.register
def _(question: Words, counts: AnswerCounts, options: EstimateOptions) -> QuestionEstimate:
    hint = "decode words against a list of candidates"
    raise InvalidInput("question", "must not be of type words", question.name, hint)


@estimate_kind.register
def _leveled(question: Leveled, counts: AnswerCounts, options: EstimateOptions) -> QuestionEstimate:
    """One answer of several, or none: choice, and where scale and number begin."""
    ones, consistent, law = counts.ones, counts.consistent, counts.law
    together, none = len(ones) + 1, counts.unanswered
    rows = answer_rows(_labels(question, counts), ones, consistent, law, options, together)
    if none is None:
        unanswered = unanswered_row(UNANSWERED, ones, consistent, law, options, together)
    else:
        own, fitted = np.array([none.ones]), np.array([none.consistent])
        (unanswered,) = answer_rows([UNANSWERED], own, fitted, law, options, together)
    return _estimate(question, counts, options, rows, unanswered)


@estimate_kind.register
def _(question: YesNo, counts: AnswerCounts, options: EstimateOptions) -> QuestionEstimate:
    """Alone a yes_no counts yes only: "no" and "no answer" cannot be told apart."""
    if len(counts.ones) > 1:
        return _leveled(question, counts, options)
    labels = _labels(question, counts)
    rows = answer_rows(labels, counts.ones, counts.consistent, counts.law, options, 1)
    return _estimate(question, counts, options, rows, None)


@estimate_kind.register
def _(question: Number, counts: AnswerCounts, options: EstimateOptions) -> QuestionEstimate:
    bins = Bins(
        question=question,
        counts=counts.estimate,
        consistent=counts.consistent,
        variances=counts.variances(options),
        law=counts.law,
    )
    spread = distribution_of(bins, options.confidence, options.quantiles)
    return replace(_leveled(question, counts, options), distribution=spread)


@estimate_kind.register
def _(question: Scale, counts: AnswerCounts, options: EstimateOptions) -> QuestionEstimate:
    z = quantile_of(counts.law, options.confidence)
    summaries = scale_summaries(
        question, counts.estimate, counts.consistent, counts.variances(options), z
    )
    return replace(_leveled(question, counts, options), summaries=summaries)


@estimate_kind.register
def _(question: PickAny, counts: AnswerCounts, options: EstimateOptions) -> QuestionEstimate:
    ones, consistent, law = counts.ones, counts.consistent, counts.law
    rows = answer_rows(question.choices, ones, consistent, law, options, len(ones))
    picks = _picks_each(law.summed(len(ones), question.most_ones), ones, consistent, options)
    return replace(_estimate(question, counts, options, rows, None), picks=picks)


def _labels(question: Leveled, counts: AnswerCounts) -> list[str]:
    return [question.level_name(level) for level in range(len(counts.ones))]


def _estimate(
    question: Question,
    counts: AnswerCounts,
    options: EstimateOptions,
    rows: tuple[Row, ...],
    unanswered: Row | None,
) -> QuestionEstimate:
    return QuestionEstimate(
        name=question.name,
        kind=question.kind,
        people=counts.law.people,
        confidence=options.confidence,
        sampling=options.sampling,
        rows=rows,
        unanswered=unanswered,
    )


def _picks_each(
    law: CountModel, ones: Counts, consistent: Floats, options: EstimateOptions
) -> PicksEstimate:
    """The mean number of picks of a person.

    How picks vary from person to person cannot be told from counts of single items. If the crowd
    is a sample, the most is assumed that their mean μ allows: μ(m-μ) (Bhatia and Davis).
    """
    people, total = law.people, np.array([ones.sum()])
    value, error = float(law.estimate(total)[0]) / people, law.sigma / people
    low, high = (float(end[0]) / people for end in law.limits(total, options.confidence))
    if options.sampling is not None:
        mean = min(max(value, 0.0), law.most)
        sampled = options.sampling.factor(people) * mean * (law.most - mean)
        half = quantile_of(law, options.confidence) * math.sqrt(error**2 + sampled)
        low, high = max(0.0, mean - half), min(float(law.most), mean + half)
    shown = float(consistent.sum()) / people
    return PicksEstimate(value, shown, error, Interval(low, high).containing(shown))


def estimate_questions(
    plan: Plan, tally: Tally, options: EstimateOptions | None = None
) -> tuple[QuestionEstimate, ...]:
    """All questions but `words`, in the order of the survey."""
    options = checked_options(options)
    asked = [q.name for q in plan.survey.questions if q.kind is not Kind.WORDS]
    blocks = {counts.block.offset: counts for counts in block_counts(plan, tally)}
    used = {name: plan.block_of(name).offset for name in asked}
    found = {
        (offset, estimate.name): estimate
        for offset in dict.fromkeys(used.values())
        for estimate in _of_block(blocks[offset], options)
    }
    return tuple(found[used[name], name] for name in asked)


def estimate_question(
    plan: Plan, tally: Tally, name: str, options: EstimateOptions | None = None
) -> QuestionEstimate:
    """One question, by its name."""
    options, block = checked_options(options), plan.block_of(name)
    (counts,) = (c for c in block_counts(plan, tally) if c.block.offset == block.offset)
    (found,) = (e for e in _of_block(counts, options) if e.name == name)
    return found


def checked_options(options: EstimateOptions | None) -> EstimateOptions:
    """The options, or the usual ones; what makes no sense is refused."""
    options = EstimateOptions() if options is None else options
    check_confidence(options.confidence)
    for level in options.quantiles:
        if not 0 < level < 1:
            rule = "must be between 0 and 1, both excluded"
            raise InvalidInput("quantile", rule, level, "0.5 is the median")
    return options


def _of_block(counts: BlockCounts, options: EstimateOptions) -> Iterator[QuestionEstimate]:
    consistent = counts.consistent()
    for question in counts.block.questions:
        yield estimate_kind(question, answer_counts(counts, question.name, consistent), options)


def answer_counts(
    counts: BlockCounts, question: str, consistent: Floats | None = None
) -> AnswerCounts:
    """The answers to one question of a block: its positions, or a margin of a group."""
    block, cells = counts.block, counts.cells
    fitted = counts.consistent() if consistent is None else consistent
    if block.kind is not Kind.TOGETHER:
        return _answers(counts, cells, fitted, counts.law)
    place = block.question_names.index(question)
    ones = np.asarray(counts.margin(cells, place), dtype=np.int64)
    margin = np.asarray(counts.margin(fitted, place), dtype=np.float64)
    return _answers(counts, ones, margin, counts.margin_law(place))


def _answers(
    counts: BlockCounts, cells: Counts, consistent: Floats, law: CountModel
) -> AnswerCounts:
    """The answers to one question, and first no answer: counted itself, or what they leave."""
    none = None if counts.nulls is None else Unanswered(int(cells[0]), float(consistent[0]))
    return AnswerCounts(ones=cells[1:], consistent=consistent[1:], law=law, unanswered=none)
