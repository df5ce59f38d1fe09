"""What is said about each mechanism: in plans, in results, on pages and in commands."""

from krand.survey.mechanisms import DEVICES, MIXERS, Parts
from krand.wording.mechanisms.devices import DevicesWords
from krand.wording.mechanisms.mixers import MixersWords

__all__ = ["DevicesWords", "MixersWords", "register", "words_of"]

_WORDS: Parts[DevicesWords | MixersWords] = Parts("wording")
register, words_of = _WORDS.register, _WORDS.of

register(DEVICES, DevicesWords())
register(MIXERS, MixersWords())
