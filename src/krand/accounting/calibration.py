"""From a policy to the smallest honest noise on the grid a/2^32, with its promise."""

from __future__ import annotations

import math
from collections.abc import Callable

from krand.accounting.baselines import gaussian_shift
from krand.accounting.bounds import Effort, log_excess
from krand.accounting.channel import local_epsilon, noise_of_local_epsilon, noise_of_phi
from krand.accounting.mechanism import Mechanism
from krand.accounting.search import Grid, small_passing, smallest_passing
from krand.accounting.suggestions import cannot_meet, largest_useful_noise, nearest_requests
from krand.errors import CannotMeet, InternalError
from krand.promise import (
    NOISE_GRID,
    Z95,
    Assumption,
    NoisePlan,
    Policy,
    Precision,
    Promise,
    ResponseFormat,
    check_crowd,
    check_noise,
)

SEARCHED = Grid(digits=13, end=NOISE_GRID // 2)
"""The noise that is searched, as a/2^32. This costs at most 0.025 % of σ, and between neighbours a
bound changes by far more than the rounding errors of any machine."""
SMALLEST_CHECKED = 1e-12
"""Below, bounds end at what is left out of a law, which may rise and fall a little."""


def precision(responses: ResponseFormat, noise: float, crowd: int, cells: int = 1) -> Precision:
    """σ(d̂) = √(cNpq/k)/(p-q) for every count that is a sum over c positions (001 §4, §6)."""
    check_noise(noise)
    spread = cells * crowd * noise * (1 - noise) / responses.copies
    sigma = math.sqrt(spread) / (1 - 2 * noise)
    half = Z95 * sigma
    return Precision(sigma, half, 100 * half / crowd)


def assess(
    responses: ResponseFormat,
    noise: float,
    crowd: int,
    epsilon: float,
    colluding: int = 0,
) -> Promise:
    """What this noise promises to a member of this crowd.

    >>> from krand import ResponseFormat, assess
    >>> promise = assess(ResponseFormat(bits=4), noise=0.01, crowd=10_000, epsilon=1)
    >>> promise.delta < 1e-4, round(promise.local_epsilon, 1)
    (True, 18.4)
    """
    check_noise(noise)
    check_crowd(crowd)
    policy = Policy(epsilon=epsilon, minimum_crowd=crowd, delta=0.5, colluding=colluding)
    return _promise(policy, responses, noise)


def plan_noise(policy: Policy, responses: ResponseFormat, suggestions: bool = True) -> NoisePlan:
    """The smallest noise q whose proven bound meets the policy.

    Where none does, the error says which requests could be met, unless `suggestions` is false:
    looking for them takes longer than the refusal. Of all a/2^32 those with 13 binary digits are
    tried, so that rounding errors do not decide: the same noise is found on every machine.

    δ falls as q grows, and so does η, which is converted from it: more noise is post-processing of
    less (flip again). The search relies on that, checks it on every value of δ that it sees, and
    ends with an a that passes behind one that fails.

    >>> from krand import Policy, ResponseFormat, plan_noise
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> plan = plan_noise(policy, ResponseFormat(bits=4))
    >>> 0.004 < plan.noise < 0.006, plan.promise.delta <= 1e-4
    (True, True)
    """
    mechanism = Mechanism(responses, policy.honest, policy.epsilon)
    excess, floor = _excess(policy, mechanism), _floor(policy, mechanism)
    ceiling = _ceiling(mechanism)
    useful = SEARCHED.down(int(largest_useful_noise(responses, policy.minimum_crowd) * NOISE_GRID))
    if useful < ceiling:
        if floor > useful or excess(useful, True) > 0:
            raise _useless(policy, responses, max(1, useful), suggestions)
        ceiling = useful
    guess = _guess(policy, mechanism)
    must_fall = policy.delta is not None and policy.delta >= SMALLEST_CHECKED
    numerator = smallest_passing(excess, guess, floor, ceiling, must_fall, grid=SEARCHED)
    if numerator is None:
        raise CannotMeet(f"no noise on the grid keeps ε = {policy.epsilon:g}")
    noise = numerator / NOISE_GRID
    promise = _promise(policy, responses, noise)
    found = promise.delta if policy.eta is None else promise.eta
    if found > policy.limit:
        raise InternalError(f"the noise found gives {found!r}, not {policy.limit!r}")
    expected = precision(responses, noise, policy.minimum_crowd)
    return NoisePlan(
        policy=policy,
        responses=responses,
        noise_numerator=numerator,
        promise=promise,
        precision=expected,
    )


def quick_noise(policy: Policy, responses: ResponseFormat) -> tuple[int, float] | None:
    """A noise numerator a few percent above the smallest, and the δ or η that is proven for it.

    One proof instead of a search for the smallest noise. None if none is found at once.

    >>> from krand import Policy, ResponseFormat
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> numerator, delta = quick_noise(policy, ResponseFormat(bits=4))
    >>> 0.004 < numerator / 2**32 < 0.006, delta <= 1e-4
    (True, True)
    """
    mechanism = Mechanism(responses, policy.honest, policy.epsilon)
    ask = mechanism.delta if policy.eta is None else mechanism.eta
    bounds: dict[int, float] = {}

    def excess(numerator: int, effort: Effort) -> float:
        bounds[numerator], _ = ask(numerator / NOISE_GRID, effort)
        return log_excess(bounds[numerator], policy)

    useful = int(largest_useful_noise(responses, policy.minimum_crowd) * NOISE_GRID)
    floor, ceiling = _floor(policy, mechanism), min(useful, _ceiling(mechanism))
    if floor > ceiling:
        return None
    found = small_passing(
        lambda n: excess(n, Effort.NEAR),
        lambda n: excess(n, Effort.QUICK),
        _guess(policy, mechanism),
        floor,
        ceiling,
    )
    return None if found is None else (found, bounds[found])


def _useless(
    policy: Policy, responses: ResponseFormat, numerator: int, suggestions: bool
) -> CannotMeet:
    """What to say where only noise that hides every answer meets the policy."""
    noise = numerator / NOISE_GRID
    reason = (
        f"noise above {noise:.6g} would be needed, and then every count is ± "
        f"{policy.minimum_crowd / 2:,.0f} people or more at 95 %: an estimate could be anything "
        f"from 0 to the whole crowd of {policy.minimum_crowd:,}"
    )
    if not suggestions:
        return CannotMeet(reason)
    return cannot_meet(reason, nearest_requests(policy, responses))


def _excess(policy: Policy, mechanism: Mechanism) -> Callable[[int, bool], float]:
    """log(bound/limit) at a/2^32: the policy is met where this is not positive."""
    ask = mechanism.delta if policy.eta is None else mechanism.eta

    def excess(numerator: int, full: bool) -> float:
        bound, _ = ask(numerator / NOISE_GRID, Effort.FULL if full else Effort.NEAR)
        return log_excess(bound, policy)

    return excess


def _floor(policy: Policy, mechanism: Mechanism) -> int:
    """The least numerator worth trying: 1, or what a cap on ε₀ demands."""
    cap = policy.local_limit
    if math.isinf(cap):
        return 1
    distance = mechanism.local_distance
    numerator = math.ceil(noise_of_local_epsilon(cap, distance) * NOISE_GRID)
    while local_epsilon(numerator / NOISE_GRID, distance) > cap:
        numerator += 1
        if numerator >= NOISE_GRID // 2:
            raise CannotMeet(f"no noise on the grid keeps ε₀ at or below {cap:g}")
    return numerator


def _ceiling(mechanism: Mechanism) -> int:
    """A numerator that surely passes, if there is one on the grid: there each response protects
    itself (ε₀ ≤ ε). Otherwise the last of the grid."""
    distance, epsilon = mechanism.local_distance, mechanism.epsilon
    numerator = math.ceil(noise_of_local_epsilon(epsilon, distance) * NOISE_GRID) + 1
    return SEARCHED.up(min(numerator, NOISE_GRID // 2 - 1))


def _guess(policy: Policy, mechanism: Mechanism) -> int:
    """Where to begin: the noise whose χ² is that of the Gaussian mechanism for this policy."""
    bits = 1 if mechanism.by_bit else mechanism.responses.sensitivity
    spread = policy.honest * gaussian_shift(policy) ** 2 * bits / mechanism.local_distance
    noise = noise_of_phi((1 + spread) ** (1 / bits))
    return int(noise * NOISE_GRID)


def _promise(policy: Policy, responses: ResponseFormat, noise: float) -> Promise:
    mechanism = Mechanism(responses, policy.honest, policy.epsilon)
    (delta, delta_method), (eta, eta_method) = mechanism.delta(noise), mechanism.eta(noise)
    return Promise(
        epsilon=policy.epsilon,
        delta=delta,
        eta=eta,
        local_epsilon=local_epsilon(noise, mechanism.local_distance),
        method=delta_method if policy.eta is None else eta_method,
        crowd=policy.minimum_crowd,
        colluding=policy.colluding,
        assumptions=assumptions(responses),
    )


def assumptions(responses: ResponseFormat) -> tuple[Assumption, ...]:
    """What a promise by devices' noise rests on."""
    found = (
        Assumption.HONEST_CROWD,
        Assumption.COLLECTOR_KEEPS_SECRETS,
        Assumption.PARTICIPATION_VISIBLE,
    )
    limited = responses.max_set_bits is not None or responses.is_sparse
    return (*found, Assumption.LIMITED_ANSWERS) if limited else found
