"""Invitations and reminders by mail: each address once, or reported.

Codes are drawn when sending begins, and exist in memory alone: on the disk are their digests,
sorted, and the addresses, in the order of the user's own file. Which address got which code stands
in no file, neither while krand sends nor after it was killed. The codes of whoever was not mailed
are then lost, and new ones are drawn; their digests stay, and nobody has their codes.

An address is noted before its message leaves. If nobody knows how that ended, it is not mailed
again: two codes would be two answers.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from krand.collector.rounds import MINIMUM_GROUP
from krand.errors import InvalidInput, Unavailable
from krand.inviting.addresses import Recipient
from krand.inviting.journal import INTENDED, NOT_SENT, SENT, Journal
from krand.inviting.links import add_codes, invitations_beside, invitations_so_far, links_of
from krand.inviting.mail_server import Doubtful, Lost, MailServer, Refused
from krand.inviting.templates import Templates
from krand.randomness.generator import secure_random
from krand.survey.plan import Plan
from krand.wire.invitations import new_code

MOST_FAILURES = 3
"""So many connections that end before a message is through, one after the other, end the run."""
INTERRUPTED = "interrupted"


@dataclass(slots=True, kw_only=True)
class Sending:
    """How far it is; what is not sent is listed."""

    left: list[Recipient] = field(default_factory=list)
    """Who is to be mailed."""
    sent: int = 0
    """In this run."""
    earlier: int = 0
    """By runs before it."""
    refused: list[tuple[Recipient, Refused]] = field(default_factory=list)
    doubtful: list[Recipient] = field(default_factory=list)
    stopped: str = ""
    """Why it ended before everybody's turn."""

    @property
    def is_complete(self) -> bool:
        """Whether everybody was mailed."""
        return not (self.refused or self.doubtful or self.left)


def begun(recipients: Iterable[Recipient], states: Mapping[str, str]) -> Sending:
    """How far it is by what a journal says."""
    known = Sending()
    for one in recipients:
        state = states.get(one.address.casefold())
        if state == SENT:
            known.earlier += 1
        else:
            (known.doubtful if state == INTENDED else known.left).append(one)
    return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailing:
    """What is written, by which server, and what was noted about it so far."""

    server: MailServer
    templates: Templates
    journal: Journal
    is_stopped: Callable[[], bool]
    progress: Callable[[int], None]

    def invite(self, plan: Plan, plan_file: Path, url: str, known: Sending) -> None:
        """Mail a link with a new code to everybody who is left."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a kill leaves no memory in a file
        file = invitations_beside(plan_file)
        if self.journal.reached and not file.exists():
            rule = f"must be there, because {self.journal.reached:,} people were mailed"
            hint = "put it back: a collector refuses links that are not in it"
            raise InvalidInput("invitations", rule, str(file), hint)
        if not known.left:
            return
        self.server.connect()  # before anything is drawn
        random = secure_random()
        # A few new digests, as of somebody who is added later, would be pairs with a few addresses.
        codes = [new_code(random) for _ in range(max(len(known.left), MINIMUM_GROUP))]
        add_codes(plan, plan_file, codes, mailed=self.journal.reached + len(known.left))
        try:
            self._send(known, links_of(url, codes))
        finally:
            add_codes(plan, plan_file, (), mailed=self.journal.reached)  # not those refused

    def remind(self, known: Sending) -> None:
        """Mail everybody, without a link, because nobody knows who has answered."""
        if known.left:
            self.server.connect()
            self._send(known, ("" for _ in known.left))

    def _send(self, known: Sending, links: Iterable[str]) -> None:
        """One after the other; each link is for one of them, and is forgotten."""
        done = failures = 0
        try:
            for one, link in zip(known.left, links, strict=False):
                outcome: Lost | Doubtful | Refused | None = Lost()
                while isinstance(outcome, Lost):
                    if self.is_stopped():
                        known.stopped = INTERRUPTED
                        return
                    if failures == MOST_FAILURES:
                        known.stopped = "the mail server ends the connection again and again"
                        return
                    outcome = self._mail(one, link)
                    failures = failures + 1 if isinstance(outcome, (Lost, Doubtful)) else 0
                if outcome is None:
                    known.sent += 1
                elif isinstance(outcome, Refused):
                    known.refused.append((one, outcome))
                else:
                    known.doubtful.append(one)
                done += 1
                self.progress(1)
        except Unavailable as error:
            known.stopped = str(error)
        finally:
            self.server.close()
            known.left = known.left[done:]

    def _mail(self, one: Recipient, link: str) -> Lost | Doubtful | Refused | None:
        """Note the intention, send, and note how it ended, unless nobody knows."""
        template = self.templates.of(one.language)
        self.journal.intend(one.address)
        try:
            self.server.deliver(one.address, template.subject, template.body_with(link))
        except Doubtful as outcome:
            return outcome
        except (Refused, Lost) as outcome:
            self.journal.note(NOT_SENT, one.address)
            return outcome
        except (InvalidInput, Unavailable):  # of the sender or the server, not of this address
            self.journal.note(NOT_SENT, one.address)
            raise
        self.journal.note(SENT, one.address)
        return None


def journal_beside(plan: Plan, plan_file: Path) -> Path:
    """The list of who was mailed a link, which must be there if somebody was."""
    journal = invitations_beside(plan_file).with_suffix(".sent")
    mailed = invitations_so_far(plan, plan_file).mailed
    if mailed and not journal.exists():
        rule = f"must be there, because {mailed:,} people were mailed"
        hint = "put it back: without it nobody knows who they are"
        raise InvalidInput("journal", rule, str(journal), hint)
    return journal
