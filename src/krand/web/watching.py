"""What the dashboard monitors: a plan, its collector's folder, results and address.

The spool is opened briefly and read-only, without touching its journal, so the collector is not
affected. The numbers of an open batch are as coarse as the collector's own metrics.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from krand.collector.batch_table import BatchTable
from krand.collector.checking import check_setting
from krand.collector.disk import Damage, named
from krand.collector.high_water_mark import LOOKS, Progress
from krand.collector.metrics import coarse, step_for
from krand.collector.opening import setting_of
from krand.collector.spool import Batch
from krand.collector.states import State
from krand.errors import InvalidInput, Unavailable
from krand.planning.checking import check_promise
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.web.asking import CollectorAddress, collector_address

__all__ = ["Crowd", "Watched", "crowd_of", "watched"]

WAIT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Watched:
    """What the options of krand web named."""

    plan: Plan
    spool: Path
    round: int = 1
    releases: Path | None = None
    collector: CollectorAddress | None = None


@dataclass(frozen=True, slots=True)
class Crowd:
    """A collector's progress; the numbers of the open batch are as coarse as its metrics."""

    population: int
    gathered: int
    """People in the open batch, rounded down to whole steps."""
    step: int
    batches: tuple[Batch, ...]

    def count(self, state: str) -> int:
        """The number of batches in a state."""
        return sum(batch.state == state for batch in self.batches)


def watched(
    plan_file: Path | None,
    spool: Path | None,
    round_number: int = 1,
    releases: Path | None = None,
    collector: str | None = None,
) -> Watched | None:
    """What to monitor, according to the options; None if they name nothing."""
    if plan_file is None or spool is None:
        given = {"plan": plan_file, "spool": spool, "releases": releases, "collector": collector}
        for name, value in given.items():
            if value is not None:
                rule = "must come with --plan and --spool"
                raise InvalidInput(name, rule, str(value), "the planner alone needs none of them")
        return None
    if releases is not None and not releases.is_dir():
        raise InvalidInput("releases", "must be a folder", str(releases))
    plan = read_plan(plan_file)
    check_promise(plan)
    setting_of(plan, round_number)  # refuses a round that was not planned
    address = None if collector is None else collector_address(collector)
    return Watched(plan, spool, round_number, releases, address)


def crowd_of(watch: Watched) -> Crowd:
    """The spool's batches as they are now."""
    batches = _batches(watch)
    population = watch.plan.promise.population
    step = step_for(population)
    shown = tuple(_coarse(batch, step) for batch in batches)
    return Crowd(population, shown[-1].people, step, shown)


def _coarse(batch: Batch, step: int) -> Batch:
    if batch.state is not State.OPEN:
        return batch
    people = coarse(batch.people, step)
    return Batch(batch.number, batch.state, batch.population, people, 0, None, "")


def _batches(watch: Watched) -> tuple[Batch, ...]:
    path, setting = watch.spool / "spool.sqlite", setting_of(watch.plan, watch.round)
    if not path.exists():
        hint = "krand serve creates it when it starts"
        raise InvalidInput("spool", "must be a collector's folder", str(watch.spool), hint)
    with named(path):
        acknowledged = _acknowledged(path.with_name("spool.mark"))  # first: the file only grows
        with closing(_reading(path)) as connection:
            connection.execute("BEGIN")
            table = BatchTable(connection, setting)
            if not table.exists():
                raise Unavailable("the collector is still creating its spool")
            check_setting(connection, setting)
            batches = tuple(entry.batch for entry in table.all())
            acknowledged.check_reached_by(table.progress())
    return batches


def _reading(path: Path) -> sqlite3.Connection:
    """A read-only connection, which does not block the process that writes."""
    address = f"{path.resolve().as_uri()}?mode=ro"
    return sqlite3.connect(address, WAIT_SECONDS, isolation_level=None, uri=True)


def _acknowledged(path: Path) -> Progress:
    """At least what has been acknowledged; the collector may be writing at the moment."""
    for _ in range(LOOKS - 1):
        try:
            return Progress.read(path.read_bytes())
        except Damage:
            pass
        except OSError:
            return Progress()
    return Progress.read(path.read_bytes())
