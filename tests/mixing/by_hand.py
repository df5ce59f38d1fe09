"""A chain of three mixers, as its operators run it, and one whose first mixer is a test."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

import krand
import steps
from command_line import done
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


def lanes_of(batch: Path) -> Lanes:
    """What is in a batch, in the order of the file."""
    links = json.loads(batch.with_suffix(".chain.json").read_bytes())["links"]
    counts = [lane["out"] for lane in links[-1]["lanes"]]
    content = batch.read_bytes()
    size = len(content) // sum(counts)
    rows = iter([content[at : at + size] for at in range(0, len(content), size)])
    return {lane: [next(rows) for _ in range(count)] for lane, count in enumerate(counts)}


def files_in(folder: Path) -> dict[str, bytes]:
    """What anybody could fetch; nothing if there is no such folder."""
    return {path.name: path.read_bytes() for path in folder.glob("*") if path.is_file()}


def holds_key(folder: Path, public: str) -> bool:
    """Whether the private key of this public one is in any file of the folder, in hexadecimal."""
    content = None
    while content is None:
        with suppress(FileNotFoundError):  # files go while they are listed: again
            files = [path for path in folder.rglob("*") if path.is_file()]
            content = b"\n".join(path.read_bytes() for path in files)
    return any(
        X25519PrivateKey.from_private_bytes(bytes.fromhex(text.decode())).public_key()
        == X25519PublicKey.from_public_bytes(bytes.fromhex(public))
        for text in set(re.findall(rb"(?=([0-9a-f]{64}))", content))
    )


@dataclass
class Watched:
    """What holds at the moment in which anything below a folder is first made or changed."""

    folder: Path
    holds: Callable[[], object]
    found: list[object] = field(default_factory=list)

    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Python tells every file that is opened, and every name that is given."""
        named = [str(each) for each in arguments if isinstance(each, (str, Path))]
        here = any(Path(name).is_relative_to(self.folder) for name in named)
        if here and not self.found and event in ("open", "os.mkdir", "os.rename", "os.link"):
            self.found.append(None)  # looking opens files, too
            self.found[0] = self.holds()


WATCHED: list[Watched] = []
sys.addaudithook(lambda event, arguments: [each.hear(event, arguments) for each in WATCHED])  # type: ignore[arg-type,func-returns-value]


@contextmanager
def when_first_shown(folder: Path, holds: Callable[[], object]) -> Iterator[list[object]]:
    """What `holds` gives when anything first appears in the folder."""
    WATCHED.append(watched := Watched(folder, holds))
    try:
        yield watched.found
    finally:
        WATCHED.remove(watched)


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

    def mixed(self, batch: Path, hop: int, output: Path) -> Any:
        """What leaves the mixer of this place."""
        return krand.mix(self.plan, batch, self.stores[hop - 1], output)


def some_people(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Whatever people might answer, and nothing at all."""
    return [*simulated_people(plan().survey, count, seed=seed)]


@dataclass
class ByHand:
    """A chain whose collector is this test; the other mixer, the last one, is krand's.

    Everything that the collector sends is sealed and signed here, without krand's own code: so it
    can send what no honest one would. The test is the analyst, too.
    """

    folder: Path
    anchored: bool = False
    signs: bool = True
    identity: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    key: X25519PrivateKey = field(default_factory=X25519PrivateKey.generate)
    inside: Lanes = field(default_factory=dict)
    """What mixer 2 finds in its layers of the honest batch, in its order."""

    def __post_init__(self) -> None:
        self.store, self.plan_file = self.folder / "store", self.folder / "plan.json"
        raw = self.identity.public_key().public_bytes_raw().hex()
        own = {"identity": raw, "keys": [], "name": "collector"}
        self.mixers = [own, self._described()]
        whole = steps.named(plan(), self.key).bytes.decode()
        named = json.dumps(self.mixers, sort_keys=True, separators=(",", ":"))
        whole = re.sub(r'"mixers":\[.*?}\]', f'"mixers":{named}', whole)
        whole = whole.replace('"mixers":3', '"mixers":2')
        self.plan_file.write_text(whole, encoding="utf-8")
        if self.signs:
            done("mix sign", self.plan_file, self.options, "-o", self.folder / "2.sig.json")

    @cached_property
    def plan(self) -> krand.Plan:
        return krand.read_plan(self.plan_file)

    @property
    def options(self) -> str:
        """Of every command with the mixer's store."""
        anchor = f" --anchor {self.folder / 'anchor'}" if self.anchored else ""
        return f"--store {self.store}{anchor}"

    def mixed(self, batch: Path, output: str = "out", store: Path | None = None) -> Any:
        """What leaves the mixer."""
        anchor = self.folder / "anchor" if self.anchored else None
        to = self.folder / output
        return krand.mix(self.plan, batch, store or self.store, to, anchor=anchor)

    def not_mixed(self, batch: Path, output: str = "out", store: Path | None = None) -> str:
        """How it refuses a batch, of which it shows nothing."""
        before = files_in(self.folder / output)
        with pytest.raises(krand.InvalidInput) as caught:
            self.mixed(batch, output, store)
        assert files_in(self.folder / output) == before
        return f"{caught.value.field}: {caught.value.rule}"

    def _described(self) -> dict[str, Any]:
        file, anchor = self.folder / "mixer.json", "" if self.anchored else "--no-anchor"
        done("mix keygen --name 'mixer 2' --rounds 2", anchor, self.options, "-o", file)
        values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        del values["format"]
        return values

    def sealed(self, inside: bytes, **info: Any) -> bytes:
        """A message for mixer 2, with its key of round 1; `info` is what it is bound to."""
        key = X25519PublicKey.from_public_bytes(bytes.fromhex(self.mixers[1]["keys"][0]))
        return SUITE.encrypt(inside, key, self._bound({"hop": 2, **info}))

    def null(self, lane: int) -> bytes:
        """An empty message for the analyst."""
        return SUITE.encrypt(NOTHING, self.key.public_key(), self._bound({"hop": 0, "lane": lane}))

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
