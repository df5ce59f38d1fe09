"""Joint tables: how many people gave this answer here and that answer there.

* Bit linkage: only what was declared together was ever linked. The cells of a group are positions;
  a table of some of its questions adds the others up. Anything else is refused: the link does not
  exist in the data, which is the point.
* Whole records: any questions. The people in cell (a, b) have both bits set, so the 2 x 2 table of
  these two bits is all that is needed: its inverse is unbiased, its variance exact. The joint table
  of all bits of both questions would have 2^(A+B) entries, most of them impossible answers, and
  unbiased estimates of them add up to this very one. "Unanswered" is N less the answers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.counted import BlockCounts, block_counts, check_fits, nearest_possible
from krand.analysis.estimates.intervals import (
    check_confidence,
    normal_quantile,
    readable,
    simultaneous_confidence,
)
from krand.analysis.estimates.values import Band, Floats, same_fields
from krand.analysis.joint.records import (
    Axis,
    axes_of,
    counts_of_bits,
    inverted,
    normal_bands,
    product_variance,
)
from krand.analysis.joint.table_noise import (
    IndependentCells,
    LinkedCells,
    TableNoise,
    factor_covariance,
)
from krand.analysis.mechanisms.devices import bit_variance
from krand.analysis.mechanisms.models import CountModel
from krand.analysis.tally import Counts, Tally
from krand.errors import InvalidInput
from krand.promise import Linkage, cells_drown
from krand.showing import one_line, some
from krand.survey.encoding import UNANSWERED
from krand.survey.plain_values import arrays
from krand.survey.plan import Plan


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointTable:
    """Estimated people in every cell, as arrays with one axis for each question."""

    questions: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    answers: tuple[int, ...]
    """How many labels of each axis are answers; one more, if any, is "unanswered"."""
    people: int
    confidence: float
    counts: Floats
    """Unbiased."""
    consistent: Floats
    standard_errors: Floats
    """By noise; in record linkage with the consistent counts put in for the true ones."""
    interval: Band
    """Contains `consistent`."""
    simultaneous: Band
    readable: Annotated[NDArray[np.bool_], arrays(np.bool_)]
    """False where the margin of error of a cell is above 15 % of the people."""
    noise: TableNoise | None = field(default=None, compare=False, repr=False)
    """How the cells vary together; None in what a file holds."""

    @property
    def half_width(self) -> float:
        """The margin of error of a typical cell, in people."""
        return normal_quantile(self.confidence) * float(np.median(self.standard_errors))

    @property
    def drowns(self) -> bool:
        """Whether single cells tell little: their margin is more than half of an average cell."""
        return cells_drown(self.half_width, self.people, self.counts.size)

    def __repr__(self) -> str:
        cells = some(self.counts.size, "cell")
        return one_line(
            f"JointTable {' × '.join(self.questions)}", cells, f"{self.people:,} people"
        )

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]


def joint_table(
    plan: Plan, tally: Tally, names: Sequence[str], confidence: float = 0.95
) -> JointTable:
    """The table of two or more questions."""
    check_confidence(confidence)
    return _TABLES[plan.survey.linkage](plan, tally, names, confidence)


def _of_tokens(plan: Plan, tally: Tally, names: Sequence[str], confidence: float) -> JointTable:
    """Only what was declared together was ever linked."""
    blocks = block_counts(plan, tally)
    for name in names:
        # a name that is no question has an error of its own
        plan.layout.first_block_of(name.partition("=")[0])
    linked = [c for c in blocks if set(names) <= set(c.block.question_names)]
    if not linked or not len(set(names)) == len(names) >= 2:
        raise InvalidInput(
            "questions",
            "must be declared together in the survey before anybody answers, for bits that were"
            " reported apart cannot be linked again",
            tuple(names),
            f"in the next survey, declare [[together]] with questions = {list(names)}, or say"
            ' linkage = "record"',
        )
    counts = min(linked, key=lambda found: _table_law(found, names).sigma)
    places = [counts.block.question_names.index(name) for name in names]
    return _of_group(counts, places, confidence)


def _table_law(counts: BlockCounts, names: Sequence[str]) -> CountModel:
    """The law of a cell of these questions: a sum over the answers to the others of the group."""
    members = zip(counts.block.question_names, counts.sizes, strict=True)
    return counts.law.summed(math.prod(size for name, size in members if name not in names))


def _of_group(counts: BlockCounts, places: list[int], confidence: float) -> JointTable:
    levels = [counts.block.levels[place] for place in places]
    law = _table_law(counts, [question.name for question in levels])
    ones = _arranged(counts, counts.cells, places).astype(np.int64)
    consistent = _arranged(counts, counts.consistent(), places)
    estimate, errors = law.estimate(ones), np.full(ones.shape, law.sigma)
    rest = law.summed(ones.size - 1)  # nothing answered: what all other cells leave
    others = np.array([ones.sum() - ones.flat[-1]])
    counted = counts.nulls is not None  # like any other cell
    if not counted:
        estimate.flat[-1], errors.flat[-1] = law.people - rest.estimate(others)[0], rest.sigma

    def band(level: float) -> Band:
        low, high = (end.reshape(ones.shape) for end in law.limits(ones.ravel(), level))
        if not counted:
            low.flat[-1], high.flat[-1] = law.people - rest.limits(others, level)[::-1, 0]
        return Band(low, high).containing(consistent)

    return JointTable(
        questions=tuple(question.name for question in levels),
        labels=tuple((*(q.level_name(i) for i in range(q.levels)), UNANSWERED) for q in levels),
        answers=tuple(question.levels for question in levels),
        people=law.people,
        confidence=confidence,
        counts=estimate,
        consistent=consistent,
        standard_errors=errors,
        interval=band(confidence),
        simultaneous=band(simultaneous_confidence(confidence, ones.size)),
        readable=readable(errors, law.people, confidence),
        noise=IndependentCells(law),
    )


def _arranged(counts: BlockCounts, cells: Floats | Counts, places: list[int]) -> Floats:
    """The cells as a table of the chosen questions, in their order, "unanswered" last."""
    whole = np.asarray(cells, dtype=np.float64).reshape(counts.sizes)
    table = whole.sum(axis=tuple(a for a in range(whole.ndim) if a not in places))
    table = np.transpose(table, [sorted(places).index(place) for place in places])
    return np.roll(table, -1, axis=tuple(range(table.ndim)))


def _of_records(plan: Plan, tally: Tally, names: Sequence[str], confidence: float) -> JointTable:
    check_fits(plan, tally)
    axes = axes_of(plan, names)
    copies = tally.responses / tally.people
    counts = _record_counts(tally, plan.blocks[0].noise, axes) / copies
    return records_table(plan, tally, axes, counts, confidence)


def records_table(
    plan: Plan, tally: Tally, axes: tuple[Axis, ...], counts: Floats, confidence: float
) -> JointTable:
    """What a table of whole records must be, given its unbiased counts."""
    people, copies = tally.people, tally.responses / tally.people
    consistent = nearest_possible(counts.ravel(), people).reshape(counts.shape)
    variance = bit_variance(plan.blocks[0].noise)
    factors = [factor_covariance(len(axis.bits), variance) for axis in axes]
    spread = product_variance(consistent, [np.diag(factor) for factor in factors])
    errors: Floats = np.sqrt(spread / copies)
    interval, simultaneous = normal_bands(counts, consistent, errors, people, confidence)
    return JointTable(
        questions=tuple(axis.name for axis in axes),
        labels=tuple(axis.labels for axis in axes),
        answers=tuple(axis.answers for axis in axes),
        people=people,
        confidence=confidence,
        counts=counts,
        consistent=consistent,
        standard_errors=errors,
        interval=interval,
        simultaneous=simultaneous,
        readable=readable(errors, people, confidence),
        noise=LinkedCells(consistent, tuple(factors), copies),
    )


def _record_counts(tally: Tally, noise: float, axes: tuple[Axis, ...]) -> Floats:
    """For one copy: all combinations of one bit, or of anything, from each question.

    "Anything" is put last on each axis, and then turned into "none of the answers".
    """
    table = np.empty([len(axis.bits) + 1 for axis in axes])
    for place in itertools.product(*(range(size) for size in table.shape)):
        pairs = zip(axes, place, strict=True)
        bits = tuple(axis.bits[i] for axis, i in pairs if i < len(axis.bits))
        table[place] = inverted(counts_of_bits(tally, bits), noise).flat[-1]
    for axis in range(table.ndim):
        whole = np.moveaxis(table, axis, 0)  # a view: this changes the table itself
        whole[-1] -= whole[:-1].sum(axis=0)
    return table


_TABLES = {Linkage.BIT: _of_tokens, Linkage.RECORD: _of_records}
"""How a table is found, by the shape of responses."""
