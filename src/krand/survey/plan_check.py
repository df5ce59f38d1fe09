"""Whether the parts of a plan fit together, and it is the one that was published: what any device
can check. That its noise keeps its survey's policy takes mathematics: see
`krand.planning.promises`.
"""

from __future__ import annotations

from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.lanes import lanes_of
from krand.survey.plan import Plan
from krand.survey.rules import HINT


def check_pinned(plan: Plan, expected_hash: str) -> None:
    """Refuse a plan with another hash than the one that was published."""
    if plan.hash != expected_hash.lower():
        rule = f"must have the hash that is expected, {expected_hash}"
        hint = "it is another plan, or was changed: get the plan with the hash that was published"
        raise InvalidInput("plan", rule, plan.hash, hint)


def check_parts(plan: Plan) -> None:
    """Refuse a plan whose noise or lanes are not of its survey's kind and shape."""
    _check_numerators(plan)
    _check_lanes(plan)
    if plan.survey.trust.has_dummies:
        _check_laws(plan)
    if bool(plan.mixers) != (plan.analyst is not None):
        rule = "must be there together with the analyst, or neither"
        raise InvalidInput("mixers", rule, len(plan.mixers), HINT)


def _check_numerators(plan: Plan) -> None:
    """One for each block, and one for all bits of a whole record."""
    wanted = 0 if plan.survey.trust.has_dummies else len(plan.layout.blocks)
    if len(plan.numerators) != wanted:
        rule = f"must be {wanted:,}, one for each question or group whose bits devices flip"
        raise InvalidInput("numerators", rule, len(plan.numerators), HINT)
    different = sorted(set(plan.numerators))
    if plan.survey.linkage is Linkage.RECORD and len(different) > 1:
        rule = "must be the same for all bits of whole records"
        raise InvalidInput("numerators", rule, different, HINT)


def _check_lanes(plan: Plan) -> None:
    """They follow from the survey, but for the room that flips of devices are given."""
    survey, layout, told = plan.survey, plan.layout, plan.lanes
    has_room = survey.linkage is Linkage.BIT and not survey.trust.has_dummies
    rooms = [lane.messages for lane in told[: len(layout.blocks)]]
    rooms += [1] * (len(layout.blocks) - len(rooms))
    true = lanes_of(survey, layout, rooms if has_room else ())
    if len(told) != len(true):
        rule = f"must be {len(true):,}, as the survey's questions make them"
        raise InvalidInput("lanes", rule, len(told), HINT)
    for lane, other in zip(told, true, strict=True):
        for name in ("block", "offset", "positions", "messages", "records"):
            found, wanted = getattr(lane, name), getattr(other, name)
            if found != wanted:
                rule = f"must be {wanted!r}, as the survey's questions make it"
                raise InvalidInput(f"lanes[{lane.number}].{name}", rule, found, HINT)


def _check_laws(plan: Plan) -> None:
    """Every lane has a law, lanes of one block the same: the promise counts it once. Every law is
    there once, in the order of lanes."""
    of_block: dict[str, int] = {}
    for lane in plan.lanes:
        field = f"lanes[{lane.number}]"
        if lane.law is None or not lane.law < len(plan.laws):
            rule = f"must name one of {len(plan.laws):,} laws"
            raise InvalidInput(f"{field}.law", rule, lane.law, HINT)
        if of_block.setdefault(lane.block, lane.law) != lane.law:
            rule = f"must be the same for all lanes of {lane.block}"
            raise InvalidInput(f"{field}.law", rule, lane.law, HINT)
        if lane.padding and lane.messages == 1:
            rule = "must be 0 where a person sends one message"
            raise InvalidInput(f"{field}.padding", rule, lane.padding, HINT)
    used = list(dict.fromkeys(of_block.values()))
    if used != list(range(len(plan.laws))) or len(set(plan.laws)) != len(plan.laws):
        rule = "must be different, each used, and in the order of lanes"
        raise InvalidInput("laws", rule, len(plan.laws), HINT)


class CrowdTooSmall(InvalidInput):
    """Fewer people than the noise was planned for: each of them would be less hidden."""


def check_crowd(plan: Plan, people: int) -> None:
    """Refuse a crowd that is smaller than the promise needs; there is no way to insist."""
    planned = plan.crowd_needed
    if people < planned:
        raise CrowdTooSmall(
            "people",
            f"must be at least the planned crowd of {planned:,}",
            people,
            "wait for more people, or plan the survey anew for a smaller crowd",
        )


def check_round(plan: Plan, round_number: int) -> None:
    """Refuse a round that was not planned."""
    first, last = plan.survey.first_round, plan.survey.rounds
    if not first <= round_number <= last:
        raise InvalidInput("round", f"must be from {first:,} to {last:,}", round_number)
