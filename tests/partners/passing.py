"""Batches of random bytes with a signed chain: whoever passes them on never looks inside."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, replace
from pathlib import Path

from batches.test_chain import chain_of
from krand.batches.chain import Link, SignedLink, chain_bytes
from krand.batches.sealed import largest_file
from krand.partners.documents import Station
from krand.partners.identity import Identity
from krand.partners.uploads import Uploads
from krand.wire.messages import length_at
from mixing.chains import Party, mixed_plan_for
from partners.services import new_identity

URL = "https://next.example.org"


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A file, and the chain that vouches for it."""

    data: bytes
    links: tuple[SignedLink, ...]

    @property
    def link(self) -> Link:
        return self.links[-1].record

    @property
    def chain(self) -> bytes:
        return chain_bytes(self.links)

    @property
    def name(self) -> str:
        return f"batch-{self.link.batch_id}-{self.link.hop}"

    def written(self, folder: Path) -> tuple[Path, Path]:
        """As a mixer publishes it."""
        folder.mkdir(exist_ok=True)
        data, chain = folder / f"{self.name}.parquet", folder / f"{self.name}.chain.json"
        data.write_bytes(self.data)
        chain.write_bytes(self.chain)
        return data, chain


def batch(
    size: int = 100_000, *, hop: int = 1, seed: int = 1, batch_id: str = "", round_number: int = 1
) -> Batch:
    """A batch that the mixer of this place passes on."""
    chance = random.Random(seed)
    data, name = chance.randbytes(size), batch_id or chance.randbytes(16).hex()

    def change(link: Link) -> Link:
        digest = hashlib.sha256(data).hexdigest()
        found = replace(link, batch_id=name, round=round_number)
        return replace(found, output_sha256=digest) if link.hop == hop else found

    return Batch(data=data, links=tuple(chain_of(party(), None, change)[:hop]))


def party() -> Party:
    """Three mixers, two rounds."""
    return mixed_plan_for(mixers=3)


def largest(hop: int = 1) -> int:
    """The most bytes of such a batch."""
    link = batch(1, hop=hop).link
    return largest_file(length_at(party().plan, (hop + 1) % 4), link.messages_out)


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """Who takes the batches of a mixer."""

    folder: Path
    identity: Identity
    hop: int = 2

    @property
    def uploads(self) -> Uploads:
        """As after a start."""
        return Uploads(self.folder, party().plan, self.hop, self.identity)

    @property
    def station(self) -> Station:
        return Station(hop=self.hop, name="next", identity=self.identity.public, url=URL)

    @property
    def found(self) -> dict[str, bytes]:
        """What others see."""
        if not self.folder.exists():
            return {}
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}


def receiver(folder: Path, hop: int = 2) -> Receiver:
    return Receiver(folder=folder, identity=new_identity(), hop=hop)
