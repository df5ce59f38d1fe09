"""What exactly given noise promises; and `krand.assess` and `krand.plan_noise`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from krand.accounting.baselines import Share
from krand.accounting.engine import Part, bound, part_of
from krand.accounting.least import (
    cannot_meet,
    dummy_parts,
    flip_parts,
    flips_can_meet,
    least_flips,
    least_record,
    nearest_policies,
    record_can_meet,
)
from krand.errors import CannotMeet
from krand.policy import Policy
from krand.promise import (
    NOISE_GRID,
    Z95,
    Assumption,
    DummyLaw,
    Method,
    NoisePlan,
    Precision,
    Promise,
    ResponseFormat,
    check_crowd,
    check_noise,
)

HONEST_CROWD = (
    Assumption.HONEST_CROWD,
    Assumption.COLLECTOR_KEEPS_SECRETS,
    Assumption.PARTICIPATION_VISIBLE,
)
ONE_HONEST_MIXER = (
    Assumption.ONE_HONEST_MIXER,
    Assumption.SEALS_HOLD,
    Assumption.PARTICIPATION_VISIBLE,
)


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
    return _promise_of_responses(policy, responses, noise)


def plan_noise(policy: Policy, responses: ResponseFormat, suggestions: bool = True) -> NoisePlan:
    """The smallest noise q whose proven bound meets the policy.

    Where none does, the error says which requests could be met, unless `suggestions` is false:
    looking for them takes longer than the refusal. Of all a/2^32 those with 13 binary digits are
    tried, so that rounding errors do not decide.

    >>> from krand import Policy, ResponseFormat, plan_noise
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> plan = plan_noise(policy, ResponseFormat(bits=4))
    >>> 0.004 < plan.noise < 0.006, plan.promise.delta <= 1e-4
    (True, True)
    """
    apart, crowd = not part_of(responses, 0.25).blocks, policy.minimum_crowd
    shares, rounds, copies = (Share(responses.sensitivity),), responses.rounds, responses.copies
    if apart:
        (numerator,) = least_flips(policy, shares, rounds, copies=copies)
    else:
        numerator = least_record(policy, responses)
    noise = numerator / NOISE_GRID
    expected = precision(responses, noise, crowd)
    if 2 * expected.half_width_95 >= crowd:
        reason = (
            f"noise {noise:.6g} would be needed, and then every count is ± {crowd / 2:,.0f} people"
            " or more at 95 %: an estimate could be anything from 0 to the whole crowd of"
            f" {crowd:,}"
        )
        if not suggestions:
            raise CannotMeet(reason)

        def can_be_met(other: Policy) -> bool:
            if apart:
                return flips_can_meet(other, shares, rounds, copies)
            return record_can_meet(other, responses)

        raise cannot_meet(reason, nearest_policies(policy, can_be_met))
    return NoisePlan(
        policy=policy,
        responses=responses,
        noise_numerator=numerator,
        promise=_promise_of_responses(policy, responses, noise),
        precision=expected,
    )


def promise_of_flips(
    policy: Policy,
    shares: Sequence[Share],
    numerators: Sequence[int],
    rounds: int = 1,
    distance: float = 0.0,
) -> Promise:
    """What exactly these noises of bits promise to a member of the policy's crowd.

    `distance` bounds, in total variation, how far what is run differs from the composition.
    """
    parts = flip_parts(shares, numerators, rounds)
    return _promise(policy, parts, Method.EXACT_BITS, HONEST_CROWD, distance=distance)


def promise_of_record(policy: Policy, responses: ResponseFormat, numerator: int) -> Promise:
    """What exactly this noise of whole records promises to a member of the policy's crowd."""
    return _promise_of_responses(policy, responses, numerator / NOISE_GRID)


def promise_of_dummies(
    policy: Policy,
    shares: Sequence[Share],
    laws: Sequence[DummyLaw],
    rounds: int = 1,
    surplus: float = 0.0,
) -> Promise:
    """What exactly these laws promise, if one mixer is honest.

    `surplus` is the probability that dummies outnumber their padding in any round.
    """
    parts = dummy_parts(shares, laws, rounds)
    return _promise(policy, parts, Method.DUMMIES, ONE_HONEST_MIXER, surplus=surplus)


def _promise_of_responses(policy: Policy, responses: ResponseFormat, noise: float) -> Promise:
    part = part_of(responses, noise)
    method = Method.PRIVACY_BLANKET if part.blocks else Method.EXACT_BITS
    limited = responses.max_set_bits is not None or responses.is_sparse
    found = (*HONEST_CROWD, Assumption.LIMITED_ANSWERS) if limited else HONEST_CROWD
    return _promise(policy, [part], method, found)


def _promise(
    policy: Policy,
    parts: Sequence[Part],
    method: Method,
    assumptions: tuple[Assumption, ...],
    distance: float = 0.0,
    surplus: float = 0.0,
) -> Promise:
    """δ and η of these parts. Where nothing is counted as told, it may be less."""
    crowd, epsilon = policy.honest, policy.epsilon
    limits = (policy.limit, 0.0) if method is Method.DUMMIES else (0.0,)
    delta, eta = (
        min(bound(parts, crowd, epsilon, limit, eta, distance, surplus) for limit in limits)
        for eta in (False, True)
    )
    local = math.fsum(part.positions * part.local_epsilon for part in parts)
    return Promise(
        epsilon=epsilon,
        delta=delta,
        eta=eta,
        local_epsilon=local,
        method=Method.LOCAL_NOISE if local <= epsilon else method,
        crowd=policy.minimum_crowd,
        colluding=policy.colluding,
        assumptions=assumptions,
    )
