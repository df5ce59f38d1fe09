"""Plans with mixers and everybody's private keys, without the search for the least noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.client.client import Client
from krand.client.ledger import Ledger
from krand.promise import DUMMY_GRID, DummyLaw, Method, Policy, Precision, Promise
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.lanes import lanes_of
from krand.survey.layout import layout_of
from krand.survey.plan import Mixer, Mixing, Plan, PlannedBlock, WorstShift
from krand.survey.questions import Choice, PickAny, YesNo
from krand.survey.survey import Survey, Trust
from krand.testing import UnsafeMemoryLedger
from krand.wire.plan_signatures import PlanSignature, sign_plan
from schedules import days, during

POLICY = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=12)
QUESTIONS = (
    YesNo(name="smokes"),
    Choice(name="pet", choices=Choices(("cat", "dog", "none"))),
    PickAny(name="places", choices=Choices(tuple(f"place {n}" for n in range(40))), at_most=3),
)
"""Lanes of one position, of one message over three, and of three messages over forty."""
ANSWERS: dict[str, object] = {"smokes": True, "pet": "dog", "places": ["place 4", "place 39"]}
LAW = DummyLaw((DUMMY_GRID // 2, DUMMY_GRID // 4))
DUMMIES = 100
LOCAL_EPSILON = 10.0


@dataclass(frozen=True, kw_only=True)
class Party:
    """A plan, and the keys of everybody who opens something."""

    plan: Plan
    analyst: X25519PrivateKey
    identities: tuple[Ed25519PrivateKey, ...]
    keys: dict[int, tuple[X25519PrivateKey, ...]]
    """For every hop from 2: its keys, one for each round."""

    @property
    def signatures(self) -> tuple[PlanSignature, ...]:
        """Of all mixers."""
        return tuple(sign_plan(self.plan, identity) for identity in self.identities)

    def key_of(self, hop: int, round_number: int = 1) -> X25519PrivateKey:
        """What opens the layer of a hop; 0 is the analyst."""
        return self.keys[hop][round_number - 1] if hop else self.analyst

    def client(self, ledger: Ledger | None = None, **changes: Any) -> Client:
        """A device that was given everything; `changes` are what it was given instead."""
        given = {"expected_hash": self.plan.hash, "now": during(self.plan), **changes}
        if "signatures" not in given:
            given["signatures"] = self.signatures
        return Client(self.plan, ledger or UnsafeMemoryLedger(), **given)


def survey_for(mixers: int, rounds: int = 2) -> Survey:
    """A small survey that so many mixers mix."""
    return Survey(
        id="mixed",
        policy=POLICY,
        questions=QUESTIONS,
        rounds=rounds,
        schedule=days(rounds),
        trust=Trust(noise=mechanisms.MIXERS, mixers=mixers),
    )


def unproven_plan(
    survey: Survey, numerators: Sequence[int] = (), rooms: Sequence[int] = ()
) -> Plan:
    """The survey with this noise of every block, this room for its messages and hardly any dummies.

    Where mixers alone add noise, both are left out; whole records have no rooms. Its promise is
    what the survey asks for, word for word; nobody has proven it.
    """
    layout, noise, policy = layout_of(survey), survey.trust.noise, survey.policy
    nothing = (0,) * len(layout.blocks)
    lanes = lanes_of(survey, layout, rooms or nothing)
    mixing = Mixing(
        laws=(LAW,),
        lane_laws=(0,) * len(lanes),
        paddings=tuple(DUMMIES * (lane.messages > 1) for lane in lanes),
        surplus=0.0,
    )

    return Plan(
        survey=survey,
        blocks=tuple(
            PlannedBlock(
                block=block,
                numerator=numerator,
                precision=Precision(1.0, 2.0, 3.0),
                shift=WorstShift(block.name, 1.0, 1.0),
                room=room,
            )
            for block, numerator, room in zip(
                layout.blocks,
                nothing if noise.has_dummies else numerators,
                rooms or nothing,
                strict=True,
            )
        ),
        messages=sum(lane.messages for lane in lanes),
        overflow=0.0,
        promise=Promise(
            epsilon=policy.epsilon,
            delta=policy.delta or 0.0,
            eta=policy.eta or 0.0,
            local_epsilon=math.inf if noise.has_dummies else LOCAL_EPSILON,
            method=Method.NONE,
            crowd=policy.minimum_crowd,
            colluding=policy.colluding,
            assumptions=(),
        ),
        mixing=mixing if noise.has_dummies else Mixing(),
    )


def party_for(survey: Survey) -> Party:
    """The survey with hardly any dummies, new mixers and a new analyst."""
    return party_of(unproven_plan(survey))


def party_of(plan: Plan) -> Party:
    """The plan with new mixers and a new analyst."""
    survey = plan.survey
    hops = range(1, survey.trust.mixers + 1)
    identities = tuple(Ed25519PrivateKey.generate() for _ in hops)
    keys = {
        hop: tuple(X25519PrivateKey.generate() for _ in range(survey.rounds)) for hop in hops[1:]
    }
    analyst = X25519PrivateKey.generate()
    mixers = tuple(
        Mixer(
            name=f"mixer {hop}",
            identity=identity.public_key().public_bytes_raw().hex(),
            keys=tuple(key.public_key().public_bytes_raw().hex() for key in keys.get(hop, ())),
        )
        for hop, identity in zip(hops, identities, strict=True)
    )
    whole = plan.sealed_for(analyst.public_key()).mixed_by(mixers)
    return Party(plan=whole, analyst=analyst, identities=identities, keys=keys)
