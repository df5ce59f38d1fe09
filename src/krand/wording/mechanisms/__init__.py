"""What is said of noise of devices and of mixers: in plans, in results, on pages, in commands."""

from krand.wording.mechanisms.devices import DevicesWords
from krand.wording.mechanisms.mixers import MixersWords

__all__ = ["words_of"]

_DEVICES, _MIXERS = DevicesWords(), MixersWords()


def words_of(noise: str) -> DevicesWords | MixersWords:
    """The sentences about this noise, that of `devices` or of `mixers`."""
    return _MIXERS if noise == "mixers" else _DEVICES
