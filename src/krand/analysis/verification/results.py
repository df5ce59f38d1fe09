"""Whether results are what their plan and their counts make them, and promise what these give."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from krand.analysis.actual_promise import (
    absent_people,
    actual_coalitions,
    actual_promise,
    resting_on,
)
from krand.analysis.checks import (
    Check,
    check,
    differences,
    failed,
    not_checked,
    policy_check,
    promise_check,
    round_check,
    same,
)
from krand.analysis.estimates.intervals import readable
from krand.analysis.estimates.rows import QUARTILES
from krand.analysis.results import EVERYBODY, Results, ResultsOptions, make_results
from krand.analysis.results_file import plan_values, results_of
from krand.analysis.tally import Tally
from krand.analysis.tally_checks import crowd_check
from krand.analysis.verification.estimates import estimate_checks, joint_check
from krand.analysis.verification.plans import PlanFound, plan_checks, same_plan
from krand.analysis.verification.recovering import recovered
from krand.errors import KrandError
from krand.planning.coalitions import Coalition, Remainder
from krand.planning.promises import keeps_policy
from krand.promise import Promise
from krand.survey.canonical import sha256_of
from krand.survey.plan import Plan
from krand.survey.questions import Kind

INSIDE = "plan."
"""In front of the checks of the plan inside."""
_ANY_PLAN = not_checked(
    "same_plan",
    "whether this is the plan that people were shown: add it, --plan plan.json",
)


def results_checks(
    values: Mapping[str, Any], source: str, expected: Plan | None
) -> tuple[tuple[Check, ...], Results | None]:
    """Everything that can be checked with the file, and with the plan if it is given.

    What a tally is needed for is in `together`. Also the results, where the plan
    inside is one that can be.
    """
    inside = plan_values(values, source)
    name, told = sha256_of(inside), values.get("plan_hash")
    hashed = check(
        "plan_hash",
        [] if name == told else [f"the file says {told}, the plan inside has {name}"],
        f"the plan inside has the hash that the file says, {name}",
    )
    found = plan_checks(inside, source)
    of_plan = (replace(entry, name=INSIDE + entry.name) for entry in found.checks)
    checks = (hashed, *(same_plan(name, expected) or (_ANY_PLAN,)), *of_plan)
    if found.plan is None:
        return checks, None
    results = results_of(found.plan, values, source)
    return (*checks, *_checks(found, results)), results


def _checks(found: PlanFound, results: Results) -> Iterator[Check]:
    plan = results.plan
    yield round_check(plan, results.round)
    behind = recovered(plan, results)
    yield crowd_check(plan, behind.tally)
    try:
        true = _promise(plan, found, behind.tally)
    except KrandError as error:
        yield failed("promise", str(error))
    else:
        refused = sum(results.rejected.values())
        of = f"a crowd of {results.crowd:,} and {refused:,} refused messages"
        yield promise_check(results.promise, true, of)
        yield _kept_check(plan, true, results.kept)
        yield _coalitions_check(plan, results, behind.tally)
        yield policy_check(plan, true)
    yield from estimate_checks(plan, results, behind)
    if results.joint or plan.survey.together:
        yield joint_check(plan, results, behind)
    if results.words:
        says = "words are found by the false discovery rate that is claimed"
        yield check("words", _odd_words(plan, results), says)


def _promise(plan: Plan, found: PlanFound, tally: Tally) -> Promise:
    """The promise for the crowd; the planned crowd's own has been computed already."""
    policy = plan.survey.policy
    planned = policy.minimum_crowd, policy.colluding
    if found.true is not None and plan.laws:
        return replace(found.true, crowd=tally.crowd)
    if found.true is not None and (tally.crowd, absent_people(plan, tally)) == planned:
        return resting_on(found.true, tally.provenance)
    return actual_promise(plan, tally)


def _coalitions_check(plan: Plan, results: Results, tally: Tally) -> Check:
    """Every coalition is there, and nothing better is claimed than comes out when recomputed."""
    told, true = results.coalitions, actual_coalitions(plan, tally)
    if [_members(row) for row in told] != [_members(row) for row in true]:
        faults = ["the coalitions are not those of this plan and crowd"]
    else:
        pairs = zip(told, true, strict=True)
        odd = [row.coalition for row, most in pairs if _claims_more(row, most)]
        faults = [f"{coalition}: less remains than is claimed" for coalition in odd]
    says = "what remains when others work together is not overstated"
    return check("coalitions", faults, says)


def _members(row: Remainder) -> tuple[Coalition, int, int]:
    return row.coalition, row.people, row.mixers


def _claims_more(told: Remainder, true: Remainder) -> bool:
    """Whether another kind of protection is claimed, or a smaller number."""
    if told.remains is not true.remains:
        return True
    pairs = ((told.epsilon, true.epsilon), (told.delta, true.delta), (told.eta, true.eta))
    return any(
        (one is None) != (other is None)
        or (one is not None and other is not None and one < other and not same(one, other, other))
        for one, other in pairs
    )


def _kept_check(plan: Plan, true: Promise, told: bool) -> Check:
    kept = keeps_policy(plan.survey.policy, true)
    wrong = f"the file says that the survey's promise is {'' if told else 'not '}kept"
    says = f"the file correctly states that the survey's promise is {'' if kept else 'not '}kept"
    return check("kept", [] if kept == told else [wrong + ", which is not so"], says)


def _odd_words(plan: Plan, results: Results) -> Iterator[str]:
    asked = {q.name for q in plan.survey.questions if q.kind is Kind.WORDS}
    for entry in results.words:
        if entry.question not in asked:
            yield f"{entry.question} is not a question of type words"
        for row in entry.rows:
            if row.found != (row.adjusted <= entry.false_discovery_rate):
                yield f"{entry.question}: {row.word!r:.60} contradicts the false discovery rate"
            error = math.inf if row.standard_error is None else row.standard_error
            if row.readable != readable(np.asarray(error), results.people, entry.confidence):
                yield f"{entry.question}: whether {row.word!r:.60} can be read is stated wrongly"
            if not row.low <= row.count <= row.high:
                yield f"{entry.question}: the interval of {row.word!r:.60} does not hold its count"
            if not same(row.count, min(max(row.unclipped, 0.0), results.people), results.people):
                yield f"{entry.question}: the count of {row.word!r:.60} is not its unclipped one"


def tally_agrees(results: Results, plan: Plan, tally: Tally) -> Check:
    """Whether the same results come out again when the tally is estimated."""
    first = results.questions[0] if results.questions else None
    spreads = (q.distribution for q in results.questions if q.distribution is not None)
    levels = next((tuple(e.level for e in spread.quantiles) for spread in spreads), QUARTILES)
    sampling = None if first is None else first.sampling
    options = ResultsOptions(
        confidence=0.95 if first is None else first.confidence,
        sample_of=None if sampling is None else sampling.population or EVERYBODY,
        quantiles=levels,
        joint=tuple(joint.table.questions for joint in results.joint),
        candidates={entry.question: [row.word for row in entry.rows] for entry in results.words},
    )
    try:
        true = make_results(plan, tally, options)
    except KrandError as error:
        return failed("from_tally", str(error))
    # The plan inside has checks of its own, and other versions may give the same.
    told = replace(results, plan=plan, versions=true.versions)
    return check(
        "from_tally",
        differences(told, true, scale=float(results.people)),
        "the same results come out again when the tally is estimated",
    )
