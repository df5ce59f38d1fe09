"""Tables of whole records: the bits of each side, and how many people have each pattern of bits.

Every bit of a record is flipped independently, so the counts of the 2^b patterns of b bits are, on
average, the true ones seen through [[p,q],[q,p]] once for each bit. Taking it back is a butterfly:
b passes over the table.

Exact variance: an entry is a sum over responses of a product of b factors, one for each bit. A
factor is unbiased for "this bit is as the pattern says" (t = 0 or 1), with the variance v =
pq/(p-q)², so its square has the mean t + v, as t² = t. Hence with the true counts x,

    k · Var[entry c] = Σ_t x_t · ( Π_j (1[t_j = c_j] + v)  -  1[t = c] ),

again a butterfly. It is linear in x; the consistent counts are put in for x (plug-in). With b = 1
it is Nv whatever x is, as it must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.intervals import normal_quantile, simultaneous_confidence
from krand.analysis.estimates.values import Band
from krand.analysis.mechanisms.models import Floats
from krand.analysis.tally import MAX_TABLE_BITS, Bits, Counts, Tally
from krand.errors import InvalidInput
from krand.survey.encoding import UNANSWERED, position_of
from krand.survey.layout import Layout
from krand.survey.plan import Plan
from krand.survey.questions import JOINABLE, Leveled


@dataclass(frozen=True, slots=True)
class Axis:
    """One side: answers that exclude each other, a bit for each, and last none of them."""

    name: str
    bits: Bits
    labels: tuple[str, ...]
    rest_is_answer: bool
    """Whether "none of them" is an answer (not yes, not this item) rather than no answer."""

    @property
    def answers(self) -> int:
        """How many of the labels are answers."""
        return len(self.bits) + self.rest_is_answer


def axes_of(plan: Plan, names: Sequence[str]) -> tuple[Axis, ...]:
    """The sides of a table of whole records.

    A name is that of a question with one answer of several, or `question=answer` for one answer
    against all others: the way to ask for an item of a pick_any question.
    """
    axes = tuple(_axis(plan.layout, name) for name in names)
    bits = [bit for axis in axes for bit in axis.bits]
    if len(axes) < 2 or len(set(bits)) != len(bits):
        raise InvalidInput("questions", "must be at least two, all different", tuple(names))
    return axes


def bits_needed(plan: Plan, names: Sequence[str]) -> tuple[Bits, ...]:
    """Which bits a tally of long records must count jointly for this table.

    A cell needs no more than one bit of each question. All bits at once are one table, and are
    asked for where it is small; otherwise every combination of one bit from each.
    """
    if plan.token_lanes or plan.layout.positions <= MAX_TABLE_BITS:
        return ()
    axes = axes_of(plan, names)
    whole = tuple(bit for axis in axes for bit in axis.bits)
    if len(whole) <= MAX_TABLE_BITS:
        return (whole,)
    cells: list[Bits] = [()]
    for axis in axes:
        cells = [(*cell, bit) for cell in cells for bit in axis.bits]
    return tuple(cells)


def _axis(layout: Layout, name: str) -> Axis:
    question_name, _, answer = name.partition("=")
    block = layout.first_block_of(question_name)
    if answer:
        return Axis(name, (position_of(block, answer),), (answer, f"not {answer}"), True)
    (question,) = block.questions
    if not isinstance(question, Leveled):
        hint = f"ask for one of its answers: {name}=…"
        rule = f"must be {JOINABLE} questions"
        raise InvalidInput("questions", rule, name, hint)
    labels = tuple(question.level_name(level) for level in range(block.positions))
    bits = tuple(layout.positions_of(block))
    if len(bits) < question.levels:  # alone, a yes_no counts yes only
        return Axis(name, bits, (*labels, "no or unanswered"), True)
    return Axis(name, bits, (*labels, UNANSWERED), False)


def normal_bands(
    counts: Floats, consistent: Floats, errors: Floats, people: int, confidence: float
) -> tuple[Band, Band]:
    """Every cell alone, and all cells together, inside what the crowd allows.

    Both contain the consistent counts.
    """
    alone = normal_quantile(confidence) * errors
    together = normal_quantile(simultaneous_confidence(confidence, counts.size)) * errors
    bands = (_band(counts, half, people).containing(consistent) for half in (alone, together))
    return next(bands), next(bands)


def _band(counts: Floats, half: Floats, people: int) -> Band:
    """A count that is not possible says no more than the nearest one that is."""
    possible = np.clip(counts, 0.0, people)
    return Band(np.maximum(possible - half, 0.0), np.minimum(possible + half, people))


def inverted(table: Counts | Floats, noise: float) -> Floats:
    """The inverse of [[p,q],[q,p]] along every axis."""
    values = np.asarray(table, dtype=np.float64)
    keep, swap = (1 - noise) / (1 - 2 * noise), noise / (1 - 2 * noise)
    for axis in range(values.ndim):
        values = keep * values - swap * np.flip(values, axis)
    return values


def product_variance(table: Floats, spreads: list[Floats]) -> Floats:
    """Σ_t x_t (Π_axes (1[t=c] + v_c) - 1[t=c]): the variance for one copy, entry by entry."""
    values = table
    for axis, spread in enumerate(spreads):
        shape = [-1 if place == axis else 1 for place in range(table.ndim)]
        values = values + spread.reshape(shape) * values.sum(axis=axis, keepdims=True)
    return values - table


def counts_of_bits(tally: Tally, bits: Bits) -> Counts:
    """How many responses have each pattern of these bits, from whatever table holds them all."""
    if len(set(bits)) != len(bits):
        raise InvalidInput("bits", "must be different", bits)
    outside = [bit for bit in bits if not 0 <= bit < tally.positions]
    if outside:
        raise InvalidInput("bits", f"must be from 0 to {tally.positions - 1:,}", outside[0])
    if not bits:
        return np.array(tally.responses)
    if len(bits) == 1:
        ones = tally.counts[bits[0]]
        return np.array([tally.responses - ones, ones])
    known, table = _table_with(tally, bits)
    whole = table.reshape((2,) * len(known))
    others = tuple(place for place, bit in enumerate(known) if bit not in bits)
    left = [bit for bit in known if bit in bits]
    return np.transpose(whole.sum(axis=others), [left.index(bit) for bit in bits])


def _table_with(tally: Tally, bits: Bits) -> tuple[Bits, Counts]:
    """The smallest table that was counted for all of these bits."""
    holding = [known for known in tally.joint if set(bits) <= set(known)]
    if holding:
        smallest = min(holding, key=len)
        return smallest, tally.joint[smallest]
    if tally.table is not None:
        return tuple(range(tally.positions)), tally.table
    rule = "must have been counted jointly"
    raise InvalidInput("bits", rule, bits, "tally the responses again, and ask for these bits")
