"""A collector and mixers in one process: a whole chain, with real keys, seals and dummies.

And a device without a disk, which sends to it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from krand.batches.batch import ENDING, chain_beside, sha256_of_file
from krand.batches.chain import Link, SignedLink, chain_bytes, read_chain, verify_chain
from krand.client.client import Client
from krand.client.ledger import SCHEMA, Ledger
from krand.errors import InvalidInput
from krand.files import write_atomically
from krand.mixing.mixer import mix
from krand.partners.identity import Identity
from krand.survey.plan import Analyst, Mixer, Plan
from krand.testing.collector import FakeCollector
from krand.wire.keys import generate_private_key, generate_signing_key, public_hex
from krand.wire.plan_signatures import sign_plan


class UnsafeMemoryLedger(Ledger):
    """A device's memory that lasts as long as the object: fast, and forgetful.

    In earnest that would be unsafe: a device that forgets what it sent randomizes the same answer
    again, and two randomizations tell more than the plan promises.

    >>> from krand.testing import UnsafeMemoryLedger
    >>> UnsafeMemoryLedger().entries()
    ()
    """

    def __init__(self) -> None:
        self.path = Path(":memory:")
        self._lock = threading.RLock()
        self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._memory.executescript(SCHEMA)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            yield self._memory


class Party(NamedTuple):
    """A mixer's private keys."""

    identity: Identity
    keys: tuple[bytes, ...]
    """One for each round; the collector opens nothing, and has none."""
    mixer: Mixer
    """As plans name it."""


class FakeChain:
    """The collector and all mixers of a plan, each with new keys, which all have signed it.

    Give it a plan without parties: it names them. Two things differ from a real chain: all mixers
    are in the same hands, so that they protect nobody, and they sign whatever it promises.

    >>> from krand import make_plan, parse_survey
    >>> from krand.testing import MIXED_SURVEY, FakeChain, simulated_people
    >>> chain = FakeChain(make_plan(parse_survey(MIXED_SURVEY)))
    >>> for answers in simulated_people(chain.plan.survey, 12, seed=1):
    ...     sent = chain.client().submit(answers)
    >>> chain.collector.people
    12
    >>> batch = chain.release("batches")  # for the analyst, whose key is chain.key
    >>> batch.exists(), batch.with_suffix(".chain.json").exists()
    (True, True)
    """

    url = FakeCollector.url
    """What to submit to; nothing is ever sent there."""

    def __init__(self, plan: Plan, round_number: int = 1) -> None:
        survey = plan.survey
        self.parties = tuple(_party(place, survey.rounds) for place in _places(plan))
        """The keys of every mixer; the first one is the collector."""
        self.key = generate_private_key()
        """The analyst's."""
        own = survey.trust.analyst_runs
        identity = self.parties[own[0] - 1].identity if own else _identity()
        analyst = Analyst(key=public_hex(self.key), identity=identity.public)
        self.plan = plan.with_parties(tuple(party.mixer for party in self.parties), analyst)
        """With all keys in it."""
        self.signatures = tuple(sign_plan(self.plan, party.identity.key) for party in self.parties)
        self.collector = FakeCollector(self.plan, round_number, self.signatures)

    def client(self) -> Client:
        """A new person's device."""
        return Client(
            self.plan,
            UnsafeMemoryLedger(),
            expected_hash=self.plan.hash,
            url=self.url,
            signatures=self.signatures,
            transport=self.collector,
        )

    def collect(self, folder: str | Path) -> Path:
        """Close the round: the batch as it leaves the first mixer."""
        with TemporaryDirectory(prefix="krand-chain-") as place:
            came = self.collector.close(Path(place) / f"round{ENDING}")
            return self.mix(came, 1, folder)

    def mix(self, batch: Path, place: int, folder: str | Path) -> Path:
        """The batch as it leaves a mixer, with its chain beside it; what does not fit is refused.

        Mixed once more it would be another one: in earnest a mixer's key is gone by then.
        """
        plan, number, party = self.plan, self.collector.round, self.parties[place - 1]
        links = self._checked(batch, place) if place > 1 else ()
        counts = links[-1].record.counts if links else self.collector.counts
        key = party.keys[number - 1] if party.keys else None
        Path(folder).mkdir(parents=True, exist_ok=True)
        output = Path(folder) / f"round-{number}-{place}{ENDING}"
        mixed = mix(plan, number, place, counts, batch, output, key=key, workers=1)
        link = Link(
            plan=plan.hash,
            round=number,
            place=place,
            people=links[-1].record.people if links else self.collector.people,
            lanes=mixed.lanes,
            input=links[-1].record.output if links else "",
            output=mixed.output,
            previous=links[-1].sha256 if links else "",
        )
        chain = chain_bytes((*links, party.identity.sign(link)))
        write_atomically("chain", chain_beside(output), chain)
        return output

    def _checked(self, batch: Path, place: int) -> tuple[SignedLink, ...]:
        """The chain beside a batch, as the mixer of this place verifies it."""
        links = read_chain(chain_beside(batch))
        verify_chain(self.plan, links)
        if (number := links[0].record.round) != self.collector.round:
            raise InvalidInput("chain.round", f"must be {self.collector.round}", number)
        if len(links) != place - 1:
            rule = f"must have {place - 1} links before mixer {place}"
            raise InvalidInput("chain", rule, len(links), "mixers work in the order of the plan")
        if sha256_of_file(batch) != links[-1].record.output:
            raise InvalidInput("batch", "must be the file that its chain names", str(batch))
        return links

    def release(self, folder: str | Path) -> Path:
        """Close the round, and pass the batch through all mixers: what the analyst gets.

        In the folder are then the batch and its chain.
        """
        with TemporaryDirectory(prefix="krand-chain-") as place:
            last = len(self.parties)
            batch = self.collect(folder if last == 1 else place)
            for hop in range(2, last + 1):
                batch = self.mix(batch, hop, folder if hop == last else place)
            return batch


def _places(plan: Plan) -> range:
    return range(1, plan.survey.trust.mixers + 1)


def _identity() -> Identity:
    return Identity(generate_signing_key())


def _party(place: int, rounds: int) -> Party:
    identity = _identity()
    keys = [generate_private_key() for _ in range(rounds if place > 1 else 0)]
    url = FakeCollector.url if place == 1 else f"https://mixer-{place}.test"
    public = tuple(map(public_hex, keys))
    mixer = Mixer(name=f"mixer {place}", identity=identity.public, url=url, keys=public)
    return Party(identity, tuple(key.private_bytes_raw() for key in keys), mixer)
