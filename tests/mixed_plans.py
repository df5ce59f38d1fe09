"""Plans with mixers and their private keys, without the search for the least noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from krand.promise import (
    DUMMY_GRID,
    DummyLaw,
    Policy,
    Precision,
)
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.lanes import lanes_of
from krand.survey.layout import layout_of
from krand.survey.plan import Mixer, Mixing, Plan, PlannedBlock, WorstShift
from krand.survey.questions import Choice, PickAny, YesNo
from krand.survey.seals import Seal
from krand.survey.survey import Survey, Trust
from krand.wire.plan_signatures import PlanSignature, sign_plan
from krand.wire.suites import OpeningKey, generate_key
from plans import PROMISE

POLICY = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=12)
QUESTIONS = (
    YesNo(name="smokes"),
    Choice(name="pet", choices=Choices(("cat", "dog", "none"))),
    PickAny(name="places", choices=Choices(tuple(f"place {n}" for n in range(40))), at_most=3),
)
"""Lanes of one position, of one message over three, and of three messages over forty."""
ANSWERS: dict[str, object] = {"smokes": True, "pet": "dog", "places": ["place 4", "place 39"]}
LAW = DummyLaw((DUMMY_GRID // 2, DUMMY_GRID // 4))


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A plan, and the keys of everybody who opens something."""

    plan: Plan
    analyst: OpeningKey
    identities: tuple[Ed25519PrivateKey, ...]
    keys: dict[int, tuple[OpeningKey, ...]]
    """For every hop from 2: its keys, one for each round."""

    @property
    def signatures(self) -> tuple[PlanSignature, ...]:
        """Of all mixers."""
        return tuple(sign_plan(self.plan, identity) for identity in self.identities)

    def key_of(self, hop: int, round_number: int = 1) -> OpeningKey:
        """What opens the layer of a hop; 0 is the analyst."""
        return self.keys[hop][round_number - 1] if hop else self.analyst


def survey_for(mixers: int, rounds: int = 2, seal: Seal = Seal.X25519) -> Survey:
    """A small survey that so many mixers mix."""
    return Survey(
        id="mixed",
        policy=POLICY,
        questions=QUESTIONS,
        rounds=rounds,
        trust=Trust(noise=mechanisms.MIXERS, mixers=mixers),
        seal=seal,
    )


def plan_for_mixers(survey: Survey) -> Plan:
    """The survey with hardly any dummies; its promise is not meant to be kept."""
    layout = layout_of(survey)
    lanes = lanes_of(survey, layout)
    policy = survey.policy
    return Plan(
        survey=survey,
        blocks=tuple(
            PlannedBlock(
                block=block,
                numerator=0,
                precision=Precision(1.0, 2.0, 3.0),
                shift=WorstShift(block.name, 1, 1.0, 1.0),
            )
            for block in layout.blocks
        ),
        messages=sum(lane.messages for lane in lanes),
        overflow=0.0,
        promise=replace(PROMISE, epsilon=policy.epsilon, crowd=policy.minimum_crowd),
        mixing=Mixing(
            laws=(LAW,),
            lane_laws=(0,) * len(lanes),
            paddings=tuple(100 * (lane.messages > 1) for lane in lanes),
            surplus=0.0,
        ),
    )


def chain_of(survey: Survey) -> Chain:
    """The survey with hardly any dummies, new mixers and a new analyst."""
    return chain_for(plan_for_mixers(survey))


def chain_for(plan: Plan) -> Chain:
    """The plan with new mixers and a new analyst."""
    survey = plan.survey
    hops = range(1, survey.trust.mixers + 1)
    identities = tuple(Ed25519PrivateKey.generate() for _ in hops)
    keys = {hop: tuple(generate_key(survey.seal) for _ in range(survey.rounds)) for hop in hops[1:]}
    analyst = generate_key(survey.seal)
    mixers = tuple(
        Mixer(
            name=f"mixer {hop}",
            identity=identity.public_key().public_bytes_raw().hex(),
            keys=tuple(key.public_key().public_bytes_raw().hex() for key in keys.get(hop, ())),
        )
        for hop, identity in zip(hops, identities, strict=True)
    )
    whole = plan.sealed_for(analyst.public_key()).mixed_by(mixers)
    return Chain(plan=whole, analyst=analyst, identities=identities, keys=keys)
