"""What the dashboard monitors: a plan, its collector's folder, results and address.

The spool is read without disturbing the collector. The number of people in an open batch is as
coarse as `krand status` shows it to the same operator.
"""

from __future__ import annotations

import http.client
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import SplitResult

from krand.client.transport import collector_parts, connection_to
from krand.collector.opening import config_of, read_batches
from krand.collector.progress import coarse, step_for
from krand.collector.states import State
from krand.collector.store import Batch
from krand.errors import InvalidInput
from krand.planning.checking import check_promise
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan

RESPONSE_SECONDS = 2.0
"""How long a collector may take to say how it is."""


@dataclass(frozen=True, slots=True)
class CollectorAddress:
    """The address of a collector."""

    url: str
    parts: SplitResult


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether it responds, and whether it accepts submissions."""

    answers: bool
    ready: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What is monitored: what the options of krand web name, or a survey of krand run."""

    plan: Plan
    spool: Path | None
    """None where another party collects."""
    round: int = 1
    results: Path | None = None
    collector: CollectorAddress | None = None


@dataclass(frozen=True, slots=True)
class Crowd:
    """A collector's progress, as coarse as `krand status` shows it."""

    crowd: int
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
    results: Path | None = None,
    collector: str | None = None,
) -> Watched | None:
    """What to watch, from the options; None if none is given."""
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
    config_of(plan, round_number)  # refuses a round that was not planned
    address = None
    if collector is not None:  # an invalid address is rejected before any request
        address = CollectorAddress(collector, collector_parts("collector", collector))
    return Watched(plan=plan, spool=spool, round=round_number, results=results, collector=address)


def crowd_of(watch: Watched) -> Crowd:
    """The spool's batches as they are now."""
    assert watch.spool is not None
    batches = read_batches(watch.plan, watch.spool, watch.round)
    crowd = watch.plan.mechanism.smallest_batch(watch.plan)
    step = step_for(crowd)
    shown = tuple(_coarse(batch, step) for batch in batches)
    return Crowd(crowd, shown[-1].people, step, shown)


def _coarse(batch: Batch, step: int) -> Batch:
    if batch.state is not State.OPEN:
        return batch
    return replace(batch, people=coarse(batch.people, step), messages=0, sha256=None, id="")


def condition_of(address: CollectorAddress) -> Condition:
    """The current state; a collector that does not respond is not an error."""
    try:
        connection = connection_to(address.parts, RESPONSE_SECONDS)
        try:
            connection.request("GET", f"{address.parts.path.rstrip('/')}/readyz")
            return Condition(answers=True, ready=connection.getresponse().status == 200)
        finally:
            connection.close()
    except (OSError, http.client.HTTPException):
        return Condition(answers=False, ready=False)
