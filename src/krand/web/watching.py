"""What the dashboard watches: a plan, its collector's folder, its results, its address.

The spool is opened for reading only, for a moment, and without touching its journal: the collector
does not notice. What is told about an open batch is as coarse as the collector's own metrics.
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
    """What was named when the pages were started."""

    plan: Plan
    spool: Path
    round: int = 1
    results: Path | None = None
    collector: CollectorAddress | None = None


@dataclass(frozen=True, slots=True)
class Crowd:
    """How far a collector is; the open batch has no more digits than its metrics."""

    population: int
    gathered: int
    """People in the open batch, rounded down to whole steps."""
    step: int
    batches: tuple[Batch, ...]

    def count(self, state: str) -> int:
        """How many batches are in a state."""
        return sum(batch.state == state for batch in self.batches)


def watched(
    plan_file: Path | None,
    spool: Path | None,
    round_number: int = 1,
    results: Path | None = None,
    collector: str | None = None,
) -> Watched | None:
    """What to watch, as the options say it; None if they say nothing."""
    if plan_file is None or spool is None:
        given = {"plan": plan_file, "spool": spool, "results": results, "collector": collector}
        for name, value in given.items():
            if value is not None:
                rule = "must come with --plan and --spool"
                raise InvalidInput(name, rule, str(value), "the planner alone needs none of them")
        return None
    if results is not None and not results.is_dir():
        raise InvalidInput("results", "must be a folder", str(results))
    plan = read_plan(plan_file)
    check_promise(plan)
    setting_of(plan, round_number)  # refuses a round that was not planned
    address = None if collector is None else collector_address(collector)
    return Watched(plan, spool, round_number, results, address)


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
        hint = "krand serve makes it when it starts"
        raise InvalidInput("spool", "must be a collector's folder", str(watch.spool), hint)
    with named(path):
        acknowledged = _acknowledged(path.with_name("spool.mark"))  # first: the file only grows
        with closing(_reading(path)) as connection:
            connection.execute("BEGIN")
            table = BatchTable(connection, setting)
            if not table.exists():
                raise Unavailable("the collector is just making its spool")
            check_setting(connection, setting)
            batches = tuple(entry.batch for entry in table.all())
            acknowledged.check_reached_by(table.progress())
    return batches


def _reading(path: Path) -> sqlite3.Connection:
    """A connection that cannot write; the process that does so need not wait for it."""
    address = f"{path.resolve().as_uri()}?mode=ro"
    return sqlite3.connect(address, WAIT_SECONDS, isolation_level=None, uri=True)


def _acknowledged(path: Path) -> Progress:
    """What has been acknowledged, at least; the collector may just be writing it."""
    for _ in range(LOOKS - 1):
        try:
            return Progress.read(path.read_bytes())
        except Damage:
            pass
        except OSError:
            return Progress()
    return Progress.read(path.read_bytes())
