"""Devices flip bits and mixers add dummies: both promises hold, each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from krand.survey.mechanisms.devices import Devices
from krand.survey.mechanisms.mixers import Mixers

if TYPE_CHECKING:
    from krand.survey.lanes import LanePart
    from krand.survey.layout import Block
    from krand.survey.rules import Broken


@dataclass(frozen=True)
class Both(Mixers):
    """Batches and their chain are those of mixers; crowd, messages and noise those of devices."""

    flips: Devices
    code: ClassVar[str] = "both"
    has_flips: ClassVar[bool] = True
    parts: ClassVar[tuple[str, ...]] = ("mixing", "flips")

    def policy_rules(self, max_local_epsilon: float | None, assurance: str) -> Iterator[Broken]:
        """Flips keep any ε₀."""
        yield from super().policy_rules(None, assurance)

    def crowd_rules(self, raw: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[Broken]:
        yield from self.flips.crowd_rules(raw, table)

    def fill_in(self, table: dict[str, Any]) -> None:
        self.flips.fill_in(table)

    def schema(self) -> dict[str, Any]:
        found = super().schema()
        policy = {"properties": {"assurance": {"const": "certified"}}}
        return {**found, "properties": {"policy": {**policy, "required": ["minimum_crowd"]}}}

    def lane_parts(self, block: Block, room: int) -> Iterator[LanePart]:
        yield from self.flips.lane_parts(block, room)

    def planned_crowd(self, minimum: int) -> int | None:
        return self.flips.planned_crowd(minimum)

    @property
    def least_numerator(self) -> int:
        return self.flips.least_numerator

    @property
    def has_room(self) -> bool:
        return self.flips.has_room
