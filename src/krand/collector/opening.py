"""The store of a plan: the one place that chooses which kind it is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from krand.collector.sqlite.round import round_in
from krand.collector.sqlite.spool import Spool
from krand.collector.store import Round, SpoolConfig, Store
from krand.errors import InvalidInput
from krand.planning.promises import check_promise
from krand.survey.plan import Plan
from krand.survey.plan_check import check_round
from krand.wire.keys import analyst_key_of
from krand.wire.mixers import check_mixers
from krand.wire.submissions import format_of


def config_of(plan: Plan, round_number: int = 1) -> SpoolConfig:
    """What the store of a plan and round is for. The plan must have the analyst's key, and name
    the collector and all other mixers.
    """
    analyst_key_of(plan)
    check_round(plan, round_number)
    check_mixers(plan)
    return SpoolConfig(
        plan_hash=plan.hash,
        crowd=plan.smallest_batch,
        format=format_of(plan, round_number),
        lanes=tuple(lane.messages for lane in plan.lanes),
    )


def open_spool(
    plan: Plan,
    folder: Path,
    round_number: int = 1,
    *,
    create: bool = True,
    id_key: Path | None = None,
) -> Store:
    """The store in a folder, made if `create` is set and there is none.

    `id_key` names the file with the key of its ids.
    """
    if not create and not _exists(folder):
        raise _not_a_spool(folder)
    check_promise(plan)
    return Spool(folder, config_of(plan, round_number), id_key)


def read_round(plan: Plan, folder: Path, round_number: int = 1) -> Round:
    """The round of the store in a folder, without disturbing the collector that has it open."""
    file, config = folder / "spool.sqlite", config_of(plan, round_number)
    if not file.exists():
        raise _not_a_spool(folder)
    return round_in(file, config)


def _not_a_spool(folder: Path) -> InvalidInput:
    hint = "krand serve makes it when it starts"
    return InvalidInput("spool", "must be a collector's folder", str(folder), hint)


def _exists(folder: Path) -> bool:
    """Whether a spool was begun. One that has lost its content exists, and is damaged."""
    found = []
    for name in ("spool.sqlite", "spool.mark"):
        with suppress(OSError):  # without following a link: opening the spool refuses it
            found.append((name, (folder / name).lstat().st_size))
    return "spool.sqlite" in dict(found) and any(size for _, size in found)
