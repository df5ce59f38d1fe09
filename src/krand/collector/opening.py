"""From a plan to its spool."""

from __future__ import annotations

import os
from pathlib import Path

from krand.client.randomizer import message_format
from krand.collector.spool import Spool, SpoolConfig
from krand.errors import InvalidInput
from krand.planning.checking import check_promise
from krand.survey.limits import check_round
from krand.survey.plan import Plan
from krand.wire.keys import analyst_key_of
from krand.wire.submissions import SubmissionFormat

__all__ = ["open_spool", "setting_of"]


def setting_of(plan: Plan, round_number: int = 1) -> SpoolConfig:
    """What the spool of a plan and round is for; a plan without a key collects nothing sealed."""
    analyst_key_of(plan)
    check_round(plan, round_number)
    shape = SubmissionFormat(round_number, message_format(plan).sealed_length, plan.messages)
    return SpoolConfig(plan.hash, plan.promise.population, shape)


def open_spool(
    plan: Plan,
    folder: Path,
    round_number: int = 1,
    *,
    create: bool = True,
    id_key: Path | None = None,
) -> Spool:
    """The spool in a folder, new if it may be; otherwise nothing is made.

    `id_key` names the file with the key of its ids.
    """
    if not create and not _is_there(folder):
        hint = "krand serve makes it when it starts"
        raise InvalidInput("spool", "must be a collector's folder", str(folder), hint)
    check_promise(plan)
    return Spool(folder, setting_of(plan, round_number), id_key)


def _is_there(folder: Path) -> bool:
    """Whether a spool was begun: one that has lost its content is there, and damaged."""
    file, mark = folder / "spool.sqlite", folder / "spool.mark"
    return os.path.lexists(file) and any(map(_has_content, (file, mark)))


def _has_content(path: Path) -> bool:
    """A link is looked at itself; opening the spool refuses it."""
    try:
        return path.lstat().st_size > 0
    except OSError:
        return False
