"""Whether a plan is what its survey and its noise make it, and keeps what the survey asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from krand.analysis.checks import Check, check, failed, odd_names, passed, policy_check
from krand.analysis.mechanisms import part_of
from krand.errors import InvalidInput, KrandError
from krand.planning.promises import verify_promise
from krand.promise import Promise
from krand.showing import at_most, some
from krand.survey.canonical import canonical_json, sha256_of
from krand.survey.plain_values import Malformed, part, said_format
from krand.survey.plan import FORMAT, Plan
from krand.survey.plan_check import check_parts
from krand.survey.plan_file import noisy_plan
from krand.survey.survey import Survey
from krand.wire.mixers import check_mixers

MALFORMED = (KrandError, ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class PlanFound:
    """What the checks of a plan leave to go on with."""

    checks: tuple[Check, ...]
    plan: Plan | None = None
    """None where the survey or its noise is not even possible."""
    true: Promise | None = None
    """Computed from exactly its noise."""


def plan_file_checks(
    values: dict[str, Any], content: bytes, path: Path, expected: Plan | None
) -> PlanFound:
    """Everything about a plan file; `expected` is the plan that it must be, if one is given."""
    name, form = sha256_of(values), _canonical(values)
    written = check(
        "canonical",
        [] if form == content else ["the file is not in canonical form, so it has another hash"],
        f"the file is in canonical form; its SHA-256 is the plan's name, {name}",
    )
    found = plan_checks(values, str(path))
    return PlanFound((written, *same_plan(name, expected), *found.checks), found.plan, found.true)


def same_plan(name: str, expected: Plan | None) -> tuple[Check, ...]:
    """That a plan is the one that was given, if one was."""
    if expected is None:
        return ()
    faults = [] if name == expected.hash else [f"the plan given is {expected.hash}, this is {name}"]
    return (check("same_plan", faults, "the plan is the one that was given"),)


def plan_checks(values: Mapping[str, Any], source: str) -> PlanFound:
    """Survey, noise and lanes, parties, the promise of exactly this noise, the policy."""
    if values.get("format") != FORMAT:
        raise InvalidInput("plan", f"must have the format {FORMAT}", source, said_format(values))
    try:
        document = part(Mapping[str, Any], values, "survey")
    except Malformed as error:
        rule = f"must be a file of the format {FORMAT}"
        raise InvalidInput("plan", rule, source, str(error)) from None
    try:
        survey = Survey.read(document, "survey")
    except MALFORMED as error:
        return PlanFound((failed("survey", str(error)),))
    checks = [passed("survey", f"the survey {survey.id} keeps every rule")]
    try:
        plan = noisy_plan(survey, values)
        check_parts(plan)
    except MALFORMED as error:
        return PlanFound((*checks, failed("noise", str(error))))
    checks += [
        passed("noise", part_of(plan.survey.trust.noise).noise_said(plan)),
        passed(
            "lanes",
            f"{plan.layout.positions:,} positions and {some(plan.messages, 'message')} from each"
            " person follow from the survey's questions and the noise",
        ),
        *_mixers_checks(plan),
        check("nothing_else", odd_names(values, plan.values()), "the plan holds nothing else"),
    ]
    try:
        true = verify_promise(plan)
    except KrandError as error:
        broken = failed("promise", f"nothing can be promised with this noise: {error}")
        return PlanFound((*checks, broken), plan)
    return PlanFound((*checks, _promised(true), policy_check(plan, true)), plan, true)


def _promised(true: Promise) -> Check:
    """What comes out; whether that is enough is for the policy."""
    local = true.local_epsilon  # infinite where devices add no noise
    alone = "" if math.isinf(local) else f", ε₀ = {at_most(local)}"
    bounds = f"δ = {at_most(true.delta)}, η = {at_most(true.eta)}{alone}"
    return passed("promise", f"exactly this noise gives ε = {at_most(true.epsilon)}, {bounds}")


def _mixers_checks(plan: Plan) -> Iterator[Check]:
    """A plan may be checked before it names its mixers."""
    if not plan.mixers:
        return
    try:
        check_mixers(plan)
    except InvalidInput as error:
        yield failed("mixers", f"{error.field} {error.rule}, found {error.value}")
    else:
        yield passed("mixers", "every mixer is there once, with a key for each round")


def _canonical(values: dict[str, Any]) -> bytes:
    try:
        return canonical_json(values)
    except KrandError:
        return b""
