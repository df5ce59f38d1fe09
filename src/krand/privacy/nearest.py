"""When a request cannot be met: the nearest ones that can."""

from __future__ import annotations

import math
from dataclasses import replace

from krand.privacy.guarantee import MAX_POPULATION, Z95, Policy, Reports
from krand.privacy.mechanism import Effort, Mechanism

__all__ = ["loudest_useful_noise", "nearest_requests", "round_up"]


def loudest_useful_noise(reports: Reports, population: int) -> float:
    """The largest q at which an estimate is still more precise than half the crowd."""
    # 1.96·√(Npq/k)/(1-2q) = N/2, solved for pq = (1-(1-2q)²)/4.
    ratio = reports.copies * population / (4 * Z95**2)
    return 0.5 * (1 - 1 / math.sqrt(1 + 4 * ratio))


def nearest_requests(policy: Policy, reports: Reports) -> tuple[str, ...]:
    """The smallest crowd and the smallest ε that would do, everything else unchanged.

    Where one of them does not exist, the most bits (and then copies) that would do instead.
    """
    found = []
    crowd = _smallest_crowd(policy, reports)
    if crowd is not None:
        found.append(f"population {crowd:,} at epsilon {policy.epsilon:g}")
    epsilon = _smallest_epsilon(policy, reports)
    if epsilon is not None:
        found.append(f"epsilon {epsilon:g} at population {policy.population:,}")
    fewer = ("copies",) if reports.structure else ("bits", "copies")  # questions are not bits
    for field in fewer:
        if len(found) < 2:
            most = _most(policy, reports, field)
            if most is not None:
                found.append(f"{field} {most:,}, everything else as asked")
    return tuple(found)


def _met(policy: Policy, reports: Reports) -> bool:
    """Whether the loudest useful noise meets the policy."""
    noise = loudest_useful_noise(reports, policy.population) * (1 - 1e-9)
    mechanism = Mechanism(reports, policy.honest, policy.epsilon, policy.assurance)
    if policy.delta is not None:
        return mechanism.delta(noise, Effort.QUICK).bounds.upper <= policy.delta
    assert policy.eta is not None
    return mechanism.eta(noise, Effort.QUICK).bounds.upper <= policy.eta


def _smallest_crowd(policy: Policy, reports: Reports) -> int | None:
    low, high = policy.population, policy.population
    while not _met(replace(policy, population=high), reports):
        low, high = high, high * 4
        if high > MAX_POPULATION:
            return None
    while high > 1.02 * low and high > low + 1:
        middle = round(math.sqrt(low * high))
        met = _met(replace(policy, population=middle), reports)
        low, high = (low, middle) if met else (middle, high)
    return round_up(high)


def _smallest_epsilon(policy: Policy, reports: Reports) -> float | None:
    low, high = policy.epsilon, policy.epsilon
    while not _met(replace(policy, epsilon=high), reports):
        low, high = high, high * 2
        if high > 100:
            return None
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        met = _met(replace(policy, epsilon=middle), reports)
        low, high = (low, middle) if met else (middle, high)
    return math.ceil(high * 1.01 * 100) / 100 if high > 0.1 else float(f"{high * 1.02:.3g}")


def _most(policy: Policy, reports: Reports, field: str) -> int | None:
    """The largest number of bits or copies, below the one asked for, with which it can be met."""
    low, high = 0, getattr(reports, field)
    while high - low > 1:
        middle = (low + high) // 2
        fewer = {field: middle, "max_set_bits": None if field == "bits" else reports.max_set_bits}
        met = _met(policy, replace(reports, **fewer))
        low, high = (middle, high) if met else (low, middle)
    return low or None


def round_up(count: float) -> int:
    """Two leading digits, rounded up: a number a person would say."""
    unit = int(10 ** max(0, len(str(int(count))) - 2))
    return math.ceil(count * 1.01 / unit) * unit
