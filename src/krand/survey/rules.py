"""What texts, names, days and lists of choices must be, and types of fields that are one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from krand.mistakes import HIDDEN, HIDDEN_IN_LINES, Broken
from krand.models import obeys, wrong
from krand.promise import MAX_BITS

MAX_CHOICES = MAX_BITS
"""Positions of one question or one group: as many as the whole survey may have."""
MAX_ITEM_LENGTH = 1_000
SHOWN_FAULTS = 5
"""A list in the wrong encoding or format breaks every line; a few are enough to see why."""
MAX_TEXT_LENGTH = 10_000
MAX_LINE_LENGTH = 200
MAX_TAG_LENGTH = 35
"""What RFC 5646 asks every program to have room for."""
MAX_WEIGHT = 10**6
LONGEST_NAME = 40
WORDS = re.compile(r"[a-z0-9]+")
HINT = "make it again from its survey file: krand plan survey.toml -o plan.json"
"""What to do about a plan that is refused."""
HIDES = "must not contain control characters, or others that hide or reorder text"
ONE_LINE = "must not contain control characters, line breaks, or what hides or reorders text"

ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"
LANGUAGE_PATTERN = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$"
DATE_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
DATE_IN_ID = re.compile(
    r"(?<!\d)(20\d\d)-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?(?!-?\d)", re.ASCII
)
"""The month or day that reports tell; a year alone may be any number."""


def id_rules(value: str) -> Iterator[Broken]:
    """Letters, digits, dots, hyphens, underscores: it becomes part of file names and hashes."""
    if not re.fullmatch(ID_PATTERN[1:-1], value):
        rule = "must be 1 to 100 letters a-z, digits, '.', '-' or '_', a letter or digit first"
        yield Broken((), rule, value, 'for example id = "browser-2026-11"')


def name_rules(value: str) -> Iterator[Broken]:
    """A name that can head a column of a table."""
    if not re.fullmatch(NAME_PATTERN[1:-1], value):
        rule = "must be 1 to 64 letters a-z, digits, '-' or '_', a letter first"
        yield Broken((), rule, value, "put the wording shown to people into text")


def text_rules(value: str) -> Iterator[Broken]:
    """Wording of bounded length, all of which can be seen; line breaks are allowed."""
    if not isinstance(value, str) or len(value) > MAX_TEXT_LENGTH:
        yield Broken((), f"must be text of at most {MAX_TEXT_LENGTH:,} characters", value)
    elif found := HIDDEN_IN_LINES.search(value):
        yield Broken((), HIDES, value, _remove(found[0]))


def line_rules(value: str) -> Iterator[Broken]:
    """One line of bounded length, all of which can be seen; it may be empty."""
    if not isinstance(value, str) or len(value) > MAX_LINE_LENGTH:
        yield Broken((), f"must be text of at most {MAX_LINE_LENGTH:,} characters", value)
    elif value and (fault := item_fault(value)):
        yield Broken((), fault[0], value, fault[1])


def language_rules(value: str) -> Iterator[Broken]:
    """A language tag (BCP 47), as browsers and screen readers know it."""
    if len(value) > MAX_TAG_LENGTH or not re.fullmatch(LANGUAGE_PATTERN[1:-1], value):
        rule = f"must be a language tag (BCP 47) of at most {MAX_TAG_LENGTH} characters"
        yield Broken((), rule, value, 'for example language = "de" or language = "pt-BR"')


def _day(value: Any, info: ValidationInfo) -> Any:
    """A date, or text that is one; a time of day says more than a survey can keep."""
    key = info.field_name
    if isinstance(value, datetime):
        hint = f"write {key} = {value.date().isoformat()}"
        raise wrong([Broken((), "must be a day without a time", value.isoformat(), hint)])
    if isinstance(value, date) or value is None:
        return value
    try:
        if re.fullmatch(DATE_PATTERN[1:-1], value):
            return date.fromisoformat(value)
    except (TypeError, ValueError):  # no text; the 30th of February
        pass
    hint = f"for example {key} = 2026-12-24"
    raise wrong([Broken((), "must be a day, YYYY-MM-DD", value, hint)])


Name = Annotated[
    str,
    obeys(name_rules),
    Field(examples=["search_engine"], json_schema_extra={"pattern": NAME_PATTERN}),
]
Id = Annotated[str, obeys(id_rules), Field(json_schema_extra={"pattern": ID_PATTERN})]
Text = Annotated[str, obeys(text_rules), Field(json_schema_extra={"maxLength": MAX_TEXT_LENGTH})]
Line = Annotated[str, obeys(line_rules), Field(json_schema_extra={"maxLength": MAX_LINE_LENGTH})]
Language = Annotated[
    str,
    obeys(language_rules),
    Field(json_schema_extra={"pattern": LANGUAGE_PATTERN, "maxLength": MAX_TAG_LENGTH}),
]
Day = Annotated[
    date,
    BeforeValidator(_day),
    Field(json_schema_extra={"format": "date", "pattern": DATE_PATTERN}),
]
Weight = Annotated[float, Field(gt=0, le=MAX_WEIGHT, examples=[2])]


def item_rules(items: Sequence[Any]) -> Iterator[Broken]:
    """What a list of choices must be: 2 to a million different, visible texts."""
    if not 2 <= len(items) <= MAX_CHOICES:
        found = "1 choice" if len(items) == 1 else f"{len(items):,} choices"
        yield Broken((), f"must hold 2 to {MAX_CHOICES:,} choices", found, "one choice is a yes_no")
    if not _all_right(items):
        yield from islice(different_items(items, "choice"), SHOWN_FAULTS)


def different_items(items: Sequence[Any], what: str) -> Iterator[Broken]:
    """Choices or labels: visible texts, different from each other."""
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        if fault := item_fault(item):
            yield Broken((index,), fault[0], item, fault[1])
        elif item in first:
            hint = f"remove or rename one; the first is {what} number {first[item] + 1}"
            yield Broken((index,), f"must be different from the other {what}s", item, hint)
        else:
            first[item] = index


def _all_right(items: Sequence[Any]) -> bool:
    """Whether no item has a fault: a million of them at once, in half a second."""
    try:
        together = " ".join(items)  # of ASCII: a joiner behind it is seen as the first of an item
    except TypeError:
        return False
    return (
        all(items)
        and len(set(items)) == len(items)
        and max(map(len, items), default=0) <= MAX_ITEM_LENGTH
        and sum(map(len, map(str.strip, items))) == sum(map(len, items))
        and not HIDDEN.search(together)
    )


def item_fault(item: object) -> tuple[str, str] | None:
    """What is wrong with a text of a list, and what to do about it."""
    if not isinstance(item, str):
        return "must be text", "put it between quotes"
    if not item:
        return "must not be empty", "everybody may leave the question unanswered anyway"
    if len(item) > MAX_ITEM_LENGTH:
        return f"must be at most {MAX_ITEM_LENGTH:,} characters long", ""
    if item[0].isspace() or item[-1].isspace():
        return "must not begin or end with a space", f"write {item.strip()!r}"
    if found := HIDDEN.search(item):
        return ONE_LINE, _remove(found[0])
    return None


def _remove(character: str) -> str:
    name = unicodedata.name(character, "a control character").lower()
    return f"remove U+{ord(character):04X}, {name}"


def without_hidden(text: str) -> str:
    """The text without control characters, line breaks, and what hides or reorders text."""
    return HIDDEN.sub("", text.replace("\t", " "))


def name_from(text: str, between: str) -> str:
    """Letters and digits of a text, for ids and column names; it may be empty."""
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    name = ""
    for word in WORDS.findall(plain):
        longer = f"{name}{between}{word}" if name else word
        if len(longer) > LONGEST_NAME:
            break
        name = longer
    return name


def unused_name(name: str, number: int, seen: set[str]) -> str:
    """A name that begins with a letter, and that no question before has; it is then seen."""
    if not name[:1].isalpha():
        name = f"question_{number}"
    while name in seen:
        name = f"{name}_{number}"
    seen.add(name)
    return name
