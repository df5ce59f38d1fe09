"""Results files: JSON with everything, written and read back here and nowhere else.

Reading is strict: what is read is a whole and possible `Results`, or an error says what is wrong
with it. Whether the numbers are right is for `krand.analysis.verification` to say. Flat tables
(Parquet, CSV, Excel) are for other programs; krand does not read them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from krand.analysis.joint.tables import JointTable
from krand.analysis.results import FORMAT, Results
from krand.batches.provenance import Provenance
from krand.errors import InvalidInput, KrandError
from krand.files import json_object, read_whole
from krand.planning.coalitions import Coalition
from krand.promise import MAX_CROWD
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import (
    Malformed,
    infinite_epsilon,
    said_format,
    typed_fields,
)
from krand.survey.plan import Plan
from krand.survey.plan_file import parse_plan

RULE = f"must be a file of the format {FORMAT}"
HINT = "krand estimate writes it"


def read_results(path: str | Path) -> Results:
    """The results in a JSON file that krand wrote; no other file is needed.

    >>> from krand import make_results, randomize_table, read_results, tally_responses
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> results = make_results(plan, tally_responses(plan, ["responses.parquet"]))
    >>> results.save("results.json")
    >>> read_results("results.json") == results
    True
    """
    return results_in(json_object("results", read_whole("results", path), str(path)), str(path))


def results_in(values: Mapping[str, Any], source: str = "results") -> Results:
    """The results that plain data stands for, with the plan inside."""
    inside = plan_values(values, source)
    try:
        plan = parse_plan(canonical_json(inside), source)
    except KrandError as error:
        raise _broken(source, f"plan: {error}") from None
    if values.get("plan_hash") != plan.hash:
        raise _broken(source, f"plan_hash: should be that of the plan inside, {plan.hash}")
    return results_of(plan, values, source)


def plan_values(values: Mapping[str, Any], source: str = "results") -> dict[str, Any]:
    """The plan inside, as plain data, if this is a results file at all."""
    if values.get("format") != FORMAT:
        raise InvalidInput("results", RULE, source, f"format: {said_format(values)}; {HINT}")
    inside = values.get("plan")
    if not isinstance(inside, dict):
        raise _broken(source, "plan: should be an object")
    return inside


def results_of(plan: Plan, values: Mapping[str, Any], source: str = "results") -> Results:
    """Everything but the plan, which the caller has read; it need not be the one inside."""
    named = ("format", "plan", "plan_hash")
    rest = {name: value for name, value in values.items() if name not in named}
    if "promise" in rest:
        rest["promise"] = infinite_epsilon(rest["promise"])
    try:
        found = Results(plan=plan, **typed_fields(Results, rest, but="plan"))
    except Malformed as error:
        raise _broken(source, str(error)) from None
    for fault in _faults(found):
        raise _broken(source, fault)
    return found


def _broken(source: str, fault: str) -> InvalidInput:
    return InvalidInput("results", RULE, source, f"{fault}; {HINT}")


def _faults(found: Results) -> Iterator[str]:
    """What types cannot say: numbers that must be possible, tables that must be rectangular."""
    if not 1 <= found.people <= MAX_CROWD:
        yield f"people: should be from 1 to {MAX_CROWD:,}"
    sealed = found.plan.survey.trust.chain or found.provenance is Provenance.DEVICES
    if sealed and len(found.batches) != 1:
        yield "batches: should be one, as a round has"
    if found.asked and not found.plan.survey.has_conditions:
        yield "asked: should only be there with conditions"
    if not _can_collude(found):
        yield "coalitions: there are not so many people and mixers"
    levels = [
        *(question.confidence for question in found.questions),
        *(words.confidence for words in found.words),
        *(joint.table.confidence for joint in found.joint),
    ]
    if not all(0 < level < 1 for level in levels):
        yield "confidence: should be between 0 and 1, both excluded"
    for question in found.questions:
        sampling = question.sampling
        if not question.rows:
            yield f"questions: {question.name} has no answers"
        if sampling is not None and (sampling.population or math.inf) < found.people:
            yield f"questions: {question.name} is about fewer people than took part"
    for joint in found.joint:
        if not _is_rectangular(joint.table):
            yield f"joint: {' × '.join(joint.table.questions)} is not a whole table"


def _can_collude(found: Results) -> bool:
    mixers = found.plan.survey.trust.mixers
    return all(
        0 <= row.people < found.people
        and 0 <= row.mixers <= mixers
        and (mixers > 1 or row.coalition is not Coalition.OTHER_MIXERS)
        for row in found.coalitions
    )


def _is_rectangular(table: JointTable) -> bool:
    shape = tuple(len(labels) for labels in table.labels)
    parts = (
        *(table.counts, table.consistent, table.standard_errors, table.readable),
        *(table.interval.low, table.interval.high),
        *(table.simultaneous.low, table.simultaneous.high),
    )
    return (
        len(shape) >= 2
        and len(shape) == len(table.questions) == len(table.answers)
        and all(0 < most <= size for most, size in zip(table.answers, shape, strict=True))
        and all(part.shape == shape for part in parts)
    )
