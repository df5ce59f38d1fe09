"""choice and pick_any: one or any of a list, in the survey or in a file; a position for each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from krand.errors import InvalidInput
from krand.mistakes import Broken, nearest
from krand.models import wrong
from krand.survey.choices import Choices, read_items
from krand.survey.kinds.question import MISSING, Leveled, Question, Several, is_nan
from krand.survey.rules import MAX_CHOICES

FEW_CHOICES = 1_000
"""Looking for a similar choice among more than these takes too long."""
WHOLE = re.compile(r"(-?\d+)\.0+")


def _items(file: Any, info: ValidationInfo) -> Any:
    """What a file of choices holds; `choices` takes it from here."""
    directory: Path | None = (info.context or {}).get("directory")
    if file is None:
        return None
    if directory is None:
        rule, hint = "must not stand in a plan", "make the plan again: the list itself goes into it"
        raise wrong([Broken((), rule, file, hint)])
    return read_items(directory, file)


def _pin(pinned: str | None, info: ValidationInfo) -> None:
    """The file is the one that was meant; afterwards nobody needs to know."""
    items = info.data.get("choices_file")
    if pinned is None or "choices_file" not in info.data:
        return
    if items is None:
        rule = "must only be given beside choices_file"
        raise wrong([Broken((), rule, pinned, "remove it")])
    if items.sha256 != pinned:
        rule = f"must be the SHA-256 of the items in the file, {items.sha256}"
        hint = "the list has changed: restore it, or make a new survey with the new hash"
        raise wrong([Broken((), rule, pinned, hint)])


def _listed(given: Any, info: ValidationInfo) -> Any:
    """The choices themselves, wherever they came from."""
    items = info.data.get("choices_file")
    if given is None and items is None and "choices_file" in info.data:
        hint = 'add choices = ["…", "…"] or choices_file = "items.txt"'
        raise wrong([Broken((), "choices or choices_file must be given", None, hint)])
    if given is not None and items is not None:
        raise wrong([Broken((), "must not be given beside choices_file", None, "keep one of them")])
    if "choices_file" not in info.data:  # which has a mistake, and that one is enough
        return Choices.of(())
    return items if given is None else given


NONE: Any = None


class Listed(Question):
    """A question with a list of choices."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["choices"]}, {"required": ["choices_file"]}]}
    )

    choices_file: Annotated[
        str | None,
        Field(min_length=1, exclude=True, examples=["items.txt"]),
        AfterValidator(_items),
    ] = None
    """A file beside the survey: one choice per line, UTF-8, up to a million."""
    choices_sha256: Annotated[
        str | None,
        Field(pattern="^[0-9a-f]{64}$", exclude=True, examples=["what sha256sum prints"]),
        AfterValidator(_pin),
    ] = None
    """Pins the content of choices_file: another content is refused."""
    choices: Annotated[
        Choices, BeforeValidator(_listed), Field(validate_default=True, examples=[["red", "blue"]])
    ] = Field(default=NONE)
    """The list itself."""

    @model_validator(mode="after")
    def _from_here_on_without_a_file(self) -> Self:
        self.__dict__["choices_file"] = None
        return self

    closed = True
    worded = ("choices",)

    @property
    def positions(self) -> int:
        return len(self.choices)

    def position_name(self, position: int) -> str:
        return self.choices[position]

    def find(self, label: str) -> int | None:
        return self.choices.find(label)

    def place_named(self, answer: object) -> int:
        """The place of an answer in the list; another answer is an error."""
        place = self.find(answer) if isinstance(answer, str) else None
        if place is None:
            hint = _near(self.choices, answer)
            raise InvalidInput(self.name, "must be one of its choices", answer, hint)
        return place

    def read_cell(self, value: Any) -> Any:
        """The choice that a cell means, if it is one only; else the value, which is then wrong."""
        if isinstance(value, bool) or is_nan(value):
            return value if isinstance(value, bool) else None
        if isinstance(value, str):
            return _of_text(self.choices, value)
        if isinstance(value, (int, float, Decimal)):
            found = [text for text in _spellings(value) if text in self.choices]
            return found[0] if len(found) == 1 else value
        return value


class Choice(Listed, Leveled):
    """One of a list.

    >>> from krand import Choice
    >>> Choice(name="pet", choices=["cat", "dog", "none"]).positions
    3
    """

    type: Literal["choice"] = "choice"
    takes_statements = True

    def level_name(self, level: int) -> str:
        return self.choices[level]

    def level_of(self, answer: object) -> int:
        return self.place_named(answer)


class PickAny(Listed, Several):
    """Any of a list, or at most so many of them.

    >>> from krand import PickAny
    >>> PickAny(name="tools", choices=["hammer", "saw", "drill"], at_most=2).most_ones
    2
    """

    type: Literal["pick_any"] = "pick_any"
    at_most: Annotated[int | None, Field(ge=1, le=MAX_CHOICES, examples=[3])] = None
    """The most that one person may pick: fewer means less noise."""

    def _rules(self) -> Iterator[Broken]:
        if self.at_most is not None and self.at_most > len(self.choices):
            rule = f"must be at most the number of choices, {len(self.choices):,}"
            hint = "leave at_most out if people may pick all"
            yield Broken(("at_most",), rule, self.at_most, hint)

    @property
    def most_ones(self) -> int:
        return len(self.choices) if self.at_most is None else self.at_most

    @property
    def most_answers(self) -> int:
        return self.most_ones

    def encode(self, survey_id: str, answer: object) -> set[int]:
        return self.places_of(answer)

    def places_of(self, answer: object) -> set[int]:
        if not isinstance(answer, (list, tuple, set, frozenset)):
            raise InvalidInput(self.name, "must be a list of choices", answer)
        picked = set(map(self.place_named, answer))
        if len(picked) > self.most_ones:
            rule = f"must be at most {self.most_ones} of its choices"
            raise InvalidInput(self.name, rule, f"{len(picked)} choices")
        return picked

    def torn_by(self, separator: str) -> str | None:
        return _choice_with(self.choices, separator)

    def identity(self, answer: object) -> object:
        return self.place_named(answer)


@lru_cache(maxsize=100)
def _choice_with(choices: Choices, separator: str) -> str | None:
    return next((choice for choice in choices if separator in choice), None)


def _near(choices: Choices, answer: object) -> str:
    few = ", ".join(repr(choice) for choice in choices[:5])
    more = f" and {len(choices) - 5:,} more" if len(choices) > 5 else ""
    looked_at = choices if len(choices) <= FEW_CHOICES else ()
    return nearest(answer, looked_at, f"the choices are {few}{more}", "{!r}")


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
