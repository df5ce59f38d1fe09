"""Release of a closed round: the collector is the first mixer, and then its spool forgets it.

The spool's messages go through a mixer's step lane after lane, in the order of their random keys.
Where devices add the noise, nothing is added to them. The mixer's store records what they became
before anything is visible outside. A release that was interrupted therefore writes the same bytes
again, and the spool forgets a round only when its files are on the disk.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from krand.collector.store import Messages, Round, State, Store
from krand.errors import InternalError, InvalidInput
from krand.files import ensure_directory, sync_folder, unwritable
from krand.mixing.mixer import MixedFiles, MixOptions, check_plan, first_mix
from krand.mixing.store import MixerStore
from krand.survey.plan import Plan

PIECE_BYTES = 2**22


@dataclass(frozen=True, slots=True)
class Released:
    """A round as it was closed, and the files that were written."""

    round: Round
    files: MixedFiles


def check_releasable(store: Store, mixer: MixerStore, plan: Plan) -> None:
    """Refuse a mixer's store that could not mix the spool's round: before that is closed."""
    _check_plan(store, plan)
    if check_plan(mixer, plan) != 1:
        rule = "must be the first mixer of the plan, the collector"
        raise InvalidInput("store", rule, mixer.name, "other mixers mix batches of the one before")
    number = store.config.format.round
    if mixer.is_closed(number):
        rule = "must be a round that the mixer's store has not closed"
        raise InvalidInput("round", rule, number, "the store mixes no more of its batches")


def release_closed(
    store: Store,
    mixer: MixerStore,
    plan: Plan,
    folder: Path,
    options: MixOptions | None = None,
) -> Released | None:
    """Mix a round that is closed, write its batch for the next mixer or the analyst, forget it.

    None if it is open, or released or erased already.
    """
    _check_plan(store, plan)
    closed = store.round()
    if closed.state is not State.CLOSED:
        return None
    store.check_people()
    ensure_directory("output", folder)
    _check_output(folder)
    # Nameless: it disappears with the process, however that ends.
    with _writing(folder), tempfile.TemporaryFile(dir=folder) as scratch:
        shape = store.config.format
        messages = _reserved(scratch, (closed.people * shape.messages, shape.message_length))
        _fill(messages, store, closed.people, folder)
        files = first_mix(mixer, plan, shape.round, closed.people, messages, folder, options)
        sync_folder(folder.parent)
    store.mark_released()
    return Released(closed, files)


def _check_output(folder: Path) -> None:
    """A released file is the only copy of its batch: others must not be able to remove it."""
    mode = folder.stat().st_mode
    if os.name == "posix" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        rule, hint = "must be a folder that not everybody can write to", f"chmod o-w {folder}"
        raise InvalidInput("output", rule, str(folder), hint)


def _fill(messages: Messages, store: Store, people: int, folder: Path) -> None:
    """Put every message to those of its lane, behind those that are there."""
    counts = np.array(store.config.lane_messages)
    ends = np.cumsum(people * counts)
    taken = ends - people * counts
    for numbers, rows in store.lane_messages(folder):
        ordered = rows[np.argsort(numbers, kind="stable")]
        here = np.bincount(numbers, minlength=len(counts))
        for lane, part in enumerate(np.split(ordered, np.cumsum(here)[:-1])):
            messages[taken[lane] : taken[lane] + len(part)] = part
        taken += here
    if (taken != ends).any():
        raise InternalError(f"{people} people: lanes end at {taken}, not at {ends}")


def _reserved(scratch: IO[bytes], shape: tuple[int, int]) -> Messages:
    """A memory map of a file that has all its space: later a full disk would end the process."""
    left = shape[0] * shape[1]
    while left:
        left -= scratch.write(bytes(min(left, PIECE_BYTES)))
    scratch.flush()
    return np.memmap(scratch, np.uint8, "r+", shape=shape)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Name the output if it cannot be written."""
    try:
        yield
    except OSError as error:
        raise unwritable("output", path, error) from None


def _check_plan(store: Store, plan: Plan) -> None:
    if plan.hash != store.config.plan_hash:
        raise InvalidInput("plan", "must be the plan of the spool", plan.hash)
