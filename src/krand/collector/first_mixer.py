"""The collector as the first mixer: a sealed batch leaves with dummies, by way of a mixer's store.

The mixer's store records what a batch became before anything is visible outside. A release that was
interrupted therefore writes the same bytes again, and the spool forgets a batch only when its files
are on the disk.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from krand.collector.release import check_output, writing
from krand.collector.store import Batch, Messages, Store
from krand.errors import InternalError, InvalidInput
from krand.files import ensure_directory, sync_folder
from krand.mixing.mixer import MixedFiles, MixOptions, check_plan, first_mix
from krand.mixing.store import MixerStore
from krand.survey.plan import Plan

PIECE_BYTES = 2**22


@dataclass(frozen=True, slots=True)
class ReleasedMix:
    """A batch and the files that the first mixer wrote."""

    batch: Batch
    files: MixedFiles


def check_mixable(store: Store, mixer: MixerStore, plan: Plan) -> None:
    """Refuse a mixer's store that could not mix a batch of the spool: before one is closed."""
    _check_plan(store, plan)
    _check_mixer(mixer, plan, store.config.format.round)


def mix_sealed(
    store: Store,
    mixer: MixerStore,
    plan: Plan,
    folder: Path,
    options: MixOptions | None = None,
) -> tuple[ReleasedMix, ...]:
    """Mix every sealed batch, write it for the next mixer or the analyst, and forget it."""
    _check_plan(store, plan)
    sealed = [batch for batch in store.batches() if batch.state.is_waiting]
    if sealed:
        store.check_people()
        ensure_directory("output", folder)
        check_output(folder)
    return tuple(_released(store, mixer, plan, batch, folder, options) for batch in sealed)


def _released(
    store: Store,
    mixer: MixerStore,
    plan: Plan,
    batch: Batch,
    folder: Path,
    options: MixOptions | None,
) -> ReleasedMix:
    length, round_number = store.config.format.message_length, store.config.format.round
    batch = store.mark_releasing(batch)  # from now on nobody joins it
    # Nameless: it disappears with the process, however that ends.
    with writing(folder), tempfile.TemporaryFile(dir=folder) as scratch:
        messages = _reserved(scratch, (batch.people, plan.messages, length))
        _fill(messages, store, batch, folder)
        files = first_mix(mixer, plan, round_number, batch.id, messages, folder, options)
        sync_folder(folder.parent)
    store.mark_released(batch, files.link.output_sha256)
    return ReleasedMix(batch, files)


def _fill(messages: Messages, store: Store, batch: Batch, folder: Path) -> None:
    """Put every message at a place of its lane; the first axis is no person."""
    counts = np.array(store.config.lane_messages)
    firsts, taken = np.cumsum(counts) - counts, np.zeros(len(counts), np.int64)
    total = 0
    for numbers, rows in store.lane_messages(batch, folder):
        order = np.argsort(numbers, kind="stable")
        lanes, here = numbers[order], np.bincount(numbers, minlength=len(counts))
        places = taken[lanes] + np.arange(len(lanes)) - (np.cumsum(here) - here)[lanes]
        taken += here
        messages[places // counts[lanes], firsts[lanes] + places % counts[lanes]] = rows[order]
        total += len(rows)
    if total != batch.messages or (taken != batch.people * counts).any():
        raise InternalError(f"{total} messages in a batch of {batch.messages}, by lane {taken}")


def _reserved(scratch: IO[bytes], shape: tuple[int, ...]) -> Messages:
    """A memory map of a file that has all its space: later a full disk would end the process."""
    left = math.prod(shape)
    while left:
        left -= scratch.write(bytes(min(left, PIECE_BYTES)))
    scratch.flush()
    return np.memmap(scratch, np.uint8, "r+", shape=shape)


def _check_mixer(mixer: MixerStore, plan: Plan, round_number: int) -> None:
    if check_plan(mixer, plan) != 1:
        rule = "must be the first mixer of the plan, the collector"
        raise InvalidInput("store", rule, mixer.name, "other mixers mix batches of the one before")
    if mixer.is_closed(round_number):
        rule = "must be a round that the mixer's store has not closed"
        raise InvalidInput("round", rule, round_number, "the store mixes no more of its batches")


def _check_plan(store: Store, plan: Plan) -> None:
    plan.check_has_dummies()
    if plan.hash != store.config.plan_hash:
        rule = "must be the plan of the spool, in which mixers add the noise"
        raise InvalidInput("plan", rule, plan.hash)
