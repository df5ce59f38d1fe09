"""Plans with a noise that a test chooses, and tallies of mixers' noise with a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from krand import (
    Choice,
    PickAny,
    Plan,
    Policy,
    Promise,
    Survey,
    Tally,
    Trust,
    YesNo,
    make_plan,
)
from krand.demo.devices import Chance, mixed_tally
from krand.planning.making import planned_from
from krand.planning.promises import take_promise
from krand.promise import DUMMY_GRID, DummyLaw, Method
from krand.survey.layout import layout_of

Question = YesNo | Choice | PickAny
Wholes = NDArray[np.int64]
LAW = DummyLaw((DUMMY_GRID // 2, DUMMY_GRID // 4))
"""Hardly any dummies, so that all outcomes can be listed."""


def plan_with_noise(survey: Survey, numerator: int) -> Plan:
    """The survey with q = numerator/2^32 everywhere; its promise is not meant to be kept."""
    policy = survey.policy
    promise = Promise(
        epsilon=policy.epsilon,
        delta=1e-6,
        eta=1e-6,
        local_epsilon=10.0,
        method=Method.NONE,
        crowd=policy.minimum_crowd,
        colluding=policy.colluding,
        assumptions=(),
    )
    plan = planned_from(survey, (numerator,) * len(layout_of(survey).blocks))
    take_promise(plan, promise)
    return plan


def mixed_plan_of(questions: Sequence[Question], mixers: int = 1) -> Plan:
    """A plan of mixers' noise, planned for real."""
    policy = Policy(epsilon=1.0, minimum_crowd=800, delta=1e-6)
    trust = Trust(noise="mixers", mixers=mixers)
    return make_plan(Survey(id="mixed", policy=policy, questions=tuple(questions), trust=trust))


def with_few_dummies(plan: Plan) -> Plan:
    """The plan with a law that is quickly enumerated, and nothing that follows from it."""
    lanes = tuple(
        replace(lane, law=0, padding=100 if lane.messages > 1 else 0) for lane in plan.lanes
    )
    return replace(plan, laws=(LAW,), lanes=lanes)


def mixed_tallies(
    plan: Plan, true: Wholes, people: int, repeats: int, seed: int
) -> Iterator[Tally]:
    """Tallies of surveys of one crowd, with the dummies of every mixer."""
    for number in range(repeats):
        random = Chance(seed).noise(f"tally {number}")
        yield mixed_tally(plan, true, people, random)
