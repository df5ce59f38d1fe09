"""What was really promised: the guarantee for the crowd that came, not for the one planned.

Each batch was shuffled alone, so the smallest one counts. A message that had to be refused may
come from a client that added no noise, and each may come from another client: so each is taken as
one more person who hides nobody. They are added to the colluding people that the policy plans for.
These send messages that look like everybody else's, so none of them is among the refused ones.
"""

from __future__ import annotations

from dataclasses import replace

from krand.analyze.tally import Tally
from krand.errors import CannotMeet
from krand.survey.limits import check_crowd
from krand.survey.plan import Plan, Promise, promise_for

__all__ = ["absent_people", "actual_promise", "keeps_policy"]


def actual_promise(plan: Plan, tally: Tally) -> Promise:
    """The promise computed anew for exactly the plan's noise and this tally's crowd."""
    check_crowd(plan, tally.crowd)
    policy, absent = plan.survey.policy, absent_people(plan, tally)
    if absent > tally.crowd - 2:
        refused = absent - policy.colluding
        raise CannotMeet(
            f"{refused:,} messages were refused and {policy.colluding:,} people may collude, in a"
            f" crowd of {tally.crowd:,}: nobody may be hidden"
        )
    return promise_for(plan, replace(policy, population=tally.crowd, colluding=absent))


def absent_people(plan: Plan, tally: Tally) -> int:
    """How many of the smallest batch may hide nobody.

    At most one person stands behind a refused message, and all of them may be in one batch.
    """
    return plan.survey.policy.colluding + sum(tally.rejected.values())


def keeps_policy(plan: Plan, promise: Promise) -> bool:
    """Whether the promise is as good as what the survey asked for."""
    policy = plan.survey.policy
    if policy.delta is not None:
        return promise.delta <= policy.delta
    return policy.eta is not None and promise.eta <= policy.eta
