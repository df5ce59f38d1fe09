"""When a request cannot be met: the nearest ones that can, and that are worth promising.

No suggestion has an ε above 10: such a promise protects nobody. Nor a δ above a tenth of 1/N:
at 1/N somebody's answers may be published outright. The search ends after PATIENCE seconds with
what it has found: a refusal should not take longer than an answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from krand.accounting.bounds import Effort
from krand.accounting.channel import local_epsilon
from krand.accounting.mechanism import Mechanism
from krand.errors import CannotMeet
from krand.promise import Z95, Policy, ResponseFormat

MOST_EPSILON = 10.0
"""The largest ε, and the largest cap on ε₀, that is ever suggested."""
MOST_PEOPLE = 10**10
"""The largest crowd that is ever suggested."""
FINE, COARSE, LONG = 1.01, 1.2, 1000
"""How near to the smallest value a suggestion is, and from how many noisy bits of a person on it is
less near: each try takes longer then."""
DELTA_SHARE = 0.1
"""The largest δ that is ever suggested, as a share of 1/N."""
HOPELESS = (
    "no larger crowd, no epsilon up to 10, no larger delta and nothing smaller to ask would do:"
    " this cannot be asked of such a crowd with such a promise"
)

PATIENCE = 6.0
"""Seconds after which no other request is tried."""
GIVEN_UP = "no request near this one that can be met was found within a few seconds"

Met = Callable[[Policy], bool]


@dataclass(frozen=True, slots=True)
class Nearest:
    """Requests that can be met, and whether all that might be were tried."""

    requests: tuple[str, ...]
    complete: bool = True


def largest_useful_noise(responses: ResponseFormat, crowd: int) -> float:
    """The largest q at which an estimate is still more precise than half the crowd."""
    # 1.96·√(Npq/k)/(1-2q) = N/2, solved for pq = (1-(1-2q)²)/4.
    ratio = responses.copies * crowd / (4 * Z95**2)
    return 0.5 * (1 - 1 / math.sqrt(1 + 4 * ratio))


def cannot_meet(reason: str, nearest: Nearest) -> CannotMeet:
    """The refusal with what would do instead; where nothing would, it says so."""
    if nearest.requests:
        return CannotMeet(reason, nearest.requests)
    return CannotMeet(f"{reason}; {HOPELESS if nearest.complete else GIVEN_UP}")


def nearest_requests(policy: Policy, responses: ResponseFormat) -> Nearest:
    """The smallest crowd and the smallest ε that would do, everything else unchanged.

    Where one of them does not exist, the smallest δ, the most bits (and then copies) that would do.
    """
    return _collected(_requests(policy, responses, _deadline()))


def nearest_policies(policy: Policy, met: Met) -> Nearest:
    """The crowd and the ε that would do; where one of them does not exist, a δ or a cap on ε₀.

    Each is at most FINE times the smallest one, and a little more for round numbers.
    """
    return _collected(_policies(policy, _until(_deadline(), met), FINE))


def nearest_promises(policy: Policy, met: Met) -> Nearest:
    """The ε and the δ that would do where no crowd is needed."""
    return Nearest(tuple(_promises(policy, met)))


def _promises(policy: Policy, met: Met) -> Iterator[str]:
    for field, search in (("epsilon", _smallest_epsilon), ("delta", _smallest_delta)):
        value = search(policy, met, COARSE)
        if value is not None:
            nearest = f"{field} {value:g}, everything else as asked"
            yield nearest


class _OutOfTime(Exception):
    """The search has lasted long enough."""


def _deadline() -> float:
    return time.monotonic() + PATIENCE


def _until(end: float, met: Met) -> Met:
    """The same question, asked only before the end."""

    def asked(policy: Policy) -> bool:
        if time.monotonic() > end:
            raise _OutOfTime
        return met(policy)

    return asked


def _collected(found: Iterator[str]) -> Nearest:
    requests = []
    try:
        for text in found:
            requests.append(text)
    except _OutOfTime:
        return Nearest(tuple(requests), complete=False)
    return Nearest(tuple(requests))


def _requests(policy: Policy, responses: ResponseFormat, end: float) -> Iterator[str]:
    long = responses.bits * responses.copies * responses.rounds > LONG
    near = COARSE if long else FINE
    found = 0
    for text in _policies(policy, _until(end, lambda other: _met(other, responses)), near):
        found += 1
        yield text
    fewer = ("copies",) if responses.structure else ("bits", "copies")  # questions are not bits
    for field in fewer:
        if found < 2:
            most = _most(policy, responses, field, near, end)
            if most is not None:
                found += 1
                nearest = f"{field} {most:,}, everything else as asked"
                yield nearest


def _policies(policy: Policy, met: Met, near: float) -> Iterator[str]:
    found = 0
    crowd = _smallest_crowd(policy, met, near)
    if crowd is not None:
        found += 1
        kept = f" at epsilon {policy.epsilon:g}"
        if policy.epsilon > MOST_EPSILON:
            kept = ", everything else as asked"
        nearest = f"crowd {crowd:,}{kept}"
        yield nearest
    epsilon = _smallest_epsilon(policy, met, near)
    if epsilon is not None:
        found += 1
        nearest = f"epsilon {epsilon:g} at crowd {policy.minimum_crowd:,}"
        yield nearest
    for field, search in (("delta", _smallest_delta), ("max_local_epsilon", _smallest_cap)):
        if found < 2:
            value = search(policy, met, near)
            if value is not None:
                found += 1
                nearest = f"{field} {value:g}, everything else as asked"
                yield nearest


def _met(policy: Policy, responses: ResponseFormat) -> bool:
    """Whether the largest useful noise meets the policy."""
    noise = largest_useful_noise(responses, policy.minimum_crowd) * (1 - 1e-9)
    mechanism = Mechanism(responses, policy.honest, policy.epsilon)
    cap = policy.max_local_epsilon
    if cap is not None and local_epsilon(noise, mechanism.local_distance) > cap:
        return False
    ask = mechanism.delta if policy.eta is None else mechanism.eta
    bound, _ = ask(noise, Effort.QUICK)
    return bound <= policy.asked


def _smallest_crowd(policy: Policy, met: Met, near: float) -> int | None:
    low, high = policy.minimum_crowd, policy.minimum_crowd
    while not met(_in_a_crowd_of(high, policy)):
        low, high = high, high * 4
        if high > MOST_PEOPLE:
            return None
    while high > near * low and high > low + 1:
        middle = round(math.sqrt(low * high))
        reached = met(_in_a_crowd_of(middle, policy))
        low, high = (low, middle) if reached else (middle, high)
    return round_up(high)


def _in_a_crowd_of(crowd: int, policy: Policy) -> Policy:
    """The policy for a larger crowd, of which the same share colludes."""
    colluding = -(-policy.colluding * crowd // policy.minimum_crowd)  # rounded up
    return replace(policy, minimum_crowd=crowd, colluding=colluding)


def _smallest_epsilon(policy: Policy, met: Met, near: float) -> float | None:
    return _smallest(
        policy.epsilon, MOST_EPSILON, lambda value: met(replace(policy, epsilon=value)), near
    )


def _smallest_delta(policy: Policy, met: Met, near: float) -> float | None:
    if policy.delta is None:
        return None
    most = float(f"{0.995 * DELTA_SHARE / policy.minimum_crowd:.3g}")
    return _smallest(policy.delta, most, lambda value: met(replace(policy, delta=value)), near)


def _smallest_cap(policy: Policy, met: Met, near: float) -> float | None:
    cap = policy.max_local_epsilon
    if cap is None:
        return None
    return _smallest(
        cap, MOST_EPSILON, lambda value: met(replace(policy, max_local_epsilon=value)), near
    )


def _smallest(asked: float, most: float, met: Callable[[float], bool], near: float) -> float | None:
    """A value that would do, in three digits and little above the smallest; None beyond `most`."""
    if asked >= most or not met(most):
        return None
    low, high = asked, most
    while high > near * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if met(middle) else (middle, high)
    return min(most, float(f"{high * 1.02:.3g}"))


def _most(
    policy: Policy, responses: ResponseFormat, field: str, near: float, end: float
) -> int | None:
    """The largest number of bits or copies, below the one asked for, with which it can be met."""
    low, high = 0, getattr(responses, field)
    while high - low > 1 and high > near * low:
        middle = (low + high) // 2
        fewer = {field: middle, "max_set_bits": None if field == "bits" else responses.max_set_bits}
        met = _until(end, partial(_met, responses=replace(responses, **fewer)))
        low, high = (middle, high) if met(policy) else (low, middle)
    return low or None


def round_up(count: float) -> int:
    """Two leading digits, rounded up: a number a person would say."""
    unit = int(10 ** max(0, len(str(int(count))) - 2))
    return math.ceil(count * 1.01 / unit) * unit
