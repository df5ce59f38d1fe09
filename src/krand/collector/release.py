"""Release of a closed round: the collector is the first mixer, and then its spool forgets it.

The mixer's store records what the messages became; then the spool can never be mixed again, and has
no message any more; only then is the batch written for others. Whoever is interrupted goes on with
what was recorded, so that the same bytes are written.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from krand.collector.rounds import Round, State, errors_named
from krand.collector.spool import Spool
from krand.errors import InvalidInput
from krand.files import ensure_directory
from krand.mixing.mixer import MixedFiles, MixOptions, check_plan, first_mix, publish
from krand.mixing.store import MixerStore
from krand.storage import destroy


@dataclass(frozen=True, slots=True)
class Released:
    """A round as it was closed, and the files that were written."""

    round: Round
    files: MixedFiles


def check_releasable(spool: Spool, mixer: MixerStore) -> None:
    """Refuse a mixer's store that could not mix the spool's round: before that is closed."""
    if check_plan(mixer, spool.plan) != 1:
        rule = "must be the first mixer of the plan, the collector"
        raise InvalidInput("store", rule, mixer.name, "other mixers mix batches of the one before")
    if mixer.is_closed(spool.number):
        rule = "must be a round that the mixer's store has not closed"
        raise InvalidInput("round", rule, spool.number, "the store mixes no more of its batches")


def release_closed(
    spool: Spool, mixer: MixerStore, folder: Path, options: MixOptions | None = None
) -> Released | None:
    """Mix a round that is closed, forget it, write its batch for the next mixer or the analyst.

    None if it is open, if it was erased, or if its batch is written already.
    """
    closed, came = spool.round(), spool.path.with_name("in")
    if closed.state is State.CLOSED:
        ensure_directory("output", folder)
        _check_output(folder)
        spool.write(came)
        rows = np.memmap(came, np.uint8, "r").reshape(-1, spool.format.message_length)
        first_mix(mixer, spool.plan, spool.number, closed.people, rows, options)
        spool.forget()
    with errors_named(came):
        destroy(came)
    recorded = mixer.of_round(spool.number)
    if closed.state is State.CLOSED or (recorded is not None and not recorded.published):
        return Released(closed, publish(mixer, spool.number, folder))
    return None


def _check_output(folder: Path) -> None:
    """A released file is the only copy of its batch: others must not be able to remove it."""
    mode = folder.stat().st_mode
    if os.name == "posix" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        rule, hint = "must be a folder that not everybody can write to", f"chmod o-w {folder}"
        raise InvalidInput("output", rule, str(folder), hint)
