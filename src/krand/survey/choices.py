"""A list of choices: short ones stand in the survey, long ones in a file beside it.

A list can have a million items, so finding one goes through an index that is built on first use,
and two lists are compared by their SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic_core import CoreSchema, core_schema

from krand.errors import InvalidInput
from krand.files import read_text
from krand.mistakes import Broken, path_text
from krand.models import wrong
from krand.survey.rules import item_rules

MAX_FILE_BYTES = 2**28


class Choices(tuple[str, ...]):
    """Different texts in a fixed order.

    >>> from krand import Choices
    >>> Choices(["cat", "dog"]).find("dog")
    1
    """

    def __new__(cls, items: Iterable[str]) -> Self:
        made = cls.of(items)
        for first in item_rules(made):
            field = path_text(("choices", *first.where))
            raise InvalidInput(field, first.rule, first.value, first.hint)
        return made

    @classmethod
    def of(cls, items: Iterable[str]) -> Self:
        """Items that keep the rules: nobody looks at a million of them twice."""
        return super().__new__(cls, items)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        plain = core_schema.plain_serializer_function_ser_schema(list)
        return core_schema.no_info_plain_validator_function(_read, serialization=plain)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": True}

    @cached_property
    def sha256(self) -> str:
        """Of the items, one per line: what `sha256sum` prints for a tidy file of them."""
        return hashlib.sha256("".join(f"{item}\n" for item in self).encode()).hexdigest()

    @cached_property
    def _index(self) -> dict[str, int]:
        return {item: place for place, item in enumerate(self)}

    def find(self, item: str) -> int | None:
        """The place of an item, counted from 0, or None."""
        return self._index.get(item)

    def __contains__(self, item: object) -> bool:
        return isinstance(item, str) and self.find(item) is not None

    def __repr__(self) -> str:
        few = ", ".join(repr(item) for item in self[:4])
        return f"Choices({few}{', …' if len(self) > 4 else ''}; {len(self):,} in all)"


def _read(items: Any) -> Choices:
    if isinstance(items, Choices):
        return items
    if not isinstance(items, (list, tuple)):
        hint = 'for example choices = ["red", "blue"]'
        raise wrong([Broken((), "must be a list", items, hint)])
    if broken := tuple(item_rules(items)):
        raise wrong(broken)
    return Choices.of(items)


def read_items(directory: Path, file: str) -> Choices:
    """The items of a file, one per line; raises what `wrong` makes."""
    if Path(file).is_absolute():
        hint = "put the list beside the survey file"
        raise wrong([Broken((), "must be relative to the survey file", file, hint)])
    try:
        text = read_text("choices_file", directory / file, MAX_FILE_BYTES).replace("\r\n", "\n")
    except InvalidInput as error:
        raise wrong([Broken((), error.rule, file, error.hint)]) from None
    items = tuple(text.removesuffix("\n").split("\n")) if text else ()
    faults = []
    for fault in item_rules(items):
        line = f"line {int(fault.where[0]) + 1} of {file}: " if fault.where else ""
        faults.append(Broken((), f"{line}{fault.rule}", fault.value, fault.hint))
    if faults:
        raise wrong(faults)
    return Choices.of(items)
