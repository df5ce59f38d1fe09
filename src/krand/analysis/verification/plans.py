"""Whether a plan is what its survey and its noise make it, and promises what they give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from krand.analysis.checks import (
    Check,
    check,
    differences,
    failed,
    odd_names,
    passed,
    policy_check,
    promise_check,
    same_bound,
)
from krand.analysis.mechanisms import part_of
from krand.errors import InvalidInput, KrandError
from krand.planning.checking import verify_promise
from krand.promise import Promise
from krand.showing import at_most, some
from krand.survey.canonical import canonical_json, sha256_of
from krand.survey.layout import Layout, layout_of
from krand.survey.plain_values import Malformed, infinite_epsilon, said_format, typed
from krand.survey.plan import FORMAT, Plan
from krand.survey.plan_file import plan_of
from krand.survey.reading import survey_from_document
from krand.survey.survey import Survey

SHAPE = ("name", "kind", "questions", "offset", "positions", "sensitivity", "most_ones")
PRECISION = ("sigma", "half_width_95", "half_width_percent")


@dataclass(frozen=True, slots=True)
class PlanFound:
    """What the checks of a plan leave to go on with."""

    checks: tuple[Check, ...]
    plan: Plan | None = None
    """None where the survey or its noise is not even possible."""
    true: Promise | None = None
    """Computed anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claimed:
    """What a plan says, as far as the checks need it to be of the right type."""

    survey: Mapping[str, Any]
    positions: int
    messages: int
    promise: Promise
    blocks: tuple[Mapping[str, Any], ...]
    analyst_key: str | None

    numerators: tuple[int, ...]


def _claimed(values: Mapping[str, Any], source: str) -> _Claimed:
    names = [field.name for field in fields(_Claimed) if field.name in values]
    told = {"analyst_key": None, **{name: values[name] for name in names}}
    if "promise" in told:
        told["promise"] = infinite_epsilon(told["promise"])
    blocks = told.get("blocks")
    told["numerators"] = [
        block.get("noise_numerator") if isinstance(block, dict) else None
        for block in (blocks if isinstance(blocks, list) else ())
    ]
    try:
        found: _Claimed = typed(_Claimed, told)
    except Malformed as error:
        rule = f"must be a file of the format {FORMAT}"
        raise InvalidInput("plan", rule, source, str(error)) from None
    return found


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
    """Survey, positions, noise, precision, messages, promise, policy."""
    if values.get("format") != FORMAT:
        raise InvalidInput("plan", f"must have the format {FORMAT}", source, said_format(values))
    told = _claimed(values, source)
    try:
        survey = survey_from_document(told.survey)
    except (KrandError, ValueError, TypeError, KeyError, AttributeError) as error:
        return PlanFound((failed("survey", str(error)),))
    survey_holds = passed("survey", f"the survey {survey.id} keeps every rule")
    layout = layout_of(survey)
    positions = check(
        "positions",
        _other_positions(values, layout),
        f"{layout.positions:,} positions follow from the survey's questions",
    )
    noise, plan = _planned(told, survey, values) if positions.holds else (None, None)
    if noise is None or plan is None:
        return PlanFound((survey_holds, positions, *([] if noise is None else [noise])))
    try:
        true = verify_promise(plan)
    except KrandError as error:
        broken = failed("promise", f"nothing can be promised with this noise: {error}")
        return PlanFound((survey_holds, positions, noise, broken), plan)
    promised = promise_check(told.promise, true, "exactly the plan's noise")
    follow, policy = _consequences(values, plan), policy_check(plan, told.promise, true)
    checks = (survey_holds, positions, noise, *follow, promised, policy)
    return PlanFound(checks, _as_told(values, plan), true)


def _planned(
    told: _Claimed, survey: Survey, values: Mapping[str, Any]
) -> tuple[Check, Plan | None]:
    """What follows from the survey and the noise that is claimed; no plan if that is impossible."""
    part = part_of(survey.trust.noise)
    faults = list(part.odd_noise(survey, told.numerators))
    if faults:
        return check("noise", faults, ""), None
    try:
        plan = part.rebuilt(survey, told.numerators, told.promise, values.get("mixing"))
    except (KrandError, ValueError, KeyError, TypeError, AttributeError) as error:
        return failed("noise", f"mixing: {error}"), None
    return passed("noise", part.noise_said(plan)), replace(plan, analyst_key=told.analyst_key)


def _as_told(values: Mapping[str, Any], plan: Plan) -> Plan:
    """The plan by its own name: what was computed may have other digits in it."""
    try:
        return plan_of(values)
    except (KrandError, ValueError, KeyError, TypeError, AttributeError):
        return plan


def _canonical(values: dict[str, Any]) -> bytes:
    try:
        return canonical_json(values)
    except KrandError:
        return b""


def _other_positions(values: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    blocks = values["blocks"]
    if (values["positions"], len(blocks)) != (layout.positions, len(layout.blocks)):
        yield (
            f"{values['positions']:,} positions in {len(blocks):,} blocks are claimed, the survey"
            f" makes {layout.positions:,} in {len(layout.blocks):,}"
        )
        return
    for told, block in zip(blocks, layout.blocks, strict=True):
        true = {name: getattr(block, name) for name in SHAPE if name not in ("kind", "questions")}
        true |= {"kind": block.kind.value, "questions": list(block.question_names)}
        for name in SHAPE:
            if not _is_exactly(told.get(name), true[name]):
                found = f"{told.get(name)!r:.60}, should be {true[name]!r:.60}"
                yield f"{block.name}: {name} is {found}"


def _is_exactly(told: Any, true: Any) -> bool:
    """Equal, and no truth value in place of a number."""
    return type(told) is type(true) and bool(told == true)


def _consequences(values: Mapping[str, Any], plan: Plan) -> Iterator[Check]:
    true = plan.values()
    yield check(
        "precision",
        _other_precision(values["blocks"], true["blocks"]),
        "the precision of every question follows from its noise",
    )
    sent = f"noise and policy need {some(plan.messages, 'message')} from each person"
    yield check("messages", _other_room(values, plan), sent + _too_few(plan))
    yield from part_of(plan.mechanism).plan_checks(plan, values)
    yield check(
        "shifts",
        differences(values.get("shifts"), true["shifts"], "shifts"),
        "how far one dishonest person can move a count follows from messages and noise",
    )
    yield check("nothing_else", odd_names(values, true), "the plan holds all that and nothing else")


def _other_room(values: Mapping[str, Any], plan: Plan) -> Iterator[str]:
    told, overflow = values["messages"], values.get("overflow")
    if told != plan.messages:
        yield f"noise and policy need {some(plan.messages, 'message')}, {told:,} claimed"
    elif not all(
        _is_exactly(told_block.get("messages", 0), block.room)
        for told_block, block in zip(values["blocks"], plan.blocks, strict=True)
    ):
        yield "the messages of a question are not those that its noise and the policy need"
    elif not same_bound(overflow, plan.overflow):
        yield f"an overflow of {overflow!r:.40} is claimed, it is {at_most(plan.overflow)}"


def _too_few(plan: Plan) -> str:
    if not plan.overflow:
        return ", and are never too few"
    return f"; a person's tokens exceed them with a probability of at most {at_most(plan.overflow)}"


def _other_precision(told: list[dict[str, Any]], true: list[dict[str, Any]]) -> Iterator[str]:
    names = (*PRECISION, "margins")
    for claimed, found in zip(told, true, strict=True):
        for name in names:
            for fault in differences(claimed.get(name), found.get(name), name):
                yield f"{found['name']}: {fault}, by its noise"
