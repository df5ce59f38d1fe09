"""Whether a release is what its plan and its counts make it, and promises what they give."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from krand.analysis.actual_promise import absent_people, actual_promise, keeps_policy, resting_on
from krand.analysis.estimates.corruption import worst_shifts
from krand.analysis.estimates.reading import readable
from krand.analysis.estimates.rows import QUARTILES, EstimateOptions
from krand.analysis.published import PublishedRelease
from krand.analysis.published_file import published
from krand.analysis.results import ReleaseOptions, make_release
from krand.analysis.results_file import release_values
from krand.analysis.tally import Tally
from krand.analysis.verification.checks import Check, check, not_below, same
from krand.analysis.verification.comparing import differences
from krand.analysis.verification.estimates import estimate_checks
from krand.analysis.verification.plans import PlanFound, plan_checks, same_plan
from krand.analysis.verification.promises import policy_check, promise_check
from krand.analysis.verification.provenances import provenance_check
from krand.analysis.verification.recovering import Recovered, recovered
from krand.analysis.verification.tables import joint_check
from krand.errors import KrandError
from krand.survey.canonical import sha256_of
from krand.survey.plan import Plan, Promise
from krand.survey.questions import Kind

__all__ = ["release_checks", "tally_agrees"]

INSIDE = "plan."
"""In front of the checks of the plan inside."""


def release_checks(
    values: Mapping[str, Any], source: str, expected: Plan | None
) -> tuple[tuple[Check, ...], Plan | None]:
    """Everything that can be checked with the file, and with the plan if it is given.

    Also the plan inside, where it is one that can be.
    """
    release = published(values, source)
    name = sha256_of(values["plan"])
    told = release.plan_hash
    hashed = check(
        "plan_hash",
        [] if name == told else [f"the file says {told}, the plan inside has {name}"],
        f"the plan inside has the hash that the file says, {name}",
    )
    found = plan_checks(values["plan"], source)
    inside = (replace(entry, name=INSIDE + entry.name) for entry in found.checks)
    checks = (hashed, *same_plan(name, expected), *inside)
    if found.plan is None:
        return checks, None
    return (*checks, *_checks(found.plan, found, release)), found.plan


def _checks(plan: Plan, found: PlanFound, release: PublishedRelease) -> Iterator[Check]:
    rounds = plan.survey.rounds
    out = [] if 1 <= release.round <= rounds else [f"round {release.round:,} was not planned"]
    yield check("round", out, f"round {release.round:,} of {rounds:,} that were planned")
    yield check("crowd", _small_crowd(plan, release), _crowd(release))
    behind = recovered(plan, release)
    yield provenance_check(behind.tally)
    try:
        true = _promise(plan, found, behind.tally)
    except KrandError as error:
        yield Check("promise", False, str(error))
    else:
        refused = sum(release.rejected.values())
        of = f"a crowd of {release.crowd:,} and {refused:,} refused messages"
        yield promise_check(release.promise, true, of)
        yield _kept_check(plan, true, release.kept)
        yield policy_check(plan, true)
    yield from estimate_checks(plan, release, behind)
    if release.joint or plan.survey.together:
        yield joint_check(plan, release, behind)
    if release.words:
        says = "words are found by the false discovery rate that is claimed"
        yield check("words", _odd_words(plan, release), says)
    yield check(
        "shifts",
        _small_shifts(plan, release, behind),
        "what lying clients could have done is not played down",
    )


def _small_crowd(plan: Plan, release: PublishedRelease) -> Iterator[str]:
    planned = plan.survey.policy.population
    if release.crowd < planned:
        yield f"{release.crowd:,} people are fewer than the {planned:,} that were planned"
    if release.people < release.crowd * max(1, len(release.batches)):
        batches = max(1, len(release.batches))
        yield (
            f"{release.people:,} people cannot be {batches:,} batches of at least {release.crowd:,}"
        )


def _crowd(release: PublishedRelease) -> str:
    return (
        f"{release.people:,} people, nobody in a batch of fewer than {release.crowd:,}, which is as"
        " many as planned"
    )


def _promise(plan: Plan, found: PlanFound, tally: Tally) -> Promise:
    """The guarantee for the crowd; the planned crowd's own has been computed already."""
    policy = plan.survey.policy
    planned = policy.population, policy.colluding
    if found.true is not None and (tally.crowd, absent_people(plan, tally)) == planned:
        return resting_on(found.true, tally.provenance)
    return actual_promise(plan, tally)


def _kept_check(plan: Plan, true: Promise, told: bool) -> Check:
    kept = keeps_policy(plan, true)
    wrong = f"the file says that the survey's promise is {'' if told else 'not '}kept"
    says = f"the file says rightly that the survey's promise is {'' if kept else 'not '}kept"
    return check("kept", [] if kept == told else [wrong + ", which is not so"], says)


def _odd_words(plan: Plan, release: PublishedRelease) -> Iterator[str]:
    asked = {q.name for q in plan.survey.questions if q.kind is Kind.WORDS}
    for entry in release.words:
        if entry.question not in asked:
            yield f"{entry.question} is no question for words"
        for row in entry.rows:
            if row.found != (row.adjusted <= entry.false_discovery_rate):
                yield f"{entry.question}: {row.word!r:.60} is found or not against the rate"
            error = math.inf if row.standard_error is None else row.standard_error
            if row.readable != readable(np.asarray(error), release.people, entry.confidence):
                yield f"{entry.question}: whether {row.word!r:.60} can be read is told wrongly"
            if not row.low <= row.count <= row.high:
                yield f"{entry.question}: the interval of {row.word!r:.60} does not hold its count"
            if not same(row.count, min(max(row.unclipped, 0.0), release.people), release.people):
                yield f"{entry.question}: the count of {row.word!r:.60} is not its unclipped one"


def _small_shifts(plan: Plan, release: PublishedRelease, behind: Recovered) -> Iterator[str]:
    blocks = [block.name for block in plan.layout.blocks]
    if [shift.name for shift in release.shifts] != blocks:
        yield "not every question is there"
        return
    corrupted = release.shifts[0].corrupted
    try:
        true = worst_shifts(plan, behind.tally, corrupted)
    except KrandError as error:
        yield str(error)
        return
    for told, found in zip(release.shifts, true, strict=True):
        if told.corrupted != corrupted:
            yield f"{told.name} is about {told.corrupted:,} clients, others about {corrupted:,}"
        elif not not_below(told.too_high, found.too_high):
            yield f"{told.name}: too high by {told.too_high:,.1f}, really {found.too_high:,.1f}"
        elif not not_below(told.too_low, found.too_low):
            yield f"{told.name}: too low by {told.too_low:,.1f}, really {found.too_low:,.1f}"


def tally_agrees(values: Mapping[str, Any], source: str, plan: Plan, tally: Tally) -> Check:
    """Whether the whole release comes out again when the tally is estimated."""
    release = published(values, source)
    first = release.questions[0] if release.questions else None
    spreads = (q.distribution for q in release.questions if q.distribution is not None)
    levels = next((tuple(e.level for e in spread.quantiles) for spread in spreads), QUARTILES)
    options = ReleaseOptions(
        EstimateOptions()
        if first is None
        else EstimateOptions(first.confidence, first.sampling, levels),
        tuple(joint.table.questions for joint in release.joint),
        {entry.question: [row.word for row in entry.rows] for entry in release.words},
        release.shifts[0].corrupted if release.shifts else 1,
    )
    try:
        true = release_values(make_release(plan, tally, options))
    except KrandError as error:
        return Check("from_tally", False, str(error))
    told = {name: value for name, value in values.items() if name != "versions"}
    true.pop("versions")
    return check(
        "from_tally",
        differences(told, true, scale=float(release.people)),
        "the whole release comes out again when the tally is estimated",
    )
