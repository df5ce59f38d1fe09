"""Partners as people run them, each a process of its own: for partners.py and attacked_mixer.py."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from krand.partners.deliveries import Deliveries
from krand.partners.documents import Route, Station
from krand.partners.identity import Identity
from krand.partners.talking import Conversation
from krand.site.part import Part, Receiving
from krand.survey.survey_folder import SurveyFolder
from krand.wire.signed import parse_signed
from mixing_speed import OPTIONS

LOOPBACK = "127.0.0.1"
POLICY = """\
accept = "everybody"

[limits]
largest_epsilon = 2
largest_delta = 1e-4
fewest_mixers = 2
most_positions = 1_000
most_rounds = 50
most_messages = 100_000_000
latest_closing = 100
"""


@dataclass(frozen=True, slots=True)
class Served:
    """A service that runs."""

    process: subprocess.Popen[bytes]
    address: str
    """With its identity, as organisers write it."""
    store: Path

    @property
    def url(self) -> str:
        return self.address.partition("/#")[0]

    @property
    def identity(self) -> str:
        return self.address.partition("#")[2]


@contextmanager
def mixer_service(folder: Path, name: str) -> Iterator[Served]:
    """`krand mix serve` for everybody within limits, on loopback, with TLS by its identity."""
    policy, store = folder / "policy.toml", folder / name
    policy.write_text(POLICY, encoding="utf-8")
    words = ["mix", "serve", "--store", store, "--name", name, "--policy", policy, "--no-anchor"]
    words += ["--host", LOOPBACK, "--port", "0", "--json"]
    with ended(
        subprocess.Popen(
            [sys.executable, "-m", "krand", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=(folder / f"{name}.log").open("ab"),
        )
    ) as process:
        yield Served(process, json.loads(_first_object(process.stdout))["address"], store)


@contextmanager
def receiver(of: Receiving) -> Iterator[Served]:
    """The receiver of a site in its own process, as `krand run` starts it."""
    command = [sys.executable, "-P", "-m", "krand.site.part"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with ended(child) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pickle.dumps(Part("receiver", of)))
        process.stdin.flush()
        told = json.loads(process.stdout.readline())
        yield Served(process, f"{told['url']}/#{told['identity']}", of.folders[0].incoming)


@contextmanager
def ended(child: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block."""
    try:
        yield child
    finally:
        child.terminate()
        child.wait(60)


def _first_object(stream: IO[bytes] | None) -> bytes:
    """What a service prints when it is ready."""
    assert stream is not None
    lines = b""
    while not lines.endswith(b"\n}\n"):
        line = stream.readline()
        if not line:
            raise SystemExit("the service did not start")
        lines += line
    return lines


def paired(folder: Path, mixers: list[Served], address: str = "", rounds: int = 1) -> SurveyFolder:
    """`krand pair` for a survey with one choice; its folder. With rounds it asks every day."""
    closes = (datetime.now(UTC) + timedelta(days=30)).date()
    survey = folder / "survey.toml"
    until = f"closes = {closes}\n"
    if rounds > 1:
        schedule = f'[schedule]\nevery = "day"\nstarts = {closes}\npromise = "round"\n'
        until = f"rounds = {rounds}\n\n{schedule}"
    survey.write_text(
        f'id = "benchmark"\n{until}\n[policy]\nepsilon = 1\ndelta = 1e-6\n\n'
        f'[trust]\nnoise = "mixers"\nmixers = {1 + len(mixers)}\n\n'
        f'[[question]]\nname = "asked"\ntype = "choice"\nchoices = {json.dumps(OPTIONS)}\n',
        encoding="utf-8",
    )
    words = ["pair", survey, "--no-anchor", "--json"]
    words += [word for mixer in mixers for word in ("--mixer", mixer.address)]
    if address:
        words += ["--address", address]
    command = [sys.executable, "-m", "krand", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"krand pair failed: {done.stderr}")
    return SurveyFolder(survey.with_suffix(".krand"))


def station_after(folder: SurveyFolder, hop: int) -> Station:
    """Where the mixer of this place passes its batches on."""
    return parse_signed(Route, folder.route.read_bytes(), "route").record.after(hop)


def deliver(state: Path, identity: Identity, data: Path, chain: Path, station: Station) -> None:
    """Pass a batch on until there is a receipt."""
    deliveries = Deliveries(state, lambda address: Conversation(identity, address))
    deliveries.add(data, chain, station)
    while deliveries.waiting():
        deliveries.work()
