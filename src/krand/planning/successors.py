"""A plan that comes after another: a published survey is not edited, it ends and has a successor.

Whoever answers all rounds of both spends both, as the ledger of their device counts it: the sum
over all plans and their periods, also of surveys with the same id. Within one campaign it is never
more than either plan states for the campaign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from krand.client.ledger import ROUNDING
from krand.promise import Promise
from krand.showing import total
from krand.survey.document import document_of
from krand.survey.plan import Plan
from krand.survey.schedule import Charge


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """What an earlier plan means for people who answer the new one too."""

    plan: str
    """The hash of the earlier one."""
    survey: str
    same_survey: bool
    """Whether both have one survey id."""
    changed: tuple[str, ...]
    """Which parts of the survey differ, by their keys; "keys" if only those of the parties do."""
    epsilon: float
    """What whoever answers all rounds of both has spent; no more if it is the same plan."""
    delta: float
    refused: bool
    """Whether devices refuse rounds of the new one to whoever answered all rounds before it: both
    together cost more than the campaign promises."""


def succession(plan: Plan, earlier: Plan) -> Succession:
    """What is spent by whoever answered an earlier plan and answers this one.

    >>> from krand.testing import small_plan
    >>> same = succession(small_plan(), small_plan())
    >>> same.changed, same.epsilon
    ((), 2)
    """
    old, new = document_of(earlier.survey), document_of(plan.survey)
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if not changed and plan.hash != earlier.hash:
        changed = ["keys"]
    paid = {**_paid(earlier), **_paid(plan)}
    most = _most(paid)
    epsilon, delta = _sums(paid)
    return Succession(
        plan=earlier.hash,
        survey=earlier.survey.id,
        same_survey=earlier.survey.id == plan.survey.id,
        changed=tuple(changed),
        epsilon=min(epsilon, most[0]),
        delta=min(delta, most[1]),
        refused=_are_more({**_paid(earlier, plan.survey.first_round), **_paid(plan)}, most),
    )


Paid = dict[tuple[str, Charge | None], Charge | Promise]
"""What each period of a plan costs, or all of a plan that has none."""


def _paid(plan: Plan, before: int | None = None) -> Paid:
    """For all rounds of a plan, or those before one of another plan."""
    last = plan.survey.rounds if before is None else before - 1
    charges = [plan.charge(number) for number in range(plan.survey.first_round, last + 1)]
    return {(plan.hash, charge): charge or plan.promise for charge in charges}


def _sums(paid: Paid) -> tuple[float, float]:
    return (
        total(each.epsilon for each in paid.values()),
        total(each.delta for each in paid.values()),
    )


def _most(paid: Paid) -> tuple[float, float]:
    """What a device spends at most: no limit unless all is one campaign."""
    charges = [charge for _, charge in paid if charge]
    if len(charges) < len(paid) or len({each.campaign for each in charges}) > 1:
        return math.inf, math.inf
    return min(each.most_epsilon for each in charges), min(each.most_delta for each in charges)


def _are_more(paid: Paid, most: tuple[float, float]) -> bool:
    """As the ledger compares."""
    return any(a > b * (1 + ROUNDING) for a, b in zip(_sums(paid), most, strict=True))
