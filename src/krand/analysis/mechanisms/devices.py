"""Counts with flips of devices: the noise taken out, and how far that can be off.

Of T noisy bits, D were truly 1. Flips are independent, so the ones that are counted are
M = Bin(D, p) + Bin(T-D, q), with mean D(p-q) + Tq and variance Tpq, whatever the answers. Hence
(M - Tq)/(p-q) is unbiased for D, and its deviation √(Tpq)/(p-q) is known before any data (001 §4).

One answer of N people with k copies has T = kN bits, and D = kd for the d people who gave it. An
answer that is a sum over c positions (a margin of a group, the people who answered at all) has
T = ckN, and the same law. Different positions are flipped independently, so given the answers
their counts are independent, in bit linkage and inside one record alike.

Where some responses of a record survey were refused, those that were counted stand for all: whether
a response was refused must not depend on the answers in it.

Counts with little variance get intervals from the exact law. The ends are those of Clopper and
Pearson: `low` is the least number of people under which as many ones as were counted, or more, have
a chance above α/2; `high` the greatest under which as few, or fewer, have. So an interval never
covers less often than it says. Ones are whole, hence it covers a little more often: a 95 % interval
by about 6/√(Tpq) percentage points.

M = D - A + B, with A ~ Bin(D, q) ones lost and B ~ Bin(T-D, q) ones gained. Both have a variance
of at most Tpq, so their probabilities fit into a short window; rows are searched side by side, and
rows with the same count only once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from krand.analysis.mechanisms.models import AnalysisPart, CountModel, Counts, Floats
from krand.analysis.tally import Tally
from krand.survey.lanes import Lane
from krand.survey.layout import Block
from krand.survey.plan import Plan, PlannedBlock

EXACT_BELOW = 200.0
"""The variance of flips below which their exact law is used."""
OUTSIDE = 3e-12
"""A bound on the probability that a count has more or fewer flips than are listed."""

ROWS = 128
"""Rows that are computed together: neighbours, which need windows of about the same width."""

Flags = NDArray[np.bool_]


def bit_variance(noise: float) -> float:
    """v = pq/(p-q)²: what one noisy bit adds to the variance of an estimate."""
    return noise * (1 - noise) / (1 - 2 * noise) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseModel(CountModel):
    """How the ones of one row come about."""

    people: int
    responses: int
    """Responses that were counted at each position: k for each person in record linkage."""
    noise: float
    cells: int = 1
    """Positions that the row adds up."""
    most: int = 1
    """The most of these positions that one person can set."""

    @property
    def trials(self) -> int:
        """T: the noisy bits that were counted."""
        return self.responses * self.cells

    @property
    def copies(self) -> float:
        """How many responses stand for one person."""
        return self.responses / self.people

    @property
    def spread(self) -> float:
        """Tpq: the variance of the count of ones."""
        return self.trials * self.noise * (1 - self.noise)

    @property
    def sigma(self) -> float:
        """The standard error of the estimate, in people: √(Npq/k)/(p-q) for one position."""
        return math.sqrt(self.spread) / (1 - 2 * self.noise) / self.copies

    def estimate(self, ones: Counts) -> Floats:
        """The unbiased number of people, (M/k - cNq)/(p-q)."""
        true_ones = (np.asarray(ones, dtype=np.float64) - self.noise * self.trials) / (
            1 - 2 * self.noise
        )
        return true_ones / self.copies

    def summed(self, cells: int, most: int = 1) -> NoiseModel:
        """The law of a sum over so many rows."""
        return replace(self, cells=self.cells * cells, most=most)

    def pooled(self, others: Sequence[CountModel]) -> NoiseModel | None:
        """One crowd of all: every bit is flipped by itself."""
        alike = [o for o in others if isinstance(o, NoiseModel) and _alike(self, o)]
        if len(alike) < len(others):
            return None
        people = self.people + sum(other.people for other in alike)
        return replace(self, people=people, responses=round(self.copies * people))

    def counted(self, estimates: Floats) -> Floats:
        true_ones = estimates * self.copies * (1 - 2 * self.noise)
        return true_ones + self.noise * self.trials

    @property
    def is_exact(self) -> bool:
        return self.spread < EXACT_BELOW

    @property
    def depends_on_share(self) -> bool:
        """By the skewness of flips."""
        return True

    def limits(self, ones: Counts, confidence: float) -> Floats:
        """As `krand.analysis.estimates.intervals` explains."""
        most = self.people * self.most
        nobody = self.trials * self.noise
        everybody = nobody + most * self.copies * (1 - 2 * self.noise)
        possible = np.array([math.ceil(nobody), math.floor(everybody)])
        ends = self._ends(np.append(ones, possible), confidence)
        low, high = ends[:, :-2]
        ends = np.stack([np.minimum(low, ends[0, -1]), np.maximum(high, ends[1, -2])])
        return np.asarray(np.clip(ends, 0.0, most))

    def _ends(self, ones: Counts, confidence: float) -> Floats:
        ends = self.around(ones, confidence)
        if self.is_exact:
            return exact_limits(self, ones, (1 - confidence) / 2, (ends[0], ends[1]))
        return ends

    def quantile(self, confidence: float) -> float:
        """Those of the normal law."""
        return -float(ndtri((1 - confidence) / 2))

    def chance(self, z: Floats) -> Floats:
        return np.asarray(2 * ndtr(-np.abs(z)))

    def around(self, ones: Counts, confidence: float) -> Floats:
        """d̂ ± zσ, moved by the skewness of the count."""
        z = self.quantile(confidence)
        middle = self.estimate(ones)
        part = np.clip(middle / (self.people * self.cells), 0.0, 1.0)
        middle = middle - (1 - 2 * part) * (z * z - 1) / 6 / self.copies
        return np.stack([middle - z * self.sigma, middle + z * self.sigma])

    def errors(self, share: float) -> tuple[float, Floats, float]:
        true_ones = np.array([round(share * self.responses)])
        masses, first = net_flips(self, true_ones)
        mean = (self.trials - 2 * int(true_ones[0])) * self.noise
        return float(first[0]) - mean, masses[0], OUTSIDE

    def jumps(self) -> tuple[Floats, Floats]:
        """Errors that are not nearly normal, in people, and their probabilities: there are none."""
        return np.zeros(1), np.ones(1)


def _alike(one: NoiseModel, other: NoiseModel) -> bool:
    return all(
        getattr(one, name) == getattr(other, name) for name in ("noise", "copies", "cells", "most")
    )


def exact_limits(
    law: NoiseModel, ones: Counts, tail: float, guess: tuple[Floats, Floats]
) -> Floats:
    """Least and greatest number of people, as two rows; each is missed with at most `tail`."""
    distinct, first, back = np.unique(ones, return_index=True, return_inverse=True)
    grid, last = _grid(law)
    half = 0.5 / (1 - 2 * law.noise)  # ones are whole: the ends lie half a one further out
    starts = [
        np.ceil((end[first] * law.copies + side * half) / grid).astype(np.int64)
        for end, side in zip(guess, (-1, 1), strict=True)
    ]

    def too_few(place: Counts, rows: Counts) -> Flags:
        return row_tails(law, grid * place, distinct[rows], at_least=True) > tail

    def too_many(place: Counts, rows: Counts) -> Flags:
        return row_tails(law, grid * place, distinct[rows], at_least=False) <= tail

    low = np.minimum(_first_true(too_few, starts[0], last), last)
    high = np.maximum(_first_true(too_many, starts[1], last) - 1, 0)
    return np.stack([low, high])[:, back] * (grid / law.copies)


def _grid(law: NoiseModel) -> tuple[int, int]:
    """The true ones that are possible are 0, g, 2g, … for whole copies, else any number."""
    if law.responses % law.people == 0:
        return law.responses // law.people, law.people * law.most
    return 1, law.responses * law.most


def _first_true(test: Callable[[Counts, Counts], Flags], guess: Counts, last: int) -> Counts:
    """The first place from 0 to last at which a rising test is true, else last + 1; row by row."""
    high = np.clip(guess, 0, last + 1)  # believed to be true; last + 1 always is
    low = high - 1  # believed to be false; -1 always is
    for step in (4**n for n in range(31)):
        rows = np.flatnonzero(low >= 0)
        rows = rows[test(low[rows], rows)]
        high[rows], low[rows] = low[rows], np.maximum(low[rows] - step, -1)
        if not rows.size:
            break
    for step in (4**n for n in range(31)):
        rows = np.flatnonzero(high <= last)
        rows = rows[~test(high[rows], rows)]
        low[rows], high[rows] = high[rows], np.minimum(high[rows] + step, last + 1)
        if not rows.size:
            break
    while (rows := np.flatnonzero(high - low > 1)).size:
        middle = (low[rows] + high[rows]) // 2
        true = test(middle, rows)
        high[rows[true]], low[rows[~true]] = middle[true], middle[~true]
    return high


def row_tails(law: NoiseModel, true_ones: Counts, ones: Counts, *, at_least: bool) -> Floats:
    """P[M ≥ ones] with so many true ones, or P[M ≤ ones], pair by pair."""
    parts = [
        _tail(law, true_ones[at : at + ROWS], ones[at : at + ROWS], at_least)
        for at in range(0, len(ones), ROWS)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _tail(law: NoiseModel, true_ones: Counts, ones: Counts, at_least: bool) -> Floats:
    """Σ_a P[A=a]·P[B ≥ ones-D+a], or the other tail, row by row."""
    lost, lost_from = _flip_weights(true_ones, law.noise)
    gained, gained_from = _flip_weights(law.trials - true_ones, law.noise)
    needed = (ones - true_ones + lost_from - gained_from)[:, None] + np.arange(lost.shape[1])
    sums = np.zeros((len(ones), gained.shape[1] + 1))
    if at_least:  # sums[i]: weight of i and above
        sums[:, :-1] = np.cumsum(gained[:, ::-1], axis=1)[:, ::-1]
    else:  # sums[i]: weight below i
        sums[:, 1:] = np.cumsum(gained, axis=1)
        needed = needed + 1
    places = np.clip(needed, 0, gained.shape[1])
    tails: Floats = np.einsum("ij,ij->i", lost, np.take_along_axis(sums, places, axis=1))
    return tails


def net_flips(law: NoiseModel, true_ones: Counts) -> tuple[Floats, Counts]:
    """The law of B - A, ones gained less ones lost, and where its window begins, row by row."""
    lost, lost_from = _flip_weights(true_ones, law.noise)
    gained, gained_from = _flip_weights(law.trials - true_ones, law.noise)
    width = lost.shape[1] + gained.shape[1] - 1
    transforms = [np.fft.rfft(part, width, axis=1) for part in (gained, lost[:, ::-1])]
    net = np.maximum(np.fft.irfft(transforms[0] * transforms[1], width, axis=1), 0.0)
    return net, gained_from - lost_from - (lost.shape[1] - 1)


def _flip_weights(trials: Counts, noise: float) -> tuple[Floats, Counts]:
    """Bin(trials, q) in a window around its mean, and where the window begins, row by row.

    Farther from the mean there is no weight: e^-28, for few flips as for many. By ratios of
    neighbours: no factorials of millions, whose logarithms would cost digits.
    """
    reach = int(7.5 * np.sqrt(trials.max() * noise * (1 - noise)) + 20)
    begin = np.maximum(np.floor(trials * noise).astype(np.int64) - reach, 0)
    flips = begin[:, None] + np.arange(2 * reach)
    odds = (trials[:, None] - flips) / (flips + 1) * (noise / (1 - noise))
    logs = np.zeros((len(trials), 2 * reach + 1))
    with np.errstate(divide="ignore"):
        np.cumsum(np.log(np.maximum(odds, 0.0)), axis=1, out=logs[:, 1:])
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True), begin


class DevicesPart(AnalysisPart):
    """The flips of people and nothing else, in a batch or in files of a table."""

    def law(self, plan: Plan, block: PlannedBlock, people: int, responses: int) -> CountModel:
        return NoiseModel(people=people, responses=responses, noise=block.noise)

    def counts_nulls(self, lane: Lane, block: Block) -> bool:
        """A message may be empty by a flip."""
        return False

    def check_tally(self, plan: Plan, tally: Tally) -> None:
        """Flips are those of the people, however they were counted."""

    def noise_said(self, plan: Plan) -> str:
        noises = [block.noise for block in plan.blocks]
        ends = dict.fromkeys(f"{noise:.4g}" for noise in (min(noises), max(noises)))
        return f"every bit is flipped with a probability of {' to '.join(ends)}"
