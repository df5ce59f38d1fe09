"""What is said about each mechanism: in plans, in results, on pages and in commands."""

from krand.survey.mechanisms import DEVICES, MIXERS, Mechanism
from krand.wording.mechanisms.devices import DevicesWords
from krand.wording.mechanisms.mixers import MixersWords

__all__ = ["words_of"]

_WORDS: dict[str, DevicesWords | MixersWords] = {
    DEVICES.code: DevicesWords(),
    MIXERS.code: MixersWords(),
}


def words_of(mechanism: Mechanism | str) -> DevicesWords | MixersWords:
    """The sentences of a mechanism, or of one's code."""
    return _WORDS[mechanism if isinstance(mechanism, str) else mechanism.code]
