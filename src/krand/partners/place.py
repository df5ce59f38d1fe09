"""A mixer's service on its machine: its identity, its folders, and a store for every survey."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from krand.files import ensure_directory, sync_folder
from krand.mixing.keys import MixerKeys, descriptor_bytes
from krand.mixing.store import OWNER_FOLDER, MixerStore, create_store
from krand.partners.identity import Identity
from krand.partners.policy import AcceptPolicy
from krand.partners.records import ANCHOR, Pairing
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan

KEY_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Who the service is, and where its files lie."""

    folder: Path
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
        return self.folder / "surveys" / key

    def incoming(self, key: str) -> Path:
        """Batches that arrive."""
        return self.own(key) / "incoming"

    def outgoing(self, key: str) -> Path:
        """Batches that leave."""
        return self.own(key) / "outgoing"

    def plan_file(self, key: str) -> Path:
        """The only plan for which these keys may be used."""
        return self.own(key) / "plan.json"

    def plan(self, pairing: Pairing) -> Plan:
        """The plan of a pairing that has one."""
        return _plan_in(self.plan_file(pairing.key), pairing.plan)

    def open_store(self, pairing: Pairing) -> MixerStore:
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
