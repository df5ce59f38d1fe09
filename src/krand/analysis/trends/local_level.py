"""A level that drifts, seen through noise of known variance: what it is now, and what it was.

The model: y_t = μ_t + noise with the known variance h_t, and μ_t = μ_{t-1} + a step with an unknown
variance q for each round that passed. Kalman's filter gives the law of μ_t from what was counted up
to t, the smoother that from everything; both are exact for every q (Durbin and Koopman, Time Series
Analysis by State Space Methods, chapter 2).

q is unknown. √q, in standard errors of a count, has the prior of Cauchy's law on the positive
numbers with scale `SCALE`; sums over a grid of drifts replace one estimate of q, so intervals
contain the uncertainty about it. Bands hold for all rounds at once: their width is that within
which 95 % of paths drawn from the posterior law stay from beginning to end.

Counts have heavier tails than the normal law; the mean of n counts has 1/n of that excess
(Edgeworth's first term). So where drift is large, and a level is as uncertain as a single count,
widths are multiplied by the quantile of the count's own law over the normal one. Where the level's
variance is smaller, they grow by less, in proportion.

Whoever jumps does not drift: these intervals are for changes that are gradual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.intervals import normal_quantile, simultaneous_confidence

Floats = NDArray[np.float64]

SCALE = 2.0
"""Drifts per round, in standard errors of one count, that are likely before anything is seen."""
DRIFTS = np.concatenate([[0.0], np.geomspace(0.004, 60.0, 48)])
"""The drifts that are tried, in the same unit."""
PATHS = 2_000
"""Paths that are drawn to find the width of a band; their seed is fixed."""
AT_ONCE = 64
"""Lines that are computed together."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Levels:
    """Every line, by round: one row for each line."""

    filtered: Floats
    """From what was counted up to the round."""
    filtered_half: Floats
    """Half of its interval."""
    smoothed: Floats
    """From all rounds."""
    smoothed_half: Floats
    """Half of its interval, for this round alone."""
    band_half: Floats
    """Half of the band that holds for all rounds of a line at once."""
    drift: Floats
    """The standard deviation of the steps from round to round: the median of its posterior law."""


def levels(
    values: Floats,
    errors: Floats,
    rounds: Floats,
    confidence: float,
    quantiles: tuple[Floats, Floats] | None = None,
) -> Levels:
    """The levels behind values with these standard errors (rows are lines, columns rounds).

    `quantiles`: how many standard errors one count needs, for one round and for all at once, line
    by line; None where noise is normal.
    """
    normal = normal_quantile(confidence)
    together = normal_quantile(simultaneous_confidence(confidence, len(rounds)))
    one, all_of_them = quantiles or (np.array([normal]), np.array([together]))
    parts = []
    for start in range(0, len(values), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        parts.append(_levels(values[part], errors[part], rounds, confidence))
    joined = {name: np.concatenate([getattr(p, name) for p in parts]) for name in Levels.__slots__}
    then, now = joined["smoothed_half"] / normal, joined["filtered_half"] / normal
    joined["band_half"] *= _wider(all_of_them / together, then, errors)
    joined["smoothed_half"] *= _wider(one / normal, then, errors)
    joined["filtered_half"] *= _wider(one / normal, now, errors)
    return Levels(**joined)


def _wider(heavier: Floats, level: Floats, count: Floats) -> Floats:
    """By how much intervals grow, where a level and a count have these standard errors."""
    part = np.minimum((level / count) ** 2, 1)
    return np.asarray(1 + np.maximum(heavier - 1, 0)[:, None] * part)


def _levels(values: Floats, errors: Floats, rounds: Floats, confidence: float) -> Levels:
    """Arrays have the axes round, line, drift."""
    noise = (errors**2).T[:, :, None]
    unit = 1 / np.sqrt((1 / noise).mean(axis=0))  # a round of few people hardly counts
    steps = np.diff(rounds, prepend=rounds[0])[:, None, None] * (DRIFTS * unit) ** 2
    level, spread, weights = _filter(values.T[:, :, None], noise, steps)
    z = normal_quantile(confidence)
    filtered = _mixed(level, spread, weights)
    past, past_spread = level.copy(), spread.copy()
    for t in range(len(level) - 2, -1, -1):
        gain = spread[t] / (spread[t] + steps[t + 1])
        past[t] += gain * (past[t + 1] - level[t])
        past_spread[t] += gain**2 * (past_spread[t + 1] - spread[t] - steps[t + 1])
    smoothed = _mixed(past, past_spread, weights[-1:])
    width = _band(level, spread, steps, weights[-1], smoothed, confidence)
    middle = DRIFTS[np.argmax(np.cumsum(weights[-1], axis=1) >= 0.5, axis=1)]
    return Levels(
        filtered=filtered[0].T,
        filtered_half=z * filtered[1].T,
        smoothed=smoothed[0].T,
        smoothed_half=z * smoothed[1].T,
        band_half=np.maximum(width, z)[:, None] * smoothed[1].T,
        drift=middle * unit[:, 0],
    )


def _filter(values: Floats, noise: Floats, steps: Floats) -> tuple[Floats, Floats, Floats]:
    """Level and variance after each round by drift, and how likely each drift is by then.

    Before the first round nothing is known about the level: it is then what was counted.
    """
    shape = (len(values), values.shape[1], len(DRIFTS))
    level, spread, logs = np.empty(shape), np.empty(shape), np.zeros(shape)
    level[0], spread[0] = values[0], noise[0]
    for t in range(1, len(values)):
        before = spread[t - 1] + steps[t]
        seen = before + noise[t]
        surprise = values[t] - level[t - 1]
        gain = before / seen
        level[t], spread[t] = level[t - 1] + gain * surprise, before * (1 - gain)
        logs[t] = logs[t - 1] - (np.log(seen) + surprise**2 / seen) / 2
    weights = _prior() * np.exp(logs - logs.max(axis=2, keepdims=True))
    return level, spread, weights / weights.sum(axis=2, keepdims=True)


def _prior() -> Floats:
    """The probability of each drift: of all that are nearer to it than to its neighbours."""
    between = np.sqrt(DRIFTS[1:-1] * DRIFTS[2:])
    edges = np.concatenate([[0.0, DRIFTS[1] / 2], between, [np.inf]])
    return np.asarray(np.diff(2 / np.pi * np.arctan(edges / SCALE)))


def _mixed(level: Floats, spread: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation over all drifts."""
    mean = (level * weights).sum(axis=2)
    return mean, np.sqrt(((spread + (level - mean[:, :, None]) ** 2) * weights).sum(axis=2))


def _band(
    level: Floats,
    spread: Floats,
    steps: Floats,
    weights: Floats,
    smoothed: tuple[Floats, Floats],
    confidence: float,
) -> Floats:
    """Within how many standard deviations whole paths of the posterior law stay, line by line."""
    draws = np.random.default_rng(0).standard_normal((len(level), PATHS))
    quantiles = (np.arange(PATHS) + 0.5) / PATHS
    which = np.stack([np.searchsorted(row, quantiles) for row in np.cumsum(weights, axis=1)])
    which = np.minimum(which, len(DRIFTS) - 1)
    worst, path = np.zeros(which.shape), np.zeros(which.shape)
    for t in range(len(level) - 1, -1, -1):
        mean, variance = (np.take_along_axis(each[t], which, axis=1) for each in (level, spread))
        if t < len(level) - 1:
            gain = variance / (variance + np.take_along_axis(steps[t + 1], which, axis=1))
            mean, variance = mean + gain * (path - mean), variance * (1 - gain)
        path = mean + np.sqrt(variance) * draws[t]
        distance = np.abs(path - smoothed[0][t][:, None]) / smoothed[1][t][:, None]
        np.maximum(worst, distance, out=worst)
    return np.asarray(np.quantile(worst, confidence, axis=1))
