"""What is said about each mechanism: in plans, in results, on pages and in commands.

Another package registers the words of its own mechanism with `register`.
"""

from krand.survey.mechanisms import DEVICES, MIXERS, Parts
from krand.wording.mechanisms.devices import DevicesWords
from krand.wording.mechanisms.mixers import MixersWords
from krand.wording.mechanisms.words import Card, MechanismWords

__all__ = [
    "Card",
    "DevicesWords",
    "MechanismWords",
    "MixersWords",
    "register",
    "words_of",
]

_WORDS: Parts[MechanismWords] = Parts("wording")
register, words_of = _WORDS.register, _WORDS.of

register(DEVICES, DevicesWords())
register(MIXERS, MixersWords())
