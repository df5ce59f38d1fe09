"""Whether a plan promises what its survey asks for, and what it allows: any device can check both.

That the noise gives what is promised takes mathematics: see `krand.planning.checking`.
"""

from __future__ import annotations

from collections.abc import Iterator

from krand.errors import InvalidInput
from krand.promise import Promise
from krand.showing import at_most
from krand.survey.plan import Plan
from krand.survey.rules import HINT

RELATIVE = 1e-5
"""Rounding up to six digits, other machines and releases of numpy differ by less, an edit that
matters by more."""


def check_asked(plan: Plan) -> None:
    """Refuse a plan that does not promise what its survey asks for: quickly, on any device."""
    check_alike(plan)
    for fault in less_than_asked(plan, plan.promise):
        raise InvalidInput("plan", "must promise what its survey asks for", fault, HINT)


def check_pinned(plan: Plan, expected_hash: str) -> None:
    """Refuse a plan with another hash than the one that was published."""
    if plan.hash != expected_hash.lower():
        rule = f"must have the hash that is expected, {expected_hash}"
        hint = "it is another plan, or was changed: get the plan with the hash that was published"
        raise InvalidInput("plan", rule, plan.hash, hint)


def check_alike(plan: Plan) -> None:
    """What a promise only repeats from the survey must be the same there."""
    plan.mechanism.check(plan)
    _check_repeated(plan)
    plan.survey.shape.check(plan)
    lanes = sum(lane.messages for lane in plan.lanes)
    if plan.messages != lanes:  # a submission consists of its lanes, and of nothing else
        rule = f"must be those of all lanes, {lanes:,}"
        raise InvalidInput("messages", rule, plan.messages, HINT)


def _check_repeated(plan: Plan) -> None:
    policy, promise = plan.survey.policy, plan.promise
    for name, claimed, asked in (
        ("epsilon", promise.epsilon, policy.epsilon),
        ("crowd", promise.crowd, policy.minimum_crowd),
        ("colluding", promise.colluding, policy.colluding),
    ):
        if claimed != asked:
            rule = f"must be what the plan's survey asks for, {asked}"
            raise InvalidInput(f"promise.{name}", rule, claimed, f"the plan was changed; {HINT}")


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
        assert asked is not None
        given = f"{name} = {at_most(found, 6)}"
        yield f"the survey asked for {name} = {at_most(asked, 6)}, what was given is {given}"
    most = policy.max_local_epsilon
    if most is not None and promise.local_epsilon > most * (1 + RELATIVE):
        given = at_most(promise.local_epsilon, 6)
        yield f"the survey asked for ε₀ = {at_most(most, 6)}, what was given is {given}"


class CrowdTooSmall(InvalidInput):
    """Fewer people than the noise was planned for: each of them would be less hidden."""


def check_crowd(plan: Plan, people: int) -> None:
    """Refuse a crowd that is smaller than the promise needs; there is no way to insist."""
    planned = plan.mechanism.crowd_needed(plan)
    if people < planned:
        raise CrowdTooSmall(
            "people",
            f"must be at least the planned crowd of {planned:,}",
            people,
            "wait for more people, or plan the survey anew for a smaller crowd",
        )


def check_round(plan: Plan, round_number: int) -> None:
    """Refuse a round that was not planned."""
    first, last = plan.survey.first_round, plan.survey.rounds
    if not first <= round_number <= last:
        raise InvalidInput("round", f"must be from {first:,} to {last:,}", round_number)
