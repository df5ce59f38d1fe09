"""What a count of each mechanism follows: the part of this room, and the models of counts.

`krand.survey.mechanisms` has the values themselves; a part belongs to the one of the same code.
"""

from krand.analysis.mechanisms.devices import DevicesPart
from krand.analysis.mechanisms.mixers import MixersPart
from krand.analysis.mechanisms.models import AnalysisPart
from krand.survey.mechanisms import DEVICES, MIXERS, Parts

__all__ = ["AnalysisPart", "part_of", "register"]

_PARTS: Parts[AnalysisPart] = Parts("analysis")
register, part_of = _PARTS.register, _PARTS.of

register(DEVICES, DevicesPart())
register(MIXERS, MixersPart())
