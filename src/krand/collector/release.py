"""Release of a sealed batch: shuffled, signed, and written in full; then the store forgets it.

A store hands out a batch in a random order that it has drawn once. So the order is uniform, and a
release that was interrupted writes the same bytes again. The messages are wiped only when both
files are on the disk under their names. A file that exists already is never replaced: it has the
same bytes, or it is another batch, which may be the only copy.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO

import numpy as np

from krand.batches.chain import Manifest, manifest_bytes
from krand.batches.sealed import batch_id_in, write_sealed
from krand.collector.store import Batch, Messages, Store
from krand.errors import InternalError, InvalidInput
from krand.files import Exists, complete_file, ensure_directory, sync_folder, unwritable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PIECE_BYTES = 2**22


@dataclass(frozen=True, slots=True)
class Released:
    """A batch and the files that were written."""

    batch: Batch
    data: Path
    manifest: Path


def release_sealed(store: Store, folder: Path, key: Ed25519PrivateKey) -> tuple[Released, ...]:
    """Release every sealed batch; none may be waiting."""
    sealed = [batch for batch in store.batches() if batch.state.is_waiting]
    if sealed:
        store.check_people()
    return tuple(release_batch(store, batch, folder, key) for batch in sealed)


def release_batch(store: Store, batch: Batch, folder: Path, key: Ed25519PrivateKey) -> Released:
    """Write the files of a sealed batch, then wipe it.

    Before the first byte the store records that nobody may join the batch any more.
    """
    ensure_directory("output", folder)
    check_output(folder)
    name = f"batch-{batch.number:06d}"
    data, manifest_file = folder / f"{name}.parquet", folder / f"{name}.manifest.json"
    batch = store.mark_releasing(batch)
    if batch.people < store.config.crowd:
        raise InternalError(f"a batch of {batch.people} people, fewer than the crowd")
    length = store.config.format.message_length

    def write_messages(stream: BinaryIO) -> None:
        count = write_sealed(stream, length, batch.id, by_lane(store, batch, folder))
        if count != batch.messages:
            raise InternalError(f"{count} messages in a batch of {batch.messages}")

    digest = _written_once(data, write_messages, lambda: _other_data(data, batch))
    manifest = Manifest(
        plan=store.config.plan_hash,
        round=store.config.format.round,
        submissions=batch.people,
        messages=batch.messages,
        batch_sha256=digest,
        batch_id=batch.id,
    )
    content = manifest_bytes(manifest, key)
    _written_once(
        manifest_file,
        lambda stream: stream.write(content),
        lambda: _other_manifest(manifest_file),
    )
    with writing(folder):
        sync_folder(folder)
        sync_folder(folder.parent)
    store.mark_released(batch, digest)
    return Released(batch, data, manifest_file)


def check_output(folder: Path) -> None:
    """A released file is the only copy of its batch: others must not be able to remove it."""
    mode = folder.stat().st_mode
    if os.name == "posix" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        rule, hint = "must be a folder that not everybody can write to", f"chmod o-w {folder}"
        raise InvalidInput("output", rule, str(folder), hint)


def _written_once(
    path: Path, write: Callable[[BinaryIO], object], other: Callable[[], Exists]
) -> str:
    """Write the whole file; one that exists already must be the same. Its SHA-256."""
    try:
        with complete_file("output", path, replace=False) as stream:
            write(stream)
        return _sha256(path)
    except Exists:
        if path.is_symlink():  # its target may change after the store has forgotten the batch
            hint = "remove it: the batch must be written to this folder itself"
            raise Exists("output", "must not be a link", str(path), hint) from None
    with writing(path), tempfile.TemporaryFile(dir=path.parent) as again:
        write(again)
        again.seek(0)
        digest = hashlib.file_digest(again, "sha256").hexdigest()
    if _sha256(path) != digest:
        raise other()
    return digest


def _other_data(path: Path, batch: Batch) -> Exists:
    """The error for an existing batch file with other messages."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = batch_id_in(pq.read_schema(path))
    except (pa.ArrowException, OSError):
        found = None
    if found == batch.id:
        rule = "must not hold the same batch with other people"
        hint = (
            "this spool is an older copy of the one that released it. Do not release the copy into"
            " any folder: people who are in both would be counted twice, and krand tally refuses"
            " both together. Continue with the spool that released the file, or with an empty one"
        )
        return Exists("output", rule, str(path), hint)
    hint = (
        "it belongs to another plan, round or spool: keep one output folder for each. If this spool"
        " was restored from a backup, first compare its batches with those that were released"
    )
    return Exists("output", "must not hold another batch of this name", str(path), hint)


def _other_manifest(path: Path) -> Exists:
    hint = "it is of another batch, or was signed with another key: release with the same key"
    return Exists("output", "must not hold another batch of this name", str(path), hint)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the output if it cannot be written."""
    try:
        yield
    except OSError as error:
        raise unwritable("output", path, error) from None


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def by_lane(store: Store, batch: Batch, folder: Path) -> Iterator[tuple[int, Messages]]:
    """Chunks of messages with their lane; lanes rise, and each keeps the order of the store.

    The order in a lane was drawn once, so that an interrupted release writes the same bytes again.
    """
    length, counts = store.config.format.message_length, store.config.lane_messages
    # Nameless: it disappears with the process, however that ends.
    with tempfile.TemporaryFile(dir=folder) as scratch:
        _sorted_into(scratch, store, batch, folder)
        scratch.seek(0)
        for lane, count in enumerate(counts):
            left = batch.people * count
            while left:
                some = min(left, max(1, PIECE_BYTES // length))
                content = np.frombuffer(scratch.read(some * length), np.uint8)
                yield lane, content.reshape(some, length)
                left -= some


def _sorted_into(scratch: IO[bytes], store: Store, batch: Batch, folder: Path) -> None:
    """Write every message to the part of its lane, behind those that are there."""
    length, counts = store.config.format.message_length, np.array(store.config.lane_messages)
    ends = np.cumsum(batch.people * counts)
    taken = ends - batch.people * counts
    for numbers, rows in store.lane_messages(batch, folder):
        ordered = rows[np.argsort(numbers, kind="stable")]
        here = np.bincount(numbers, minlength=len(counts))
        for lane, part in enumerate(np.split(ordered, np.cumsum(here)[:-1])):
            if len(part):
                scratch.seek(int(taken[lane]) * length)
                scratch.write(part.tobytes())
        taken += here
    if (taken != ends).any():
        raise InternalError(f"{batch.people} people: lanes end at {taken}, not at {ends}")
