"""Organisations as they run krand: processes whose clocks and lives are in a test's hands."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import ssl
import sys
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import krand
from chaos import PATIENCE, Program, free_port, is_alive, until
from krand.testing import FileClock, UnsafeMemoryLedger

HOUR, DAY = 3600.0, 86_400.0
MIDNIGHT = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
"""Of today, when the first round opens."""
POLICY = """\
accept = "everybody"

[limits]
largest_epsilon = 4
largest_delta = 1e-3
fewest_mixers = 2
most_positions = 100
most_rounds = 1_000
most_messages = 1_000_000
latest_closing = 1_000
"""
SURVEY = """\
id = "team"
title = "How we treat each other"
organiser = "The works council"
rounds = ROUNDS

[policy]
epsilon = 2.0
delta = 1e-3

[trust]
noise = "mixers"
mixers = MIXERS

[schedule]
every = "day"
starts = TODAY

[[question]]
name = "fair"
type = "yes_no"
"""


def survey_text(mixers: int, rounds: int) -> str:
    """A round a day from today on; one round is open for two weeks."""
    today = datetime.fromtimestamp(MIDNIGHT, UTC).date()
    text = SURVEY.replace("MIXERS", f"{mixers}").replace("ROUNDS", f"{rounds}")
    if rounds > 1:
        return text.replace("TODAY", f"{today}")
    text = text.replace('[schedule]\nevery = "day"\nstarts = TODAY\n\n', "")
    return f"closes = {today + timedelta(days=14)}\n{text}"


class SiteClock(FileClock):
    """The clock of a site's processes; certificates and partners have the machine's."""

    def environment(self) -> dict[str, str]:
        """For the processes that are started with it."""
        folder = Path(self.path).with_name("customized")
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(
            "import krand.partners.clock\nfrom krand.testing import FileClock\n"
            f"krand.partners.clock.SYSTEM_CLOCK = FileClock({self.path!r})\n"
        )
        paths = [str(folder), *filter(None, sys.path)]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class Partner:
    """A mixer's service, always at the same address."""

    def __init__(self, folder: Path, name: str) -> None:
        self.store, self.log = folder / name, folder / f"{name}.log"
        (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
        at = f"--host 127.0.0.1 --port {free_port()} --no-anchor --name {name} --json".split()
        policy = ("--policy", folder / "policy.toml")
        self._words = ("mix", "serve", "--store", self.store, *at, *policy)
        self.start()

    def start(self) -> None:
        """Returns when it serves."""
        self.program = Program(*self._words, errors=self.log).__enter__()
        said = self.program.wait_until(lambda: "}\n" in self.program.lines, "an address")
        assert said
        self.link = "".join(self.program.lines).partition('"address": "')[2].partition('"')[0]

    @property
    def process(self) -> int:
        return self.program.process.pid

    def signed(self) -> list[str]:
        """The plans that it shows to everybody."""
        url, context = self.link.partition("/#")[0], ssl._create_unverified_context()
        with urlopen(f"{url}/v1/plans", context=context) as answer:
            return [entry["plan"] for entry in json.load(answer)["entries"]]

    def again(self) -> None:
        """After a kill."""
        self.program.__exit__()
        self.start()

    def end(self) -> None:
        self.program.__exit__()


class Site:
    """`krand run` with a survey file, which can be killed and started again."""

    def __init__(self, survey: Path, clock: SiteClock | None = None) -> None:
        self.survey, self._clock = survey, clock
        self.folder = survey.with_suffix(".krand")
        self.log = survey.with_suffix(".errors")
        self.start()

    def start(self) -> None:
        words = ("run", self.survey, "--json")
        clock: Any = self._clock
        self.program = Program(*words, errors=self.log, clock=clock).__enter__()

    @property
    def process(self) -> int:
        return self.program.process.pid

    @property
    def events(self) -> list[dict[str, Any]]:
        return self.program.events

    def parts(self) -> dict[str, int]:
        """The processes of all parts, as they were started last."""
        return {e["part"]: e["process"] for e in self.events if e["event"] == "started"}

    def again(self) -> None:
        """After a kill; no process of it is left by then."""
        left = self.parts().values()
        until(lambda: not any(map(is_alive, left)), what="an end of all parts")
        self.program.__exit__()
        self.start()

    def end(self) -> None:
        parts = self.parts().values()
        self.program.__exit__()
        until(lambda: not any(map(is_alive, parts)), what="an end of all parts")

    def url(self) -> str:
        """Where the form is."""
        found: str = self.program.wait("serving")["url"]
        return found

    @property
    def plan(self) -> krand.Plan:
        return krand.read_plan(self.folder / "plan.json")

    def device(self, now: Any = None, ledger: Any = None) -> krand.Client:
        """A new person's, or that of somebody who has spent something before."""
        plan, more = self.plan, {} if now is None else {"now": now}
        signatures = [krand.read_signature(path) for path in self.folder.rglob("*.sig.json")]
        more |= {"expected_hash": plan.hash, "signatures": signatures, "url": self.url()}
        return krand.Client(plan, ledger or UnsafeMemoryLedger(), **more)

    def results(self) -> dict[int, krand.Results]:
        """Those that are there, by their rounds."""
        found = map(krand.read_results, self.folder.rglob("results*.json"))
        return {each.round: each for each in found}


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def paired(
    folder: Path,
    partners: list[Partner],
    rounds: int = 1,
    meanwhile: Callable[[], object] = lambda: None,
) -> Path:
    """A survey that these partners and its organiser mix; the organiser is the analyst."""
    survey = folder / "team.toml"
    survey.write_text(survey_text(1 + len(partners), rounds), encoding="utf-8")
    named = [word for each in partners for word in ("--mixer", each.link)]
    own = f"--no-anchor --form-at 127.0.0.1:0 --address https://127.0.0.1:{free_port()}"
    with Program("pair", survey, *own.split(), *named, errors=folder / "pair.log") as pairing:
        meanwhile()
        assert pairing.process.wait(PATIENCE) == 0, pairing.said()
    return survey


class Seen:
    """What anybody could see of batches: the content of each file, at every look."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.contents: defaultdict[Path, set[str]] = defaultdict(set)

    def look(self) -> None:
        for path in self._folder.rglob("round-*-*"):
            try:
                self.contents[path].add(hashlib.sha256(path.read_bytes()).hexdigest())
            except (FileNotFoundError, IsADirectoryError):  # it has just been passed on
                continue

    def twice(self) -> list[str]:
        """Files that were not the same at all looks."""
        return [path.name for path, found in self.contents.items() if len(found) > 1]
