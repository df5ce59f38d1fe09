"""Every question of a survey, estimated.

A question alone is a block of its own; a question of a group is a margin: its answers are sums
over cells, and so is their variance. `words` are not answered here: they are hashed, and need
candidates to be decoded against.
"""

from __future__ import annotations

import math

import numpy as np

from krand.analysis.estimates.counted import BlockCounts, block_counts
from krand.analysis.estimates.distributions import Bins, distribution_of
from krand.analysis.estimates.intervals import check_confidence, limits, normal_quantile
from krand.analysis.estimates.inversion import Floats, NoiseModel
from krand.analysis.estimates.rows import EstimateOptions, answer_rows, unanswered_row
from krand.analysis.estimates.values import Interval, PicksEstimate, QuestionEstimate
from krand.analysis.tally import Counts, Tally
from krand.errors import InvalidInput
from krand.survey.decoding import UNANSWERED
from krand.survey.plan import Plan
from krand.survey.questions import Kind, Leveled, Number, PickAny, YesNo

__all__ = ["estimate_question", "estimate_questions"]


def estimate_questions(
    plan: Plan, tally: Tally, wanted: EstimateOptions | None = None
) -> tuple[QuestionEstimate, ...]:
    """All questions but `words`, in the order of the survey."""
    wanted = _checked(wanted)
    found = {
        estimate.name: estimate
        for counts in block_counts(plan, tally)
        for estimate in _of_block(counts, wanted)
    }
    return tuple(found[q.name] for q in plan.survey.questions if q.name in found)


def estimate_question(
    plan: Plan, tally: Tally, name: str, wanted: EstimateOptions | None = None
) -> QuestionEstimate:
    """One question, by its name."""
    wanted, block = _checked(wanted), plan.layout.block_of(name)
    if block.kind is Kind.WORDS:
        hint = "decode words against a list of candidates"
        raise InvalidInput("question", "must not be of type words", name, hint)
    (counts,) = (c for c in block_counts(plan, tally) if c.block.offset == block.offset)
    (found,) = (e for e in _of_block(counts, wanted) if e.name == name)
    return found


def _checked(wanted: EstimateOptions | None) -> EstimateOptions:
    wanted = EstimateOptions() if wanted is None else wanted
    check_confidence(wanted.confidence)
    for level in wanted.quantiles:
        if not 0 < level < 1:
            rule = "must be between 0 and 1, both excluded"
            raise InvalidInput("quantile", rule, level, "0.5 is the median")
    return wanted


def _of_block(counts: BlockCounts, wanted: EstimateOptions) -> list[QuestionEstimate]:
    block = counts.block
    if block.kind is Kind.WORDS:
        return []
    consistent = counts.consistent()
    if block.kind is Kind.TOGETHER:
        return [
            _leveled(
                question,
                np.asarray(counts.margin(counts.ones, place), dtype=np.int64),
                np.asarray(counts.margin(consistent, place), dtype=np.float64),
                counts.margin_law(place),
                wanted,
            )
            for place, question in enumerate(block.levels)
        ]
    (question,) = block.questions
    if isinstance(question, PickAny):
        return [_picks(question, counts, consistent, wanted)]
    (leveled,) = block.levels
    return [_leveled(leveled, counts.ones, consistent, counts.law, wanted)]


def _leveled(
    question: Leveled, ones: Counts, consistent: Floats, law: NoiseModel, wanted: EstimateOptions
) -> QuestionEstimate:
    """One answer of several. A yes_no alone counts yes only: no and silence look the same."""
    labels = [question.level_name(level) for level in range(len(ones))]
    yes_only = isinstance(question, YesNo) and len(ones) == 1
    together = len(ones) + (not yes_only)
    rows = answer_rows(labels, ones, consistent, law, wanted, together)
    silent = (
        None if yes_only else unanswered_row(UNANSWERED, ones, consistent, law, wanted, together)
    )
    spread = None
    if isinstance(question, Number):
        sampled = 0.0 if wanted.sampling is None else wanted.sampling.correction(law.people)
        bins = Bins(question, law.estimate(ones), consistent, law.sigma**2 + sampled * consistent)
        spread = distribution_of(bins, wanted.confidence, wanted.quantiles)
    return QuestionEstimate(
        question.name,
        question.kind,
        law.people,
        wanted.confidence,
        wanted.sampling,
        rows,
        silent,
        spread,
    )


def _picks(
    question: PickAny, counts: BlockCounts, consistent: Floats, wanted: EstimateOptions
) -> QuestionEstimate:
    law, ones = counts.law, counts.ones
    rows = answer_rows(question.choices, ones, consistent, law, wanted, len(ones))
    return QuestionEstimate(
        question.name,
        question.kind,
        law.people,
        wanted.confidence,
        wanted.sampling,
        rows,
        None,
        picks=_picks_each(law.summed(len(ones), question.most_ones), ones, consistent, wanted),
    )


def _picks_each(
    law: NoiseModel, ones: Counts, consistent: Floats, wanted: EstimateOptions
) -> PicksEstimate:
    """The mean number of picks of a person.

    How picks vary from person to person cannot be told from counts of single items. If the crowd
    is a sample, the most is assumed that their mean μ allows: μ(m-μ) (Bhatia and Davis).
    """
    people, total = law.people, np.array([ones.sum()])
    value, error = float(law.estimate(total)[0]) / people, law.sigma / people
    low, high = (float(end[0]) / people for end in limits(law, total, wanted.confidence))
    if wanted.sampling is not None:
        mean = min(max(value, 0.0), law.most)
        sampled = wanted.sampling.factor(people) * mean * (law.most - mean)
        half = normal_quantile(wanted.confidence) * math.sqrt(error**2 + sampled)
        low, high = max(0.0, mean - half), min(float(law.most), mean + half)
    shown = float(consistent.sum()) / people
    return PicksEstimate(value, shown, error, Interval(low, high).containing(shown))
