"""The way of a survey, step by step: the only file that knows the commands of today.

    study = steps.published(tmp_path, "trio")   # survey.toml, keys, mixers, plan.json, signatures
    with study.collecting() as url:             # a collector with HTTP, in a thread
        study.answer(url, world.people("trio", 9))
    results = study.finished()                  # closed, mixed, counted, estimated: results.json
    study.report()

Every step can be taken by itself, too. Where a test wants no sockets, `study.collector()` is
krand's own fake, which knows a submission from none and forgets when the program ends.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import krand
import world
from command_line import done, told
from krand.mixing.keys import generate_mixer_keys, read_descriptor
from krand.mixing.store import MixerStore
from krand.testing import FakeCollector, UnsafeMemoryLedger

KEY = "key.pem"
COLLECTOR = generate_mixer_keys(0)
"""Signs where a test only needs a plan that people could send to."""


def named(plan: krand.Plan, key: Any = None) -> krand.Plan:
    """The plan with a collector and an analyst."""
    key = key or krand.generate_private_key()
    return plan.with_parties((COLLECTOR.described("collector"),), key.public_key())


def signed(plan: krand.Plan) -> list[krand.PlanSignature]:
    """The signatures of a plan that `named` has made."""
    signature = COLLECTOR.identity.sign(b"krand plan\0" + bytes.fromhex(plan.hash)).hex()
    return [krand.PlanSignature(plan.hash, COLLECTOR.identity_hex, signature)]


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
    done("keygen", "-o", KEY, at=at)
    asked = krand.read_survey(at / "survey.toml")
    for hop in range(1, asked.trust.mixers + 1):
        rounds = 0 if hop == 1 else asked.rounds
        about = f"--store ./mixer-{hop} --name 'mixer {hop}' --rounds {rounds} --no-anchor"
        done(f"mix keygen {about} -o mixer-{hop}.json", at=at)
    study = Study(at)
    described = [at / f"mixer-{hop}.json" for hop in study.hops]
    if known:
        mixers = tuple(map(read_descriptor, described))
        made = world.plan(survey)
        made = replace(made, survey=made.survey.changed(**changes))
        named_all = made.with_parties(mixers, study.key.public_key())
        (at / "plan.json").write_bytes(named_all.bytes)
    else:
        given = [word for path in described for word in ("--mixer", path)]
        done("plan survey.toml --analyst-key key.pub.pem -o plan.json", *given, at=at)
    for hop in study.hops:
        done(f"mix sign plan.json --store ./mixer-{hop} -o mixer-{hop}.sig.json", at=at)
    return study


PEOPLE = {"tiny": 14, "mixer": 5, "trio": 9}
"""How many answer in the examples."""


def example(name: str, copy: Path | None = None) -> Study:
    """A whole study of `PEOPLE[name]` people, from the survey to the report; made once a session.

    Its folder is not to be changed: give a folder for a copy of your own.
    """

    def make(folder: Path) -> None:
        study = published(folder, name)
        with study.collecting() as url:
            study.answer(url, world.people(name, PEOPLE[name]))
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

    @property
    def hops(self) -> range:
        """The mixers, counted from 1, which is the collector."""
        asked = krand.read_survey(self.at / "survey.toml")
        return range(1, asked.trust.mixers + 1)

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
        return tuple(krand.read_signature(self.at / f"mixer-{n}.sig.json") for n in self.hops)

    # --- people answer ---------------------------------------------------------------------------

    @contextmanager
    def collecting(self, round_number: int = 1) -> Iterator[str]:
        """A collector with HTTP, in a thread of this process, until the block ends; its address."""
        spool = self.spool(round_number)
        with krand.run_collector(self.plan, spool, round_number=round_number) as url:
            yield url

    def collector(self, round_number: int = 1) -> FakeCollector:
        """A collector without HTTP and disk: give it to `client` as its transport."""
        return FakeCollector(self.plan, round_number, self.signatures)

    def spool(self, round_number: int = 1) -> Path:
        """Where a collector keeps what people sent."""
        return self.at / f"spool-{round_number}"

    def client(self, **changes: Any) -> krand.Client:
        """A new person's device, which was given everything; `changes` are given instead."""
        given = {"expected_hash": self.plan.hash, "signatures": self.signatures, **changes}
        return krand.Client(self.plan, given.pop("ledger", None) or UnsafeMemoryLedger(), **given)

    def answer(self, url: str, people: Iterable[Mapping[str, object]], **changes: Any) -> None:
        """Everybody answers, each on a device of their own."""
        for person in people:
            self.client(url=url, **changes).submit(dict(person))

    # --- the batch ------------------------------------------------------------------------------

    def serving(self, port: int = 0, round_number: int = 1) -> tuple[object, ...]:
        """The words of the command that collects, as a process of its own."""
        signed = " ".join(f"--signature mixer-{hop}.sig.json" for hop in self.hops)
        words = f"serve --plan plan.json --round {round_number} --port {port} --json {signed}"
        return words, "--spool", self.spool(round_number)

    def leaving(self, round_number: int = 1) -> Path:
        """The folder into which the collector releases a round."""
        return self.at / f"mixed-1-{round_number}"

    def release(self, round_number: int = 1) -> tuple[object, ...]:
        """The words of the command that releases what is closed; --close --yes closes it before."""
        words = f"release --plan plan.json --round {round_number} --mixer-store ./mixer-1"
        return words, "--spool", self.spool(round_number), "-o", self.leaving(round_number)

    def close(self, round_number: int = 1) -> Path:
        """Close the round at the collector: the batch as it leaves there."""
        value = told(*self.release(round_number), "--close --yes", at=self.at)
        return self.at / value["released"]["batch"]

    def status(self, options: str = "", round_number: int = 1) -> str:
        """What the collector's operator is shown."""
        words = f"status --plan plan.json --round {round_number} {options}"
        return done(words, "--spool", self.spool(round_number), at=self.at).stdout

    def batch(self, hop: int = 0, round_number: int = 1) -> Path:
        """What has left a mixer, by default the last one; its chain is beside it."""
        hop = hop or len(self.hops)
        return self.at / f"mixed-{hop}-{round_number}" / f"round-{round_number}-{hop}.batch"

    def mix(self, batch: Path, hop: int, round_number: int = 1) -> Path:
        """One more mixer: the batch as it leaves there."""
        to = f"--plan plan.json --store ./mixer-{hop} --workers 1 -o ./mixed-{hop}-{round_number}"
        return self.at / told("mix run", batch, to, at=self.at)["batch"]

    def mixed(self, batch: Path, round_number: int = 1) -> Path:
        """Through all mixers behind the collector: the batch that the analyst gets."""
        for hop in self.hops[1:]:
            batch = self.mix(batch, hop, round_number)
        return batch

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

    def opened_store(self, hop: int) -> MixerStore:
        """A mixer's private folder, as `krand.mix` takes it."""
        return MixerStore(self.at / f"mixer-{hop}")


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
