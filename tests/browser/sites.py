"""A survey under way, and the pages that show it: a collector and `krand web`, both for real.

One batch is released and estimated, one is complete and waits, one is still open.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from collecting import Running, object_told, running, submitted
from krand import (
    Client,
    generate_private_key,
    generate_signing_key,
    make_plan,
    make_results,
    parse_survey,
    tally_batches,
)
from krand.client.ledger import Submission
from krand.client.sending import send
from krand.collector.opening import config_of, open_spool
from krand.collector.release import release_sealed
from krand.collector.sqlite.spool import Spool
from krand.survey.plan import Plan
from krand.testing import UnsafeMemoryLedger, simulated_people
from krand.wire.submissions import Submitted
from survey_texts import question_text, survey_text

CROWD, GATHERED, LATER = 200, 87, 1_000
WAIT_SECONDS = 300.0
PATIENT = """
from krand.web import limits
for name in set(filter(str.isupper, vars(limits))) - {"PATIENCE_SECONDS"}:
    if name.endswith("_SECONDS"):
        setattr(limits, name, 600.0)
from krand.cli.main import main
main()
"""
"""The command with time enough on a machine that is busy; work that nobody waits for ends soon."""
RESULTS, ANOTHER = "habits.json", "other.json"
SURVEY = survey_text(
    "habits-2026-05",
    question_text("smokes", "yes_no", text="Do you smoke?"),
    question_text("pet", "choice", text="Which pet do you have?", choices=["cat", "dog"]),
    release_every=CROWD,
    epsilon=2.0,
    delta=0.001,
    minimum_crowd=CROWD,
)


@dataclass(frozen=True, slots=True)
class Site:
    """Where everything is."""

    url: str
    """Of the pages, with a slash at its end."""
    dashboard: str
    """With the token."""
    plan: Plan
    folder: Path
    collector: Running

    @property
    def token(self) -> str:
        """What opens the dashboard."""
        return self.dashboard.partition("token=")[2]

    def arrive(self, first: int, people: int) -> None:
        """So many more people come to the collector, by HTTP."""
        shape = config_of(self.plan).format
        for number in range(first, first + people):
            made = submitted(LATER + number, shape)
            messages = tuple(_pieces(made.messages, shape.message_length))
            send(self.collector.url, self.plan.hash, 1, Submission(made.id, messages))


@contextmanager
def running_site(folder: Path, another: str) -> Iterator[Site]:
    """The collector and the pages, until the block ends; another plan's results are listed too."""
    plan = _collected(folder)
    (folder / "results" / ANOTHER).write_text(another, encoding="utf-8")
    with (
        running(folder / "plan.json", folder / "spool", folder / "collector.log") as collector,
        _pages(folder, collector.url) as (url, dashboard),
    ):
        yield Site(url, dashboard, plan, folder, collector)


def _pieces(content: bytes, length: int) -> Iterator[bytes]:
    for start in range(0, len(content), length):
        yield content[start : start + length]


def _collected(folder: Path) -> Plan:
    """The plan and the spool as they are when the pages start."""
    key = generate_private_key()
    plan = make_plan(parse_survey(SURVEY)).sealed_for(key.public_key())
    plan.save(folder / "plan.json")
    (folder / "results").mkdir()
    with open_spool(plan, folder / "spool") as spool:
        _release_the_first(folder, plan, spool, key)
        shape = config_of(plan).format
        for numbers in (range(CROWD), range(CROWD, CROWD + GATHERED)):
            spool.add([submitted(number, shape) for number in numbers])
    return plan


def _release_the_first(folder: Path, plan: Plan, spool: Spool, key: X25519PrivateKey) -> None:
    signer = generate_signing_key()
    for answers in simulated_people(plan.survey, CROWD, seed=7):
        made = Client(plan, UnsafeMemoryLedger(), expected_hash=plan.hash).prepare(answers)
        spool.add([Submitted(made.id, b"".join(made.messages))])
    (released,) = release_sealed(spool, folder / "batches", signer)
    tally = tally_batches(plan, [released.data], key, signer.public_key())
    make_results(plan, tally).save(folder / "results" / RESULTS)


@contextmanager
def _pages(folder: Path, collector: str) -> Iterator[tuple[str, str]]:
    """`krand web` on a free port; the addresses it prints."""
    files = ("--plan", "plan.json", "--spool", "spool", "--results", "results")
    others = ("--collector", collector, "--port", "0", "--json")
    with (folder / "web.log").open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", PATIENT, "web", *files, *others],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            addresses = json.loads(object_told(process, folder / "web.log"))
            home = addresses["console"].partition("?")[0]
            yield home, addresses["collector"]
        finally:
            process.terminate()
            try:
                process.communicate(timeout=WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """Any host of files; its origin."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
