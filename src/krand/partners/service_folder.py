"""The folder of a mixer's service: its identity, a store for every survey, and what was decided.

What its operator decided when it was made is in a file, so that later starts need the folder alone.
The anchors lie on another disk than the folder: whoever restores one of them from a copy is
noticed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from krand.errors import InvalidInput
from krand.files import OWNER_FOLDER, ensure_directory, read_whole, sync_folder, unwritable
from krand.mixing.keys import MixerKeys, descriptor_bytes
from krand.mixing.store import MixerStore, create_store
from krand.partners.documents import Line
from krand.partners.identity import Identity, make_identity, read_identity
from krand.partners.policy import AcceptPolicy, read_policy
from krand.partners.records import ANCHOR, PairingRecord
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import as_file, plain, typed, values_in
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.wire.keys import write_private

DECIDED, POLICY = "service.json", "policy.toml"
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
KEY_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFile:
    """What the operator decided."""

    name: Line
    anchors: str
    """The folder of the anchors; empty to do without."""
    organiser: str = ""
    """The identity of the organiser whose link was opened, if one was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFolder:
    """Who the service is, and where its files lie."""

    path: Path
    name: str
    identity: Identity
    anchors: Path | None
    """A folder on another disk; None to do without."""
    policy: AcceptPolicy = field(default_factory=AcceptPolicy)

    @property
    def anchor(self) -> Path | None:
        """Of the records."""
        return self.anchors and self.anchors / ANCHOR

    def own(self, key: str) -> Path:
        """The folder of one survey."""
        return self.path / "surveys" / key

    def incoming(self, key: str) -> Path:
        """Batches that arrive."""
        return self.own(key) / "incoming"

    def outgoing(self, key: str) -> Path:
        """Batches that leave."""
        return self.own(key) / "outgoing"

    def plan_file(self, key: str) -> Path:
        """The only plan for which these keys may be used."""
        return self.own(key) / "plan.json"

    def plan(self, pairing: PairingRecord) -> Plan:
        """The plan of a pairing that has one."""
        return _plan_in(self.plan_file(pairing.key), pairing.plan)

    def open_store(self, pairing: PairingRecord) -> MixerStore:
        """The keys of a pairing; Unavailable while another thread or process has them."""
        return MixerStore(self._store(pairing.key), self._anchor(pairing.key))

    def make_store(self, keys: MixerKeys) -> None:
        """Write new keys into a store of their own."""
        key = key_name(self.descriptor(keys))
        own = self.own(key)
        ensure_directory("store", own.parent)
        own.parent.chmod(OWNER_FOLDER)
        own.mkdir(mode=OWNER_FOLDER)
        create_store(self._store(key), self.name, keys, self._anchor(key))
        for folder in (self.incoming(key), self.outgoing(key)):
            folder.mkdir(mode=OWNER_FOLDER)
        sync_folder(own.parent)

    def descriptor(self, keys: MixerKeys) -> bytes:
        """What the organiser gets of these keys."""
        return descriptor_bytes(keys.described(self.name))

    def remove(self, key: str) -> None:
        """Remove the folder of keys that nobody has seen, or that are erased."""
        shutil.rmtree(self.own(key), ignore_errors=True)
        if (anchor := self._anchor(key)) is not None:
            anchor.unlink(missing_ok=True)

    def _store(self, key: str) -> Path:
        return self.own(key) / "store"

    def _anchor(self, key: str) -> Path | None:
        return self.anchors and self.anchors / f"{key}.anchor"


@lru_cache(maxsize=64)
def _plan_in(path: Path, _: str) -> Plan:
    """Read once for each hash, under which a plan never changes."""
    return read_plan(path)


def key_name(descriptor: bytes) -> str:
    """The name of the folder of the keys that a descriptor describes."""
    return hashlib.sha256(descriptor).hexdigest()[:KEY_DIGITS]


def identity_in(folder: Path) -> Identity:
    """The identity of a service; it and the folder are made if they are not there yet."""
    try:
        folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable("store", folder, error) from None
    path = folder / "identity.pem"
    return read_identity(path) if path.exists() else make_identity(path)


def decided_in(folder: Path) -> ServiceFile | None:
    """What was decided; None for a folder that is not finished."""
    path = folder / DECIDED
    if not path.exists():
        return None
    values = values_in(read_whole("store", path), "store", FORMAT, str(folder), HINT)
    with as_file("store", FORMAT, str(folder), HINT):
        found: ServiceFile = typed(ServiceFile, values)
        return found


def write_decided(folder: Path, decided: ServiceFile) -> None:
    """Record what was decided: from now on the folder is finished."""
    if decided.organiser and not (folder / POLICY).exists():
        text = JOINED_POLICY.format(organiser=decided.organiser)
        write_private("policy", folder / POLICY, text.encode())
    content = canonical_json({"format": FORMAT, **plain(decided)})
    write_private("store", folder / DECIDED, content, overwrite=True)


def service_in(folder: Path, decided: ServiceFile, policy: Path | None = None) -> ServiceFolder:
    """The service itself; without another policy it has that of its folder, if there is one."""
    own = policy or (folder / POLICY if (folder / POLICY).exists() else None)
    return ServiceFolder(
        path=folder,
        name=decided.name,
        identity=identity_in(folder),
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
