"""Each device flips bits: the promise needs a crowd, and a collector that keeps secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from krand.errors import InvalidInput
from krand.survey.lanes import LanePart
from krand.survey.mechanisms.mechanism import NEW_PLAN, NO_MIXERS, Mechanism
from krand.survey.rules import Broken

if TYPE_CHECKING:
    from krand.promise import Linkage
    from krand.survey.layout import Block
    from krand.survey.plan import Plan

COLLUDING_SHARE = 100
"""One in so many is counted on to hide nobody, where a survey does not say."""


@dataclass(frozen=True)
class Devices(Mechanism):
    """Flips of devices alone."""

    code: ClassVar[str] = "devices"
    has_dummies: ClassVar[bool] = False

    def trust_rules(self, linkage: Linkage | None, mixers: int) -> Iterator[Broken]:
        if mixers != 1:
            rule = 'must be 1 with noise = "devices", where mixers add no noise'
            hint = 'leave it out, or say noise = "mixers"'
            yield Broken(("trust", "mixers"), rule, mixers, hint)

    def policy_rules(self, max_local_epsilon: float | None) -> Iterator[Broken]:
        yield from ()

    def crowd_rules(self, raw: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[Broken]:
        """Noise of devices needs a crowd, of which two are honest."""
        if "minimum_crowd" not in raw:
            hint = "for example minimum_crowd = 100000"
            yield Broken(("minimum_crowd",), "must be given", None, hint)
        elif "minimum_crowd" in table:
            crowd = table["minimum_crowd"]
            yield from honest_rules(table.get("colluding", 0), crowd, f"at most {crowd - 2:,}")

    def fill_in(self, table: dict[str, Any]) -> None:
        table.setdefault("colluding", default_colluding(table["minimum_crowd"]))

    def schema(self) -> dict[str, Any]:
        return {
            "properties": {
                "trust": {"properties": {"mixers": {"const": 1}}},
                "policy": {"required": ["minimum_crowd"]},
            }
        }

    def lane_parts(self, block: Block, room: int) -> Iterator[LanePart]:
        """One lane with room for flips."""
        yield LanePart(block.name, block.offset, block.positions, room)

    def check_mixers(self, plan: Plan) -> None:
        raise InvalidInput("plan", NO_MIXERS, self.code, NEW_PLAN)

    def check_table(self) -> None:
        """The data holder adds the noise of all devices."""

    def crowd_needed(self, plan: Plan) -> int:
        return plan.promise.crowd

    def planned_crowd(self, minimum: int) -> int | None:
        return minimum

    def smallest_batch(self, plan: Plan) -> int:
        return plan.promise.crowd

    @property
    def signed_suffix(self) -> str:
        """The collector's manifest."""
        return ".manifest.json"

    def chain(self, mixers: int) -> int:
        return 0


def default_colluding(crowd: int) -> int:
    """How many people a plan counts on to hide nobody, where a survey does not say.

    Anybody may take part, so some will show what they sent, or add no noise. One in a hundred costs
    half a per cent of precision. In a small crowd it is one person all the same: a promise that a
    single person can break is none. At least two must be left to hide each other.
    """
    return min(max(1, -(-crowd // COLLUDING_SHARE)), crowd - 2)


def honest_rules(colluding: int, crowd: int, hint: str) -> Iterator[Broken]:
    """Two people must be left to hide each other."""
    if colluding > crowd - 2:
        rule = f"must leave at least 2 of the crowd of {crowd:,} honest"
        yield Broken(("colluding",), rule, colluding, hint)
