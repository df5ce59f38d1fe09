"""What was really promised: the guarantee for the crowd that came, not for the one planned.

Each batch was shuffled alone, so the smallest one counts. A message that had to be refused may
come from a client that added no noise, so every one of them is taken as a person who colludes; of
this number and the policy's own, the larger counts.
"""

from __future__ import annotations

from dataclasses import replace

from krand.analyze.tally import Tally
from krand.errors import CannotMeet
from krand.survey.limits import check_crowd
from krand.survey.plan import Plan, Promise, promise_for

__all__ = ["actual_promise", "keeps_policy"]


def actual_promise(plan: Plan, tally: Tally) -> Promise:
    """The promise computed anew for exactly the plan's noise and this tally's crowd."""
    check_crowd(plan, tally.crowd)
    policy = plan.survey.policy
    absent = max(policy.colluding, sum(tally.rejected.values()))
    if absent > tally.crowd - 2:
        raise CannotMeet(
            f"{absent:,} messages were refused in a crowd of {tally.crowd:,}: nobody may be hidden"
        )
    return promise_for(plan, replace(policy, population=tally.crowd, colluding=absent))


def keeps_policy(plan: Plan, promise: Promise) -> bool:
    """Whether the promise is as good as what the survey asked for."""
    policy = plan.survey.policy
    if policy.delta is not None:
        return promise.delta <= policy.delta
    return policy.eta is not None and promise.eta <= policy.eta
