"""What a count follows where devices flip bits, and where mixers add dummies."""

from krand.analysis.mechanisms.devices import DevicesPart
from krand.analysis.mechanisms.mixers import MixersPart
from krand.analysis.mechanisms.models import AnalysisPart

__all__ = ["AnalysisPart", "part_of"]

_DEVICES, _MIXERS = DevicesPart(), MixersPart()


def part_of(noise: str) -> AnalysisPart:
    """What is known of counts with this noise, that of `devices` or of `mixers`."""
    return _MIXERS if noise == "mixers" else _DEVICES
