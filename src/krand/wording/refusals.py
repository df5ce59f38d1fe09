"""What krand refuses, said in another language: an English message becomes one of that language.

Rules, hints and reasons are English strings where they are raised. `make catalogs` finds their
templates, `must be at least {number}`, and catalogs have them in the room `refusals`. A message is
matched with the templates, the one with the most words of its own first, and its holes are filled
into the translation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from string import Formatter

from krand.languages.catalogs import OF_ROOM, catalog, room_of
from krand.languages.cldr import ENGLISH
from krand.wording.number_format import number_format

ROOM = "refusals"
OR = "wording.asked.either"
Say = Callable[[str], str]
"""A message, said in some language; LookupError if it has no such text."""

MESSAGES = frozenset({"rule", "hint", "reason", "error", "fault"})
"""Holes that hold messages themselves. A translation may quote them in English: „{reason}“."""
FOUND = "value"
"""The hole for what was found, which may be anything."""
FEW_LETTERS, MORE_LETTERS = 9, 12
"""Signs below which a template, `must be {words}` or, beginning with a hole, `{items} choices`,
would match too much: holes are lists of words then, unless one of them must be a message itself."""
_WORD = r"""(?:"[^"]*"|'[^']*'|[^\s"',]+(?:,[^\s"',]+)*)"""
_LIST = re.compile(rf"({_WORD}(?:, {_WORD})*)(?:,? or ({_WORD}))?")
_PLACE = re.compile(r"(?:line (?P<line>\d+))?(?P<at>(?:, )?(?:\S*|[^:]*/.*?): )(?P<rest>.*)")
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?")
_COUNTED = re.compile(r"""(['"]?)((?:about |row )?\d[\d,]*(?: [a-z]+)?)\1""")
"""A value in krand's own words, `5 choices`; any other is somebody else's."""


@dataclass(frozen=True, slots=True)
class Template:
    """An English text with holes, and its translation."""

    pattern: re.Pattern[str]
    written: frozenset[str]
    """Holes whose numbers stay as a file has them."""
    quoted: frozenset[str]
    text: str


def translated(english: str, code: str) -> str | None:
    """A message in a language; None if its catalog has no such text.

    >>> translated("must be a whole number from 1 to 10,000", "de")
    'muss eine ganze Zahl von 1 bis 10.000 sein'
    """
    if code == ENGLISH:
        return english
    for template in templates(code):
        if found := template.pattern.fullmatch(english):
            parts = found.groupdict().items()
            holes = {name: _filled(template, name, each, code) for name, each in parts}
            if None not in holes.values():
                return template.text.format(**holes)
    return None


def sayer(code: str) -> Say:
    """What says messages in a language."""
    return partial(_said, code=code)


def _said(english: str, code: str) -> str:
    found = translated(english, code)
    if found is None:
        raise LookupError(english)
    return found


def retold(text: str, code: str) -> str | None:
    """What `explain` says, in a language; None if a line of it has no text there.

    >>> retold("delta: must be given, found 2\\n  remove it", "de")
    'delta: muss angegeben sein, gefunden: 2\\n  entfernen Sie es'
    """
    lines = [_line(line, code) for line in text.splitlines()]
    return None if None in lines else "\n".join(map(str, lines))


def _line(line: str, code: str) -> str | None:
    """A line: where something is, a message, and what was found; there is always a message."""
    body = line.lstrip(" •")
    said = _with_value(body, code)
    if said is None and (found := _PLACE.match(body)) and (rest := _line(found["rest"], code)):
        english = f"line {found['line']}"
        place = translated(english, code) if found["line"] else ""
        said = f"{place}{found['at']}{rest}"
    return None if said is None else line[: len(line) - len(body)] + said


def _with_value(body: str, code: str) -> str | None:
    """A message with what was found, which may be any text."""
    for split in re.finditer(", found ", body):
        value = body[split.end() :]
        english = f", found {value}"
        if (rule := translated(body[: split.start()], code)) is not None:
            return f"{rule}{translated(english, code)}"
    return translated(body, code)


@cache
def templates(code: str) -> tuple[Template, ...]:
    """Those of a language, the most specific first; none if it lacks some."""
    entry = catalog(code)
    if not entry.rooms.issuperset({ROOM, room_of(OR)}):
        return ()
    own = {
        name.partition(OF_ROOM)[2]: str(text)
        for name, text in entry.texts.items()
        if room_of(name) == ROOM
    }
    return tuple(_template(each, own[each]) for each in sorted(own, key=_letters, reverse=True))


def _letters(english: str) -> int:
    return sum(len(text) for text, *_ in Formatter().parse(english))


def _template(english: str, text: str) -> Template:
    parts = [(part, name) for part, name, *_ in Formatter().parse(english)]
    begins = FEW_LETTERS if parts[0][0] else MORE_LETTERS
    few = sum(not c.isspace() for part, _ in parts for c in part) < begins
    few = few and MESSAGES.isdisjoint(name for _, name in parts)
    hole = rf"{_WORD}(?:, {_WORD})*(?:,? or {_WORD})?" if few else ".+?"
    pattern, written = "", set()
    for before, name in parts:
        pattern += re.escape(before)
        if name is not None:
            pattern += f"(?P<{name}>{'.+?' if name == FOUND else hole})"
            if before.endswith("= ") and not before.endswith("ε = "):
                written.add(name)
    quoted = re.findall(r"\{(\w+)\}", " ".join(re.findall("„[^“]*“", text)))
    return Template(re.compile(pattern, re.DOTALL), frozenset(written), frozenset(quoted), text)


def _filled(template: Template, name: str, text: str, code: str) -> str | None:
    """What a hole holds, in a language; None if it should be a message and is none."""
    if name in MESSAGES:
        return translated(text, code) or (text if name in template.quoted else None)
    if name == FOUND and (found := _COUNTED.fullmatch(text)):
        own = translated(found[2], code)
        return text if own is None else f"{found[1]}{own}{found[1]}"
    if _NUMBER.fullmatch(text) and name not in template.written:
        return number_format(code).signs(text)
    if (found := _LIST.fullmatch(text)) and found[2]:
        return str(catalog(code).texts[OR]).format(first=found[1], last=found[2])
    return text
