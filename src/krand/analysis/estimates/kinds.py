"""How each kind of question is estimated from its counts, found by the class of the question.

Every question is a row for each answer. What a kind has beyond that is added here: a distribution,
a mean, boxes, picks. `words` are not estimated here: they need candidates to be decoded against.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from krand.analysis.estimates.distributions import Bins, distribution_of
from krand.analysis.estimates.intervals import quantile_of
from krand.analysis.estimates.rows import EstimateOptions, answer_rows, unanswered_row
from krand.analysis.estimates.scales import scale_summaries
from krand.analysis.estimates.values import Interval, PicksEstimate, QuestionEstimate, Row
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.analysis.tally import Counts
from krand.errors import InvalidInput
from krand.survey.encoding import UNANSWERED
from krand.survey.questions import Leveled, Number, PickAny, Question, Scale, Words, YesNo


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
