"""The folder of a mixer's service: what its operator decided when it was made.

So later starts need the folder alone. The anchors lie on another disk than the folder: whoever
restores one of them from a copy is noticed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from krand.errors import InvalidInput
from krand.files import read_whole, unwritable
from krand.mixing.store import OWNER_FOLDER
from krand.partners.documents import Line
from krand.partners.identity import Identity, make_identity, read_identity
from krand.partners.place import Place
from krand.partners.policy import AcceptPolicy, read_policy
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import as_file, plain, typed, values_in
from krand.wire.keys import write_private

FORMAT = "krand-mixer-service-1"
HINT = "krand mix serve makes it"
JOINED_POLICY = """\
# Whose plans this mixer signs without asking its operator: those of the organiser who invited it,
# within these limits. krand mix serve reads it when it starts.
accept = "listed"
organisations = ["{organiser}"]

[limits]
largest_epsilon = 2.0
largest_delta = 1e-4
fewest_mixers = 2
most_positions = 100_000
most_rounds = 100
most_messages = 100_000_000
latest_closing = 400
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFile:
    """What the operator decided."""

    name: Line
    anchors: str
    """The folder of the anchors; empty to do without."""
    organiser: str = ""
    """The identity of the organiser whose link was opened, if one was."""


@dataclass(frozen=True, slots=True)
class ServiceFolder:
    """The files of a service; those of surveys are in `Place`."""

    path: Path

    @property
    def certificate(self) -> Path:
        """For TLS by identity."""
        return self.path / "tls.pem"

    @property
    def policy(self) -> Path:
        """Whose plans are signed without asking the operator."""
        return self.path / "policy.toml"

    @property
    def decided(self) -> Path:
        """What was decided when the folder was made."""
        return self.path / "service.json"

    def make(self) -> Identity:
        """The folder and its identity, if they are not there yet."""
        try:
            self.path.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable("store", self.path, error) from None
        path = self.path / "identity.pem"
        return read_identity(path) if path.exists() else make_identity(path)

    def read(self) -> ServiceFile | None:
        """What was decided; None for a folder that is not finished."""
        if not self.decided.exists():
            return None
        content = read_whole("store", self.decided)
        values = values_in(content, "store", FORMAT, str(self.path), HINT)
        with as_file("store", FORMAT, str(self.path), HINT):
            found: ServiceFile = typed(ServiceFile, values)
            return found

    def write(self, decided: ServiceFile) -> None:
        """Record what was decided: from now on the folder is finished."""
        if decided.organiser and not self.policy.exists():
            text = JOINED_POLICY.format(organiser=decided.organiser)
            write_private("policy", self.policy, text.encode())
        content = canonical_json({"format": FORMAT, **plain(decided)})
        write_private("store", self.decided, content, overwrite=True)

    def place(self, decided: ServiceFile, policy: Path | None = None) -> Place:
        """The service itself."""
        own = policy or (self.policy if self.policy.exists() else None)
        return Place(
            folder=self.path,
            name=decided.name,
            identity=self.make(),
            anchors=Path(decided.anchors) if decided.anchors else None,
            policy=AcceptPolicy() if own is None else read_policy(own),
        )


def check_anchors(anchors: Path, store: Path) -> None:
    """Make the folder of anchors; refuse one on the disk of the store, which may not exist yet."""
    there = next(path for path in (store, *store.absolute().parents) if path.exists())
    try:
        anchors.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        same = os.stat(anchors).st_dev == os.stat(there).st_dev
    except OSError as error:
        raise unwritable("anchor", anchors, error) from None
    if same:
        rule = "must lie on another disk than the store"
        hint = (
            "whoever restores one disk from a copy would restore both, and a batch could leave"
            " twice with different noise; --no-anchor does without, if the store is never restored"
        )
        raise InvalidInput("anchor", rule, str(anchors), hint)
