"""Copies, bits and rounds: privacy losses add up, every rounding to the safe side.

A mechanism enters as its privacy profile h(ε) = δ, known at chosen nodes. Connecting the dots in
λ = e^ε (Doroshenko et al. 2022) gives a discrete pair that dominates it: a mass at every node.
Pairs on a common grid of losses are composed by FFT after exponential tilting, so that a δ of
1e-12 comes out with the same relative accuracy as one of 1e-3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.errors import InternalError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNIT = 2.0**-53
DENSE_SPREADS = 5
"""Nodes stand next to each other for this many standard deviations, then thin out in proportion."""
FURTHEST = 600.0
"""Losses beyond this count as infinite."""
ALIAS = 1e-12
SMALLEST = 1e-300
ALMOST = 1 - 1e-12
LARGEST = 2**20
SAFETY, SAFETY_EACH = 1e-9, 16 * UNIT
"""Cover the rounding of masses, relatively: of the sum, and of each node of what is composed."""
MISSING = 1e-9
"""Mass of a reversed law that rounding may take away, as SAFETY allows for it."""
HULL_PASSES = 8
TIE = 32 * UNIT
"""How far ε and a loss beside it may be off, relatively: a handful of roundings."""
STEPS_PER_SPREAD = 20.0
"""Nodes per standard deviation of one mechanism's loss: adds 1/(6·20²) to its variance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLaw:
    """Law of log P/Q under P, on multiples of `step`; `infinite` is P's mass where Q has none."""

    step: float
    index: Ints
    mass: Floats
    infinite: float
    infinite_reverse: float

    def reversed(self) -> LossLaw:
        """The pair (Q, P): Q = P·e^-loss and the loss changes sign.

        What P holds too little of to be a number may be much of Q: it counts as infinite.
        """
        mass = self.mass * np.exp(-self.step * self.index)
        missing = 1.0 - float(mass.sum()) - self.infinite_reverse
        infinite = self.infinite_reverse + (missing if missing > MISSING else 0.0)
        return LossLaw(
            step=self.step,
            index=-self.index[::-1],
            mass=mass[::-1],
            infinite=infinite,
            infinite_reverse=self.infinite,
        )


def loss_step(
    total_variation: float, steps_per_spread: float = STEPS_PER_SPREAD, compositions: int = 1
) -> float:
    """Grid step for a mechanism with this h(0) ≈ 0.4 standard deviations of the loss.

    Beyond 10^6 compositions the steps are wider: it adds up to 2 % to the variance, and less to σ.
    """
    steps = min(steps_per_spread, max(3.0, steps_per_spread * 1e3 / math.sqrt(compositions)))
    return max(1e-12, total_variation) * 2.5 / steps


def loss_nodes(
    step: float, furthest: float, compositions: int, steps_per_spread: float = STEPS_PER_SPREAD
) -> Ints:
    """Grid indices 0, 1, 2, …, thinning out later, until `furthest` is covered.

    The more often a mechanism is composed, the less its rare large losses matter.
    """
    last = math.ceil(furthest / step)
    dense = DENSE_SPREADS * steps_per_spread
    growth = 1 + (1 + math.log10(compositions)) / dense
    nodes = list(range(min(int(dense), last) + 1))
    while nodes[-1] < last:
        nodes.append(min(last, int(nodes[-1] * growth) + 1))
    return np.array(nodes, dtype=np.int64)


def connect_dots(step: float, nodes: Ints, forward: Floats, reverse: Floats) -> LossLaw:
    """The discrete pair whose profile is the lower convex hull of h(±node·step).

    The true profile is convex and lies below every point, hence below the hull. Points with λ > 1
    come from `forward`; those with λ = 1/μ < 1 from `reverse` by h(λ) = 1-λ+λ·h_reverse(μ), a
    projective map that takes lines to lines, so each half is handled in its own coordinate and
    keeps its relative accuracy.
    """
    beyond = np.expm1(step * nodes)
    forward, reverse = (np.minimum.accumulate(np.minimum(h, 1.0)) for h in (forward, reverse))
    forward[0] = reverse[0] = min(forward[0], reverse[0])
    right, left = _hull(beyond, forward), _hull(beyond, reverse)
    into_right, into_left = _meet(beyond, forward, reverse, right, left)
    above = _slope_changes(beyond, forward, right, into_right) * (1 + beyond[right])
    below = _slope_changes(beyond, reverse, left, into_left)
    middle = 1.0 - float(forward[-1]) - float(above.sum()) - float(below.sum())
    if middle < -1e-9:
        raise InternalError(f"a privacy profile is not convex at 0 (mass {middle:g})")
    index = np.concatenate((-nodes[left[::-1]], [0], nodes[right]))
    mass = np.concatenate((below[::-1], [middle], above))
    total = float(mass.sum()) + float(forward[-1])
    if not abs(total - 1) < 1e-6:
        raise InternalError(f"a pair of laws has the mass {total!r}")
    present = mass > 0
    if not present.any():  # everything is told: what is left counts for nothing
        mass[below.size], present[below.size] = SMALLEST, True
    return LossLaw(
        step=step,
        index=index[present],
        mass=mass[present],
        infinite=float(forward[-1]),
        infinite_reverse=float(reverse[-1]),
    )


def _hull(x: Floats, y: Floats) -> list[int]:
    """Indices ≥ 1 of the lower convex hull of the points, the first point being node 0.

    A corner of the hull lies below the line through any two others, so points that do not lie below
    their neighbours' line can be taken away all at once; the last few are taken one by one.
    """
    kept = np.arange(x.size)
    for _ in range(HULL_PASSES):
        run, rise = np.diff(x[kept]), np.diff(y[kept])
        corner = np.ones(kept.size, dtype=np.bool_)
        corner[1:-1] = rise[:-1] * run[1:] < rise[1:] * run[:-1]
        if corner.all():
            return [int(i) for i in kept[1:]]
        kept = kept[corner]
    chain = [0]
    for i in kept[1:].tolist():
        while len(chain) > 1:
            a, b = chain[-2], chain[-1]
            if (y[b] - y[a]) * (x[i] - x[b]) < (y[i] - y[b]) * (x[b] - x[a]):
                break
            chain.pop()
        chain.append(i)
    return chain[1:]


def _meet(
    x: Floats, forward: Floats, reverse: Floats, right: list[int], left: list[int]
) -> tuple[float, float]:
    """Slopes of the hull where it leaves λ = 1 to either side; points above it are removed.

    In the plane (λ-1, h) a left point is (1/μ-1, 1-1/μ+h_reverse/μ). A line h = a + b(λ-1) is
    h_reverse = a + (a-b-1)(μ-1) on the left.
    """
    top = float(forward[0])
    slope_right = (float(forward[right[0]]) - top) / float(x[right[0]])
    slope_left = (float(reverse[left[0]]) - top) / float(x[left[0]])
    if (top - 1) - slope_left <= slope_right:
        return slope_right, slope_left
    # Node 0 lies above the chord of its neighbours: the hull passes below it.
    while True:
        i, j = right[0], left[0]
        mu = 1 + float(x[j])
        # By what is missing to 1, as slopes may be 1e-70 where everything is told.
        short, short_reverse = 1 - float(forward[i]), 1 - float(reverse[j])
        b = (short_reverse / mu - short) / (float(x[i]) + float(x[j]) / mu)
        back = -short - b * (1 + float(x[i]))  # a-b-1
        if len(right) > 1 and b > (forward[right[1]] - forward[i]) / (x[right[1]] - x[i]):
            right.pop(0)
        elif len(left) > 1 and back > (reverse[left[1]] - reverse[j]) / (x[left[1]] - x[j]):
            left.pop(0)
        else:
            return b, back


def _slope_changes(x: Floats, y: Floats, chain: list[int], before: float) -> Floats:
    """Masses at the hull's corners: slope after minus slope before, flat beyond the last."""
    after = np.append(np.diff(y[chain]) / np.diff(x[chain]), 0.0)
    return np.asarray(np.maximum(0.0, after - np.append(before, after[:-1])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """Upper bounds from a composed pair near one ε: δ, and the bare tail of the loss."""

    log_scale: float
    theta: float
    loss: Floats
    tilted: Floats
    infinite: float
    slack: float
    wrapped: bool
    """Whether the window is too small: then only Chernoff's bound is claimed."""
    log_below: float
    """log of a bound on the tilted mass below the window."""
    safety: float
    """Relative error of the masses."""

    def delta(self, epsilon: float) -> float:
        """E_P[(1-e^(ε-loss))⁺] and everything that was left out."""
        lower = epsilon * (1 - TIE)  # a loss that cannot be told from ε counts
        if self.wrapped:
            return min(1.0, (self._chernoff(lower) + self.infinite) * (1 + self.safety))
        above = self.loss > lower
        gain = -np.expm1(lower - self.loss[above])
        total = self._weigh(above, gain) + self.infinite + self.slack
        if self.loss[0] > lower:  # some of what counts may lie below the window
            total += math.exp(min(0.0, self.log_below + self.log_scale - self.theta * lower))
        return min(1.0, total * (1 + self.safety))

    def _chernoff(self, epsilon: float) -> float:
        """(1-e^(ε-loss))⁺ ≤ e^(θ(loss-ε))·θ^θ/(1+θ)^(1+θ), in the mean."""
        theta = self.theta
        shape = theta * math.log(theta) - (1 + theta) * math.log1p(theta)
        return math.exp(min(0.0, self.log_scale - theta * epsilon + shape))

    def tail(self, epsilon: float) -> float:
        """P[loss > ε] of the composed pair: a value, not a bound, for tails do not compose."""
        if self.wrapped:
            return min(1.0, math.exp(min(0.0, self.log_scale - self.theta * epsilon)))
        above = self.loss > epsilon
        return min(1.0, self._weigh(above, np.ones(int(above.sum()))) + self.infinite)

    def _weigh(self, above: NDArray[np.bool_], gain: Floats) -> float:
        untilt = np.exp(np.minimum(self.log_scale - self.theta * self.loss[above], 700.0))
        return float((self.tilted[above] * untilt * gain).sum())


def compose(parts: Sequence[tuple[LossLaw, int]], epsilon: float) -> Composed:
    """The pair of all parts, each `count` times, ready to be asked about losses near ε."""
    stack = _stacked(parts)
    theta = stack.saddle(epsilon)
    log_scale = stack.cumulant(theta)
    weights = stack.tilted(theta)
    mean, size, log_lost, log_below, wrapped = _window(stack, weights, theta, log_scale)
    spectrum = np.zeros(size // 2 + 1, dtype=np.complex128)
    sharing = np.ones(size // 2 + 1)
    # Each FFT output is a sum of terms of modulus ≤ 1 in log2(size) roundings; a power multiplies
    # its relative error, which is larger where the output is small.
    off = UNIT * 16 * math.log2(size)
    for (law, count), part in zip(parts, np.split(weights, stack.starts[1:]), strict=True):
        transformed = np.fft.rfft(np.bincount(law.index % size, part, size))
        with np.errstate(divide="ignore"):
            spectrum += count * np.log(transformed)
        sharing += count / np.maximum(np.abs(transformed), off)
    powered = np.exp(spectrum)
    raw = np.fft.irfft(powered, size)
    rounding = off * float((np.abs(powered) * sharing).mean())
    first = round(mean) - size // 2
    order = np.arange(first, first + size)
    tilted = np.maximum(raw[order % size], 0.0) + rounding
    finite = sum(count * math.log1p(-min(law.infinite, ALMOST)) for law, count in parts)
    infinite = 1.0 if any(law.infinite > ALMOST for law, _ in parts) else -math.expm1(finite)
    loss = np.asarray(stack.step * order)
    slack = math.exp(min(0.0, log_lost))
    safety = SAFETY + SAFETY_EACH * sum(law.index.size * count for law, count in parts)
    return Composed(
        log_scale=log_scale,
        theta=theta,
        loss=loss,
        tilted=tilted,
        infinite=infinite,
        slack=slack,
        wrapped=wrapped,
        log_below=log_below,
        safety=safety,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stack:
    """All parts in one array, so that sums over thousands of them are single operations."""

    step: float
    loss: Floats
    log_mass: Floats
    starts: Ints
    counts: Floats

    def cumulant(self, theta: float) -> float:
        """log E_P[e^{θ·loss}; finite] of the composition."""
        exponent = theta * self.loss + self.log_mass
        tops = np.maximum.reduceat(exponent, self.starts)
        sums = np.add.reduceat(np.exp(exponent - self._spread(tops)), self.starts)
        return float((self.counts * (tops + np.log(sums))).sum())

    def tilted(self, theta: float) -> Floats:
        """Every part's masses times e^{θ·loss}, each part summing to 1."""
        exponent = theta * self.loss + self.log_mass
        exponent -= self._spread(np.maximum.reduceat(exponent, self.starts))
        weights = np.exp(exponent)
        return np.asarray(weights / self._spread(np.add.reduceat(weights, self.starts)))

    def totals(self, weights: Floats) -> tuple[float, float]:
        """Mean and variance of the composed loss under these masses."""
        means = np.add.reduceat(weights * self.loss, self.starts)
        squares = np.add.reduceat(weights * (self.loss - self._spread(means)) ** 2, self.starts)
        return float(self.counts @ means), float(self.counts @ squares)

    def saddle(self, epsilon: float) -> float:
        """θ > 0 minimising e^{Λ(θ)-θε}/(θ(1+θ)), the transform of (1-e^(ε-loss))⁺."""

        def height(log_theta: float) -> float:
            theta = math.exp(log_theta)
            return self.cumulant(theta) - theta * epsilon - log_theta - math.log1p(theta)

        return math.exp(golden_minimum(height, math.log(1e-4), math.log(1e7), 1e-2))

    def _spread(self, per_part: Floats) -> Floats:
        lengths = np.diff(np.append(self.starts, self.loss.size))
        return np.repeat(per_part, lengths)


def _stacked(parts: Sequence[tuple[LossLaw, int]]) -> _Stack:
    step = parts[0][0].step
    if any(abs(law.step - step) > 1e-12 * step for law, _ in parts):
        raise InternalError("mechanisms on different grids cannot be composed")
    lengths = [law.index.size for law, _ in parts]
    return _Stack(
        step=step,
        loss=step * np.concatenate([law.index for law, _ in parts]).astype(np.float64),
        log_mass=np.log(np.concatenate([law.mass for law, _ in parts])),
        starts=np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64),
        counts=np.array([count for _, count in parts], dtype=np.float64),
    )


def golden_minimum(f: Callable[[float], float], low: float, high: float, width: float) -> float:
    """Where a unimodal function is smallest, by golden-section search."""
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    f_left, f_right = f(left), f(right)
    while high - low > width:
        if f_left < f_right:
            high, right, f_right = right, left, f_left
            left = high - golden * (high - low)
            f_left = f(left)
        else:
            low, left, f_left = left, right, f_right
            right = low + golden * (high - low)
            f_right = f(right)
    return (low + high) / 2


def _window(
    stack: _Stack, weights: Floats, theta: float, log_scale: float
) -> tuple[float, int, float, float, bool]:
    """(mean index, FFT size, log of P's mass beyond the window, log of the tilted mass below it,
    whether much of it wraps around).

    Chernoff bounds the tilted mass outside the window. What is missing above the window's end is
    added to δ as `slack`, what is missing below it where that counts.
    """
    step = stack.step
    mean, variance = stack.totals(weights)
    spread = math.sqrt(variance) + step
    rates = [r / spread for r in (1.0, 2.0, 4.0, 6.0, 9.0, 13.0)]
    right = [stack.cumulant(theta + r) - log_scale for r in rates]
    left = [stack.cumulant(theta - r) - log_scale for r in rates]
    size = 1024
    while True:
        end, start = mean + step * (size / 2 - 1), mean - step * (size / 2 - 1)
        above = min(h - r * end for h, r in zip(right, rates, strict=True))
        below = min(h + r * start for h, r in zip(left, rates, strict=True))
        wrapped = max(above, below) >= math.log(ALIAS)
        if not wrapped or size >= LARGEST:
            lost = log_scale - theta * end + min(0.0, above)
            return mean / step, size, lost, min(0.0, below), wrapped
        size *= 2
