"""Sites for tests: real processes, whose events are waited for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import krand
from command_line import done
from krand.client.sending import NotDelivered
from krand.collector.serving import listen
from krand.site.checks import signatures_in
from krand.survey.survey_folder import SurveyFolder
from krand.testing import FileClock, UnsafeMemoryLedger

WAIT_SECONDS = 600.0
PEOPLE = 40
MIXED = """\
id = "team"
title = "How we treat each other"
organiser = "The works council"

[policy]
epsilon = 1.0
delta = 1e-6

[trust]
noise = "mixers"

[[question]]
name = "fair"
type = "yes_no"
"""
BY_DEVICES = """\
id = "canteen"

[policy]
epsilon = 2.0
delta = 1e-4
minimum_crowd = 40

[[question]]
name = "fair"
type = "yes_no"
"""

Event = dict[str, Any]


def free_port() -> int:
    with listen("127.0.0.1", 0) as listener:
        port: int = listener.getsockname()[1]
        return port


def paired(
    place: Path,
    mixers: list[str],
    rounds: int = 1,
    analyst: str = "",
    schedule: str = "",
    form: int = 0,
) -> Path:
    """A survey file whose folder has everything for `krand run`."""
    survey = place / "team.toml"
    closes = (datetime.now(UTC) + timedelta(days=14)).date()
    until = schedule or f"closes = {closes}\n"
    text = MIXED.replace("[policy]", f"rounds = {rounds}\n{until}\n[policy]")
    trust = f'"mixers"\nmixers = {1 + len(mixers)}'
    text = text.replace('"mixers"', trust)
    survey.write_text(text, encoding="utf-8")
    pair_with(survey, mixers, form, *(("--analyst", analyst) if analyst else ()))
    return survey


def pair_with(survey: Path, mixers: list[str], form: int, *options: object) -> None:
    """Pair with these mixers; batches come back to this machine, unless an analyst is given."""
    port = free_port()
    own = f"--address https://127.0.0.1:{port}"
    done(
        f"pair --no-anchor --form-at 127.0.0.1:{form}",
        survey,
        *(f"--mixer {address}" for address in mixers),
        *options,
        "" if "--analyst" in options else own,
    )


class Running:
    """`krand run` in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.events = process, list[Event]()
        self._news = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.events.append(json.loads(line))
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def wait(self, event: str, since: int = 0, **values: Any) -> Event:
        """The first such event from this number on."""

        def found() -> Event | None:
            wanted = {"event": event, **values}
            return next((one for one in self.events[since:] if wanted.items() <= one.items()), None)

        def hopeless() -> bool:
            return self.process.poll() is not None or any("bug in" in str(e) for e in self.events)

        with self._news:
            self._news.wait_for(lambda: found() or hopeless(), WAIT_SECONDS)
        event_found = found()
        assert event_found is not None, (event, values, self.events[since:], self.process.poll())
        return event_found

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Until something holds; it is tried whenever a part has said anything, or a second on."""
        for _ in range(int(WAIT_SECONDS)):
            if holds():
                return
            with self._news:
                self._news.wait(1)
        raise AssertionError(self.events)

    def number_of(self, part: str) -> int:
        """The process of a part, as it was started last."""
        started = [e for e in self.events if e["event"] == "started" and e["part"] == part]
        return int(started[-1]["process"])

    def kill(self, part: str) -> None:
        """Kill a part, once it has come back from the kill before."""
        self.wait_until(lambda: is_alive(self.number_of(part)))
        kill(self.number_of(part))

    def end(self, how: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        self.process.send_signal(how)
        return self.process.wait(WAIT_SECONDS)


CLOCKED = """
import sys
import krand.partners.clock
from krand.testing import FileClock
krand.partners.clock.SYSTEM_CLOCK = FileClock(sys.argv.pop(1))
from krand.cli.main import main
main()
"""


@contextmanager
def running(file: Path, clock: FileClock | None = None, *options: str) -> Iterator[Running]:
    """A site that runs until the block ends, and leaves no process behind; by a test's clock."""
    krand = ["-m", "krand"] if clock is None else ["-c", CLOCKED, clock.path]
    command = [sys.executable, *krand, "run", str(file), *options, "--json"]
    errors = file.with_suffix(".errors")
    with (
        errors.open("ab") as stream,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stream, text=True) as process,
    ):
        site = Running(process)
        try:
            yield site
        finally:
            if process.poll() is None:
                site.end()
            site.wait_until(lambda: not any(map(is_alive, started_in(site))))


def started_in(site: Running) -> list[int]:
    """The processes of all parts."""
    return [event["process"] for event in site.events if event["event"] == "started"]


def is_alive(process: int) -> bool:
    """Whether such a process exists and is no zombie, which nobody has waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def answered(
    folder: SurveyFolder, url: str, people: int = PEOPLE, now: Callable[[], float] = time.time
) -> None:
    """So many people answer, every second one with yes."""
    plan = krand.read_plan(folder.plan)
    signatures = signatures_in(folder)
    for number in range(people):
        client = krand.Client(
            plan, UnsafeMemoryLedger(), expected_hash=plan.hash, signatures=signatures, now=now
        )
        client.submit(url, {plan.survey.questions[0].name: number % 2 == 0})


def is_open(device: krand.Client, url: str, number: int) -> bool:
    """Whether a collector takes this round of a schedule."""
    try:
        return device.open_round(url) == number
    except (krand.InvalidInput, NotDelivered):
        return False


def page(
    url: str, cookie: str = "", form: str | None = None, **headers: str
) -> tuple[int, str, str]:
    """Status, content and cookie of a page; with a form, of what it is sent to."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    connection = HTTPConnection(parts.hostname, parts.port)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    method = "GET" if form is None else "POST"
    connection.request(method, path, form, {**headers, "Cookie": cookie})
    answer = connection.getresponse()
    got = answer.headers.get("Set-Cookie", "").partition(";")[0]
    return answer.status, answer.read().decode(), got
