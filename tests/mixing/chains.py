"""Plans with mixers, and their keys, for the tests of mixing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.planning.making import make_plan
from krand.promise import NoiseSource, Policy
from krand.survey.choices import Choices
from krand.survey.plan import Mixer, Plan
from krand.survey.questions import Choice, PickAny, YesNo
from krand.survey.survey import Survey, Trust

__all__ = ["POLICY", "QUESTIONS", "Party", "mixed_plan_for"]

POLICY = Policy(epsilon=4.0, delta=1e-3, minimum_crowd=12)
LONG_LIST = Choices(tuple(f"option {number}" for number in range(33)))
QUESTIONS = (
    YesNo(name="smokes"),
    Choice(name="pet", choices=Choices(("cat", "dog", "none"))),
    PickAny(name="places", choices=LONG_LIST, at_most=2),
)


@dataclass(frozen=True, kw_only=True)
class Party:
    """A plan with all private keys that belong to it."""

    plan: Plan
    analyst: X25519PrivateKey
    identities: tuple[Ed25519PrivateKey, ...]
    keys: tuple[tuple[X25519PrivateKey, ...], ...]
    """For every mixer, for every round; none for the first."""


@cache
def _bare_plan(mixers: int, rounds: int, batches: int) -> Plan:
    trust = Trust(noise=NoiseSource.MIXERS, mixers=mixers, batches=batches)
    survey = Survey(id="s", policy=POLICY, questions=QUESTIONS, rounds=rounds, trust=trust)
    return make_plan(survey)


@cache
def mixed_plan_for(mixers: int = 3, rounds: int = 2, batches: int = 3) -> Party:
    """A small plan: a yes/no, a choice, and a list with two messages."""
    analyst = X25519PrivateKey.generate()
    identities = tuple(Ed25519PrivateKey.generate() for _ in range(mixers))
    keys = tuple(
        tuple(X25519PrivateKey.generate() for _ in range(rounds if hop > 1 else 0))
        for hop in range(1, mixers + 1)
    )
    described = tuple(
        Mixer(
            name=f"mixer {hop}",
            identity=identity.public_key().public_bytes_raw().hex(),
            keys=tuple(key.public_key().public_bytes_raw().hex() for key in own),
        )
        for hop, (identity, own) in enumerate(zip(identities, keys, strict=True), 1)
    )
    plan = _bare_plan(mixers, rounds, batches).sealed_for(analyst.public_key()).mixed_by(described)
    return Party(plan=plan, analyst=analyst, identities=identities, keys=keys)
