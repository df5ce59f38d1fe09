"""Where responses come from: what may be said about a result depends on it."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from krand.errors import InvalidInput
from krand.survey.plain_values import digits

RANDOM_ID = re.compile(r"[0-9a-f]{32}")
RandomId = Annotated[str, digits(32)]
"""The id of a run: 128 random bits."""


class Provenance(StrEnum):
    """How noise was added to answers."""

    DEVICES = "devices"
    """On each person's device, or by mixers, each of which signed the batch."""
    TABLE = "table"
    """By a data holder who had all answers in a table."""
    SIMULATION = "simulation"
    """Nobody was asked: people and answers are made up."""


def is_random_id(value: object) -> bool:
    """Whether a value can be the id of a run: 128 random bits in hexadecimal."""
    return isinstance(value, str) and RANDOM_ID.fullmatch(value) is not None


def check_one_provenance(first: Provenance, other: Provenance) -> None:
    """Responses of different provenance are not added: no statement would be true of both."""
    if other is not first:
        rule, hint = f"must be {first.value} for all", "tally each kind separately"
        raise InvalidInput("provenance", rule, other.value, hint)
