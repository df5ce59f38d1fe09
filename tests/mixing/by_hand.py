"""A chain of three mixers, and one whose first mixer is a test."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

import krand
from krand.mixing import mixer
from krand.testing import FakeChain, UnsafeMemoryLedger, simulated_people

HERE = Path(__file__).parent
SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
INSIDE = 6 + 48
"""How long a message is when mixer 2 has opened it: its content, and the analyst's seal."""
NOTHING = bytes((1, 0, 0, 0, 0, 0))
"""An empty message: version, kind and no position."""
Lanes = dict[int, list[bytes]]
"""The messages of a batch by their lanes."""


def plan() -> krand.Plan:
    """Of `lanes.toml`, which three mixers mix; nobody's keys are in it yet."""
    return krand.read_plan(HERE / "lanes.json")


def during(asked: krand.Plan, number: int) -> Callable[[], float]:
    """A clock that stands in a round of its schedule."""
    schedule = asked.survey.schedule
    assert schedule is not None
    return lambda: schedule.window(number)[0] + 1


def lanes_of(batch: Path, counts: list[int] | None = None) -> Lanes:
    """What is in a batch, in the order of the file; by its chain where no counts are given."""
    if counts is None:
        links = json.loads(batch.with_suffix(".chain.json").read_bytes())["links"]
        counts = [lane["out"] for lane in links[-1]["lanes"]]
    content = batch.read_bytes()
    size = len(content) // sum(counts)
    rows = iter([content[at : at + size] for at in range(0, len(content), size)])
    return {lane: [next(rows) for _ in range(count)] for lane, count in enumerate(counts)}


class Chain(FakeChain):
    """Three honest mixers, and people who answer with krand's client."""

    def answered(self, people: Iterable[dict[str, Any]], transport: Any = None) -> None:
        """Each of them by a device of their own."""
        for answers in people:
            device = krand.Client(
                self.plan,
                UnsafeMemoryLedger(),
                expected_hash=self.plan.hash,
                url=self.url,
                signatures=self.signatures,
                transport=transport or self.collector,
                now=during(self.plan, self.collector.round),
            )
            device.submit(answers)


class Left(NamedTuple):
    """What has left a mixer."""

    data: Path
    counts: tuple[Any, ...]
    """What became of the messages of each lane."""

    @property
    def lanes(self) -> Lanes:
        """The messages."""
        return lanes_of(self.data, [each.out for each in self.counts])

    def total(self, name: str) -> int:
        """What happened so often in all lanes."""
        return sum(getattr(lane, name) for lane in self.counts)


def some_people(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Whatever people might answer, and nothing at all."""
    return [*simulated_people(plan().survey, count, seed=seed)]


def hex_of(key: Ed25519PrivateKey | X25519PrivateKey) -> str:
    """The public half, as plans have it."""
    return key.public_key().public_bytes_raw().hex()


@dataclass
class ByHand:
    """A chain whose collector is this test; the other mixer, the last one, is krand's.

    Everything that the collector sends is sealed and signed here, without krand's own code: so it
    can send what no honest one would. The test is the analyst, too.
    """

    folder: Path
    identity: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    key: X25519PrivateKey = field(default_factory=X25519PrivateKey.generate)
    opening: X25519PrivateKey = field(default_factory=X25519PrivateKey.generate)
    """The key of mixer 2 for round 1."""
    inside: Lanes = field(default_factory=dict)
    """What mixer 2 finds in its layers of the honest batch, in its order."""

    @cached_property
    def plan(self) -> krand.Plan:
        made = plan()
        other = Ed25519PrivateKey.generate()
        later = X25519PrivateKey.generate()
        mixers = (
            krand.Mixer(
                name="collector", identity=hex_of(self.identity), url="https://one.example"
            ),
            krand.Mixer(
                name="mixer 2",
                identity=hex_of(other),
                url="https://two.example",
                keys=(hex_of(self.opening), hex_of(later)),
            ),
        )
        analyst = krand.Analyst(key=hex_of(self.key), identity="5b" * 32)
        two = made.survey.changed(trust=made.survey.trust.changed(mixers=2))
        return replace(made, survey=two).with_parties(mixers, analyst)

    def mixed(self, batch: Path, output: str = "out") -> Left:
        """What leaves the mixer."""
        link = json.loads(batch.with_suffix(".chain.json").read_bytes())["links"][-1]
        counts, to = [lane["out"] for lane in link["lanes"]], self.folder / output
        key = self.opening.private_bytes_raw()
        done = mixer.mix(self.plan, 1, 2, counts, batch, to, key=key, workers=1)
        return Left(to, done.lanes)

    def sealed(self, inside: bytes, **info: Any) -> bytes:
        """A message for mixer 2, with its key of round 1; `info` is what it is bound to."""
        return SUITE.encrypt(inside, self.opening.public_key(), self._bound({"hop": 2, **info}))

    def null(self, lane: int) -> bytes:
        """An empty message for the analyst."""
        return SUITE.encrypt(NOTHING, self.key.public_key(), self._bound({"hop": 0, "lane": lane}))

    def tokens(self, lanes: Lanes) -> list[int]:
        """How often each position of the plan is in a batch for the analyst, this test."""
        found = [0] * self.plan.layout.positions
        for lane, rows in lanes.items():
            for sealed in rows:
                content = SUITE.decrypt(sealed, self.key, self._bound({"hop": 0, "lane": lane}))
                if content[1]:
                    found[int.from_bytes(content[2:])] += 1
        return found

    def _bound(self, info: dict[str, Any]) -> bytes:
        bound = {"plan": self.plan.hash, "round": 1, "lane": 0, **info}
        where = bound["round"].to_bytes(2) + bound["lane"].to_bytes(4)
        return b"krand message" + bytes((1, bound["hop"])) + bytes.fromhex(bound["plan"]) + where

    def honest(self, people: int = 20) -> Lanes:
        """People who say nothing, and a collector's dummies, which are as empty."""
        self.inside = {
            lane.number: [self.null(lane.number) for _ in range(self.many(lane, people))]
            for lane in self.plan.lanes
        }
        return {
            number: [self.sealed(each, lane=number) for each in rows]
            for number, rows in self.inside.items()
        }

    def many(self, lane: Any, people: int) -> int:
        """How many messages an honest collector has in a lane, with as many dummies as it may."""
        return people * lane.messages + self.dummies(lane)

    def dummies(self, lane: Any) -> int:
        """As many as the plan's law allows."""
        most = 2 * self.plan.law_of(lane).reach * lane.positions
        return max(most, lane.padding) if lane.messages > 1 else most

    def batch(
        self,
        lanes: Lanes,
        name: str = "batch",
        crowd: int = 20,
        without: int = 0,
        **changes: Any,
    ) -> Path:
        """A batch of these messages, and a link that vouches for it; `changes` are lies in it.

        `without` so many of the dummies that lane 0 must have.
        """
        path = self.folder / f"{name}.batch"
        path.write_bytes(b"".join(each for _, rows in sorted(lanes.items()) for each in rows))
        counts = []
        for lane in self.plan.lanes:
            came, left = crowd * lane.messages, len(lanes.get(lane.number, ()))
            added = self.dummies(lane) - without * (lane.number == 0)
            counts.append(
                {
                    "came": came,
                    "repeats": 0,
                    "refused": came + added - left,
                    "dummies": added,
                    "out": left,
                }
            )
        link = {
            "format": "krand-link-1",
            "plan": self.plan.hash,
            "round": 1,
            "place": 1,
            "people": crowd,
            "lanes": counts,
            "input": "",
            "output": hashlib.sha256(path.read_bytes()).hexdigest(),
            "previous": "",
            **changes,
        }
        canonical = json.dumps(link, sort_keys=True, separators=(",", ":")).encode()
        signature = self.identity.sign(b"krand link\0" + canonical).hex()
        chain = {"format": "krand-chain-1", "links": [{**link, "signature": signature}]}
        path.with_suffix(".chain.json").write_text(json.dumps(chain), encoding="utf-8")
        return path
