"""A plan that comes after another: a published survey is not edited, it ends and has a successor.

Whoever answers all rounds of both spends both, as the ledger of their device counts it: the sum
over all plans and their periods, also of surveys with the same id. Within one campaign it is never
more than either plan states for the campaign.
"""

from __future__ import annotations

from dataclasses import dataclass

from krand.promise import Promise
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
    epsilon, delta = _spent(*{each.hash: each for each in (earlier, plan)}.values())
    return Succession(
        plan=earlier.hash,
        survey=earlier.survey.id,
        same_survey=earlier.survey.id == plan.survey.id,
        changed=tuple(changed),
        epsilon=epsilon,
        delta=delta,
    )


def _spent(*plans: Plan) -> tuple[float, float]:
    """ε and δ of all rounds of these plans."""
    paid: dict[tuple[str, Charge | None], Charge | Promise] = {}
    for plan in plans:
        for number in range(plan.survey.first_round, plan.survey.last_round + 1):
            charge = plan.charge(number)
            paid[plan.hash, charge] = charge or plan.promise
    charges = [charge for _, charge in paid if charge]
    is_one = len(charges) == len(paid) and len({each.campaign for each in charges}) == 1
    most = charges if is_one else []
    return (
        min([sum(each.epsilon for each in paid.values()), *(each.most_epsilon for each in most)]),
        min([sum(each.delta for each in paid.values()), *(each.most_delta for each in most)]),
    )
