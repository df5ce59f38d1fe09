"""The demonstration with a real collector on this machine: keys, seals, HTTP, a signed batch.

The collector runs in a thread, so it always ends with the demonstration. Spool and ledgers are in
a temporary folder. The noise comes from the devices' secure randomness, not from the seed.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
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
from krand.collector.opening import open_spool
from krand.collector.release import release_sealed
from krand.collector.serving import listen, make_server
from krand.errors import Unavailable
from krand.promise import Z95, check_crowd
from krand.survey.layout import layout_of
from krand.testing.population import plain_answers
from krand.wire.keys import generate_private_key, generate_signing_key, write_key_pair

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    from krand.analysis.tally import Tally
    from krand.demo.people import Crowd, Told
    from krand.survey.plan import Plan
    from krand.survey.survey import Survey
    from krand.terminal.output import Output

__all__ = ["Keys", "collected", "collector", "for_a_crowd", "for_a_small_crowd", "new_keys"]

WANTED_SHARE = 0.025
"""A half-width of this share of the crowd is a useful result."""
MOST_DOUBLINGS = 3
LOOPBACK = "127.0.0.1"
MEMORY = "/dev/shm"


def for_a_crowd(survey: Survey, crowd: int) -> Survey:
    """The survey for another crowd, with the same share of colluding participants."""
    check_crowd(crowd)
    policy = survey.policy
    share = -(-policy.colluding * crowd // policy.minimum_crowd)  # rounded up
    colluding = min(share, crowd - 2)
    return replace(survey, policy=replace(policy, minimum_crowd=crowd, colluding=colluding))


def for_a_small_crowd(survey: Survey, crowd: int) -> Survey:
    """The survey with ε doubled as often as a small crowd needs for useful results.

    The noise in people hardly depends on the crowd, so in a small crowd it is a large share.
    """
    found = for_a_crowd(survey, crowd)
    policy = found.policy
    for _ in range(MOST_DOUBLINGS):
        if Z95 * max(_expected(found)) <= WANTED_SHARE * crowd:
            break
        policy = replace(policy, epsilon=2 * policy.epsilon)
        found = replace(survey, policy=policy)
    return found


def _expected(survey: Survey) -> tuple[float, ...]:
    """A quick approximation of the σ of each block's counts: that of Gaussian noise."""
    shares = [Share(block.sensitivity, block.weight) for block in layout_of(survey).blocks]
    return gaussian_division(survey.policy, shares, survey.rounds)


@dataclass(frozen=True, slots=True)
class Keys:
    """The private keys of the two parties, and their files."""

    analyst: X25519PrivateKey
    collector: Ed25519PrivateKey
    files: dict[str, Path]


def collected(
    plan: Plan, crowd: Crowd, keys: Keys, folder: Path, out: Output
) -> tuple[Tally, dict[str, Path]]:
    """Devices seal and send, the collector releases, the analyst opens and counts."""
    written = dict(keys.files)
    with TemporaryDirectory(prefix="krand-demo-", dir=_memory()) as place:
        work = Path(place)
        with collector(plan, work / "spool") as url:
            with out.counting("sending", crowd.people, "people") as told:
                _send_all(plan, crowd, url, work, told)
            with (
                out.progress("releasing"),
                open_spool(plan, work / "spool", create=False) as spool,
            ):
                (released,) = release_sealed(spool, work / "batches", keys.collector)
        for kind, source in (("batch", released.data), ("manifest", released.manifest)):
            written[kind] = folder / source.name.replace("batch-000001", "batch")
            shutil.copyfile(source, written[kind])
    return _opened(plan, keys, written, out), written


def _memory() -> str | None:
    """A folder in memory, if there is one: a thousand devices sync their ledgers there."""
    return MEMORY if os.access(MEMORY, os.W_OK) else None


def new_keys(folder: Path) -> Keys:
    """New keys for each demonstration; those of an earlier one are replaced."""
    files = {"analyst_key": folder / "analyst.pem", "collector_key": folder / "collector.pem"}
    keys = Keys(generate_private_key(), generate_signing_key(), files)
    for name, path in files.items():
        key = keys.analyst if name == "analyst_key" else keys.collector
        write_key_pair(key, path, path.with_suffix(".pub.pem"), overwrite=True)
    return keys


@contextmanager
def collector(plan: Plan, spool: Path) -> Iterator[str]:
    """Run a collector on a free port until the block ends; yields its address."""
    with closing(listen(LOOPBACK, 0)) as listener:
        server = make_server(open_spool(plan, spool))
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, name="collector", daemon=True
        )
        thread.start()
        try:
            while not server.started:
                if not thread.is_alive():
                    raise Unavailable("the collector did not start")
                time.sleep(0.01)
            yield f"http://{LOOPBACK}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _send_all(plan: Plan, crowd: Crowd, url: str, work: Path, told: Told) -> None:
    """Each person has their own device and ledger."""
    plan_hash = plan.hash
    ledger = work / "ledger.sqlite"
    for columns in crowd.answers():
        lists = {name: plain_answers(column) for name, column in columns.items()}
        for person in zip(*lists.values(), strict=True):
            answers = dict(zip(lists, person, strict=True))
            client = Client(plan, Ledger(ledger), expected_hash=plan_hash)
            submission = client.prepare(answers)
            send(url, plan_hash, 1, submission)
            ledger.unlink()  # the next person uses another device
            told(1)


def _opened(plan: Plan, keys: Keys, written: dict[str, Path], out: Output) -> Tally:
    """The analyst's part: verify the manifest, open the messages and count them."""
    sources = batches_in(plan, [written["batch"]], keys.collector.public_key())
    with out.counting("opening", sources[0].rows, "messages") as told:
        tally = tally_sources(plan, sources, key=keys.analyst, options=Options(progress=told))
    return replace(
        tally, provenance=Provenance.SIMULATION
    )  # there are no people behind these devices
