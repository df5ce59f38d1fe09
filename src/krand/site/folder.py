"""The folder of a party: one identity, any number of plans.

keys/            identity.pem · analyst.pem · H/N.key · H/N.open → N.closed → N.mixed
state.sqlite     plans, rounds and their links, pairings: all that may be copied
rounds/H/N/      spool.sqlite · part, in · work/          nobody is served from here
public/          all that the listener may read
results/S/       of the survey S: what the analyst has counted
lock, control    one worker, and the door for other programs
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.files import OWNER_ONLY
from krand.storage import key_folder, make_folder
from krand.terminal.places import Place

if TYPE_CHECKING:
    from krand.partners.policy import AcceptPolicy
    from krand.survey.plan import Plan

WAIT_SECONDS = 30.0
"""How long the job of a worker that was killed may still need to end."""
LOOK_SECONDS = 0.05
LOOPBACK = Place("127.0.0.1", 8080)


class Folder:
    """Where everything of a party lies. Making one makes the folder, for its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = make_folder(path)
        self.keys = key_folder(path)
        self.public = make_folder(path / "public")
        self.identity, self.analyst_key = self.keys / "identity.pem", self.keys / "analyst.pem"
        self.state, self.control = path / "state.sqlite", path / "control"

    def key(self, plan_hash: str, number: int, kind: str = "key") -> Path:
        """Of a round: `key` opens messages; `open`, `closed` or `mixed` belongs to a spool."""
        return key_folder(self.path, plan_hash) / f"{number}.{kind}"

    def shown(self, plan_hash: str, number: int, kind: str) -> Path:
        """A file that partners may fetch: the `chain` or the `batch` of a round."""
        return make_folder(self.public / plan_hash) / f"{number}.{kind}"

    def invitations(self, plan_hash: str) -> Path:
        """Who is invited, as `krand invite` writes it."""
        return make_folder(self.path / "invitations") / f"{plan_hash}.json"

    def results(self, plan: Plan) -> Path:
        """The folder of what was counted."""
        return make_folder(self.path / "results" / plan.survey.id)

    def lock(self) -> int:
        """Be the only program that works here, until this process and its children have ended."""
        handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
        ends = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                if time.monotonic() > ends:
                    os.close(handle)
                    rule, hint = "must not be in use", "another program works in it"
                    raise InvalidInput("folder", rule, str(self.path), hint) from None
                time.sleep(LOOK_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an operator decides about a party."""

    name: str
    listen: Place | None = LOOPBACK
    """None for an analyst, who only asks others."""
    url: str = ""
    """The public address, where there is one."""
    origins: tuple[str, ...] = ()
    """Further pages that may send what people answer there."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Where partners are reached, by their identities, instead of what a plan says."""
    local: bool = False
    """Whether partners may be on this machine, with plain http: to try things."""
    policy: AcceptPolicy | None = None
    """What is signed for others without asking; None for a party that mixes for nobody else."""
    analyst: bool = False
    """Whether results are counted here."""
