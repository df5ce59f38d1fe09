"""pick_any: any of a list, a position for each item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from krand.errors import InvalidInput
from krand.survey.choices import Choices, as_choices
from krand.survey.kinds.lists import LIST_KEYS, LIST_SCHEMA, choice_meant, place_of
from krand.survey.kinds.question import Key, Kind, Several
from krand.survey.rules import MAX_CHOICES, Broken


@dataclass(frozen=True, slots=True, kw_only=True)
class PickAny(Several):
    """Any of a list, or at most so many of them.

    >>> from krand import PickAny
    >>> PickAny(name="tools", choices=["hammer", "saw", "drill"], at_most=2).most_ones
    2
    """

    choices: Choices
    at_most: int | None = None
    kind = Kind.PICK_ANY
    summary = "Any of a list."
    closed = True
    worded = ("choices",)
    keys = (
        *LIST_KEYS,
        Key(
            name="at_most",
            form=int,
            says="The most that one person may pick: fewer means less noise.",
            example=3,
            limits={"ge": 1, "le": MAX_CHOICES},
        ),
    )
    schema = LIST_SCHEMA

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", as_choices(self.choices))
        Several.__post_init__(self)

    def _own_rules(self) -> Iterator[Broken]:
        if self.at_most is not None:
            yield from _at_most_rules(self.at_most, len(self.choices))

    @classmethod
    def pair_rules(cls, values: Mapping[str, Any]) -> Iterator[Broken]:
        if "choices" in values and "at_most" in values:
            yield from _at_most_rules(values["at_most"], len(values["choices"]))

    @classmethod
    def arguments(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {"choices": Choices(values["choices"]), "at_most": values.get("at_most")}

    def own_values(self) -> dict[str, Any]:
        return {"choices": list(self.choices), "at_most": self.at_most}

    @property
    def positions(self) -> int:
        return len(self.choices)

    @property
    def most_ones(self) -> int:
        return len(self.choices) if self.at_most is None else self.at_most

    @property
    def most_answers(self) -> int:
        return self.most_ones

    def encode(self, survey_id: str, answer: object) -> set[int]:
        if not isinstance(answer, (list, tuple, set, frozenset)):
            raise InvalidInput(self.name, "must be a list of choices", answer)
        picked = {place_of(self.name, self.choices, item) for item in answer}
        if len(picked) > self.most_ones:
            rule = f"must be at most {self.most_ones} of its choices"
            raise InvalidInput(self.name, rule, f"{len(picked)} choices")
        return picked

    def position_name(self, position: int) -> str:
        return self.choices[position]

    def find(self, label: str) -> int | None:
        return self.choices.find(label)

    def read_cell(self, value: Any) -> Any:
        return choice_meant(self.choices, value)

    def torn_by(self, separator: str) -> str | None:
        return _choice_with(self.choices, separator)

    def identity(self, answer: object) -> object:
        return place_of(self.name, self.choices, answer)

    def places_of(self, answer: object) -> set[int]:
        return self.encode("", answer)

    def place_named(self, answer: object) -> int:
        return place_of(self.name, self.choices, answer)


def _at_most_rules(at_most: int, choices: int) -> Iterator[Broken]:
    """Nobody can pick more than there is."""
    if isinstance(at_most, bool) or not isinstance(at_most, int) or not 1 <= at_most <= choices:
        rule = f"must be a whole number from 1 to the number of choices, {choices:,}"
        yield Broken(("at_most",), rule, at_most, "leave at_most out if people may pick all")


@lru_cache(maxsize=100)
def _choice_with(choices: Choices, separator: str) -> str | None:
    return next((choice for choice in choices if separator in choice), None)
