"""Plans for test vectors: written by hand, with keys that everybody can derive.

No noise is searched for, so their promises are not meant to be kept: they are for tests only. The
keys are those of `wire.vectors`, derived from public words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from krand.promise import DUMMY_GRID, DummyLaw, Method, Precision, Promise
from krand.survey import mechanisms
from krand.survey.lanes import Lane, lanes_of
from krand.survey.layout import layout_of
from krand.survey.plan import Mixer, Mixing, Plan, PlannedBlock, WorstShift
from krand.survey.seals import Seal
from krand.survey.survey import Survey
from krand.wire.messages import ANALYST, FIRST_WITH_LAYER
from krand.wire.plan_signatures import PlanSignature, sign_plan
from krand.wire.suites import OpeningKey, opening_key
from wire.vectors import digest

__all__ = ["known_key", "known_plan", "known_signatures"]

LAW = DummyLaw((DUMMY_GRID // 2, DUMMY_GRID // 4))
DUMMIES = 100
LOCAL_EPSILON = 10.0


def known_plan(survey: Survey, numerators: Sequence[int] = (), rooms: Sequence[int] = ()) -> Plan:
    """The survey with this noise of every block and this room for its messages.

    Where mixers alone add noise, both are left out; whole records have no rooms.
    """
    layout, noise = layout_of(survey), survey.trust.noise
    nothing = (0,) * len(layout.blocks)
    lanes = lanes_of(survey, layout, rooms or nothing)
    plan = Plan(
        survey=survey,
        blocks=tuple(
            PlannedBlock(
                block=block,
                numerator=numerator,
                precision=Precision(1.0, 2.0, 3.0),
                shift=WorstShift(block.name, 1, 1.0, 1.0),
                room=room,
            )
            for block, numerator, room in zip(
                layout.blocks,
                numerators if noise.has_flips else nothing,
                rooms or nothing,
                strict=True,
            )
        ),
        messages=sum(lane.messages for lane in lanes),
        overflow=0.0,
        promise=_promise(survey, math.inf if noise.has_dummies else LOCAL_EPSILON),
        mixing=_mixing(survey, lanes) if noise.has_dummies else Mixing(),
        flips=_promise(survey, LOCAL_EPSILON) if noise is mechanisms.BOTH else None,
    )
    return plan.sealed_for(known_key(ANALYST, seal=survey.seal).public_key())


def _promise(survey: Survey, local_epsilon: float) -> Promise:
    """What the survey asks for, word for word; nobody has proven it."""
    policy = survey.policy
    return Promise(
        epsilon=policy.epsilon,
        delta=policy.delta or 0.0,
        eta=policy.eta or 0.0,
        local_epsilon=local_epsilon,
        assurance=policy.assurance,
        method=Method.NONE,
        crowd=policy.minimum_crowd,
        colluding=policy.colluding,
        assumptions=(),
    )


def _mixing(survey: Survey, lanes: Sequence[Lane]) -> Mixing:
    """Hardly any dummies, by mixers with known keys."""
    return Mixing(
        laws=(LAW,),
        lane_laws=(0,) * len(lanes),
        paddings=tuple(DUMMIES * (lane.messages > 1) for lane in lanes),
        surplus=0.0,
        mixers=tuple(_mixer(hop, survey) for hop in range(1, survey.trust.mixers + 1)),
    )


def _mixer(hop: int, survey: Survey) -> Mixer:
    keys = [_public(hop, number, survey.seal) for number in range(1, survey.rounds + 1)]
    return Mixer(
        name=f"mixer {hop}",
        identity=_identity(hop).public_key().public_bytes_raw().hex(),
        keys=tuple(keys) if hop >= FIRST_WITH_LAYER else (),
    )


def known_signatures(plan: Plan) -> tuple[PlanSignature, ...]:
    """Of all mixers of such a plan; none where devices alone add noise."""
    hops = range(1, len(plan.mixing.mixers) + 1)
    return tuple(sign_plan(plan, _identity(hop)) for hop in hops)


def known_key(hop: int, round_number: int = 1, seal: Seal = Seal.X25519) -> OpeningKey:
    """What opens the layer of a hop; the analyst, hop 0, has one key for all rounds."""
    word = "analyst" if hop == ANALYST else f"mixer {hop}, round {round_number}"
    return opening_key(seal, digest(f"key: {word}"))


@cache
def _public(hop: int, round_number: int, seal: Seal) -> str:
    return known_key(hop, round_number, seal).public_key().public_bytes_raw().hex()


@cache
def _identity(hop: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(digest(f"identity: mixer {hop}"))
