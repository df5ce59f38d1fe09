"""Who adds the noise that hides a person: a value for each way, which a survey holds.

Code asks the value, and never which one it is. What planning, analysis and words know of a
mechanism stands in their own rooms, under the same code.
"""

from krand.survey.mechanisms.devices import Devices
from krand.survey.mechanisms.mechanism import (
    Mechanism,
    Parts,
    mechanism_of,
    mechanisms,
    register,
)
from krand.survey.mechanisms.mixers import Mixers

__all__ = [
    "DEVICES",
    "MIXERS",
    "Mechanism",
    "Parts",
    "mechanism_of",
    "mechanisms",
    "register",
]

DEVICES = register(Devices())
MIXERS = register(Mixers())
