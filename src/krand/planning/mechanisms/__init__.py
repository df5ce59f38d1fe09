"""How much noise each mechanism needs, and what it promises: the part of this room.

`krand.survey.mechanisms` has the values themselves; a part belongs to the one of the same code.
"""

from krand.planning.mechanisms.devices import DevicesPart
from krand.planning.mechanisms.mixers import MixersPart
from krand.planning.mechanisms.part import PlanningPart, QuickPlan
from krand.survey.mechanisms import DEVICES, MIXERS, Parts

__all__ = ["PlanningPart", "QuickPlan", "part_of", "parts", "register"]

_PARTS: Parts[PlanningPart] = Parts("planning")
register, part_of, parts = _PARTS.register, _PARTS.of, _PARTS.all

register(DEVICES, DevicesPart())
register(MIXERS, MixersPart())
