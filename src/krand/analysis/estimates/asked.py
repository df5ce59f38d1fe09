"""Shares of those who were asked, for questions with a condition.

How many were asked is a count too: of the answers to the gate that the condition names. A share is
a ratio of two estimates, with Fieller's interval. Where both questions are in one group, cells of
their joint table are counted: top and bottom have cells in common. Otherwise they lie in different
blocks, and their noise is independent.

That count exists if everybody gives the gate one answer and each answer is counted, or if one item
of a list is named. Elsewhere the share is of those who answered, if these are counted. Where nobody
may have been asked, as far as the noise tells, every share is possible, and none is given.

Simulated for flips with a variance of 2 and more, and for dummies, from gates that nobody passes to
those that many do: in at most 5 % of surveys a 95 % interval is given and misses. For this
Fieller's interval has half a one more on both sides, because ones are whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.counted import BlockCounts, block_counts
from krand.analysis.estimates.intervals import ratio_quantile
from krand.analysis.estimates.questions import answer_counts, checked_options
from krand.analysis.estimates.ratios import ratio_limits
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.values import AskedEstimate, AskedShare, Base, Interval
from krand.analysis.mechanisms.models import CountModel, Counts, Floats
from krand.analysis.tally import Tally
from krand.planning.margins import answers_counted, counts_asked, gate_of
from krand.promise import READABLE
from krand.survey.encoding import UNANSWERED
from krand.survey.plan import Plan, PlannedBlock
from krand.survey.questions import Kind, Leveled, PickAny, Question


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Ratios:
    """Counts of answers, those that they are shares of, and how their errors go together."""

    base: Base
    has_silence: bool
    """Whether the last of them is no answer."""
    tops: Floats
    fitted: Floats
    """The same by the consistent counts."""
    variances: Floats
    covariances: Floats
    """Of each top with the bottom."""
    bottom: float
    bottom_fitted: float
    bottom_variance: float
    limits: tuple[float, float]
    """For the bottom, in people."""
    laws: tuple[CountModel, ...]


def estimate_asked(
    plan: Plan, tally: Tally, options: EstimateOptions | None = None
) -> tuple[AskedEstimate, ...]:
    """Every question with a condition whose shares have something to be shares of."""
    options = checked_options(options)
    conditional = [q for q in plan.survey.questions if q.asked_if and q.kind is not Kind.WORDS]
    if not conditional:
        return ()
    blocks = {counts.block.offset: counts for counts in block_counts(plan, tally)}
    found = ((q, _ratios(plan, q, blocks, options)) for q in conditional)
    return tuple(_estimate(q, ratios, options) for q, ratios in found if ratios is not None)


def base_of(plan: Plan, question: Question) -> Base | None:
    """What shares of a question with a condition are shares of; None where nothing is counted."""
    if counts_asked(plan, question):
        return Base.ASKED
    return Base.ANSWERED if _all_counted(plan, question) else None


def _all_counted(plan: Plan, question: Question) -> bool:
    return isinstance(question, Leveled) and answers_counted(plan, question) == question.levels


def _ratios(
    plan: Plan,
    question: Question,
    blocks: Mapping[int, BlockCounts],
    options: EstimateOptions,
) -> _Ratios | None:
    base = base_of(plan, question)
    if base is None:
        return None
    if base is Base.ANSWERED:
        return _of_answered(plan, question, blocks, options)
    gate = gate_of(plan, question)
    shared = _shared_block(plan, gate, question)
    if shared is None:
        return _of_two_blocks(plan, gate, question, blocks, options)
    assert isinstance(gate, Leveled)
    assert isinstance(question, Leveled)  # others are in no group
    return _of_one_block(gate, question, blocks[shared.offset], options)


def _shared_block(plan: Plan, gate: Question, question: Question) -> PlannedBlock | None:
    """The block that has both, if the more precise block of one of them does."""
    candidates = (plan.block_of(name) for name in (gate.name, question.name))
    names = {gate.name, question.name}
    return next((each for each in candidates if names <= {*each.block.question_names}), None)


def _of_two_blocks(
    plan: Plan,
    gate: Question,
    question: Question,
    blocks: Mapping[int, BlockCounts],
    options: EstimateOptions,
) -> _Ratios:
    assert question.asked_if is not None
    places = [gate.place_named(answer) for answer in question.asked_if.answers]
    asked = answer_counts(blocks[plan.block_of(gate.name).offset], gate.name)
    own = answer_counts(blocks[plan.block_of(question.name).offset], question.name)
    below, ones = asked.law.summed(len(places)), asked.ones[places].sum()
    bottom, bottom_variance = float(below.estimate(ones)), below.sigma**2
    bottom_fitted = float(asked.consistent[places].sum())
    tops, fitted = own.estimate, own.consistent
    variances = np.full(len(tops), own.law.sigma**2)
    covariances = np.zeros(len(tops))
    if _all_counted(plan, question):  # and those who were asked and did not answer
        tops = np.append(tops, bottom - tops.sum())
        fitted = np.append(fitted, max(0.0, bottom_fitted - float(fitted.sum())))
        variances = np.append(variances, bottom_variance + variances.sum())
        covariances = np.append(covariances, bottom_variance)
    return _Ratios(
        base=Base.ASKED,
        has_silence=len(tops) > len(own.ones),
        tops=tops,
        fitted=fitted,
        variances=variances,
        covariances=covariances,
        bottom=bottom,
        bottom_fitted=bottom_fitted,
        bottom_variance=bottom_variance,
        limits=_limits(below, ones, options),
        laws=(own.law, below),
    )


def _of_one_block(
    gate: Leveled, question: Leveled, counts: BlockCounts, options: EstimateOptions
) -> _Ratios:
    """Cells of a group in which the gate has a named answer; no answer to the question is last."""
    assert question.asked_if is not None
    places = [gate.place_named(answer) + 1 for answer in question.asked_if.answers]
    ones, fitted = (
        np.roll(_pair(counts, cells, gate, question)[places].sum(axis=0), -1)
        for cells in (counts.cells, counts.consistent())
    )
    others = math.prod(q.levels + 1 for q in counts.block.levels if q not in (gate, question))
    law = counts.law.summed(others * len(places))
    variances = np.full(len(ones), law.sigma**2)
    below = law.summed(len(ones))
    return _Ratios(
        base=Base.ASKED,
        has_silence=True,
        tops=law.estimate(ones),
        fitted=fitted,
        variances=variances,
        covariances=variances,
        bottom=float(below.estimate(ones.sum())),
        bottom_fitted=float(fitted.sum()),
        bottom_variance=below.sigma**2,
        limits=_limits(below, ones.sum(), options),
        laws=(law, below),
    )


def _pair(
    counts: BlockCounts, cells: Floats | Counts, gate: Question, question: Question
) -> Floats | Counts:
    """The cells added up to a table of both; index 0 is no answer."""
    names = counts.block.question_names
    axes = names.index(gate.name), names.index(question.name)
    table = cells.reshape(counts.sizes)
    summed = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in axes))
    return np.asarray(summed if axes[0] < axes[1] else summed.T)


def _of_answered(
    plan: Plan, question: Question, blocks: Mapping[int, BlockCounts], options: EstimateOptions
) -> _Ratios:
    own = answer_counts(blocks[plan.block_of(question.name).offset], question.name)
    below = own.law.summed(len(own.ones))
    variances = np.full(len(own.ones), own.law.sigma**2)
    return _Ratios(
        base=Base.ANSWERED,
        has_silence=False,
        tops=own.estimate,
        fitted=own.consistent,
        variances=variances,
        covariances=variances,
        bottom=float(below.estimate(own.ones.sum())),
        bottom_fitted=float(own.consistent.sum()),
        bottom_variance=below.sigma**2,
        limits=_limits(below, own.ones.sum(), options),
        laws=(own.law, below),
    )


def _limits(law: CountModel, ones: np.int64, options: EstimateOptions) -> tuple[float, float]:
    low, high = law.limits(np.array([ones]), options.confidence)
    return float(low[0]), float(high[0])


def _estimate(question: Question, ratios: _Ratios, options: EstimateOptions) -> AskedEstimate:
    fitted, rows = ratios.bottom_fitted, list(_rows(question, ratios, options))
    silent = rows.pop() if rows and ratios.has_silence else None
    return AskedEstimate(
        question=question.name,
        base=ratios.base,
        count=ratios.bottom,
        consistent=fitted,
        interval=Interval(*ratios.limits).containing(fitted),
        confidence=options.confidence,
        rows=tuple(rows),
        unanswered=silent,
    )


def _rows(question: Question, ratios: _Ratios, options: EstimateOptions) -> Iterator[AskedShare]:
    """None where the bottom may be nobody."""
    z = ratio_quantile(ratios.laws, options.confidence)
    people = ratios.laws[0].people
    sampled = 0.0 if options.sampling is None else options.sampling.correction(people)
    low, high = ratio_limits(
        ratios.tops,
        np.full(len(ratios.tops), ratios.bottom),
        ratios.variances + sampled * ratios.fitted,
        np.full(len(ratios.tops), ratios.bottom_variance + sampled * ratios.bottom_fitted),
        ratios.covariances + sampled * ratios.fitted,
        z,
    )
    several = isinstance(question, PickAny)
    most = float(ratios.fitted.max() if several else ratios.fitted.sum())
    whole = max(ratios.bottom_fitted, most)  # nobody answers without being asked
    if ratios.limits[0] <= 0 or whole <= 0 or not np.isfinite(low).all():
        return
    last = len(low) - 1 if ratios.has_silence else None
    for place, pair in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        shown = float(ratios.fitted[place]) / whole
        interval = Interval(*pair).within(0.0, 1.0).containing(shown)
        yield AskedShare(
            label=UNANSWERED if place == last else question.position_name(place),
            share=float(ratios.tops[place]) / ratios.bottom,
            consistent=shown,
            interval=interval,
            readable=interval.high - interval.low <= 2 * READABLE,
        )
