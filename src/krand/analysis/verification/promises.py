"""Whether a promise is as good as the noise gives, and as good as what was asked for."""

from __future__ import annotations

from krand.analysis.verification.checks import Check, check
from krand.planning.checking import too_good
from krand.showing import at_most
from krand.survey.plan import Plan, Promise
from krand.survey.plan_check import less_than_asked

__all__ = ["policy_check", "promise_check"]


def promise_check(told: Promise, true: Promise, of: str) -> Check:
    """Nothing may be claimed to be better than it comes out when computed anew."""
    says = (
        f"computed anew for {of}: ε = {at_most(true.epsilon)}, δ = {at_most(true.delta)},"
        f" η = {at_most(true.eta)}, ε₀ = {at_most(true.local_epsilon)} ({true.assurance}), and no"
        " better is claimed"
    )
    return check("promise", too_good(told, true), says)


def policy_check(plan: Plan, true: Promise) -> Check:
    """Whether what the noise gives is what the survey asked for."""
    return check(
        "policy", less_than_asked(plan, true), "the promise is as good as the survey asked for"
    )
