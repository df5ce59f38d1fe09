"""choice: one of a list, a position for each item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from krand.survey.choices import Choices, as_choices
from krand.survey.kinds.lists import LIST_KEYS, LIST_SCHEMA, choice_meant, place_of
from krand.survey.kinds.question import Kind, Leveled


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Leveled):
    """One of a list.

    >>> from krand import Choice
    >>> Choice(name="pet", choices=["cat", "dog", "none"]).positions
    3
    """

    choices: Choices
    kind = Kind.CHOICE
    summary = "One of a list."
    takes_statements = True
    worded = ("choices",)
    keys = LIST_KEYS
    schema = LIST_SCHEMA

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", as_choices(self.choices))
        Leveled.__post_init__(self)

    @classmethod
    def arguments(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {"choices": Choices(values["choices"])}

    def own_values(self) -> dict[str, Any]:
        return {"choices": list(self.choices)}

    @property
    def positions(self) -> int:
        return len(self.choices)

    def level_name(self, level: int) -> str:
        return self.choices[level]

    def level_of(self, answer: object) -> int:
        return place_of(self.name, self.choices, answer)

    def find(self, label: str) -> int | None:
        return self.choices.find(label)

    def read_cell(self, value: Any) -> Any:
        return choice_meant(self.choices, value)
