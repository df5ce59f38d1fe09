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

from krand.client.client import Client
from krand.client.ledger import SCHEMA, Ledger
from krand.mixing.keys import generate_mixer_keys
from krand.mixing.mixer import MixOptions, mix
from krand.mixing.store import MixerStore, create_store
from krand.survey.plan import Plan
from krand.testing.collector import FakeCollector
from krand.wire.keys import generate_private_key
from krand.wire.plan_signatures import PlanSignature

ALONE = MixOptions(workers=1)


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
        self._folder = TemporaryDirectory(prefix="krand-chain-")
        place, survey = Path(self._folder.name), plan.survey
        hops = range(1, survey.trust.mixers + 1)
        self.stores = tuple(place / f"store-{hop}" for hop in hops)
        """The folder of every mixer; the first one is the collector's."""
        self.key = generate_private_key()
        """The analyst's."""
        mixers = tuple(
            # The collector opens nothing.
            create_store(
                store, f"mixer {hop}", generate_mixer_keys(survey.rounds if hop > 1 else 0)
            )
            for hop, store in zip(hops, self.stores, strict=True)
        )
        self.plan = plan.with_parties(mixers, self.key.public_key())
        """With all keys in it."""
        self.signatures = tuple(map(self._signature, self.stores))
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
        with MixerStore(self.stores[0]) as store:
            return self.collector.release(folder, store)

    def release(self, folder: str | Path) -> Path:
        """Close the round, and pass the batch through all mixers: what the analyst gets.

        In the folder are then the batch and its chain.
        """
        place, last = Path(self._folder.name), len(self.stores)
        outputs = [*(place / f"mixed-{hop}" for hop in range(1, last)), Path(folder)]
        batch = self.collect(outputs[0])
        for store, output in zip(self.stores[1:], outputs[1:], strict=True):
            batch = mix(self.plan, batch, store, output, options=ALONE).data
        return batch

    def _signature(self, folder: Path) -> PlanSignature:
        with MixerStore(folder) as store:
            return store.bind(self.plan)
