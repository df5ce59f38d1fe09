"""What others need for the same promise: a trusted curator, Gaussian noise, RAPPOR.

A curator sees all raw answers and adds noise to every count once per round. Which of two textbook
mechanisms needs less depends on how many counts one person can change, each by 1: geometric noise
(discrete Laplace) where they are few, Gaussian noise where they are many. The baseline is the
better of the two. It is not a limit: noise made for one case alone can be a few per cent smaller.

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
from scipy.special import betainc, expit, log_ndtr, ndtr

from krand.accounting.composition import LossLaw, compose
from krand.accounting.laws import noise_of_local_epsilon
from krand.errors import InvalidInput
from krand.policy import Policy
from krand.promise import ResponseFormat

MOST_LOSS = 1400.0
"""Beyond this loss per count geometric noise is 0 in floating point."""
MOST_COUNTS = 10_000
"""Geometric noise is not divided over more changed counts than these: there it is far above."""
STEPS = 64
"""The largest loss of a divided noise in steps of the grid on which all of them lie."""


@dataclass(frozen=True, slots=True)
class Share:
    """Positions that are asked in the same way: how many one person can change, what they weigh."""

    sensitivity: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.sensitivity < 1:
            raise InvalidInput("sensitivity", "must be at least 1", self.sensitivity)
        if not 0 < self.weight < math.inf:
            raise InvalidInput("weight", "must be a finite number above 0", self.weight)

    @property
    def ratio(self) -> float:
        """√(t/w): the variance it gets, relative to the others."""
        return math.sqrt(self.sensitivity / self.weight)


# --- nobody is trusted --------------------------------------------------------------------------


def rappor_noise(policy: Policy, responses: ResponseFormat) -> float:
    """q of basic one-time RAPPOR (symmetric unary encoding): each response protects itself."""
    return noise_of_local_epsilon(policy.epsilon, responses.sensitivity * responses.rounds)


def rappor_sigma(policy: Policy, responses: ResponseFormat) -> float:
    """√(Npq)/(p-q) at RAPPOR's noise, with p-q = tanh(ε/2t) to keep digits near q = ½."""
    q = rappor_noise(policy, responses)
    gap = math.tanh(policy.epsilon / (2 * responses.sensitivity * responses.rounds))
    return math.sqrt(policy.minimum_crowd * q * (1 - q)) / gap


# --- a curator, the same noise for every count --------------------------------------------------


class CentralNoise(StrEnum):
    """What a curator adds to every count."""

    GAUSSIAN = "Gaussian"
    GEOMETRIC = "geometric"


@dataclass(frozen=True, slots=True)
class Curator:
    """The better mechanism for a promise, and σ of the counts of every share with it."""

    noise: CentralNoise
    sigmas: tuple[float, ...]

    @property
    def sigma(self) -> float:
        """Of the first share."""
        return self.sigmas[0]


def curator(policy: Policy, responses: ResponseFormat) -> Curator:
    """The baseline for responses whose counts all have the same noise."""
    return divided_curator(policy, (Share(responses.sensitivity),), responses.rounds)


def gaussian_shift(policy: Policy) -> float:
    """The largest shift (sensitivity over σ) of a Gaussian that meets the policy."""
    ask = gaussian_delta if policy.eta is None else gaussian_eta
    return _largest(lambda shift: ask(shift, policy.epsilon) < policy.asked, 1e-9, 1e6)


def gaussian_delta(shift: float, epsilon: float) -> float:
    """δ(ε) of two unit Gaussians `shift` apart (Balle and Wang 2018, Theorem 8)."""
    near = float(ndtr(shift / 2 - epsilon / shift))
    return near - math.exp(epsilon + float(log_ndtr(-shift / 2 - epsilon / shift)))


def gaussian_eta(shift: float, epsilon: float) -> float:
    """P[loss > ε] of two unit Gaussians `shift` apart: the loss is N(shift²/2, shift²)."""
    return float(ndtr(shift / 2 - epsilon / shift))


def geometric_sigma(loss: float) -> float:
    """σ of two-sided geometric noise with ratio e^-loss: √(2α)/(1-α) = 1/(√2·sinh(loss/2))."""
    return 1 / (math.sqrt(2) * math.sinh(min(loss, MOST_LOSS) / 2))


def geometric_loss(policy: Policy, counts: int) -> float:
    """The largest loss per count with which geometric noise meets the policy.

    ε/T needs no δ at all. δ and the tail both rise with the loss per count: more noise is
    post-processing of less, and the tail's end moves down while its probability moves up.
    """

    def is_met(loss: float) -> bool:
        near, far = _tails(loss, counts, policy.epsilon)
        found = near if policy.delta is None else max(0.0, near - math.exp(policy.epsilon) * far)
        return found <= policy.asked

    return _largest(is_met, policy.epsilon / counts, MOST_LOSS)


def _tails(loss: float, counts: int, epsilon: float) -> tuple[float, float]:
    """P[a(2K-T) > ε] of both collections: K is binomial with e^a/(1+e^a), or with its mirror."""
    least = math.floor((counts + epsilon / loss) / 2) + 1
    if least > counts:
        return 0.0, 0.0
    more = counts - least + 1
    return float(betainc(least, more, expit(loss))), float(betainc(least, more, expit(-loss)))


def _largest(
    passes: Callable[[float], bool], low: float, most: float, width: float = 1e-12
) -> float:
    """The first number above `low` that does not pass, to a relative `width`."""
    high = 2 * low
    while passes(high) and high < most:
        low, high = high, 2 * high
    while high - low > width * high:
        middle = (low + high) / 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return high


# --- a curator who divides noise by weights ------------------------------------------------------


def divided_curator(policy: Policy, shares: Sequence[Share], rounds: int = 1) -> Curator:
    """The smaller sum of w·σ² over all shares."""
    counts = sum(share.sensitivity for share in shares) * rounds
    gaussian = gaussian_division(policy, shares, rounds)
    geometric = None
    if len({share.ratio for share in shares}) == 1:
        alike = geometric_sigma(geometric_loss(policy, counts))
        geometric = (alike,) * len(shares) if alike < gaussian[0] else None
    elif counts <= MOST_COUNTS:
        geometric = _geometric_division(policy, shares, rounds, _weighed(shares, gaussian))
    if geometric is None:
        return Curator(CentralNoise.GAUSSIAN, gaussian)
    return Curator(CentralNoise.GEOMETRIC, geometric)


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

    equal = _largest(lambda step: _weighed(shares, sigmas(step)) >= goal, least, MOST_LOSS)
    if not passes(equal):
        return None
    return sigmas(_largest(passes, equal, MOST_LOSS, 1e-6))


def _two_losses(step: float, many: int) -> LossLaw:
    """One changed count with geometric noise: loss ±many steps."""
    return LossLaw(
        step=step,
        index=np.array([-many, many]),
        mass=expit([-step * many, step * many]),
        infinite=0.0,
        infinite_reverse=0.0,
    )
