"""Monte Carlo of the privacy ratio: the check that shares nothing with the exact law.

The drafts' outlier pair: every background user holds y = 0, the changed user y or y' = 1, L bits
apart. A response with l ones has likelihood ratio w_l = (p/q)^(2l-L), and an outcome is its
histogram T over l, so one draw costs L+1 binomials whatever the number of users. With k copies each

    R = e_k(w_1 … w_kN) / C(kN, k)        (one copy: the mean of the N ratios)

    η forward = P[R > λ | D_m]            δ forward = E_{D_m}[(1 - λ/R)+]
    η reverse = P[1/R > λ | D]            δ reverse = E_D[(1 - λR)+]

Rare tails are reached by tilting the law of every response by e^{θx_l}, θ at the saddle point of
Σ T_l x_l > 0. With one copy that is the event itself: x = w/λ - 1 forward, 1 - λw reverse. A
response that settles it alone (w > λN makes R > λ, λw > N rules out 1/R > λ) is left to a closed
form. With more copies it is nearly the event: x_l = ±log(1 + (w_l λ^{∓1/k} - 1)/N), the slope of
log e_k. What x misses costs precision, not truth: outcomes are weighted by their likelihood ratio,
and a tenth of them stays untilted so that no weight exceeds ten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from krand.errors import InvalidInput
from krand_lab.checks import check_bits, check_crowd, check_noise
from krand_lab.intervals import Estimate, bounded_mean, placed, proportion, weighted
from krand_lab.symmetric import log_choose, log_elementary_symmetric

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_CELLS_AT_ONCE = 2**18
_UNTILTED = 0.1
_NEGLIGIBLE = -60.0
"""Cells that expect fewer than e^-60 responses are not drawn."""
_EXP_RANGE = 600.0
_LOUDEST = 600.0


@dataclass(frozen=True, slots=True)
class Simulation:
    """δ and η, each in both directions."""

    delta_forward: Estimate
    delta_reverse: Estimate
    eta_forward: Estimate
    eta_reverse: Estimate


@dataclass(frozen=True, slots=True)
class _Group:
    """Responses that share one law."""

    count: int
    log_p: Floats


@dataclass(frozen=True, slots=True)
class _Pair:
    """The outlier pair with everything that a histogram's ratio depends on."""

    bits: int
    noise: float
    crowd: int
    copies: int

    @property
    def log_w(self) -> Floats:
        return _log_w(self.bits, self.noise)

    @property
    def responses(self) -> int:
        return self.crowd * self.copies

    def law(self, changed: bool) -> tuple[_Group, ...]:
        """All responses from y, or those of one user from y'."""
        log_p = _log_binomial_law(self.bits, self.noise)
        if not changed:
            return (_Group(self.responses, log_p),)
        return _Group(self.responses - self.copies, log_p), _Group(self.copies, log_p[::-1].copy())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One direction: value = exact part + mass · E_law[payoff]."""

    pair: _Pair
    epsilon: float
    sign: int
    law: tuple[_Group, ...]
    log_w: Floats
    exact_eta: float = 0.0
    exact_delta: float = 0.0
    mass: float = 1.0


@dataclass(frozen=True, slots=True)
class _Tilted:
    """A law and what it is relative to the untilted one: log change = T·tilt - log_norm."""

    law: tuple[_Group, ...]
    tilt: Floats
    log_norm: float


def simulate(
    bits: int,
    noise: float,
    crowd: int,
    epsilon: float,
    copies: int = 1,
    samples: int = 100_000,
    seed: int | None = None,
    importance: bool = True,
    confidence: float = 0.95,
) -> Simulation:
    """η and δ of the outlier pair in both directions, each from `samples` outcomes.

    Plain sampling: η has the exact Clopper–Pearson interval; δ the empirical Bernstein interval
    of Maurer and Pontil, cut at the Clopper–Pearson upper end of P[loss > 0] (half of the error
    probability each). Both hold for every sample size. With importance sampling the interval is
    the normal one, wider by √(1000/ESS) if the effective sample size is below 1000.
    """
    pair = _checked(bits, noise, crowd, copies)
    _check_request(epsilon, samples, confidence)
    rng = np.random.default_rng(seed)
    forward, reverse = (
        _direction(rng, _task(pair, epsilon, sign, importance), samples, importance, confidence)
        for sign in (1, -1)
    )
    return Simulation(forward[1], reverse[1], forward[0], reverse[0])


def draw_histograms(
    rng: np.random.Generator,
    bits: int,
    noise: float,
    crowd: int,
    samples: int,
    copies: int = 1,
    changed: bool = False,
) -> Ints:
    """Outcomes as counts of responses with 0 … L ones, one row each, under D or (changed) D_m."""
    return _draw(rng, _checked(bits, noise, crowd, copies).law(changed), samples)


def log_ratio(histograms: Ints, noise: float, copies: int = 1) -> Floats:
    """log R of every histogram over 0 … L ones; all rows must hold the same number of responses."""
    counts = np.asarray(histograms)
    totals = np.unique(counts.sum(axis=-1))
    if len(totals) != 1:
        raise InvalidInput("histograms", "must hold equally many responses each", totals.tolist())
    return _log_ratio(counts, _log_w(counts.shape[-1] - 1, noise), int(totals[0]), copies)


def _checked(bits: int, noise: float, crowd: int, copies: int) -> _Pair:
    check_bits(bits, copies)
    check_noise(noise)
    check_crowd(crowd)
    return _Pair(bits, noise, crowd, copies)


def _check_request(epsilon: float, samples: int, confidence: float) -> None:
    if not 0 <= epsilon <= 100:
        raise InvalidInput("epsilon", "must lie between 0 and 100", epsilon)
    if samples < 100:
        raise InvalidInput("samples", "must be a whole number, at least 100", samples)
    if not 0 < confidence < 1:
        raise InvalidInput("confidence", "must lie between 0 and 1, both excluded", confidence)


# --- laws and outcomes -------------------------------------------------------------------------


def _log_w(bits: int, noise: float) -> Floats:
    exponents = 2.0 * np.arange(bits + 1) - bits
    return np.asarray(exponents * (math.log1p(-noise) - math.log(noise)), dtype=np.float64)


def _log_binomial_law(bits: int, noise: float) -> Floats:
    """log of Bin(L, q), normalised."""
    ones = np.arange(bits + 1, dtype=np.float64)
    steps = np.log((bits - ones[:-1]) / (ones[:-1] + 1))
    log_choices = np.concatenate([[0.0], np.cumsum(steps)])
    return _normalised(log_choices + ones * math.log(noise) + (bits - ones) * math.log1p(-noise))


def _normalised(log_p: Floats) -> Floats:
    return np.asarray(log_p - logsumexp(log_p))


def _draw(rng: np.random.Generator, law: tuple[_Group, ...], samples: int) -> Ints:
    """Sums of multinomials.

    The rarest cell is drawn first: the generator works from what is left of the total
    probability, and the rounding error of that must not land in a cell that matters.
    """
    total = np.zeros((samples, len(law[0].log_p)), dtype=np.int64)
    for group in law:
        order = np.argsort(group.log_p)
        p = np.exp(group.log_p[order])
        total[:, order] += rng.multinomial(group.count, p / max(1.0, p.sum()), size=samples)
    return total


def _log_ratio(histograms: Ints, log_w: Floats, responses: int, copies: int) -> Floats:
    if copies > 1:
        return log_elementary_symmetric(histograms, log_w, copies) - log_choose(responses, copies)
    if float(np.ptp(log_w)) < _EXP_RANGE:
        top = float(log_w.max())
        near: Floats = np.log(histograms @ np.exp(log_w - top)) + top - math.log(responses)
        return near
    far: Floats = logsumexp(log_w, b=histograms, axis=-1) - math.log(responses)
    return far


# --- the event, and what of it is known in closed form -----------------------------------------


def _task(pair: _Pair, epsilon: float, sign: int, importance: bool) -> _Task:
    """The whole law; or, for one copy with importance, what no single response settles."""
    task = _Task(
        pair=pair, epsilon=epsilon, sign=sign, law=pair.law(changed=sign > 0), log_w=pair.log_w
    )
    if task.log_w[-1] * pair.copies <= epsilon:
        return replace(task, mass=0.0)
    if not importance or pair.copies > 1:
        return task
    keep = task.log_w <= math.log(pair.crowd) + sign * epsilon
    if not keep.any():
        return replace(task, mass=0.0)
    return _conditioned(task, keep)


def _conditioned(task: _Task, keep: Flags) -> _Task:
    """Given that every response is one of `keep`: any other one decides the event alone.

    Forward it makes R > λ certain, so that its share of η and δ is a closed form; reverse it
    makes 1/R > λ impossible.
    """
    each = [_log_kept(group.log_p, keep) for group in task.law]
    log_mass = sum(group.count * kept for group, kept in zip(task.law, each, strict=True))
    narrowed = replace(
        task,
        law=tuple(_Group(group.count, _normalised(group.log_p[keep])) for group in task.law),
        log_w=task.log_w[keep],
        mass=math.exp(log_mass),
    )
    if task.sign < 0:
        return narrowed
    certain = -math.expm1(log_mass)
    certain_under_d = -math.expm1(task.pair.crowd * each[0])
    return replace(
        narrowed,
        mass=narrowed.mass if narrowed.log_w[-1] > task.epsilon else 0.0,
        exact_eta=certain,
        exact_delta=max(0.0, certain - math.exp(task.epsilon) * certain_under_d),
    )


def _log_kept(log_p: Floats, keep: Flags) -> float:
    """log P[keep], exact at both ends."""
    lost = 0.0 if keep.all() else math.exp(logsumexp(log_p[~keep]))
    return math.log1p(-lost) if lost < 0.5 else logsumexp(log_p[keep])


# --- tilting -----------------------------------------------------------------------------------


def _mixture(task: _Task, importance: bool) -> tuple[list[_Tilted], Floats]:
    """The laws to draw from, the untilted one first, and log w, all on the cells that matter."""
    x, theta = _tilt(task) if importance else (np.zeros_like(task.log_w), 0.0)
    laws = [_tilted(task.law, x, each) for each in ([0.0, theta] if theta > 0 else [0.0])]
    live = np.logical_or.reduce(
        [math.log(group.count) + group.log_p > _NEGLIGIBLE for each in laws for group in each.law]
    )
    return [_on_cells(each, live) for each in laws], task.log_w[live]


def _tilt(task: _Task) -> tuple[Floats, float]:
    """x and θ; θ = 0 if the event is no rarity.

    Forward x is cut at w = (λ-1)N, where one response reaches the boundary unaided: such jumps are
    how heavy tails happen, and beyond the cut they keep the proportions that they have by nature.
    """
    x = _statistic(task, task.log_w)
    if task.sign < 0 or _slope(task.law, x, 0.0) >= 0:
        return x, _saddle(task.law, x)
    jump = max(math.expm1(task.epsilon) * task.pair.crowd, 2 * math.exp(task.epsilon))
    x = _statistic(task, np.minimum(task.log_w, math.log(jump)))
    return x, _saddle(task.law, x)


def _statistic(task: _Task, log_w: Floats) -> Floats:
    """What each response adds to the event."""
    copies = task.pair.copies
    surplus = np.expm1(np.minimum(log_w - task.sign * task.epsilon / copies, _LOUDEST))
    slope = surplus if copies == 1 else np.log1p(surplus / task.pair.crowd)
    return np.asarray(task.sign * slope, dtype=np.float64)


def _tilted(law: tuple[_Group, ...], x: Floats, theta: float) -> _Tilted:
    tilt = theta * x
    moments = [_log_moment(group.log_p, tilt) for group in law]
    pairs = list(zip(law, moments, strict=True))
    return _Tilted(
        tuple(_Group(group.count, group.log_p + tilt - moment) for group, moment in pairs),
        tilt,
        sum(group.count * moment for group, moment in pairs),
    )


def _on_cells(law: _Tilted, live: Flags) -> _Tilted:
    groups = tuple(_Group(group.count, group.log_p[live]) for group in law.law)
    return _Tilted(groups, law.tilt[live], law.log_norm)


def _saddle(law: tuple[_Group, ...], x: Floats) -> float:
    """θ ≥ 0 that puts the mean of the statistic on the boundary; 0 if it lies beyond."""
    if x.max() <= 0 or _slope(law, x, 0.0) >= 0:
        return 0.0
    low, high = 0.0, 1.0 / float(x.max())
    while _slope(law, x, high) < 0:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _slope(law, x, middle) < 0 else (low, middle)
    return high


def _slope(law: tuple[_Group, ...], x: Floats, theta: float) -> float:
    """E[Σ T_l x_l] under the law tilted by θ."""
    return sum(
        group.count * float(np.exp(_normalised(group.log_p + theta * x)) @ x) for group in law
    )


def _log_moment(log_p: Floats, tilt: Floats) -> float:
    """log Σ p e^tilt, accurate when tiny: it is going to be multiplied by the crowd."""
    p = np.exp(log_p)
    small = p * np.expm1(np.minimum(tilt, 30.0))
    change = float(np.where(tilt < 30.0, small, np.exp(log_p + tilt) - p).sum())
    return math.log1p(change) if change > -0.5 else logsumexp(log_p + tilt)


# --- sampling and intervals --------------------------------------------------------------------


def _direction(
    rng: np.random.Generator, task: _Task, samples: int, importance: bool, confidence: float
) -> tuple[Estimate, Estimate]:
    """η and δ."""
    if task.mass == 0.0:
        known = Estimate(0.0, 0.0, 0.0, 0)
        return placed(known, task.exact_eta, 0.0), placed(known, task.exact_delta, 0.0)
    laws, log_w = _mixture(task, importance)
    untilted = round(_UNTILTED * samples)
    sizes = [untilted, samples - untilted] if len(laws) > 1 else [samples]
    excess, weight = _sample(rng, task, laws, log_w, sizes)
    hit = excess > 0
    loss = np.where(hit, -np.expm1(-excess), 0.0)
    if len(laws) > 1:
        eta = weighted(weight, hit, untilted, confidence)
        delta = weighted(weight, loss, untilted, confidence)
    else:
        eta = proportion(int(hit.sum()), samples, confidence)
        delta = bounded_mean(loss, confidence)
    return placed(eta, task.exact_eta, task.mass), placed(delta, task.exact_delta, task.mass)


def _sample(
    rng: np.random.Generator, task: _Task, laws: list[_Tilted], log_w: Floats, sizes: list[int]
) -> tuple[Floats, Floats]:
    """±log R - ε of every outcome, and its weight against the mixture."""
    tilts = np.stack([each.tilt for each in laws], axis=1)
    offsets = np.log(np.array(sizes) / sum(sizes)) - [each.log_norm for each in laws]
    step = max(1, _CELLS_AT_ONCE // len(log_w))
    excess: list[Floats] = []
    weight: list[Floats] = []
    for each, size in zip(laws, sizes, strict=True):
        for start in range(0, size, step):
            drawn = _draw(rng, each.law, min(step, size - start))
            log_r = _log_ratio(drawn, log_w, task.pair.responses, task.pair.copies)
            excess.append(task.sign * log_r - task.epsilon)
            weight.append(np.exp(-logsumexp(drawn @ tilts + offsets, axis=1)))
    return np.concatenate(excess), np.concatenate(weight)
