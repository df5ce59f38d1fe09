"""A survey with invitations, `krand invite`, the mails that it sends, and the collector's file.

folder_with(tmp_path, people(40))            # plan.json and people.csv
with serving(Mailbox()) as box:              # a mail server in a thread, which may fail
    told = mailed(tmp_path, box)             # krand invite --mail
Known(tmp_path / "invitations.json", PLAN).admits(*box.codes.values())
"""

from __future__ import annotations

import base64
import hashlib
import json
import quopri
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTPUTF8
from functools import cache
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any, ClassVar

from command_line import run
from krand import Plan, make_plan, parse_survey
from krand.testing import MIXED_SURVEY

ABOUT = """\
title = "Lärm in der Stadt"
organiser = "The council"
contact = "us@example.org"
closes = 2126-12-24
invitations = true
"""
GERMAN = """
[translations.de]
title = "Leiser wohnen"
organiser = "Der Rat"
contact = "wir@example.org"
[translations.de.question.pet.choices]
cat = "Katze"
dog = "Hund"
none = "keins"
"""
URL = "https://form.example/"
SENDER = "--from 'The council <noreply@example.org>'"
PAIRS = "krand invitation\0"


@cache
def invited_plan() -> Plan:
    """Two questions, with invitations."""
    return make_plan(parse_survey(ABOUT + MIXED_SURVEY + GERMAN))


def people(count: int) -> list[str]:
    """Addresses of that many."""
    return [f"person{number:03}@example.org" for number in range(count)]


def folder_with(folder: Path, addresses: list[str]) -> Path:
    """plan.json and people.csv."""
    invited_plan().save(folder / "plan.json")
    (folder / "people.csv").write_text("\n".join(addresses) + "\n", encoding="utf-8")
    return folder


def sending(box: Mailbox, more: str = "", to: str = "") -> str:
    """The command that mails everybody a link, or a reminder with its list."""
    mode = f"--remind people.csv -o {to}" if to else f"--mail people.csv --url {URL}"
    return f"invite plan.json {mode} {SENDER} --smtp smtp://127.0.0.1:{box.port} {more}"


def mailed(folder: Path, box: Mailbox, code: int = 0, **options: str) -> dict[str, Any]:
    """What it tells programs, with its exit code."""
    result = run(sending(box, **options), "--json", at=folder)
    assert result.exit_code == code, f"exit code {result.exit_code}: {result.output}"
    told: dict[str, Any] = json.loads(result.stdout)
    return told


class Known:
    """The collector's file, read as docs/reference/formats.md describes it."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self._values, self._plan = json.loads(path.read_bytes()), plan
        (self.digests,) = self._values["rounds"]
        self.invited = self._values["handed_out"] + self._values["mailed"]

    def digest(self, code: str) -> str:
        """What a submission with this code is known by."""
        whole = PAIRS.encode() + bytes.fromhex(self._plan.hash) + (1).to_bytes(2, "big")
        name = hashlib.sha256(whole + base64.urlsafe_b64decode(f"{code}==")).digest()[:16]
        key = bytes.fromhex(self._values["key"])
        return hashlib.blake2b(name, digest_size=16, key=key).hexdigest()

    def admits(self, *codes: str) -> bool:
        """Whether a collector takes a submission of each of these codes."""
        return all(self.digest(code) in self.digests for code in codes)


PLAN = invited_plan()


LINK = re.compile(rb"https://form\.example/#([A-Za-z0-9_-]{22})(?![A-Za-z0-9_-])")
STEPS = ("mail", "rcpt", "data", "stored")
Say = Callable[[str, int, str], str | None]
"""Given the step, how many messages are stored, and the address: an answer of the server, "drop"
to end the connection, or None for the usual."""


def code_in(message: bytes) -> str:
    """The code in the one link of a message."""
    (found,) = LINK.findall(quopri.decodestring(message))
    return str(found.decode())


@dataclass
class Mailbox:
    """What the server has taken, and how it behaves."""

    say: Say = lambda *_: None
    messages: list[tuple[str, bytes]] = field(default_factory=list)
    extensions: tuple[str, ...] = ("8BITMIME", "SMTPUTF8")
    port: int = 0

    @property
    def addresses(self) -> list[str]:
        """Who was mailed, in order."""
        return [address for address, _ in self.messages]

    @property
    def codes(self) -> dict[str, str]:
        """Which address got which code: only the mail server knows."""
        return {address: code_in(message) for address, message in self.messages}

    @property
    def parsed(self) -> dict[str, EmailMessage]:
        """The messages by address, as a mail program reads them."""
        return {to: message_from_bytes(raw, policy=SMTPUTF8) for to, raw in self.messages}  # type: ignore[misc]


class _Session(StreamRequestHandler):
    box: ClassVar[Mailbox]

    def handle(self) -> None:
        self._answer("220 mail.example")
        sender = address = ""
        for line in self.rfile:
            words = line.decode().split(maxsplit=1)
            verb, rest = words[0].upper(), words[-1]
            if verb == "EHLO":
                lines = ["mail.example", *self.box.extensions]
                self._answer("\r\n".join(f"250-{each}" for each in lines[:-1]), f"250 {lines[-1]}")
            elif verb == "MAIL":
                sender = rest.partition("<")[2].partition(">")[0]
                if self._say("mail", sender, "250 OK"):
                    return
            elif verb == "RCPT":
                address = rest.partition("<")[2].partition(">")[0]
                if self._say("rcpt", address, "250 OK"):
                    return
            elif verb == "DATA":
                if self._data(address):
                    return
            elif verb == "QUIT":
                return self._answer("221 bye")
            else:
                self._answer("250 OK")

    def _data(self, address: str) -> bool:
        if (said := self.box.say("data", len(self.box.messages), address)) is not None:
            return said == "drop" or self._answer(said)
        self._answer("354 go on")
        lines = list(iter(self.rfile.readline, b".\r\n"))
        self.box.messages.append((address, b"".join(each.removeprefix(b".") for each in lines)))
        return self._say("stored", address, "250 2.0.0 OK")

    def _say(self, step: str, address: str, usual: str) -> bool:
        """Answer; whether the connection ends instead."""
        said = self.box.say(step, len(self.box.messages), address)
        return said == "drop" or self._answer(said or usual)

    def _answer(self, *lines: str) -> bool:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())
        return False


class _Server(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False


@contextmanager
def serving(box: Mailbox) -> Iterator[Mailbox]:
    """The server, on a port that the system chooses."""
    session = type("Session", (_Session,), {"box": box})
    with _Server(("127.0.0.1", 0), session) as server:
        box.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield box
        finally:
            server.shutdown()
            thread.join()
