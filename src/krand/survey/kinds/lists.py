"""What choice and pick_any share: a list of choices, in the survey or in a file beside it."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from krand.errors import InvalidInput
from krand.survey.choices import Choices
from krand.survey.kinds.question import MISSING, Key, is_nan
from krand.survey.rules import item_rules

LIST_KEYS = (
    Key(
        name="choices",
        form=list,
        says="The list itself.",
        example=["red", "blue"],
        rule=item_rules,
        schema={"items": {"type": "string"}, "minItems": 2, "uniqueItems": True},
    ),
    Key(
        name="choices_file",
        form=str,
        says="A file beside the survey: one choice per line, UTF-8, up to a million.",
        example="items.txt",
        limits={"min_length": 1},
    ),
    Key(
        name="choices_sha256",
        form=str,
        says="Pins the content of choices_file: another content is refused.",
        example="what sha256sum prints",
        limits={"pattern": "^[0-9a-f]{64}$"},
    ),
)
LIST_SCHEMA: Mapping[str, Any] = {
    "oneOf": [{"required": ["choices"]}, {"required": ["choices_file"]}]
}
FEW_CHOICES = 1_000
"""Looking for a similar choice among more than these takes too long."""
WHOLE = re.compile(r"(-?\d+)\.0+")


def place_of(question: str, choices: Choices, answer: object) -> int:
    """The place of an answer in the list; another answer is an error."""
    place = choices.find(answer) if isinstance(answer, str) else None
    if place is None:
        raise InvalidInput(question, "must be one of its choices", answer, _near(choices, answer))
    return place


def _near(choices: Choices, answer: object) -> str:
    near = []
    if isinstance(answer, str) and len(choices) <= FEW_CHOICES:
        near = difflib.get_close_matches(answer, choices, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    few = ", ".join(repr(choice) for choice in choices[:5])
    return f"the choices are {few}" + (
        f" and {len(choices) - 5:,} more" if len(choices) > 5 else ""
    )


def choice_meant(choices: Choices, value: Any) -> Any:
    """The choice that a cell means, if it is one only; else the value, which is then wrong."""
    if isinstance(value, bool) or is_nan(value):
        return value if isinstance(value, bool) else None
    if isinstance(value, str):
        return _of_text(choices, value)
    if isinstance(value, (int, float, Decimal)):
        found = [text for text in _spellings(value) if text in choices]
        return found[0] if len(found) == 1 else value
    return value


def _spellings(value: float | Decimal) -> list[str]:
    """How a text file could have the number."""
    if isinstance(value, int):
        return [str(value)]
    if math.isfinite(value) and value == int(value):
        return [str(int(value)), f"{int(value)}.0"]
    return [str(value.normalize() if isinstance(value, Decimal) else value)]


def _of_text(choices: Choices, value: str) -> str | None:
    text = value.strip()  # no choice begins or ends with a space
    whole = WHOLE.fullmatch(text)
    if text in choices:
        return text
    if whole and whole[1] in choices:
        return whole[1]
    variants = {text.lower(), text.upper(), text.title(), "NaN"}
    known = any(variant in choices for variant in variants if variant.lower() == text.lower())
    missing = not text or (text.casefold() in MISSING and not known)
    return None if missing else value
