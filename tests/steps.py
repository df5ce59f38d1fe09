"""The way of a survey, step by step: the only file that knows the commands of today.

    study = steps.published(tmp_path, "trio")   # survey.toml, keys, mixers, plan.json, signatures
    study.answer(world.people("trio", 9))       # to krand's own fake of a collector
    results = study.finished()                  # closed, mixed, counted, estimated: results.json
    study.report()

Every step can be taken by itself, too. Nothing has sockets here: who needs them runs `krand run`
(`real.processes`), or the workers of all parties (`parties`).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import krand
import world
from command_line import done
from krand.partners.identity import Identity
from krand.testing import FakeChain, FakeCollector, UnsafeMemoryLedger
from krand.wire import keys, plan_signatures

KEY, PARTIES = "key.pem", "parties.json"
COLLECTOR = Identity(keys.generate_signing_key())
"""Signs where a test only needs a plan that people could send to."""


def named(plan: krand.Plan, key: Any = None) -> krand.Plan:
    """The plan with a collector and an analyst."""
    key = key or krand.generate_private_key()
    collector = krand.Mixer(name="collector", identity=COLLECTOR.public)
    return plan.with_parties((collector,), analyst_of(key))


def analyst_of(key: Any) -> krand.Analyst:
    """Who has this private key, under a new identity."""
    return krand.Analyst(
        key=keys.public_hex(key), identity=keys.public_hex(keys.generate_signing_key())
    )


def signed(plan: krand.Plan) -> list[krand.PlanSignature]:
    """The signatures of a plan that `named` has made."""
    return [plan_signatures.sign_plan(plan, COLLECTOR.key)]


def device(plan: krand.Plan, ledger: krand.Ledger | None = None, **given: Any) -> krand.Client:
    """Of a new person, for a plan that `named` has made; without an address it needs a fake."""
    known = {"expected_hash": plan.hash, "signatures": signed(plan), "url": FakeCollector.url}
    return krand.Client(plan, ledger or UnsafeMemoryLedger(), **(known | given))


def published(at: Path, survey: str, **changes: Any) -> Study:
    """A folder with the survey, everybody's keys, plan.json, and the signatures of all mixers.

    `survey` is a name of the world, whose plan is committed and may be changed in what needs no
    other noise, or the text of a file, whose noise is searched for.
    """
    at.mkdir(parents=True, exist_ok=True)
    known = survey in world.NAMES
    text = world.survey_file(survey).read_text(encoding="utf-8") if known else survey
    (at / "survey.toml").write_text(text, encoding="utf-8")
    asked = krand.read_survey(at / "survey.toml")
    made = world.plan(survey) if known else krand.make_plan(asked)
    chain = FakeChain(replace(made, survey=made.survey.changed(**changes)) if changes else made)
    chain.plan.save(at / "plan.json")
    (at / KEY).write_bytes(keys.private_key_pem(chain.key))
    (at / KEY).chmod(0o600)
    kept = [
        {"identity": party.identity.key.private_bytes_raw().hex(), "keys": _hex(party.keys)}
        for party in chain.parties
    ]
    (at / PARTIES).write_text(json.dumps(kept), encoding="ascii")
    signed = [plan_signatures.signature_values(one) for one in chain.signatures]
    (at / "signatures.json").write_text(json.dumps(signed), encoding="ascii")
    return Study(at)


def _hex(secret: Iterable[bytes]) -> list[str]:
    return [key.hex() for key in secret]


PEOPLE = {"tiny": 14, "mixer": 5, "trio": 9}
"""How many answer in the examples."""


def example(name: str, copy: Path | None = None) -> Study:
    """A whole study of `PEOPLE[name]` people, from the survey to the report; made once a session.

    Its folder is not to be changed: give a folder for a copy of your own.
    """

    def make(folder: Path) -> None:
        study = published(folder, name)
        study.answer(world.people(name, PEOPLE[name]))
        study.finished()
        study.report()

    folder = world.once(f"study-{name}", make)
    if copy is None:
        return Study(folder)
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    return Study(copy)


@dataclass(frozen=True)
class Study:
    """A published survey in a folder."""

    at: Path
    collectors: dict[int, FakeCollector] = field(default_factory=dict)
    """By round, those that people have sent to."""

    @property
    def hops(self) -> range:
        """The mixers, counted from 1, which is the collector."""
        return range(1, len(self.plan.mixers) + 1)

    @cached_property
    def plan(self) -> krand.Plan:
        return krand.read_plan(self.at / "plan.json")

    @property
    def key(self) -> Any:
        """The analyst's."""
        return krand.read_private_key(self.at / KEY)

    @property
    def signatures(self) -> tuple[krand.PlanSignature, ...]:
        """Of all mixers."""
        return krand.read_signatures(self.at / "signatures.json")

    # --- people answer ---------------------------------------------------------------------------

    def collector(self, round_number: int = 1) -> FakeCollector:
        """A collector without HTTP and disk: give it to `client` as its transport."""
        made = FakeCollector(self.plan, round_number, self.signatures)
        return self.collectors.setdefault(round_number, made)

    def client(self, **changes: Any) -> krand.Client:
        """A new person's device, which was given everything; `changes` are given instead."""
        given = {"expected_hash": self.plan.hash, "signatures": self.signatures, **changes}
        return krand.Client(self.plan, given.pop("ledger", None) or UnsafeMemoryLedger(), **given)

    def answer(
        self, people: Iterable[Mapping[str, object]], round_number: int = 1, **changes: Any
    ) -> None:
        """Everybody answers, each on a device of their own."""
        transport = self.collector(round_number)
        for person in people:
            device = self.client(url=FakeCollector.url, transport=transport, **changes)
            device.submit(dict(person))

    # --- the batch ------------------------------------------------------------------------------

    def close(self, round_number: int = 1) -> Path:
        """Close the round at the collector: the batch as it leaves there."""
        return self._chain(round_number).collect(self._left(1, round_number))

    def batch(self, hop: int = 0, round_number: int = 1) -> Path:
        """What has left a mixer, by default the last one; its chain is beside it."""
        hop = hop or len(self.hops)
        return self._left(hop, round_number) / f"round-{round_number}-{hop}.batch"

    def mix(self, batch: Path, hop: int, into: Path | None = None, round_number: int = 1) -> Path:
        """One more mixer: the batch as it leaves there."""
        left = into or self._left(hop, round_number)
        return self._chain(round_number).mix(batch, hop, left)

    def mixed(self, batch: Path, round_number: int = 1) -> Path:
        """Through all mixers behind the collector: the batch that the analyst gets."""
        for hop in self.hops[1:]:
            batch = self.mix(batch, hop, round_number=round_number)
        return batch

    def identity(self, hop: int) -> Ed25519PrivateKey:
        """A mixer's, as nobody else has it."""
        kept = json.loads((self.at / PARTIES).read_bytes())[hop - 1]
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(kept["identity"]))

    def opening(self, hop: int, round_number: int = 1) -> X25519PrivateKey:
        """What opens a mixer's layer."""
        kept = json.loads((self.at / PARTIES).read_bytes())[hop - 1]
        return X25519PrivateKey.from_private_bytes(bytes.fromhex(kept["keys"][round_number - 1]))

    def _left(self, hop: int, round_number: int) -> Path:
        return self.at / f"mixed-{hop}-{round_number}"

    def _chain(self, round_number: int) -> FakeChain:
        """Everybody, with the keys that they had when the plan was made."""
        kept = json.loads((self.at / PARTIES).read_bytes())
        chain = FakeChain(replace(self.plan, mixers=(), analyst=None), round_number)
        chain.parties = tuple(
            party._replace(
                identity=Identity(self.identity(hop)),
                keys=tuple(map(bytes.fromhex, one["keys"])),
                mixer=mixer,
            )
            for hop, (party, one, mixer) in enumerate(
                zip(chain.parties, kept, self.plan.mixers, strict=True), 1
            )
        )
        chain.plan, chain.collector = self.plan, self.collector(round_number)
        return chain

    # --- the numbers ----------------------------------------------------------------------------

    def count(self, *batches: Path, options: str = "", name: str = "results.json") -> Path:
        """Counts and estimates."""
        tally = f"--plan plan.json --key {KEY} --workers 1 -o tally-of-{name} --force"
        done("tally", *batches, tally, at=self.at)
        done(f"estimate tally-of-{name} --plan plan.json -o {name} --force", options, at=self.at)
        return self.at / name

    def finished(self, round_number: int = 1, options: str = "") -> krand.Results:
        """The round from its closing to results.json."""
        batch = self.mixed(self.close(round_number), round_number)
        name = "results.json" if round_number == 1 else f"results-{round_number}.json"
        return krand.read_results(self.count(batch, options=options, name=name))

    def report(self, name: str = "report.html", results: str = "results.json") -> Path:
        done(f"report {results} -o {name} --force", at=self.at)
        return self.at / name


def counted(at: Path, responses: Path, plan: Path, options: str = "") -> krand.Results:
    """A data holder's responses, counted and estimated, in a folder."""
    at.mkdir(parents=True, exist_ok=True)
    done("tally", responses, "--plan", plan, "-o tally.json --force", at=at)
    done("estimate tally.json --plan", plan, "-o results.json --force", options, at=at)
    return krand.read_results(at / "results.json")


def shown(at: Path, options: str = "") -> str:
    """What a terminal shows of the tally in a folder; results.json is made anew."""
    line = "estimate tally.json --plan plan.json -o results.json --force"
    result = done(line, options, at=at)
    return result.stdout + (f"\n--- stderr\n{result.stderr}" if result.stderr else "")
