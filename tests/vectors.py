"""Reads tests/vectors.json, which the reference makes: plans, answers, keys, random bytes.

CASES["every kind"]              what one person answers, from the plan to the bytes
plan_of(case), client_of(case)   krand's own
opened(case, place, sealed)      the plaintext of a sealed message, by the reference's HPKE
"""

from __future__ import annotations

import builtins
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import krand

# What a client draws is replaced by the bytes of a vector: no option of krand may do that.
from krand.randomness import generator
from krand.testing import UnsafeMemoryLedger
from reference.hpke import open_sealed

FILE = Path(__file__).with_name("vectors.json")
VECTORS: dict[str, Any] = json.loads(FILE.read_bytes())
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in VECTORS["cases"]}
LANE = ("number", "offset", "positions", "messages", "records")
ANALYST = 0


SecureRandom = generator.SecureRandom


class KnownBytes(SecureRandom):
    """Not random at all: gives the bytes of a test in their order, and counts those it gave."""

    __slots__ = ("given", "known")

    def __init__(self, known: builtins.bytes) -> None:
        super().__init__()
        self.known, self.given = known, 0

    def bytes(self, count: int) -> builtins.bytes:
        """The next bytes; there must be so many left."""
        start, self.given = self.given, self.given + count
        assert self.given <= len(self.known), f"{len(self.known):,} random bytes are too few"
        return self.known[start : self.given]


@contextmanager
def only_known(content: str) -> Iterator[None]:
    """What this process draws are these bytes, all of them and no more."""
    random, usual = KnownBytes(bytes.fromhex(content)), generator.secure_random
    generator.secure_random = lambda: random
    try:
        yield
    finally:
        generator.secure_random = usual
    assert random.given == len(random.known), f"{random.given} of {len(random.known)} bytes drawn"


@cache
def plan_of_text(text: str) -> krand.Plan:
    """The plan in these bytes, by way of a file: that is how devices get it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plan.json"
        file.write_bytes(text.encode())
        return krand.read_plan(file)


def plan_of(case: dict[str, Any]) -> krand.Plan:
    return plan_of_text(case["plan"])


def lane_of(number: int) -> Any:
    """A lane of the vectors of messages, as krand has it."""
    (values,) = (each for each in VECTORS["lanes"] if each["number"] == number)
    return lane_like(**{name: values[name] for name in LANE})


def lane_like(**values: Any) -> Any:
    """A lane that no plan need have."""
    return replace(plan_of(VECTORS["cases"][0]).lanes[0], **values)


def opening_key(hop: int, round_number: int) -> X25519PrivateKey:
    """What opens the layer of a hop; the analyst has one key for all rounds."""
    number = None if hop == ANALYST else round_number
    (found,) = (k for k in VECTORS["keys"] if (k["hop"], k["round"]) == (hop, number))
    return X25519PrivateKey.from_private_bytes(bytes.fromhex(found["private_key"]))


def keys_of(case: dict[str, Any]) -> list[X25519PrivateKey]:
    """Those of the case's round, the innermost layer's first."""
    usable = [key for key in case["keys"] if key["round"] in (None, case["round"])]
    return [X25519PrivateKey.from_private_bytes(bytes.fromhex(k["private_key"])) for k in usable]


def opened(case: dict[str, Any], place: int, sealed: bytes) -> str:
    """The plaintext of a message, layer after layer; empty if one of them does not open."""
    infos = case["messages"][place]["infos"]
    inside: bytes | None = sealed
    for key, info in zip(reversed(keys_of(case)), reversed(infos), strict=True):
        if inside is not None:
            inside = open_sealed(inside, key, bytes.fromhex(info))
    return (inside or b"").hex()


def signatures_in(given: list[dict[str, str]]) -> list[krand.PlanSignature]:
    """As a collector gives them to a device."""
    keys = ("plan", "mixer", "signature")
    return [krand.PlanSignature(**{key: each[key] for key in keys}) for each in given]


def during(plan: krand.Plan, number: int = 1) -> Callable[[], float]:
    """A clock that stands still while a round is open."""
    schedule = plan.survey.schedule
    if schedule is None:
        return time.time
    opens, closes = schedule.window(number)
    return lambda: (opens + closes) / 2


def client_of(
    case: dict[str, Any], ledger: krand.Ledger | None = None, **changes: Any
) -> krand.Client:
    """A device that was given what the case has; `changes` are what it was given instead."""
    plan = changes.pop("plan", None) or plan_of(case)
    given = {
        "expected_hash": plan.hash,
        "signatures": signatures_in(case["signatures"]),
        "now": during(plan, case["round"]),
        **changes,
    }
    return krand.Client(plan, ledger or UnsafeMemoryLedger(), **given)
