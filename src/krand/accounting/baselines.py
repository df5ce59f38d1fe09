"""What others do: Gaussian noise, and plain local differential privacy."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import log_ndtr, ndtr

from krand.accounting.channel import noise_of_local_epsilon
from krand.promise import Policy, ResponseFormat


def gaussian_delta(shift: float, epsilon: float) -> float:
    """δ(ε) of two unit Gaussians `shift` apart (Balle and Wang 2018, Theorem 8)."""
    near = float(ndtr(shift / 2 - epsilon / shift))
    return near - math.exp(epsilon + float(log_ndtr(-shift / 2 - epsilon / shift)))


def gaussian_eta(shift: float, epsilon: float) -> float:
    """P[loss > ε] of two unit Gaussians `shift` apart: the loss is N(shift²/2, shift²)."""
    return float(ndtr(shift / 2 - epsilon / shift))


def gaussian_shift(policy: Policy) -> float:
    """The largest shift (sensitivity over σ) of a Gaussian that meets the policy."""
    f: Callable[[float, float], float] = gaussian_delta if policy.eta is None else gaussian_eta
    goal = policy.asked
    low, high = 1e-9, 1.0
    while f(high, policy.epsilon) < goal and high < 1e6:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle, policy.epsilon) < goal else (low, middle)
    return low


def rappor_noise(policy: Policy, responses: ResponseFormat) -> float:
    """q of basic one-time RAPPOR (symmetric unary encoding): each response protects itself."""
    return noise_of_local_epsilon(policy.epsilon, responses.sensitivity * responses.rounds)


def rappor_sigma(policy: Policy, responses: ResponseFormat) -> float:
    """√(Npq)/(p-q) at RAPPOR's noise, with p-q = tanh(ε/2t) to keep digits near q = ½."""
    q = rappor_noise(policy, responses)
    gap = math.tanh(policy.epsilon / (2 * responses.sensitivity * responses.rounds))
    return math.sqrt(policy.minimum_crowd * q * (1 - q)) / gap
