"""A list of choices: short ones stand in the survey, long ones in a file beside it.

A list can have a million items, so finding one goes through an index that is built on first use,
and two lists are compared by their SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from krand.errors import InvalidInput
from krand.survey.rules import MAX_CHOICES, Broken, item_rules, raise_first

MAX_FILE_BYTES = 2**28
SHOWN_FAULTS = 5
"""A file in the wrong encoding or format breaks every line; a few are enough to see why."""


class Choices(Sequence[str]):
    """Different texts in a fixed order.

    >>> from krand import Choices
    >>> Choices(["cat", "dog"]).find("dog")
    1
    """

    __slots__ = ("_index", "_items", "_sha256")

    def __init__(self, items: Iterable[str]) -> None:
        self._items = tuple(items)
        raise_first(item_rules(self._items), ("choices",))
        self._index: dict[str, int] | None = None
        self._sha256: str | None = None

    @property
    def sha256(self) -> str:
        """Of the items, one per line: what `sha256sum` prints for a tidy file of them."""
        if self._sha256 is None:
            text = "".join(f"{item}\n" for item in self._items)
            self._sha256 = hashlib.sha256(text.encode()).hexdigest()
        return self._sha256

    def find(self, item: str) -> int | None:
        """The place of an item, counted from 0, or None."""
        if self._index is None:
            self._index = {known: place for place, known in enumerate(self._items)}
        return self._index.get(item)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._items[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __contains__(self, item: object) -> bool:
        return isinstance(item, str) and self.find(item) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Choices):
            return NotImplemented
        return self._items == other._items

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        few = ", ".join(repr(item) for item in self._items[:4])
        return f"Choices({few}{', …' if len(self) > 4 else ''}; {len(self):,} in all)"


def as_choices(items: Iterable[str]) -> Choices:
    """A list of choices, whatever it is written as."""
    return items if isinstance(items, Choices) else Choices(items)


def read_items(directory: Path, file: str) -> tuple[tuple[str, ...], list[Broken]]:
    """The items of a file, one per line, and what is wrong with them."""
    try:
        text = _text(directory, file)
    except InvalidInput as error:
        return (), [Broken((), error.rule, error.value, error.hint)]
    items = tuple(text.removesuffix("\n").split("\n")) if text else ()
    faults = []
    for fault in item_rules(items):
        line = f"line {int(fault.where[0]) + 1} of {file}: " if fault.where else ""
        faults.append(Broken((), f"{line}{fault.rule}", fault.value, fault.hint))
        if len(faults) == SHOWN_FAULTS:
            break
    return items, faults


def _text(directory: Path, file: str) -> str:
    """The file with plain line ends and without a byte order mark."""
    if Path(file).is_absolute():
        hint = "put the list beside the survey file"
        raise InvalidInput("choices_file", "must be relative to the survey file", file, hint)
    try:
        with (directory / file).open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InvalidInput("choices_file", "must be a readable file", file, reason) from None
    if len(content) > MAX_FILE_BYTES:
        rule = f"must be at most {MAX_FILE_BYTES:,} bytes, {MAX_CHOICES:,} items"
        raise InvalidInput("choices_file", rule, file)
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        hint = f"line {line} is not; save the list as UTF-8"
        raise InvalidInput("choices_file", "must be UTF-8 text", file, hint) from None
