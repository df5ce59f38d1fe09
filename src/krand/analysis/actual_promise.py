"""What was actually promised: the promise for the crowd that came, not for the one planned.

Each batch was shuffled alone, so the smallest one counts. A message that had to be refused may
come from a client that added no noise, and each may come from another client: so each is taken as
one more person who hides nobody. They are added to the colluding people that the policy plans for.
These send messages that look like everybody else's, so none of them is among the refused ones.

Where mixers add noise, the promise needs no crowd: neither the number of people nor refused
messages change it.
"""

from __future__ import annotations

from dataclasses import replace

from krand.analysis.tally import Tally
from krand.batches.provenance import Provenance
from krand.errors import CannotMeet
from krand.planning.coalitions import Remainder, coalitions_of
from krand.planning.promises import verify_promise
from krand.promise import Assumption, Promise
from krand.survey.plan import Plan
from krand.survey.plan_check import check_crowd


def actual_promise(plan: Plan, tally: Tally) -> Promise:
    """The promise recomputed for exactly the plan's noise and this tally's crowd."""
    check_crowd(plan, tally.crowd)
    if plan.laws:
        return replace(verify_promise(plan), crowd=tally.crowd)
    policy, absent = plan.survey.policy, absent_people(plan, tally)
    if absent > tally.crowd - 2:
        refused = absent - policy.colluding
        raise CannotMeet(
            f"{refused:,} messages were refused, and the plan counts on {policy.colluding:,}"
            f" colluding people, in a crowd of {tally.crowd:,}: nobody may be protected"
        )
    promise = verify_promise(plan, policy.changed(minimum_crowd=tally.crowd, colluding=absent))
    return resting_on(promise, tally.provenance)


def actual_coalitions(plan: Plan, tally: Tally) -> tuple[Remainder, ...]:
    """What remains for this tally's crowd when others work together.

    Nothing is said where a data holder randomized a table: there is nobody between it and the
    analyst, and it knows all answers anyhow.
    """
    if tally.provenance is Provenance.TABLE:
        return ()
    return coalitions_of(plan, tally.crowd, sum(tally.rejected.values()))


def resting_on(promise: Promise, provenance: Provenance) -> Promise:
    """The promise with the assumptions that belong to where noise was added."""
    if provenance is not Provenance.TABLE:
        return promise
    instead = {Assumption.COLLECTOR_KEEPS_SECRETS: Assumption.DATA_HOLDER_KEEPS_SECRETS}
    named = (instead.get(assumption, assumption) for assumption in promise.assumptions)
    return replace(promise, assumptions=tuple(named))


def absent_people(plan: Plan, tally: Tally) -> int:
    """How many of the smallest batch may hide nobody.

    At most one person stands behind a refused message, and all of them may be in one batch.
    """
    return plan.survey.policy.colluding + sum(tally.rejected.values())
