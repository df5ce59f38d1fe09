"""A plan that comes after another: a published survey is not edited, it ends and has a successor.

Whoever answers both spends both, as the ledger of their device counts it: the sum over all plans,
also of surveys with the same id.
"""

from __future__ import annotations

from dataclasses import dataclass

from krand.survey.document import document_of
from krand.survey.plan import Plan


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
    """What whoever answers both has spent; as much as before if it is the same plan."""
    delta: float


def succession(plan: Plan, earlier: Plan) -> Succession:
    """What is spent by whoever answered an earlier plan and answers this one.

    >>> from krand.testing import small_plan
    >>> same = succession(small_plan(), small_plan())
    >>> same.changed, same.epsilon
    ((), 2)
    """
    spent = {each.hash: each.promise for each in (earlier, plan)}
    old, new = document_of(earlier.survey), document_of(plan.survey)
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if not changed and plan.hash != earlier.hash:
        changed = ["keys"]
    return Succession(
        plan=earlier.hash,
        survey=earlier.survey.id,
        same_survey=earlier.survey.id == plan.survey.id,
        changed=tuple(changed),
        epsilon=sum(promise.epsilon for promise in spent.values()),
        delta=sum(promise.delta for promise in spent.values()),
    )
