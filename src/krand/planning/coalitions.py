"""What remains for a person when others work together: a table as codes and numbers.

`krand.wording.parties` has the words. A promise of mixers rests on one honest mixer, that of
devices on a crowd and on the collector; the rows show what is left if any of them fails. All of
that needs a device that follows the rules. Somebody who answers on a web page runs the code that
its host serves: the last row.

A plan has the table for the crowd that it needs, results for the one that came. Messages that were
refused may come from people who hide nobody: each counts as one more who colludes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from krand.planning.promises import promise_of, verify_promise
from krand.promise import Promise
from krand.survey.plan import Plan


class Coalition(StrEnum):
    """Who works together, always with the analyst, who may run mixers too, but for the first."""

    READERS = "readers"
    """Somebody who sees nothing but the results: where the analyst runs every mixer, what is
    promised is about them alone."""
    ANALYST = "analyst"
    """Nobody else."""
    PEOPLE = "people"
    """Some of the people, who show what they sent."""
    OTHER_MIXERS = "other-mixers"
    """All mixers but those of one party."""
    ALL_BUT_ONE_MIXER = "all-but-one-mixer"
    """All other people, and all mixers but those of one party."""
    ALL_MIXERS = "all-mixers"
    """All mixers, which is the collector where there is only one."""
    EVERYBODY = "everybody"
    """Everybody and everything but the person's own device."""
    PAGE_HOST = "page-host"
    """Whoever serves the web form: it can replace the code that a person's device runs."""


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


def coalitions_of(plan: Plan, crowd: int | None = None, refused: int = 0) -> tuple[Remainder, ...]:
    """Every coalition, the weakest first, with the numbers of this plan and crowd.

    >>> from krand.testing import small_plan
    >>> for row in coalitions_of(small_plan()):
    ...     print(row.coalition, row.people, row.remains)
    analyst 0 promise
    people 1 promise
    people 50 promise
    all-but-one-mixer 99 local
    all-mixers 0 local
    everybody 99 local
    page-host 0 nothing
    """
    came = plan.survey.policy.minimum_crowd if crowd is None else crowd
    return tuple(_rows(plan, came, refused))


def _rows(plan: Plan, crowd: int, refused: int) -> Iterator[Remainder]:
    trust, parties = plan.survey.trust, plan.other_parties
    mixers, others = trust.mixers, max(0, crowd - 1)
    known = len(trust.analyst_runs) if parties else 0
    first = Coalition.ANALYST if parties else Coalition.READERS
    yield _promised(plan, crowd, refused, first, mixers=known)
    # As many people as the plan allows for, and half of the crowd; two must stay honest.
    some = {plan.survey.policy.colluding, min(crowd // 2, crowd - 2)}
    for people in sorted(number for number in some if 0 < number < crowd):
        yield _promised(plan, crowd, refused, Coalition.PEOPLE, people, known)
    most = mixers - min(map(len, parties), default=0)  # all but those of one party
    if len(parties) > 1:
        yield _promised(plan, crowd, refused, Coalition.OTHER_MIXERS, mixers=most)
    if parties:
        yield _promised(plan, crowd, refused, Coalition.ALL_BUT_ONE_MIXER, others, most)
    yield _local(plan, Coalition.ALL_MIXERS if parties else Coalition.ANALYST, 0, mixers)
    yield _local(plan, Coalition.EVERYBODY, others, mixers)
    yield Remainder(coalition=Coalition.PAGE_HOST, people=0, mixers=0, remains=Remains.NOTHING)


def _promised(
    plan: Plan, crowd: int, refused: int, coalition: Coalition, people: int = 0, mixers: int = 0
) -> Remainder:
    """The promise to a member of the crowd without those who collude, if there is one."""
    found = _without(plan, crowd, people + refused)
    if found is None:
        return _local(plan, coalition, people, mixers)
    return Remainder(
        coalition=coalition,
        people=people,
        mixers=mixers,
        remains=Remains.PROMISE,
        epsilon=found.epsilon,
        delta=found.delta,
        eta=found.eta,
    )


def _without(plan: Plan, crowd: int, absent: int) -> Promise | None:
    """The promise in a crowd of which some hide nobody; None where nothing is promised."""
    policy = plan.survey.policy
    if plan.laws or (crowd, absent) == (policy.minimum_crowd, policy.colluding):
        return promise_of(plan)
    if absent > crowd - 2:  # two must stay honest
        return None
    return verify_promise(plan, policy.changed(minimum_crowd=crowd, colluding=absent))


def _local(plan: Plan, coalition: Coalition, people: int, mixers: int) -> Remainder:
    """What the device's own noise leaves."""
    local = promise_of(plan).local_epsilon
    known = math.isfinite(local)
    return Remainder(
        coalition=coalition,
        people=people,
        mixers=mixers,
        remains=Remains.LOCAL if known else Remains.NOTHING,
        epsilon=local if known else None,
    )
