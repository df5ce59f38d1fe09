"""The baseline: the noise that a trusted curator, who sees all raw answers, would need.

A curator adds noise to every count once per round. Which of two textbook mechanisms needs less
depends on how many counts one person can change, each by 1: geometric noise (discrete Laplace)
where they are few, Gaussian noise where they are many. The baseline is the better of the two. It
is not a limit: noise made for one case alone can be a few per cent smaller still.

With geometric noise, P(z) ∝ e^(-a|z|), one changed count has the loss +a with probability
e^a/(1+e^a) and -a otherwise, as one bit of randomized response has. So T changed counts have the
loss a(2K-T) with a binomial K, and δ(ε) and P[loss > ε] are differences of binomial tails.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import betainc, expit

from krand.accounting.baselines import gaussian_shift
from krand.accounting.composition import LossLaw, compose
from krand.accounting.division import Share
from krand.promise import Policy, ResponseFormat

MOST_LOSS = 1400.0
"""Beyond this loss per count geometric noise is 0 in floating point."""
MOST_COUNTS = 10_000
"""Geometric noise is not divided over more changed counts than these: there it is far above."""
STEPS = 64
"""The largest loss of a divided noise in steps of the grid on which all of them lie."""


class CentralNoise(StrEnum):
    """What a curator adds to every count."""

    GAUSSIAN = "Gaussian"
    GEOMETRIC = "geometric"


@dataclass(frozen=True, slots=True)
class Curator:
    """The better mechanism for a promise, and σ of every count with it."""

    noise: CentralNoise
    sigma: float


@dataclass(frozen=True, slots=True)
class DividedCurator:
    """The better mechanism for a survey, and σ of the counts of every share with it."""

    noise: CentralNoise
    sigmas: tuple[float, ...]


def curator(policy: Policy, responses: ResponseFormat) -> Curator:
    """The baseline for responses whose counts all have the same noise."""
    return _better(policy, responses.sensitivity * responses.rounds)


def _better(policy: Policy, counts: int) -> Curator:
    """For T counts that one person's change moves by 1 each, over all rounds."""
    geometric = geometric_sigma(geometric_loss(policy, counts))
    gaussian = _gaussian_sigma(policy, counts)
    if geometric < gaussian:
        return Curator(CentralNoise.GEOMETRIC, geometric)
    return Curator(CentralNoise.GAUSSIAN, gaussian)


def central_gaussian_sigma(policy: Policy, responses: ResponseFormat) -> float:
    """σ of each count with Gaussian noise alone."""
    return _gaussian_sigma(policy, responses.sensitivity * responses.rounds)


def _gaussian_sigma(policy: Policy, counts: int) -> float:
    """The sensitivity of T counts is √T."""
    return math.sqrt(counts) / gaussian_shift(policy)


def geometric_sigma(loss: float) -> float:
    """σ of two-sided geometric noise with ratio e^-loss: √(2α)/(1-α) = 1/(√2·sinh(loss/2))."""
    return 1 / (math.sqrt(2) * math.sinh(min(loss, MOST_LOSS) / 2))


def geometric_delta(loss: float, counts: int, epsilon: float) -> float:
    """δ(ε) of geometric noise on T changed counts, each with privacy loss ±loss."""
    near, far = _tails(loss, counts, epsilon)
    return max(0.0, near - math.exp(epsilon) * far)


def geometric_eta(loss: float, counts: int, epsilon: float) -> float:
    """P[loss > ε] of geometric noise on T changed counts."""
    return _tails(loss, counts, epsilon)[0]


def _tails(loss: float, counts: int, epsilon: float) -> tuple[float, float]:
    """P[a(2K-T) > ε] of both collections: K is binomial with e^a/(1+e^a), or with its mirror."""
    least = math.floor((counts + epsilon / loss) / 2) + 1
    if least > counts:
        return 0.0, 0.0
    more = counts - least + 1
    return float(betainc(least, more, expit(loss))), float(betainc(least, more, expit(-loss)))


def geometric_loss(policy: Policy, counts: int) -> float:
    """The largest loss per count with which geometric noise meets the policy.

    ε/T needs no δ at all. δ and the tail both rise with the loss per count: more noise is
    post-processing of less, and the tail's end moves down while its probability moves up.
    """
    ask: Callable[[float, int, float], float] = geometric_delta
    if policy.delta is None:
        ask = geometric_eta
    least = policy.epsilon / counts
    return _largest(lambda loss: ask(loss, counts, policy.epsilon) <= policy.asked, least)


def _largest(passes: Callable[[float], bool], low: float, width: float = 1e-12) -> float:
    """The first loss above `low` that does not pass, to a relative `width`."""
    high = 2 * low
    while passes(high) and high < MOST_LOSS:
        low, high = high, 2 * high
    while high - low > width * high:
        middle = (low + high) / 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return high


# --- a survey's questions, each with noise of its own --------------------------------------------


def divided_curator(policy: Policy, shares: Sequence[Share], rounds: int = 1) -> DividedCurator:
    """The baseline where noise is divided by weights: the smaller sum of w·σ² over all shares."""
    sensitivity = sum(share.sensitivity for share in shares)
    if len({share.ratio for share in shares}) == 1:
        alike = _better(policy, sensitivity * rounds)
        return DividedCurator(alike.noise, (alike.sigma,) * len(shares))
    gaussian = gaussian_division(policy, shares, rounds)
    geometric = None
    if sensitivity * rounds <= MOST_COUNTS:
        geometric = _geometric_division(policy, shares, rounds, _weighed(shares, gaussian))
    if geometric is None:
        return DividedCurator(CentralNoise.GAUSSIAN, gaussian)
    return DividedCurator(CentralNoise.GEOMETRIC, geometric)


def _weighed(shares: Sequence[Share], sigmas: Sequence[float]) -> float:
    return math.fsum(share.weight * sigma**2 for share, sigma in zip(shares, sigmas, strict=True))


def gaussian_division(policy: Policy, shares: Sequence[Share], rounds: int) -> tuple[float, ...]:
    """With deviation s_j for share j, Σ t_j/s_j² ≤ μ² is what the policy allows in one round.

    (Balle and Wang 2018, after scaling every count by its deviation.) Σ w_j·s_j² is then least at
    s_j² = √(t_j/w_j)·Σ √(t_i·w_i)/μ²: krand's own division. Every round adds its own Σ t_j/s_j².
    """
    shift = gaussian_shift(policy) / math.sqrt(rounds)
    total = math.fsum(math.sqrt(share.sensitivity * share.weight) for share in shares)
    return tuple(math.sqrt(share.ratio * total) / shift for share in shares)


def _geometric_division(
    policy: Policy, shares: Sequence[Share], rounds: int, goal: float
) -> tuple[float, ...] | None:
    """The geometric noises whose Σ w·σ² is below the goal; None if there are none.

    Without δ, Σ t·a ≤ ε, and Σ w·σ² is least at losses a ∝ (w/t)^⅓. They are put on a grid, so
    that their sum lies on it too and is composed exactly.
    """
    wanted = [(share.weight / share.sensitivity) ** (1 / 3) for share in shares]
    steps = [max(1, round(STEPS * one / max(wanted))) for one in wanted]

    def sigmas(step: float) -> tuple[float, ...]:
        return tuple(geometric_sigma(step * many) for many in steps)

    counts = [share.sensitivity * rounds for share in shares]
    least = policy.epsilon / sum(map(operator.mul, counts, steps))

    def passes(step: float) -> bool:
        if step <= least * (1 + 1e-9):  # no loss exceeds ε
            return True
        parts = [(_two_losses(step, many), n) for many, n in zip(steps, counts, strict=True)]
        composed = compose(parts, policy.epsilon)
        ask = composed.delta if policy.eta is None else composed.tail
        return ask(policy.epsilon) <= policy.asked

    equal = _largest(lambda step: _weighed(shares, sigmas(step)) >= goal, least)
    if not passes(equal):
        return None
    return sigmas(_largest(passes, equal, 1e-6))


def _two_losses(step: float, many: int) -> LossLaw:
    """One changed count with geometric noise: loss ±many steps."""
    return LossLaw(
        step=step,
        index=np.array([-many, many]),
        mass=expit([-step * many, step * many]),
        infinite=0.0,
        infinite_reverse=0.0,
    )
