"""Releasing a sealed batch: shuffled, signed, written whole; then the spool forgets it.

Every message got a random key when it came in, and the batch is written in the order of these
keys. So the order is uniform, and a release that was interrupted writes the same bytes again. The
messages are wiped only when both files are on the disk under their names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from krand.client.shuffling import open_piles, throw
from krand.collect.metrics import coarse, step_for
from krand.collect.spool import Batch, Spool
from krand.collect.states import State
from krand.collect.strata import KEY_BYTES
from krand.errors import InternalError, InvalidInput
from krand.files import complete_file, ensure_directory
from krand.survey.limits import CrowdTooSmall
from krand.wire.batches import write_batch
from krand.wire.manifest import Manifest, manifest_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["Released", "release_batch", "release_sealed"]

PIECE = 2**22

Rows = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Released:
    """A batch that is out, and where."""

    batch: Batch
    data: Path
    manifest: Path


def release_sealed(spool: Spool, folder: Path, key: Ed25519PrivateKey) -> tuple[Released, ...]:
    """Release every batch that is sealed; an error says how many people are missing if none is."""
    batches = spool.batches()
    sealed = [batch for batch in batches if batch.state is State.SEALED]
    if not sealed and not any(batch.state is State.RELEASED for batch in batches):
        waiting = batches[-1]
        raise CrowdTooSmall(
            "people",
            f"must be at least the planned crowd of {waiting.population:,}",
            f"about {coarse(waiting.people, step_for(waiting.population)):,}",
            "nothing is released below it: wait for more people",
        )
    return tuple(release_batch(spool, batch, folder, key) for batch in sealed)


def release_batch(spool: Spool, batch: Batch, folder: Path, key: Ed25519PrivateKey) -> Released:
    """Write the files of a sealed batch, then wipe it."""
    if batch.state is not State.SEALED or batch.people < batch.population:
        raise InvalidInput("batch", "must be sealed", batch.state.value)
    ensure_directory("output", folder)
    name = f"batch-{batch.number:06d}"
    data, manifest_file = folder / f"{name}.parquet", folder / f"{name}.manifest.json"
    length = spool.setting.shape.message_length
    with complete_file("output", data, replace=True) as stream:
        count = write_batch(stream, length, _in_order(spool, batch, folder))
        if count != batch.messages:
            raise InternalError(f"{count} messages in a batch of {batch.messages}")
    digest = _sha256(data)
    manifest = Manifest(
        spool.setting.plan_hash, spool.setting.shape.round, batch.people, count, digest
    )
    with complete_file("output", manifest_file, replace=True) as stream:
        stream.write(manifest_bytes(manifest, key))
    spool.mark_released(batch, digest)
    return Released(batch, data, manifest_file)


def _in_order(spool: Spool, batch: Batch, folder: Path) -> Iterator[Rows]:
    """All messages in the order of their keys, a pile at a time; piles are nameless files."""
    width = KEY_BYTES + spool.setting.shape.message_length
    with ExitStack() as stack:
        piles = open_piles(folder, stack)
        for rows in _chunks(spool, batch, width):
            throw(rows, rows[:, 0], piles)
        for pile in piles:
            pile.seek(0)
            rows = np.frombuffer(pile.read(), np.uint8).reshape(-1, width)
            pile.close()
            keys = np.ascontiguousarray(rows[:, :KEY_BYTES]).view(">u8").reshape(-1)
            # Equal keys stay in the order of the spool's own keys: the same every time.
            yield rows[np.argsort(keys.astype(np.uint64), kind="stable"), KEY_BYTES:]


def _chunks(spool: Spool, batch: Batch, width: int) -> Iterator[Rows]:
    held: list[bytes] = []
    size = 0
    for content in spool.rows_of(batch):
        held.append(content)
        size += len(content)
        if size >= PIECE:
            yield np.frombuffer(b"".join(held), np.uint8).reshape(-1, width)
            held, size = [], 0
    if held:
        yield np.frombuffer(b"".join(held), np.uint8).reshape(-1, width)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
