"""The rules a survey must keep, each written once.

A rule is a generator of what is broken. The frozen values raise the first one, so that no broken
survey can be built in Python; the reader of survey files collects them all in one `SurveyErrors`:
nobody should correct a file one run at a time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from krand.errors import InvalidInput
from krand.promise import MAX_BITS

Path = tuple[str | int, ...]

MAX_CHOICES = MAX_BITS
"""Positions of one question or one group: as many as the whole survey may have."""
MAX_ITEM_LENGTH = 1_000
MAX_TEXT_LENGTH = 10_000
MAX_LINE_LENGTH = 200
MAX_TAG_LENGTH = 35
"""What RFC 5646 asks every program to have room for."""
MAX_WEIGHT = 10**6
LONGEST_NAME = 40
WORDS = re.compile(r"[a-z0-9]+")
SHOWN_CHARACTERS = 80
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
_CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
"""Characters that nobody sees or that reorder others; docs/reference/survey-file.md says which."""
_JOINERS = "(?<![^\x00-\x7f\u200c\u200d])[\u200c\u200d]"
"""Persian, Indic scripts and emoji need joiners, always behind a character of theirs."""
_HIDDEN = re.compile(f"[{_CONTROLS}{_UNSEEN}]|{_JOINERS}")
_HIDDEN_IN_LINES = re.compile(f"(?![\n\t])[{_CONTROLS}{_UNSEEN}]|{_JOINERS}")


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that is broken; `where` leads to the guilty part."""

    where: Path
    rule: str
    value: object
    hint: str = ""

    def under(self, path: Path) -> Broken:
        """The same complaint, seen from further out."""
        return Broken(path + self.where, self.rule, self.value, self.hint)


def path_text(path: Path) -> str:
    """A path as people write it: question[2].choices."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def raise_first(broken: Iterable[Broken], at: Path = ()) -> None:
    """An error for the first broken rule, if there is one."""
    for first in broken:
        where = path_text(at + first.where) or "survey"
        raise InvalidInput(where, first.rule, first.value, first.hint)


def id_rules(value: str) -> Iterator[Broken]:
    """Letters, digits, dots, hyphens, underscores: it becomes part of file names and hashes."""
    if not isinstance(value, str) or not re.fullmatch(ID_PATTERN[1:-1], value):
        rule = "must be 1 to 100 letters a-z, digits, '.', '-' or '_', a letter or digit first"
        yield Broken((), rule, value, 'for example id = "browser-2026-11"')


def name_rules(value: str) -> Iterator[Broken]:
    """A name that can head a column of a table."""
    if not isinstance(value, str) or not re.fullmatch(NAME_PATTERN[1:-1], value):
        rule = "must be 1 to 64 letters a-z, digits, '-' or '_', a letter first"
        yield Broken((), rule, value, "put the wording shown to people into text")


def text_rules(value: str) -> Iterator[Broken]:
    """Wording of bounded length, all of which can be seen; line breaks are allowed."""
    if not isinstance(value, str) or len(value) > MAX_TEXT_LENGTH:
        yield Broken((), f"must be text of at most {MAX_TEXT_LENGTH:,} characters", value)
    elif found := _HIDDEN_IN_LINES.search(value):
        yield Broken((), HIDES, value, _remove(found[0]))


def line_rules(value: str) -> Iterator[Broken]:
    """One line of bounded length, all of which can be seen; it may be empty."""
    if not isinstance(value, str) or len(value) > MAX_LINE_LENGTH:
        yield Broken((), f"must be text of at most {MAX_LINE_LENGTH:,} characters", value)
    elif value and (fault := item_fault(value)):
        yield Broken((), fault[0], value, fault[1])


def language_rules(value: str) -> Iterator[Broken]:
    """A language tag (BCP 47), as browsers and screen readers know it."""
    known = isinstance(value, str) and len(value) <= MAX_TAG_LENGTH
    if not known or not re.fullmatch(LANGUAGE_PATTERN[1:-1], value):
        rule = f"must be a language tag (BCP 47) of at most {MAX_TAG_LENGTH} characters"
        yield Broken((), rule, value, 'for example language = "de" or language = "pt-BR"')


def closes_rules(value: object, key: str = "closes") -> Iterator[Broken]:
    """A day: a date, or text that is one; a time of day says more than a survey can keep."""
    if isinstance(value, datetime):
        hint = f"write {key} = {value.date().isoformat()}"
        yield Broken((), "must be a day without a time", value.isoformat(), hint)
    elif not isinstance(value, date) and not _is_day(value):
        yield Broken((), "must be a day, YYYY-MM-DD", value, f"for example {key} = 2026-12-24")


def starts_rules(value: object) -> Iterator[Broken]:
    """The same of the first day."""
    yield from closes_rules(value, "starts")


def _is_day(value: object) -> bool:
    if not isinstance(value, str) or not re.fullmatch(DATE_PATTERN[1:-1], value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:  # the 30th of February
        return False
    return True


def flag_rules(value: bool, where: Path = ()) -> Iterator[Broken]:
    """Yes or no, nothing that only counts as one."""
    if not isinstance(value, bool):
        yield Broken(where, "must be true or false", value)


def whole_rules(value: int, low: int, high: int, where: Path = ()) -> Iterator[Broken]:
    """A whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        yield Broken(where, f"must be a whole number from {low:,} to {high:,}", value)


def one_of_rules(value: object, known: Sequence[str]) -> Iterator[Broken]:
    """One of a few words."""
    if value not in known:
        quoted = (f'"{word}"' for word in known)
        yield Broken((), f"must be {' or '.join(quoted)}", value)


def range_rules(value: float, high: float, where: Path = ()) -> Iterator[Broken]:
    """A number above 0 and not above a limit."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= high:
        yield Broken(where, f"must be a number above 0, at most {high:,}", value)


def item_rules(items: Sequence[str]) -> Iterator[Broken]:
    """What a list of choices must be: 2 to a million different, visible texts."""
    if not 2 <= len(items) <= MAX_CHOICES:
        found = "1 choice" if len(items) == 1 else f"{len(items):,} choices"
        yield Broken((), f"must hold 2 to {MAX_CHOICES:,} choices", found, "one choice is a yes_no")
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        fault = item_fault(item)
        if fault:
            yield Broken((index,), fault[0], item, fault[1])
        elif item in first:
            hint = f"remove one of them; the first is choice number {first[item] + 1}"
            yield Broken((index,), "must be different from the other choices", item, hint)
        else:
            first[item] = index


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
    if found := _HIDDEN.search(item):
        return ONE_LINE, _remove(found[0])
    return None


def _remove(character: str) -> str:
    name = unicodedata.name(character, "a control character").lower()
    return f"remove U+{ord(character):04X}, {name}"


def without_hidden(text: str) -> str:
    """The text without control characters, line breaks, and what hides or reorders text."""
    return _HIDDEN.sub("", text.replace("\t", " "))


def visible(text: str) -> str:
    """The text with every character that hides or reorders others written as its number."""
    return _HIDDEN_IN_LINES.sub(lambda found: ascii(found[0])[1:-1], text)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake: where it stands, which rule it breaks, what was found, what to do."""

    path: str
    line: int | None
    rule: str
    value: object
    hint: str

    def __str__(self) -> str:
        place = f"line {self.line}" if self.line is not None else ""
        where = ", ".join(part for part in (place, self.path) if part)
        found = "" if self.value is None else f", found {_short(self.value)}"
        hint = f"\n    {self.hint}" if self.hint else ""
        return f"{where}: {self.rule}{found}{hint}"


class SurveyErrors(InvalidInput):
    """A survey that breaks rules; `problems` holds every one of them, in the order of the file."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        rule = f"has {count} mistake{'' if count == 1 else 's'}"
        super().__init__(source, rule, None, "\n  ".join(str(problem) for problem in self.problems))

    def __str__(self) -> str:
        return f"{self.field} {self.rule}\n  {self.hint}"

    def __reduce__(self) -> tuple[type[SurveyErrors], tuple[str, tuple[Problem, ...]]]:
        return type(self), (self.field, self.problems)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
