"""kill -9 of any party while batches pass between them, and full disks: each arrives once.

Real processes on loopback: the organiser's site, with the analyst's receiver, and the services of
two partners. A round is closed whenever all before it have arrived, so there is always a batch on
its way. More kills: KRAND_LONG=1 KRAND_FAULTS=300 pytest tests/end_to_end/test_partner_kills.py -s
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from collecting import until
from collector.test_read_only import mounted
from components import require
from krand.analysis.results_file import read_results
from krand.analysis.tally import read_tally
from krand.batches.chain import read_chain, verify_chain
from krand.collector.opening import open_spool
from krand.mixing.keys import EraseReason
from krand.partners.identity import read_identity
from krand.partners.talking import Conversation, erased_keys
from krand.site.checks import route_of
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import folder_beside
from krand.wire.layers import LayerSealer
from krand.wire.messages import Token
from krand.wire.submissions import Submitted
from partners.processes import POLICY, mixer_serving
from site_processes import WAIT_SECONDS, free_port, is_alive, kill, paired, running

require("uvicorn")
require("mnemonic")

pytestmark = pytest.mark.check

FAULTS = int(os.environ.get("KRAND_FAULTS", "6"))
PEOPLE = 200
LONGEST_PAUSE = 4.0
"""Seconds between two kills, at most: about as long as a batch takes from party to party."""
PARTS = ("passing on", "receiver", "analyst")
PARTNERS = ("university", "union")


class Party:
    """Processes that can be killed, and are then started again while others are killed."""

    def __init__(self) -> None:
        self.ending, self.pool = ExitStack(), ThreadPoolExecutor(1)
        self.starting: Future[None] | None = None

    def start(self) -> None:
        """Returns when it serves."""
        raise NotImplementedError

    @property
    def process(self) -> int:
        raise NotImplementedError

    @property
    def is_up(self) -> bool:
        return self.starting is None or self.starting.done()

    def kill(self) -> None:
        kill(self.process)
        self.starting = self.pool.submit(self._again)

    def wait(self) -> None:
        """Until it is up, if it is being started; whatever went wrong is raised."""
        if self.starting is not None:
            self.starting.result()

    def end(self) -> None:
        self.pool.shutdown()
        self.ending.close()

    def _again(self) -> None:
        self.ending.close()
        self.start()


class Partner(Party):
    """A mixer's service, always at the same address."""

    def __init__(self, place: Path, name: str) -> None:
        super().__init__()
        self._place, self._name, self._port = place, name, free_port()

    def start(self) -> None:
        options = ("--name", self._name, "--no-anchor", "--policy", self._place / "policy.toml")
        at = ("--address", f"https://127.0.0.1:{self._port}")
        service = mixer_serving(self._place / self._name, *options, *at, port=self._port)
        self.served = self.ending.enter_context(service)

    @property
    def process(self) -> int:
        return self.served.process.pid


class Organiser(Party):
    """The site that collects, passes on, receives and counts."""

    def __init__(self, survey: Path) -> None:
        super().__init__()
        self._survey = survey

    def start(self) -> None:
        self.site = self.ending.enter_context(running(self._survey))
        for part in PARTS:
            self.site.wait("started", part=part)

    @property
    def process(self) -> int:
        return self.site.process.pid


class Part(Party):
    """A part of the site, which the site starts again; it waits longer after each death."""

    def __init__(self, organiser: Organiser, part: str) -> None:
        super().__init__()
        self._organiser, self._part = organiser, part

    @property
    def process(self) -> int:
        return self._organiser.site.number_of(self._part)

    @property
    def is_up(self) -> bool:
        return self._organiser.is_up and is_alive(self.process)

    def kill(self) -> None:
        kill(self.process)


class Chain:
    """All parties of a survey of many rounds, and what anybody could see of its batches."""

    def __init__(self, place: Path, rounds: int) -> None:
        self.partners = {name: Partner(place, name) for name in PARTNERS}
        policy = POLICY.replace("most_rounds = 2", f"most_rounds = {rounds}")
        (place / "policy.toml").write_text(policy, encoding="utf-8")
        self.closed = 0
        self.seen: defaultdict[Path, set[str]] = defaultdict(set)
        self.rounds = rounds
        for partner in self.partners.values():
            partner.start()
        addresses = [partner.served.address for partner in self.partners.values()]
        tomorrow = datetime.now(UTC).date() + timedelta(days=1)
        schedule = f'[schedule]\nevery = "day"\nstarts = {tomorrow}\n'
        survey = paired(place, addresses, rounds, schedule=schedule)
        self.organiser, self.folder = Organiser(survey), folder_beside(survey)
        self.plan = read_plan(self.folder.plan)
        self.organiser.start()
        parts = {part: Part(self.organiser, part) for part in PARTS}
        self.parties: dict[str, Party] = {"site": self.organiser, **self.partners, **parts}

    def complaints(self) -> int:
        """How often anybody has said that a disk is full."""
        said = [partner.served.log.read_text("utf-8") for partner in self.partners.values()]
        text = "".join([*said, str(self.organiser.site.events)]).lower()
        return text.count("space left") + text.count("disk is full")

    def close_round(self) -> None:
        """Everybody says yes in another round, which is then over."""
        self.closed += 1
        assert self.closed < self.rounds - 1, "the last one is open, the one before not begun"
        sealer, (lane,) = LayerSealer(self.plan, self.closed), self.plan.lanes
        sealed = [sealer.seal(lane, Token(0)) for _ in range(PEOPLE)]
        with open_spool(self.plan, self.folder.spool(self.closed), self.closed) as spool:
            spool.add([Submitted(os.urandom(16), message) for message in sealed])
            spool.close_batch()

    @property
    def all_arrived(self) -> bool:
        return len(list(self.folder.incoming.glob("*.chain.json"))) == self.closed

    def all_up(self) -> bool:
        return all(party.is_up for party in self.parties.values())

    def look(self) -> None:
        """Note the content of every file of a batch that is anywhere."""
        own = self.folder.path.parent
        places = ["team.krand/collector/batches/*", "team.krand/analyst/incoming"]
        for name in PARTNERS:
            places += [f"{name}/surveys/*/{way}" for way in ("incoming", "outgoing")]
        for path in (path for place in places for path in own.glob(f"{place}/batch-*")):
            try:
                self.seen[path].add(hashlib.sha256(path.read_bytes()).hexdigest())
            except FileNotFoundError:  # it has just been passed on
                continue

    def wait_for_all(self) -> None:
        """Until every batch has arrived and is counted."""

        def is_reported() -> bool:
            self.look()
            paths = [self._result("report.html", number) for number in range(1, self.closed + 1)]
            return self.all_arrived and all(path.exists() for path in paths)

        for party in self.parties.values():
            party.wait()
        until(is_reported, 5 * WAIT_SECONDS)

    def check(self) -> None:
        """Each batch was one file at every party, and counts everybody once."""
        assert {path.name: len(found) for path, found in self.seen.items() if len(found) > 1} == {}
        assert not list(self.folder.path.parent.rglob("*.other.json"))
        chains = [read_chain(path) for path in self.folder.incoming.glob("*.chain.json")]
        for chain in chains:
            verify_chain(self.plan, chain)
        links = {chain[-1].record.round: [one.record for one in chain] for chain in chains}
        assert sorted(links) == list(range(1, self.closed + 1))
        for number, passed in links.items():
            tally = read_tally(self._result("tally.json", number))
            assert tally.ids == (passed[0].batch_id,)
            assert tally.people == read_results(self._result("results.json", number)).people
            dummies = sum(link.dummies for link in passed)
            assert (tally.people, sum(tally.counts) + tally.nulls) == (PEOPLE, PEOPLE + dummies)
        for station in route_of(self.folder, self.plan).stations[2:]:
            with Conversation(read_identity(self.folder.identity), station.address) as talk:
                found = erased_keys(talk, station, self.plan)
            assert {(one.round, one.reason, one.batches) for one in found} == {
                (number, EraseReason.MIXED, 1) for number in links
            }

    def end(self) -> None:
        for party in self.parties.values():
            party.end()

    def _result(self, name: str, number: int) -> Path:
        return self.folder.results(name, number, self.rounds)


@contextmanager
def chain_at(place: Path, rounds: int) -> Iterator[Chain]:
    chain = Chain(place, rounds)
    try:
        yield chain
    finally:
        chain.end()


@pytest.mark.loop
def test_every_batch_arrives_once_whoever_is_killed(tmp_path: Path) -> None:
    """At random moments while a batch is on its way, again and again."""
    chance, kills, began = random.Random(), Counter[str](), time.monotonic()
    with chain_at(tmp_path, rounds=FAULTS + 4) as chain:
        while kills.total() < FAULTS:
            if chain.all_arrived:
                chain.close_round()
            if chance.random() < 0.5:  # otherwise some are killed while others start
                until(chain.all_up, WAIT_SECONDS)
            time.sleep(chance.uniform(0, LONGEST_PAUSE))
            chain.look()
            up = [name for name, party in chain.parties.items() if party.is_up]
            if up and not chain.all_arrived:
                name = chance.choice(up)
                chain.parties[name].kill()
                kills[name] += 1
        chain.wait_for_all()
        chain.check()
    seconds = time.monotonic() - began
    print(f"\n{kills.total()} kills while {chain.closed} batches passed, {seconds:.0f} s: {kills}")


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Not a byte is left on it."""
    filler = disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as stream:
        while True:
            stream.write(bytes(4096))
    try:
        yield
    finally:
        filler.unlink()


def test_a_full_disk_at_any_party_delays_a_batch(tmp_path: Path) -> None:
    """Each party has a disk of its own; somebody says what is wrong, and then the batch goes on."""
    size = ("-t", "tmpfs", "-o", "size=32m,mode=700", "krand-test")
    places = [tmp_path / name for name in ("team.krand", "team.krand/analyst", *PARTNERS)]
    with ExitStack() as stack:
        disks = [stack.enter_context(mounted(place, *size)) for place in places]
        chain = stack.enter_context(chain_at(tmp_path, rounds=len(disks) + 2))
        for disk in disks:
            before = chain.complaints()
            passing_on = chain.organiser.site.number_of("passing on")
            os.kill(passing_on, signal.SIGSTOP)  # nothing leaves before the disk is full
            chain.close_round()
            with full(disk):
                os.kill(passing_on, signal.SIGCONT)
                until(lambda before=before: chain.complaints() > before, WAIT_SECONDS)
                assert not chain.all_arrived
            chain.wait_for_all()
        chain.check()
