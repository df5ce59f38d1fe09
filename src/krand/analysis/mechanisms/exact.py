"""Intervals from the exact law of a count, for counts with little variance.

The ends are those of Clopper and Pearson: `low` is the least number of people under which as many
ones as were counted, or more, have a chance above α/2; `high` the greatest under which as few, or
fewer, have. So an interval never covers less often than it says. Ones are whole, hence it covers a
little more often: a 95 % interval by about 6/√(Tpq) percentage points.

M = D - A + B, with A ~ Bin(D, q) ones lost and B ~ Bin(T-D, q) ones gained. Both have a variance
of at most Tpq, so their probabilities fit into a short window; rows are searched side by side, and
rows with the same count only once. Where mixers add dummies too, the law of their sum S is known as
well (see `krand.accounting.dummy_sums`), and the count is M + S.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from krand.analysis.mechanisms.models import Floats

if TYPE_CHECKING:
    from krand.analysis.mechanisms.flip_model import FlippedModel, NoiseModel

__all__ = ["exact_limits", "flips_tail", "net_flips", "row_tails"]

Wholes = NDArray[np.int64]
Flags = NDArray[np.bool_]


ROWS = 128
"""Rows that are computed together: neighbours, which need windows of about the same width."""


def exact_limits(
    law: FlippedModel, ones: Wholes, tail: float, guess: tuple[Floats, Floats]
) -> Floats:
    """Least and greatest number of people, as two rows; each is missed with at most `tail`."""
    distinct, first, back = np.unique(ones, return_index=True, return_inverse=True)
    flips = law.flips
    grid, last = _grid(flips)
    half = 0.5 / (1 - 2 * flips.noise)  # ones are whole: the ends lie half a one further out
    starts = [
        np.ceil((end[first] * flips.copies + side * half) / grid).astype(np.int64)
        for end, side in zip(guess, (-1, 1), strict=True)
    ]

    def too_few(place: Wholes, rows: Wholes) -> Flags:
        return row_tails(law, grid * place, distinct[rows], at_least=True) > tail

    def too_many(place: Wholes, rows: Wholes) -> Flags:
        return row_tails(law, grid * place, distinct[rows], at_least=False) <= tail

    low = np.minimum(_first_true(too_few, starts[0], last), last)
    high = np.maximum(_first_true(too_many, starts[1], last) - 1, 0)
    return np.stack([low, high])[:, back] * (grid / flips.copies)


def _grid(law: NoiseModel) -> tuple[int, int]:
    """The true ones that are possible are 0, g, 2g, … for whole copies, else any number."""
    if law.responses % law.people == 0:
        return law.responses // law.people, law.people * law.most
    return 1, law.responses * law.most


def _first_true(test: Callable[[Wholes, Wholes], Flags], guess: Wholes, last: int) -> Wholes:
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


def row_tails(law: FlippedModel, true_ones: Wholes, ones: Wholes, *, at_least: bool) -> Floats:
    """P[M ≥ ones] with so many true ones, or P[M ≤ ones], pair by pair."""
    parts = [
        law.tail(true_ones[at : at + ROWS], ones[at : at + ROWS], at_least)
        for at in range(0, len(ones), ROWS)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def flips_tail(law: NoiseModel, true_ones: Wholes, ones: Wholes, at_least: bool) -> Floats:
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


def net_flips(law: NoiseModel, true_ones: Wholes) -> tuple[Floats, Wholes]:
    """The law of B - A, ones gained less ones lost, and where its window begins, row by row."""
    lost, lost_from = _flip_weights(true_ones, law.noise)
    gained, gained_from = _flip_weights(law.trials - true_ones, law.noise)
    width = lost.shape[1] + gained.shape[1] - 1
    transforms = [np.fft.rfft(part, width, axis=1) for part in (gained, lost[:, ::-1])]
    net = np.maximum(np.fft.irfft(transforms[0] * transforms[1], width, axis=1), 0.0)
    return net, gained_from - lost_from - (lost.shape[1] - 1)


def _flip_weights(trials: Wholes, noise: float) -> tuple[Floats, Wholes]:
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
