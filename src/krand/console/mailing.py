"""Invitations and reminders by mail: look at the messages first, then send, and go on if it ended.

`krand invite` sends, in a process that outlives the console. It keeps no file of who got which
link, and notes on disk whom it is about to mail before a message leaves. The password goes to it
in its environment, and into no file.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from krand.console import commands
from krand.console.folder import Place, Stage
from krand.console.pages import SENDS_FORMS, Find, Pages, part_now, to
from krand.console.running import Keeping
from krand.errors import InvalidInput, Unavailable
from krand.files import OWNER_ONLY, complete_file
from krand.inviting.journal import SENT, Journal, states_in
from krand.inviting.mail_server import mail_server
from krand.inviting.templates import INVITATION, REMINDER
from krand.languages.speaking import marked
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from krand.web.forms import read_form
from krand.web.site_page import REFRESH_SECONDS

PASSWORD = "KRAND_MAIL_PASSWORD"
KINDS = {
    INVITATION: marked("Invitations, each with a link of its own"),
    REMINDER: marked("A reminder, to everybody"),
}
FIELDS = ("kind", "addresses", "smtp", "from", "template")
BEGUN, TOLD, WARNED = "mailing.json", "mail.json", "mail.log"
"""What was begun, what it told at its end, and what it warned of."""


@dataclass(frozen=True, slots=True)
class Message:
    """What is to be sent, as krand invite is told."""

    kind: str
    words: tuple[str, ...]
    journal: Path
    user: str
    """Whose password the mail server wants; empty if nobody's."""


class Mailing(Pages):
    """The routes; what was typed is kept while the console runs, but no password."""

    def __init__(self, find: Find, keeping: Keeping, shared: dict[str, Any]) -> None:
        super().__init__(find, keeping, shared)
        self._typed: dict[str, Mapping[str, str]] = {}
        self._looked: dict[str, tuple[Message, dict[str, Any]]] = {}
        self._sending: dict[str, subprocess.Popen[bytes]] = {}

    def routes(self) -> Sequence[Route]:
        """The routes."""
        shown = {"mail": self.mail, "mail/now": self.mail_now}
        done = {"mail": self.look, "mail/send": self.send}
        return (*self._routes("GET", shown), *self._routes("POST", done))

    async def mail(self, _: Request, place: Place) -> Response:
        """What to write to whom; then what would leave; then how far it is."""
        message, found = self._looked.get(place.name, (None, {}))
        html = self._page(
            "mail.html",
            place,
            "publish",
            typed={"kind": INVITATION, **self._typed.get(place.name, {})},
            kinds=KINDS,
            may=place.stage is Stage.OPEN and place.folder.invitations.exists(),
            is_local=place.stage is Stage.OPEN and not place.served.address,
            reminded=len(_reminders(place.folder)),
            message=message,
            found=found,
            command="" if message is None else commands.shown(place, *message.words),
            now=Markup(await asyncio.to_thread(self._mail_now, place)),
            refresh=REFRESH_SECONDS,
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def look(self, request: Request, place: Place) -> Response:
        """Check everything, and show the messages; nothing is sent."""
        form = await read_form(request)
        typed = {name: form.texts.get(name, "").replace("\r\n", "\n") for name in FIELDS}
        if "list" in form.files:
            typed["addresses"] = form.files["list"].decode("utf-8-sig", "replace")
        self._typed[place.name] = typed
        self._looked.pop(place.name, None)
        message = _message(place, typed, again="again" in form.texts)
        done = await asyncio.to_thread(commands.run, place, *message.words, "--dry-run")
        if done.failure:
            raise Unavailable(done.failure)
        self._looked[place.name] = (message, done.told)
        return to(f"/surveys/{place.name}/mail#messages")

    async def send(self, request: Request, place: Place) -> Response:
        """Send what was looked at."""
        form = (await read_form(request)).texts
        message, _ = self._looked.get(place.name, (None, None))
        if message is None or self._is_sending(place):
            return to(f"/surveys/{place.name}/mail")
        if place.stage is not Stage.OPEN:
            raise InvalidInput("survey", "must be open", place.name)
        password = form.get("password", "")
        if message.user and not password:
            raise InvalidInput("password", f"must be that of {message.user}", None)
        self._sending[place.name] = _started(place, message, password)
        del self._looked[place.name]
        return to(f"/surveys/{place.name}/mail")

    async def mail_now(self, _: Request, place: Place) -> Response:
        """The part that is updated."""
        return part_now(place, await asyncio.to_thread(self._mail_now, place))

    def _is_sending(self, place: Place) -> bool:
        process, sent = self._sending.get(place.name), _sent(place)
        if process is not None:
            return process.poll() is None
        return sent is not None and Journal.is_open(sent.journal)  # an earlier console began it

    def _mail_now(self, place: Place) -> str:
        folder, sent = place.folder, _sent(place)
        mailed = 0
        if sent is not None:
            states = states_in(sent.journal, sent.kind, read_plan(folder.plan).hash)
            mailed = sum(state == SENT for state in states.values())
        is_sending = self._is_sending(place)
        told: dict[str, Any] = {} if is_sending or sent is None else _told(folder.path / TOLD)
        return self._render(
            "mail_now.html",
            is_sending=is_sending,
            mailed=mailed,
            summary=told,
            failure=told.get("error", {}).get("message", ""),
            warnings=_warnings(folder.path / WARNED) if told else [],
            did="" if sent is None else commands.shown(place, *sent.words),
            files=[] if sent is None else [commands.relative(place, p) for p in _files(sent)],
        )


def _message(place: Place, typed: Mapping[str, str], *, again: bool) -> Message:
    """The command that sends; lists and texts become files, which their owner alone reads."""
    folder, kind = place.folder, typed["kind"]
    if kind not in KINDS:
        raise InvalidInput("kind", f"must be one of {', '.join(KINDS)}", kind)
    if place.stage is not Stage.OPEN or not folder.invitations.exists():
        raise InvalidInput("survey", "must be open, and have personal links", place.name)
    people = _written(folder.path / "people.csv", typed["addresses"])
    own, mode = tuple[str, ...](), tuple[str, ...]()
    if typed["template"].strip():
        own = ("--template", str(_written(folder.path / f"{kind}.txt", typed["template"])))
    if kind == INVITATION:
        journal = folder.invitations.with_suffix(".sent")
        local = ("--local",) if place.served.address else ()  # the organiser has typed it
        mode = ("--mail", str(people), "--url", place.url, *local)
    else:
        journal = folder.path / f"reminder-{max(1, len(_reminders(folder)) + again)}.sent"
        mode = ("--remind", str(people), "-o", str(journal))
    server, sender = typed["smtp"].strip(), typed["from"].strip()
    words = ("invite", str(folder.plan), *mode, "--smtp", server, "--from", sender, *own)
    return Message(kind, words, journal, mail_server(server, sender).user)


def _reminders(folder: SurveyFolder) -> list[Path]:
    return list(folder.path.glob("reminder-*.sent"))


def _written(path: Path, text: str) -> Path:
    with complete_file("mail", path, replace=True) as stream:
        os.chmod(stream.fileno(), OWNER_ONLY)  # before anything is in it
        stream.write((text if text.endswith("\n") else f"{text}\n").encode())
    return path


def _started(place: Place, message: Message, password: str) -> subprocess.Popen[bytes]:
    """The command that sends, by itself: it goes on when the console ends."""
    folder = place.folder.path
    begun = {"kind": message.kind, "words": message.words, "journal": message.journal.name}
    _written(folder / BEGUN, json.dumps(begun))
    with (folder / TOLD).open("wb") as told, (folder / WARNED).open("wb") as warned:
        return subprocess.Popen(
            [*commands.KRAND, *message.words, "--json"],
            cwd=place.root,
            env={**os.environ, PASSWORD: password},
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=warned,
            start_new_session=True,
        )


def _sent(place: Place) -> Message | None:
    """The last mailing, which a console before this one may have begun."""
    path = place.folder.path / BEGUN
    try:
        found = json.loads(path.read_bytes())
        words, journal = tuple(map(str, found["words"])), path.with_name(found["journal"])
        return Message(found["kind"], words, journal, "")
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _told(path: Path) -> dict[str, Any]:
    """What it told at its end."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        message = marked("It ended before everybody was mailed. Send again to go on.")
        return {"error": {"message": message}}
    return found if isinstance(found, dict) else {}


def _warnings(path: Path) -> list[str]:
    lines = path.read_text("utf-8", "replace").splitlines() if path.exists() else []
    return [line.partition(": ")[2] for line in lines if line.startswith("warning: ")]


def _files(message: Message) -> list[Path]:
    """What sending writes: who was mailed and, for new links, what the collector knows of them."""
    links = message.journal.with_suffix(".json")
    return [message.journal, *([links] if message.kind == INVITATION else [])]
