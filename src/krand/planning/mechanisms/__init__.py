"""How much noise each mechanism needs, and what it promises: the part of this room.

`krand.survey.mechanisms` has the values themselves; a part belongs to the one of the same code.
"""

from krand.planning.mechanisms.both import BothMechanisms
from krand.planning.mechanisms.devices import DevicesPart
from krand.planning.mechanisms.mixers import MixersPart
from krand.planning.mechanisms.part import PlanningPart, QuickPlan
from krand.survey.mechanisms import BOTH, DEVICES, MIXERS, Mechanism

__all__ = ["PlanningPart", "QuickPlan", "part_of", "parts", "register"]

_PARTS: dict[str, PlanningPart] = {}


def register(mechanism: Mechanism, part: PlanningPart) -> None:
    """Make known how a mechanism is planned."""
    _PARTS[mechanism.code] = part


def part_of(mechanism: Mechanism) -> PlanningPart:
    """How a mechanism is planned."""
    return _PARTS[mechanism.code]


def parts() -> tuple[PlanningPart, ...]:
    """All that are known, those of krand first."""
    return tuple(_PARTS.values())


register(DEVICES, DevicesPart())
register(MIXERS, MixersPart())
register(BOTH, BothMechanisms())
