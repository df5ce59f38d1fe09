"""The analyst's part of a round: its batch becomes a tally, results and a report.

It runs in a job: a process without a network, which reads the batch and the analyst's key, and
writes into the folder of the results alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from krand.analysis.results import Results, make_results
from krand.analysis.results_file import read_results
from krand.analysis.tallying import batch_in, tally_sources
from krand.analysis.trends.trend import make_trend
from krand.files import write_atomically
from krand.report import report_page
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.wire.keys import read_private_key

PLAN, TREND = "plan.json", "trend.html"


def count(plan_file: Path, batch: Path, key: Path, folder: Path) -> dict[str, Any]:
    """Count a batch, whose chain is beside it; what is to be told of it."""
    plan = read_plan(plan_file)
    write_atomically("plan", folder / PLAN, plan.bytes)
    source = batch_in(plan, [batch])
    tally = tally_sources(plan, [source], key=read_private_key(key))
    tally.save(_path(folder, "tally.json", plan, source.round))
    results = make_results(plan, tally)
    results.save(_path(folder, "results.json", plan, source.round))
    told = {"round": source.round, "people": results.people}
    if plan.survey.schedule is None:
        return told | {"report": str(_report(folder, plan, (results,)))}
    return told | _follow(folder, plan, source.round)


def report_of(folder: Path, plan: Plan, number: int) -> Path:
    """Where the report of a round is, or will be."""
    return _path(folder, "report.html", plan, number)


def _path(folder: Path, name: str, plan: Plan, number: int) -> Path:
    stem, dot, ending = name.partition(".")
    return folder / (name if plan.survey.rounds == 1 else f"{stem}-{number}{dot}{ending}")


def _follow(folder: Path, plan: Plan, number: int) -> dict[str, Any]:
    """The reports of this round and of later ones, each with the trend up to it; the page of all.

    Means and tests cost no privacy.
    """
    own = [read_results(path) for path in folder.glob("results-*.json")]
    found = sorted([*_earlier(folder, plan), *own], key=lambda each: each.round)
    for place, results in enumerate(found, 1):
        if results.round >= number:
            _report(folder, plan, tuple(found[:place]))
    told = {"report": str(report_of(folder, plan, number)), "rounds": len(found)}
    if len(found) > 1:
        make_trend(tuple(found)).save(folder / TREND)
        told["trend"] = str(folder / TREND)
    return told


def _earlier(folder: Path, plan: Plan) -> Iterator[Results]:
    """Results of the plans that this one continues, whose folders are beside its own."""
    schedule = plan.survey.schedule
    assert schedule is not None
    for path in folder.parent.glob(f"*/{PLAN}") if schedule.first > 1 else ():
        other = read_plan(path).survey.schedule
        if path.parent != folder and other is not None and other.campaign == schedule.campaign:
            found = map(read_results, path.parent.glob("results-*.json"))
            yield from (each for each in found if each.round < schedule.first)


def _report(folder: Path, plan: Plan, rounds: tuple[Results, ...]) -> Path:
    """The report of the last of these rounds."""
    path = report_of(folder, plan, rounds[-1].round)
    trend = make_trend(rounds) if len(rounds) > 1 else None
    write_atomically("report", path, report_page(rounds[-1], trend=trend))
    return path
