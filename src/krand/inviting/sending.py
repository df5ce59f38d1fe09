"""Invitations and reminders by mail: each address once, or reported.

Codes are drawn when sending begins, and exist in memory alone: on the disk are their digests,
sorted, and the addresses, in the order of the user's own file. Which address got which code stands
in no file, neither while krand sends nor after it was killed. The codes of whoever was not mailed
are then lost, and new ones are drawn; their digests stay, and nobody has their codes.

An address is noted before its message leaves. If nobody knows how that ended, it is not mailed
again: two codes would be two answers.
"""

from __future__ import annotations

import os
import smtplib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from email.headerregistry import Address
from pathlib import Path

from krand.collector.invitations import no_invitations, read_all_rounds, write_invitations
from krand.collector.store import MINIMUM_GROUP
from krand.errors import InvalidInput, Unavailable
from krand.files import OWNER_ONLY, Exists, complete_file
from krand.inviting.addresses import Recipient
from krand.inviting.journal import INTENDED, NOT_SENT, SENT, Journal
from krand.inviting.links import links_of
from krand.inviting.mail_server import Doubtful, Lost, Refused, deliver, message_bytes
from krand.inviting.templates import Templates
from krand.randomness.generator import secure_random
from krand.survey.plan import Plan
from krand.wire.invitations import new_code

MOST_FAILURES = 3
"""So many connections that end before a message is through, one after the other, end the run."""
INTERRUPTED = "interrupted"
Outcome = Lost | Doubtful | Refused | None
"""None: the server has taken the message."""


@dataclass(slots=True, kw_only=True)
class Sending:
    """How far it is; what is not sent is listed."""

    sent: int = 0
    """In this run."""
    earlier: int = 0
    """By runs before it."""
    refused: list[tuple[Recipient, Refused]] = field(default_factory=list)
    doubtful: list[Recipient] = field(default_factory=list)
    left: list[Recipient] = field(default_factory=list)
    """Whom this run has not come to."""
    stopped: str = ""
    """Why it ended before that."""

    @property
    def is_complete(self) -> bool:
        """Whether everybody was mailed."""
        return not (self.refused or self.doubtful or self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """How messages are sent."""

    connect: Callable[[], smtplib.SMTP]
    sender: Address
    templates: Templates
    is_stopped: Callable[[], bool] = lambda: False
    progress: Callable[[int], None] = lambda _: None


def check_begun(journal: Path, file: Path, *, add: bool) -> None:
    """Refuse to begin anew where the collector's file exists, but not the list of who was mailed.

    With `add` its links were made in another way, and stay valid.
    """
    begun = journal.exists() and journal.stat().st_size > 0
    if file.exists() and not begun and not add:
        hint = (
            f"without {journal} nobody knows who was mailed: put it back; or name another file, or"
            " add to links that were made with --count by --add"
        )
        raise Exists("output", "must not exist yet", str(file), hint)


def waiting(
    recipients: Iterable[Recipient], states: dict[str, str]
) -> tuple[list[Recipient], Sending]:
    """Who is to be mailed, and what is known of all others."""
    left, known = [], Sending()
    for one in recipients:
        state = states.get(one.address.casefold())
        if state == SENT:
            known.earlier += 1
        elif state == INTENDED:
            known.doubtful.append(one)
        else:
            left.append(one)
    return left, known


def send_invitations(
    plan: Plan, url: str, recipients: Sequence[Recipient], journal: Journal, file: Path, post: Post
) -> Sending:
    """Mail a link with a new code to everybody who has none; `file` is the collector's."""
    no_core_dumps()
    left, known = waiting(recipients, journal.states)
    if not left:
        return known
    if _reached(journal) and not file.exists():
        rule = f"must be there, because {_reached(journal):,} people were mailed"
        hint = "put it back: a collector refuses links that are not in it"
        raise InvalidInput("output", rule, str(file), hint)
    server = post.connect()  # before anything is drawn
    random = secure_random()
    # A few new digests, as of somebody who is added later, would be pairs with a few addresses.
    codes = [new_code(random) for _ in range(max(len(left), MINIMUM_GROUP))]
    _add(file, plan, codes, _reached(journal) + len(left))
    try:
        return _send(server, left, known, links_of(url, codes), journal, post)
    finally:
        _add(file, plan, (), _reached(journal))  # who was refused has no code


def send_reminders(recipients: Sequence[Recipient], journal: Journal, post: Post) -> Sending:
    """Mail everybody, without a link: nobody knows who has answered, nor whose link is which."""
    left, known = waiting(recipients, journal.states)
    if not left:
        return known
    return _send(post.connect(), left, known, ("" for _ in left), journal, post)


def _add(file: Path, plan: Plan, codes: Sequence[bytes], mailed: int) -> None:
    """Replace the collector's file by one that has these codes too, in one step."""
    earlier = read_all_rounds(file, plan) if file.exists() else no_invitations()
    earlier.check_count(plan, len(codes))
    with complete_file("output", file, replace=True) as stream:
        os.chmod(stream.fileno(), OWNER_ONLY)
        write_invitations(stream, plan, codes, replace(earlier, mailed=mailed))


def no_core_dumps() -> None:
    """A process that is killed must not leave its memory in a file."""
    try:
        import resource
    except ImportError:  # a system without them
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _reached(journal: Journal) -> int:
    """How many addresses have a code, or may have one."""
    return sum(state != NOT_SENT for state in journal.states.values())


def _send(
    server: smtplib.SMTP,
    recipients: Sequence[Recipient],
    known: Sending,
    links: Iterable[str],
    journal: Journal,
    post: Post,
) -> Sending:
    """One after the other; each link is for one of them, and is forgotten."""
    done = failures = 0
    try:
        for one, link in zip(recipients, links, strict=False):
            if post.is_stopped():
                known.stopped = INTERRUPTED
                break
            template = post.templates.of(one.language)
            body = template.body_with(link)
            message = message_bytes(post.sender, one.address, template.subject, body)
            outcome: Outcome = Lost()
            while isinstance(outcome, Lost) and failures < MOST_FAILURES:
                if server.sock is None:
                    server = post.connect()
                outcome = _mail(server, one, message, journal, post)
                failures = failures + 1 if isinstance(outcome, (Lost, Doubtful)) else 0
            if isinstance(outcome, Lost):
                break
            done += 1
            _note(known, one, outcome)
            post.progress(1)
        if failures >= MOST_FAILURES:
            known.stopped = "the mail server ends the connection again and again"
    except Unavailable as error:
        known.stopped = str(error)
    finally:
        server.close()
    known.left = list(recipients[done:])
    return known


def _mail(
    server: smtplib.SMTP, one: Recipient, message: bytes, journal: Journal, post: Post
) -> Outcome:
    """Note the intention, send, and note how it ended, unless nobody knows."""
    journal.intend(one.address)
    try:
        deliver(server, post.sender.addr_spec, one.address, message)
    except Doubtful as outcome:
        server.close()
        return outcome
    except Refused as outcome:
        journal.note(NOT_SENT, one.address)
        return outcome
    except Lost as outcome:
        journal.note(NOT_SENT, one.address)
        server.close()
        return outcome
    except InvalidInput:  # the sender is refused, for whomever
        journal.note(NOT_SENT, one.address)
        raise
    journal.note(SENT, one.address)
    return None


def _note(known: Sending, one: Recipient, outcome: Outcome) -> None:
    if isinstance(outcome, Refused):
        known.refused.append((one, outcome))
    elif isinstance(outcome, Doubtful):
        known.doubtful.append(one)
    else:
        known.sent += 1
