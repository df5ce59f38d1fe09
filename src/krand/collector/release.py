"""Releasing a sealed batch: shuffled, signed, written whole; then the spool forgets it.

Every message got a random key when it came in, and the batch is written in the order of these
keys. So the order is uniform, and a release that was interrupted makes the same bytes again. The
messages are wiped only when both files are on the disk under their names. A file that is there
already is never replaced: it holds the same bytes, or it is another batch, which may be the only
copy there is.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from krand.batches.manifest import Manifest, manifest_bytes
from krand.batches.sealed import batch_id_in, write_batch
from krand.collector.disk import sync_folder
from krand.collector.metrics import coarse, step_for
from krand.collector.mixing import KEY_BYTES, sorted_by_key
from krand.collector.spool import Batch, Spool
from krand.collector.states import State
from krand.errors import InternalError, InvalidInput
from krand.files import Exists, complete_file, ensure_directory, unwritable
from krand.randomness.shuffling import open_piles, throw
from krand.survey.limits import CrowdTooSmall

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["Released", "release_batch", "release_sealed"]

PIECE = 2**22
IN_MEMORY = 2**24
"""A batch up to this size needs no piles."""

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
    if sealed:
        spool.check_people()
    return tuple(release_batch(spool, batch, folder, key) for batch in sealed)


def release_batch(spool: Spool, batch: Batch, folder: Path, key: Ed25519PrivateKey) -> Released:
    """Write the files of a sealed batch, then wipe it."""
    if batch.state is not State.SEALED or batch.people < spool.setting.population:
        raise InvalidInput("batch", "must be sealed", batch.state.value)
    ensure_directory("output", folder)
    _check_output(folder)
    name = f"batch-{batch.number:06d}"
    data, manifest_file = folder / f"{name}.parquet", folder / f"{name}.manifest.json"
    length = spool.setting.shape.message_length

    def write_messages(stream: BinaryIO) -> None:
        count = write_batch(stream, length, batch.id, _in_order(spool, batch, folder))
        if count != batch.messages:
            raise InternalError(f"{count} messages in a batch of {batch.messages}")

    digest = _written_once(data, write_messages, lambda: _other_data(data, batch))
    plan, round_number = spool.setting.plan_hash, spool.setting.shape.round
    manifest = Manifest(plan, round_number, batch.people, batch.messages, digest, batch.id)
    content = manifest_bytes(manifest, key)
    _written_once(
        manifest_file,
        lambda stream: stream.write(content),
        lambda: _other_manifest(manifest_file),
    )
    with _writing(folder):
        sync_folder(folder)
        sync_folder(folder.parent)
    spool.mark_released(batch, digest)
    return Released(batch, data, manifest_file)


def _check_output(folder: Path) -> None:
    """When a batch is out, its file is the only copy: not everybody may be able to remove it."""
    mode = folder.stat().st_mode
    if os.name == "posix" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        rule, hint = "must be a folder that not everybody may write to", f"chmod o-w {folder}"
        raise InvalidInput("output", rule, str(folder), hint)


def _written_once(
    path: Path, write: Callable[[BinaryIO], object], other: Callable[[], Exists]
) -> str:
    """Make the file, whole; one that is there already must be the same. Its SHA-256."""
    try:
        with complete_file("output", path, replace=False) as stream:
            write(stream)
        return _sha256(path)
    except Exists:
        if path.is_symlink():  # what it leads to may change when the spool has forgotten the batch
            hint = "remove it: the batch is written there, and nowhere else"
            raise Exists("output", "must not be a link", str(path), hint) from None
    with _writing(path), tempfile.TemporaryFile(dir=path.parent) as again:
        write(again)
        again.seek(0)
        digest = hashlib.file_digest(again, "sha256").hexdigest()
    if _sha256(path) != digest:
        raise other()
    return digest


def _other_data(path: Path, batch: Batch) -> Exists:
    """The batch file that is there has other messages: is it another batch, or this one?"""
    if _id_of(path) == batch.id:
        rule = "must not hold the same batch with other people"
        hint = (
            "this spool is an older copy of the one that released it. Do not release the copy into"
            " any folder: people who are in both would be counted twice, and krand tally refuses"
            " the two together. Go on with the spool that released the file, or with an empty one"
        )
        return Exists("output", rule, str(path), hint)
    hint = (
        "it belongs to another plan, round or spool: keep one output folder for each. If this spool"
        " was restored from a backup, first compare its batches with those that are out"
    )
    return Exists("output", "must not hold another batch of this name", str(path), hint)


def _other_manifest(path: Path) -> Exists:
    hint = "it was signed with another key, or of another batch: release with the same key"
    return Exists("output", "must not hold another batch of this name", str(path), hint)


def _id_of(path: Path) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return batch_id_in(pq.read_schema(path))
    except (pa.ArrowException, OSError):
        return None


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unwritable("output", path, error) from None


def _in_order(spool: Spool, batch: Batch, folder: Path) -> Iterator[Rows]:
    """All messages in the order of their keys; many of them a pile at a time, in nameless files."""
    width = KEY_BYTES + spool.setting.shape.message_length
    if batch.messages * width <= IN_MEMORY:
        yield _sorted(b"".join(spool.rows_of(batch)), width)
        return
    with ExitStack() as stack:
        piles = open_piles(folder, stack)
        for rows in _chunks(spool, batch, width):
            throw(rows, rows[:, 0], piles)
        for pile in piles:
            pile.seek(0)
            yield _sorted(pile.read(), width)
            pile.close()


def _sorted(content: bytes, width: int) -> Rows:
    """Messages in the order of the keys in front of them, without the keys."""
    return sorted_by_key(np.frombuffer(content, np.uint8).reshape(-1, width))[:, KEY_BYTES:]


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
