"""The demonstration with a real collector on this machine: keys, seals, HTTP, a signed batch.

The noise comes from devices. The collector runs in a thread, so it always ends with the
demonstration. Spool and ledgers are in a temporary folder. The noise comes from the devices' secure
randomness, not from the seed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from krand.accounting.curator import gaussian_division
from krand.accounting.division import Share
from krand.analysis.engines import Options
from krand.analysis.tallying import batches_in, tally_sources
from krand.batches.provenance import Provenance
from krand.client.client import Client
from krand.client.ledger import Ledger
from krand.client.sending import send
from krand.collector.closing import close_batch
from krand.collector.opening import open_spool
from krand.collector.release import release_sealed
from krand.collector.serving import run_collector
from krand.promise import Z95, check_crowd
from krand.simulation.population import plain_answers
from krand.survey.layout import layout_of
from krand.wire.keys import generate_private_key, generate_signing_key, write_key_pair

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    from krand.analysis.engines.source import Source
    from krand.analysis.tally import Tally
    from krand.simulation.crowd import Crowd
    from krand.survey.plan import Plan
    from krand.survey.survey import Survey
    from krand.terminal.output import Output
    from krand.wire.plan_signatures import PlanSignature

WANTED_SHARE = 0.025
"""A half-width of this share of the crowd is a useful result."""
MOST_DOUBLINGS = 3
MEMORY = "/dev/shm"
SIGNED = ("manifest", "chain")
"""Kinds of what is signed about a batch: by a collector, by mixers."""


def for_a_crowd(survey: Survey, crowd: int) -> Survey:
    """The survey for another crowd, with the same share of colluding participants."""
    check_crowd(crowd)
    policy = survey.policy
    share = -(-policy.colluding * crowd // policy.minimum_crowd)  # rounded up
    colluding = min(share, crowd - 2)
    policy = replace(policy, minimum_crowd=crowd, colluding=colluding)
    return replace(survey, policy=policy, expected=None, release_every=None)


def for_a_small_crowd(survey: Survey, crowd: int) -> Survey:
    """The survey with ε doubled as often as a small crowd needs for useful results.

    The noise in people hardly depends on the crowd, so in a small crowd it is a large share. ε is
    the same whoever adds the noise, so that methods can be compared.
    """
    found = for_a_crowd(survey, crowd)
    policy = found.policy
    for _ in range(MOST_DOUBLINGS):
        if Z95 * max(_expected(found)) <= WANTED_SHARE * crowd:
            break
        policy = replace(policy, epsilon=2 * policy.epsilon)
        found = replace(found, policy=policy)
    return found


def _expected(survey: Survey) -> tuple[float, ...]:
    """A quick approximation of the σ of each block's counts: that of Gaussian noise."""
    shares = [Share(block.sensitivity, block.weight) for block in layout_of(survey).blocks]
    return gaussian_division(survey.policy, shares, survey.promised_rounds)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Collected:
    """What the analyst has in the end."""

    tally: Tally
    written: dict[str, Path]
    dummies: tuple[int, ...] = ()
    """How many each mixer added."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The private keys of analyst and collector, and their files."""

    analyst: X25519PrivateKey
    collector: Ed25519PrivateKey
    files: dict[str, Path]

    def named_in(self, plan: Plan) -> Plan:
        """The plan with the public keys that devices need."""
        return plan.sealed_for(self.analyst.public_key())

    def collected(self, plan: Plan, crowd: Crowd, folder: Path, out: Output) -> Collected:
        """Devices seal and send, the collector releases, the analyst opens and counts."""
        with TemporaryDirectory(prefix="krand-demo-", dir=in_memory()) as place:
            work = Path(place)
            with run_collector(plan, work / "spool") as url:
                send_all(plan, crowd, url, work, out)
                with (
                    out.progress("releasing"),
                    open_spool(plan, work / "spool", create=False) as spool,
                ):
                    close_batch(spool)
                    (released,) = release_sealed(spool, work / "batches", self.collector)
            batch = copied_batch(released.data, "manifest", released.manifest, folder)
        sources = batches_in(plan, [batch["batch"]], self.collector.public_key())
        tally = opened(plan, sources, self.analyst, out)
        return Collected(tally=tally, written=self.files | batch)


def in_memory() -> str | None:
    """A folder in memory, if there is one: a thousand devices sync their ledgers there."""
    return MEMORY if os.access(MEMORY, os.W_OK) else None


def copied_batch(data: Path, kind: str, signed: Path, folder: Path) -> dict[str, Path]:
    """The batch and what was signed about it, in the folder; nothing about an earlier batch."""
    for other in SIGNED:
        (folder / f"batch.{other}.json").unlink(missing_ok=True)
    files = {"batch": folder / "batch.parquet", kind: folder / f"batch.{kind}.json"}
    for source, target in zip((data, signed), files.values(), strict=True):
        shutil.copyfile(source, target)
    return files


def new_keys(folder: Path) -> Keys:
    """New keys for each demonstration; those of an earlier one are replaced."""
    analyst, files = new_analyst_key(folder)
    signer, path = generate_signing_key(), folder / "collector.pem"
    write_key_pair(signer, path, path.with_suffix(".pub.pem"), overwrite=True)
    return Keys(analyst, signer, files | {"collector_key": path})


def new_analyst_key(folder: Path) -> tuple[X25519PrivateKey, dict[str, Path]]:
    """The key that opens messages, and its file."""
    key, path = generate_private_key(), folder / "analyst.pem"
    write_key_pair(key, path, path.with_suffix(".pub.pem"), overwrite=True)
    return key, {"analyst_key": path}


def send_all(
    plan: Plan,
    crowd: Crowd,
    url: str,
    work: Path,
    out: Output,
    signatures: Sequence[PlanSignature] = (),
) -> None:
    """Each person has their own device and ledger."""
    with out.counting("sending", crowd.people, "people") as told:
        ledger = work / "ledger.sqlite"
        for answers in _people(crowd):
            client = Client(plan, Ledger(ledger), expected_hash=plan.hash, signatures=signatures)
            send(url, plan.hash, 1, client.prepare(answers))
            ledger.unlink()  # the next person uses another device
            told(1)


def _people(crowd: Crowd) -> Iterator[dict[str, object]]:
    for columns in crowd.answers():
        lists = {name: plain_answers(column) for name, column in columns.items()}
        for person in zip(*lists.values(), strict=True):
            yield dict(zip(lists, person, strict=True))


def opened(plan: Plan, sources: list[Source], key: X25519PrivateKey, out: Output) -> Tally:
    """The analyst's part: open the messages of verified batches and count them."""
    with out.counting("opening", sources[0].rows, "messages") as told:
        tally = tally_sources(plan, sources, key=key, options=Options(progress=told))
    return replace(
        tally, provenance=Provenance.SIMULATION
    )  # there are no people behind these devices
