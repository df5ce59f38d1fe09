"""`krand run team.toml` as people start it, its processes, and those who answer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import krand
import world
from chaos import Program, free_port, until
from command_line import told

OCTETS = {"Content-Type": "application/octet-stream"}
HEAD = 1 + 2 + 16
"""A submission begins with version, round and id; the rest are messages of one length."""
PEOPLE = 14
"""How many the survey needs."""


class Team:
    """A small survey in a folder, and what people send to whoever runs it."""

    def __init__(self, folder: Path, around: Any = None) -> None:
        """`around` has the environment in which the program runs."""
        self.survey, self.folder = folder / "team.toml", folder / "team.krand"
        self.survey.write_text(world.survey_file("tiny").read_text("utf-8"), encoding="utf-8")
        self.port, self.errors, self._around = free_port(), folder / "errors", around
        self.url = f"http://127.0.0.1:{self.port}"
        self._people = enumerate(world.people("tiny", PEOPLE))

    @contextmanager
    def running(self) -> Iterator[Program]:
        """Published the first time; the same command goes on later."""
        words = ("run", self.survey, "--yes --json --no-console --port", self.port)
        with Program(*words, errors=self.errors, clock=self._around) as program:
            program.wait("published")
            until(self.is_served)
            yield program

    def is_served(self) -> bool:
        """Whether anybody answers."""
        try:
            with urlopen(f"{self.url}/v1/plans", timeout=5) as answer:
                return int(answer.status) == 200
        except OSError:
            return False

    @cached_property
    def plan_hash(self) -> str:
        (plan,) = json.loads(urlopen(f"{self.url}/v1/plans").read())["plans"]
        return str(plan["plan"])

    @property
    def way_in(self) -> str:
        return f"/v1/plans/{self.plan_hash}/submissions"

    def answer(self, count: int) -> None:
        """So many people open the link and submit, in earnest."""
        for number, answers in islice(self._people, count):
            ledger = krand.Ledger(self.survey.parent / f"ledger-{number}")
            krand.Client.open(self.url, self.plan_hash, ledger).submit(answers)

    def body(self, number: int) -> bytes:
        """What nobody can tell from a submission: under the id of this number."""
        name = hashlib.shake_256(b"id %d" % number).digest(HEAD - 3)
        sent = hashlib.shake_256(b"sent %d" % number).digest(self._length - HEAD)
        return b"\1\0\1" + name + sent

    @cached_property
    def _length(self) -> int:
        """As the collector tells whoever sends another one."""
        try:
            urlopen(Request(self.url + self.way_in, b"", OCTETS))
        except HTTPError as error:
            found = re.search(r"must have (\d+) bytes", error.read().decode())
            assert found is not None
            return int(found[1])
        raise AssertionError("an empty submission was taken")

    def close(self, program: Program) -> int:
        """Close the round; how many people are in the report."""
        told("run", self.survey, "--close --yes")
        return int(program.wait("reported")["people"])


def children(process: int) -> dict[int, str]:
    """The processes that a process has started, with their command lines."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(") ")[2].split()[1])
            command = (path.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if parent == process:
            found[int(path.parent.name)] = command
    return found


def listener_of(program: Program) -> int:
    """The listener of a worker, once there is one."""
    worker = program.process.pid
    return until(
        lambda: next((pid for pid, line in children(worker).items() if "site.listener" in line), 0)
    )
