"""What remains for a person when others work together: a table of every plan, as codes and numbers.

`krand.wording.coalitions` has the words. A promise of mixers rests on one honest mixer, that of
devices on a crowd and on the collector; the rows show what is left if any of them fails.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from krand.accounting.both import BothBound, BothPart
from krand.accounting.bounds import Effort
from krand.planning.making import promise_for
from krand.promise import DummyLaw, NoiseSource
from krand.survey.plan import Plan, Promise

__all__ = ["Coalition", "Remainder", "Remains", "coalitions_of"]

MOST_PARTS = 20
"""Different pairs of noises, each of which takes a fraction of a second."""


class Coalition(StrEnum):
    """Who works together, always with the analyst."""

    ANALYST = "analyst"
    """Nobody else."""
    PEOPLE = "people"
    """Some of the people, who show what they sent."""
    OTHER_MIXERS = "other-mixers"
    """All mixers but one."""
    ALL_BUT_ONE_MIXER = "all-but-one-mixer"
    """All other people, and all mixers but one."""
    ALL_MIXERS = "all-mixers"
    """All mixers, which is the collector where there is only one."""
    EVERYBODY = "everybody"
    """Everybody and everything but the person's own device."""


class Remains(StrEnum):
    """Which kind of protection is left."""

    PROMISE = "promise"
    """ε with δ or η."""
    LOCAL = "local"
    """ε₀: the noise of the person's own device."""
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remainder:
    """One row: who works together with the analyst, and what is left for a person."""

    coalition: Coalition
    people: int
    """How many people collude."""
    mixers: int
    """How many mixers collude."""
    remains: Remains
    epsilon: float | None = None
    """ε, or ε₀ if only the device's own noise is left; None if nothing is."""
    delta: float | None = None
    eta: float | None = None
    together: bool = False
    """Whether the numbers are those of flips and dummies in one count, less than is promised."""


def coalitions_of(plan: Plan) -> tuple[Remainder, ...]:
    """Every coalition, the weakest first, with this plan's own numbers.

    >>> from krand.testing import small_plan
    >>> for row in coalitions_of(small_plan()):
    ...     print(row.coalition, row.people, row.remains)
    analyst 0 promise
    people 1 promise
    people 50 promise
    all-but-one-mixer 99 local
    all-mixers 0 local
    everybody 99 local
    """
    return tuple(_rows(plan))


def _rows(plan: Plan) -> Iterator[Remainder]:
    policy, mixers = plan.survey.policy, plan.survey.trust.mixers
    others = policy.minimum_crowd - 1
    yield _both(plan) or _promised(plan, Coalition.ANALYST, 0, 0)
    for people in _colluding(plan):
        yield _promised(plan, Coalition.PEOPLE, people, 0)
    if mixers > 1:
        yield _promised(plan, Coalition.OTHER_MIXERS, 0, mixers - 1)
    if plan.survey.trust.noise.has_dummies:
        yield _promised(plan, Coalition.ALL_BUT_ONE_MIXER, others, mixers - 1)
    else:
        yield _local(plan, Coalition.ALL_BUT_ONE_MIXER, others, 0)
    yield _local(plan, Coalition.ALL_MIXERS, 0, mixers)
    yield _local(plan, Coalition.EVERYBODY, others, mixers)


def _both(plan: Plan) -> Remainder | None:
    """The analyst alone sees counts with flips and dummies; None where that takes too long."""
    if plan.survey.trust.noise is not NoiseSource.BOTH or plan.mixing is None:
        return None
    policy, trust, rounds = plan.survey.policy, plan.survey.trust, plan.survey.rounds
    parts: Counter[tuple[float, DummyLaw]] = Counter()
    for block, noise, lane in zip(plan.layout.blocks, plan.noises, plan.lanes, strict=True):
        parts[noise, plan.law_of(lane)] += rounds * block.sensitivity
    if len(parts) > MOST_PARTS:
        return None
    rare = policy.minimum_crowd * plan.overflow + trust.mixers * plan.mixing.surplus
    bound = BothBound(
        parts=tuple(BothPart(noise, law, count) for (noise, law), count in parts.items()),
        crowd=policy.honest,
        mixers=trust.mixers,
        epsilon=policy.epsilon,
        distance=rounds * rare,
    )
    return Remainder(
        coalition=Coalition.ANALYST,
        people=0,
        mixers=0,
        remains=Remains.PROMISE,
        epsilon=policy.epsilon,
        delta=min(plan.promise.delta, bound.delta(Effort.QUICK).upper),
        eta=min(plan.promise.eta, bound.eta(Effort.QUICK).upper),
        together=True,
    )


def _colluding(plan: Plan) -> list[int]:
    """As many people as the plan allows for, and half of the crowd; two must stay honest."""
    policy = plan.survey.policy
    half = min(policy.minimum_crowd // 2, policy.minimum_crowd - 2)
    return sorted({people for people in (policy.colluding, half) if people > 0})


def _promised(plan: Plan, coalition: Coalition, people: int, mixers: int) -> Remainder:
    """The promise to a member of the crowd without those who collude."""
    found = _promise_without(plan, people)
    return Remainder(
        coalition=coalition,
        people=people,
        mixers=mixers,
        remains=Remains.PROMISE,
        epsilon=found.epsilon,
        delta=found.delta,
        eta=found.eta,
    )


def _promise_without(plan: Plan, people: int) -> Promise:
    """Of mixers it is the same for any crowd; of devices that of a smaller one."""
    policy = plan.survey.policy
    if plan.survey.trust.noise.has_dummies or people == policy.colluding:
        return plan.promise
    return promise_for(plan, replace(policy, colluding=people))


def _local(plan: Plan, coalition: Coalition, people: int, mixers: int) -> Remainder:
    """What the device's own noise leaves."""
    local = plan.promise.local_epsilon
    known = math.isfinite(local)
    return Remainder(
        coalition=coalition,
        people=people,
        mixers=mixers,
        remains=Remains.LOCAL if known else Remains.NOTHING,
        epsilon=local if known else None,
    )
