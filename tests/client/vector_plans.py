"""Plans for test vectors: written by hand, with keys that everybody can derive.

No noise is searched for, so their promises are not meant to be kept: they are for tests only. The
keys are those of `reference.vectors`, derived from public words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from reference.vectors import digest

from krand.survey.plan import Mixer, Plan
from krand.survey.survey import Survey
from krand.wire.messages import ANALYST, FIRST_WITH_LAYER
from krand.wire.plan_signatures import PlanSignature, sign_plan
from mixed_plans import unproven_plan


def known_plan(survey: Survey, numerators: Sequence[int] = (), rooms: Sequence[int] = ()) -> Plan:
    """The survey with this noise of every block, this room for its messages, and known keys."""
    plan = unproven_plan(survey, numerators, rooms)
    if survey.trust.noise.has_dummies:
        mixers = range(1, survey.trust.mixers + 1)
        plan = plan.mixed_by(tuple(_mixer(hop, survey) for hop in mixers))
    return plan.sealed_for(known_key(ANALYST).public_key())


def _mixer(hop: int, survey: Survey) -> Mixer:
    keys = [_public(hop, number) for number in range(1, survey.rounds + 1)]
    return Mixer(
        name=f"mixer {hop}",
        identity=_identity(hop).public_key().public_bytes_raw().hex(),
        keys=tuple(keys) if hop >= FIRST_WITH_LAYER else (),
    )


def known_signatures(plan: Plan) -> tuple[PlanSignature, ...]:
    """Of all mixers of such a plan; none where devices alone add noise."""
    hops = range(1, len(plan.mixing.mixers) + 1)
    return tuple(sign_plan(plan, _identity(hop)) for hop in hops)


def known_key(hop: int, round_number: int = 1) -> X25519PrivateKey:
    """What opens the layer of a hop; the analyst, hop 0, has one key for all rounds."""
    word = "analyst" if hop == ANALYST else f"mixer {hop}, round {round_number}"
    return X25519PrivateKey.from_private_bytes(digest(f"key: {word}"))


@cache
def _public(hop: int, round_number: int) -> str:
    return known_key(hop, round_number).public_key().public_bytes_raw().hex()


@cache
def _identity(hop: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(digest(f"identity: mixer {hop}"))
