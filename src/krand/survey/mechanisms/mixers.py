"""Every mixer adds dummies: the promise needs one honest mixer, and no crowd."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.lanes import LanePart
from krand.survey.mechanisms.devices import honest_rules
from krand.survey.mechanisms.mechanism import NEW_PLAN, NO_MIXERS, SMALLEST_CROWD, Mechanism
from krand.survey.questions import Kind, Words
from krand.survey.rules import Broken

if TYPE_CHECKING:
    from krand.survey.layout import Block
    from krand.survey.plan import Plan

MOST_OPTIONS_APART = 32
"""A list of at most so many options has a lane for each of them."""


@dataclass(frozen=True)
class Mixers(Mechanism):
    """Dummies of mixers alone."""

    code: ClassVar[str] = "mixers"
    has_dummies: ClassVar[bool] = True

    def trust_rules(self, linkage: Linkage | None, mixers: int) -> Iterator[Broken]:
        if linkage is Linkage.RECORD:
            rule = 'must be "devices" with linkage = "record": dummies cannot cover all records'
            hint = 'analyse few questions jointly with [[together]] and linkage = "bit"'
            yield Broken(("trust", "noise"), rule, self.code, hint)

    def policy_rules(self, max_local_epsilon: float | None) -> Iterator[Broken]:
        if max_local_epsilon is not None:
            rule = f'cannot be kept with noise = "{self}": devices add no noise, so ε₀ has no limit'
            hint = 'leave it out, or say noise = "devices" in [trust]'
            yield Broken(("policy", "max_local_epsilon"), rule, max_local_epsilon, hint)

    def crowd_rules(self, raw: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[Broken]:
        """It needs no crowd; what is given must be one."""
        if "minimum_crowd" not in raw or "minimum_crowd" in table:
            crowd = table.get("minimum_crowd", SMALLEST_CROWD)
            hint = f'leave it out: with noise = "{self}" the promise holds however many collude'
            yield from honest_rules(table.get("colluding", 0), crowd, hint)

    def fill_in(self, table: dict[str, Any]) -> None:
        table.setdefault("minimum_crowd", SMALLEST_CROWD)
        table.setdefault("colluding", 0)

    def schema(self) -> dict[str, Any]:
        return {
            "not": {"properties": {"linkage": {"const": "record"}}, "required": ["linkage"]},
            "properties": {"policy": {"properties": {"max_local_epsilon": False}}},
        }

    def lane_parts(self, block: Block, room: int) -> Iterator[LanePart]:
        """One message; several for long lists and words, whose tables have a lane each."""
        question = block.questions[0]
        if block.kind is Kind.PICK_ANY and block.positions <= MOST_OPTIONS_APART:
            for place in range(block.positions):
                yield LanePart(block.name, block.offset + place, 1, 1)
        elif isinstance(question, Words):
            for table in question.tables:
                most = min(question.at_most, len(table))
                yield LanePart(block.name, block.offset + table.start, len(table), most)
        else:
            yield LanePart(block.name, block.offset, block.positions, block.most_ones)

    def check_mixers(self, plan: Plan) -> None:
        """Without laws of dummies nobody would add noise."""
        if not plan.mixing.laws:
            raise InvalidInput("plan", NO_MIXERS, self.code, NEW_PLAN)

    def check_table(self) -> None:
        rule = "must be a plan in which devices add the noise"
        hint = "there are no mixers between a data holder's table and its responses"
        raise InvalidInput("plan", rule, f"noise of {self}", hint)

    def crowd_needed(self, plan: Plan) -> int:
        return 1

    def planned_crowd(self, minimum: int) -> int | None:
        return None

    def smallest_batch(self, plan: Plan) -> int:
        """`minimum_crowd`, where the survey gives one above the least of 2."""
        asked = plan.survey.policy.minimum_crowd
        return 1 if asked == SMALLEST_CROWD else asked

    @property
    def signed_suffix(self) -> str:
        """The chain of all mixers."""
        return ".chain.json"

    def chain(self, mixers: int) -> int:
        return mixers
