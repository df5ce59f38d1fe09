"""Whether a plan's promise is what its survey asks for, and no better than its noise gives."""

from __future__ import annotations

from collections.abc import Iterator

from krand.errors import InvalidInput, KrandError
from krand.showing import at_most
from krand.survey.plan import Plan, Promise, verify_promise
from krand.survey.remembered import is_remembered, remember

__all__ = [
    "check_asked",
    "check_pinned",
    "check_promise",
    "keeps_policy",
    "less_than_asked",
    "not_below",
    "too_good",
]

RELATIVE = 1e-6
"""Other machines and releases of numpy differ by far less, an edit that matters by more."""
SMALLEST = 1e-30
"""Probabilities below this are all nothing."""
MEND = "make it again from its survey file: krand plan survey.toml -o plan.json"


def check_promise(plan: Plan) -> None:
    """Refuse a plan whose promise is not what its noise gives; computed once for each plan.

    It takes about a second, and is remembered by the plan's hash.
    """
    _check_alike(plan)
    if is_remembered(plan.hash):
        return
    try:
        true = verify_promise(plan)
    except KrandError as error:
        rule = "must have noise that something can be promised with"
        raise InvalidInput("plan", rule, plan.hash, f"{error}; {MEND}") from None
    for fault in too_good(plan.promise, true):
        rule = "must promise what its noise gives, and no more"
        raise InvalidInput("plan", rule, plan.hash, f"{fault}; {MEND}")
    remember(plan.hash)


def check_asked(plan: Plan) -> None:
    """Refuse a plan that does not promise what its survey asks for: quickly, on any device."""
    _check_alike(plan)
    for fault in less_than_asked(plan, plan.promise):
        raise InvalidInput("plan", "must promise what its survey asks for", fault, MEND)


def check_pinned(plan: Plan, expected_hash: str) -> None:
    """Refuse a plan with another hash than the one that was published."""
    if plan.hash != expected_hash.lower():
        rule = f"must have the hash that is expected, {expected_hash}"
        mend = "it is another plan, or was changed: get the plan with the hash that was published"
        raise InvalidInput("plan", rule, plan.hash, mend)


def _check_alike(plan: Plan) -> None:
    """What a promise only repeats from the survey must be the same there."""
    policy, promise = plan.survey.policy, plan.promise
    for name, claimed, asked in (
        ("epsilon", promise.epsilon, policy.epsilon),
        ("population", promise.population, policy.population),
        ("colluding", promise.colluding, policy.colluding),
        ("assurance", promise.assurance, policy.assurance.value),
    ):
        if claimed != asked:
            rule = f"must be what the plan's survey asks for, {asked}"
            raise InvalidInput(f"promise.{name}", rule, claimed, f"the plan was changed; {MEND}")


def keeps_policy(plan: Plan, promise: Promise) -> bool:
    """Whether the promise is as good as what the survey asked for."""
    policy = plan.survey.policy
    if policy.delta is not None:
        return promise.delta <= policy.delta
    return policy.eta is not None and promise.eta <= policy.eta


def less_than_asked(plan: Plan, promise: Promise) -> Iterator[str]:
    """Where a promise is not as good as what the survey asks for."""
    policy = plan.survey.policy
    if not keeps_policy(plan, promise):
        name, asked, found = (
            ("δ", policy.delta, promise.delta)
            if policy.delta is not None
            else ("η", policy.eta, promise.eta)
        )
        given = f"{name} = {at_most(found, 6)}"
        yield f"the survey asked for {name} = {asked:g}, what was given is {given}"
    most = policy.max_local_epsilon
    if most is not None and promise.local_epsilon > most * (1 + RELATIVE):
        given = at_most(promise.local_epsilon, 6)
        yield f"the survey asked for ε₀ = {most:g}, what was given is {given}"


def too_good(told: Promise, true: Promise) -> Iterator[str]:
    """Where a promise claims to be better than it comes out when computed anew."""
    exact = (
        ("ε", told.epsilon, true.epsilon),
        ("assurance", told.assurance, true.assurance),
        ("crowd", told.population, true.population),
        ("colluding", told.colluding, true.colluding),
    )
    for name, claimed, found in exact:
        if claimed != found:
            yield f"{name} = {claimed} is claimed, computed anew it is {found}"
    bounds = (
        ("δ", told.delta, true.delta),
        ("η", told.eta, true.eta),
        ("ε₀", told.local_epsilon, true.local_epsilon),
    )
    for name, claimed, found in bounds:
        if not not_below(claimed, found):
            yield f"{name} = {claimed:.6g} is claimed, computed anew it is {at_most(found, 6)}"
    for assumption in true.assumptions:
        if assumption not in told.assumptions:
            yield f"it rests on an assumption that is not named: {assumption}"


def not_below(told: float, true: float) -> bool:
    """Whether a claimed bound is no better than the true one."""
    return told >= true * (1 - RELATIVE) - SMALLEST
