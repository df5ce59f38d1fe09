"""Simulated devices and mixers: their noise comes from a seed, where real noise has none.

The people of a demonstration are simulated, so their noise may be too: with a seed everybody sees
the same numbers. Only here can noise have one. Code that randomizes real answers does not use this
module: devices and data holders draw from `krand.randomness.generator`, which has no seed.
"""

from __future__ import annotations

import builtins
import hashlib
import secrets
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from krand.analysis.tally import Tally, empty_tally
from krand.batches.provenance import Provenance
from krand.batches.responses import ResponsesHeader, ResponsesWriter
from krand.errors import InvalidInput
from krand.files import complete_file
from krand.mixing.dummies import draw_lane
from krand.promise import check_whole
from krand.randomness.generator import SecureRandom
from krand.simulation.crowd import Crowd, Told
from krand.survey.plan import Plan
from krand.tables.randomizing import responses_without_order

FRESH = 0
"""The seed that means: different people and different noise every time."""
MAX_SEED = 2**64 - 1
BATCH = "0" * 64
"""Mixers pass on batches; this one was never written."""


class _SimulatedRandom(SecureRandom):
    """The same numbers for the same key: anybody can compute them, so they protect nobody."""

    __slots__ = ("_keystream",)

    def __init__(self, key: builtins.bytes) -> None:
        super().__init__()
        self._keystream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def bytes(self, count: int) -> builtins.bytes:
        """The next bytes of the key's stream."""
        if count < 0:
            raise InvalidInput("count", "must be at least 0", count)
        return self._keystream.update(builtins.bytes(count))


@dataclass(frozen=True, slots=True)
class Chance:
    """The source of all randomness in a demonstration."""

    seed: int

    def __post_init__(self) -> None:
        check_whole("seed", self.seed, FRESH, MAX_SEED)

    @property
    def is_fresh(self) -> bool:
        """Whether each run is different."""
        return self.seed == FRESH

    def people(self) -> int:
        """The seed of the simulated people; if it is fresh, each call draws a new one."""
        return secrets.randbits(64) if self.is_fresh else self.seed

    def noise(self, name: str) -> SecureRandom:
        """Noise for simulated people only; each name has its own stream."""
        if self.is_fresh:
            return SecureRandom()
        key = hashlib.sha256(f"simulated\n{self.seed}\n{name}".encode()).digest()
        return _SimulatedRandom(key)


def write_responses(
    plan: Plan,
    crowd: Crowd,
    random: SecureRandom,
    output: Path,
    run: str,
    told: Told = lambda _: None,
) -> None:
    """Write the shuffled responses of all people; the file says that they are simulated."""
    header = ResponsesHeader(
        plan=plan.hash,
        round=1,
        people=crowd.people,
        linkage=plan.survey.linkage,
        positions=plan.layout.positions,
        run=run,
        provenance=Provenance.SIMULATION,
    )
    with (
        complete_file("output", output, replace=True) as stream,
        ResponsesWriter(stream, header) as writer,
    ):
        for chunk in responses_without_order(plan, crowd.encoded(told), random, output.parent):
            writer.write(chunk)


def mixed_tally(plan: Plan, counts: NDArray[np.int64], people: int, random: SecureRandom) -> Tally:
    """What is counted of so many people's answers and the dummies of every mixer."""
    counts, nulls = counts.copy(), []
    for lane in plan.lanes:
        tokens = counts[lane.offset : lane.offset + lane.positions]
        nulls.append(people * lane.messages - int(tokens.sum()))
        for _ in range(plan.survey.trust.mixers):
            dummies = draw_lane(plan, lane, random)
            tokens += dummies.tokens
            nulls[-1] += dummies.nulls
    return replace(
        empty_tally(plan.hash, plan.survey.linkage, plan.layout.positions),
        people=people,
        crowd=people,
        responses=people,
        counts=counts,
        nulls=sum(nulls),
        lane_nulls=np.array(nulls, np.int64),
        batches=(BATCH,),
    )
