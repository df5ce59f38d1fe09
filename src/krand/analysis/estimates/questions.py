"""Every question of a survey, estimated.

A question alone is a block of its own; a question of a group is a margin: its answers are sums
over cells, and so is their variance. A question of several groups is estimated from the group in
which its margin is most precise (`Plan.block_of`). `words` are not answered here: they are hashed,
and need candidates to be decoded against.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from krand.analysis.estimates.counted import BlockCounts, block_counts
from krand.analysis.estimates.intervals import check_confidence
from krand.analysis.estimates.kinds import AnswerCounts, Unanswered, estimate_kind
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.values import QuestionEstimate
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.analysis.tally import Counts, Tally
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.survey.questions import Kind


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
