"""Whether a promise is as good as the noise gives, and as good as what was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from krand.analyze.promise import keeps_policy
from krand.analyze.verification.checks import RELATIVE, Check, check, not_below
from krand.showing import at_most
from krand.survey.plan import Plan, Promise

__all__ = ["policy_check", "promise_check"]


def promise_check(told: Promise, true: Promise, of: str) -> Check:
    """Nothing may be claimed to be better than it comes out when computed anew."""
    says = (
        f"computed anew for {of}: ε = {at_most(true.epsilon)}, δ = {at_most(true.delta)},"
        f" η = {at_most(true.eta)}, ε₀ = {at_most(true.local_epsilon)} ({true.assurance}), and no"
        " better is claimed"
    )
    return check("promise", _too_good(told, true), says)


def _too_good(told: Promise, true: Promise) -> Iterator[str]:
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


def policy_check(plan: Plan, true: Promise) -> Check:
    """Whether what the noise gives is what the survey asked for."""
    return check(
        "policy", _less_than_asked(plan, true), "the promise is as good as the survey asked for"
    )


def _less_than_asked(plan: Plan, true: Promise) -> Iterator[str]:
    policy = plan.survey.policy
    if not keeps_policy(plan, true):
        name, asked, found = (
            ("δ", policy.delta, true.delta)
            if policy.delta is not None
            else ("η", policy.eta, true.eta)
        )
        given = f"{name} = {at_most(found, 6)}"
        yield f"the survey asked for {name} = {asked:g}, what was given is {given}"
    most = policy.max_local_epsilon
    if most is not None and true.local_epsilon > most * (1 + RELATIVE):
        given = at_most(true.local_epsilon, 6)
        yield f"the survey asked for ε₀ = {most:g}, what was given is {given}"
