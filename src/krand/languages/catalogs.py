"""Texts in other languages: gettext catalogs, a file for each language, `de.po`.

A catalog has an entry for each English text. Its context is the text's name with its room in
front, `report.page.skip`, or the room alone where texts have no names; its id is the English text,
and its plurals have as many forms as CLDR gives the language. Rooms are translated as a whole or
not at all: what a language can show follows from what it translates, and no page mixes languages.
An entry that is marked as fuzzy is one whose English text has changed since. It counts as missing,
because a promise must never be told as it was before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import TYPE_CHECKING, Any

from krand.errors import InternalError, InvalidInput
from krand.languages.cldr import ENGLISH, date_texts, number_signs, plural_forms
from krand.mistakes import Problem, SurveyErrors

if TYPE_CHECKING:
    from babel.messages.catalog import Message

Text = str | Mapping[str, str]
"""A text, or the forms of a plural by CLDR's names."""
BY_CLDR = {"wording.numbers": number_signs, "report.date": date_texts}
"""Parts of texts that no catalog has."""
UPDATE = "run make catalogs"
OF_ROOM = "\x04"
"""Between a room and an English text that has no name, as gettext itself joins the two."""
VALUE = re.compile(r"%\((\w+)\)s")
SOME = ("zero", "one", "two")
"""Forms for so few things that a text can name them without their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """A language: its texts by their names, and where it has all of them."""

    code: str
    name: str
    texts: Mapping[str, Text]
    rooms: frozenset[str]
    """Those in which every text is translated."""
    missing: tuple[str, ...]
    """Names without a translation, or with one of an older English text."""


def named(context: str | None, id: str | tuple[str, ...] | list[str]) -> str:
    """The name of a text: its context, and the English text itself where that is a room alone."""
    context = context or ""
    return (
        context if "." in context else f"{context}{OF_ROOM}{id if isinstance(id, str) else id[0]}"
    )


def room_of(name: str) -> str:
    """The room that a text belongs to.

    >>> room_of("report.page.skip"), room_of(named("console", "Skip. Now"))
    ('report', 'console')
    """
    return name.partition(OF_ROOM)[0].partition(".")[0]


@cache
def codes() -> tuple[str, ...]:
    """The languages that have a catalog, by their codes."""
    names = (each.name for each in files("krand.languages").iterdir())
    return tuple(sorted(name.removesuffix(".po") for name in names if name.endswith(".po")))


@cache
def catalog(code: str) -> Catalog:
    """The catalog of one of `codes`."""
    name = f"{code}.po"
    return parse_catalog(files("krand.languages").joinpath(name).read_bytes(), code, name)


def serves(code: str, *rooms: str) -> bool:
    """Whether pages that need the texts of these rooms can be shown in a language.

    >>> serves("en", "report"), serves("tlh", "report")
    (True, False)
    """
    return code == ENGLISH or (code in codes() and catalog(code).rooms.issuperset(rooms))


def languages_of(*rooms: str) -> tuple[str, ...]:
    """All languages that can show these rooms' texts, English first."""
    return (ENGLISH, *(code for code in codes() if serves(code, *rooms)))


def main_language(tag: str, *rooms: str) -> str:
    """The language for a BCP 47 tag, "de" for "de-AT"; English if these rooms lack it."""
    primary = tag.partition("-")[0].lower()
    return primary if serves(primary, *rooms) else ENGLISH


def spoken(english: Any, room: str, code: str) -> Any:
    """The plain data of a room's texts in a language; plurals as `Plural` has them."""
    texts = {} if code == ENGLISH else catalog(code).texts

    def said(value: Any, path: str) -> Any:
        if code != ENGLISH and path in BY_CLDR:
            return BY_CLDR[path](code)
        if isinstance(value, list):
            return [said(each, f"{path}.{place}") for place, each in enumerate(value)]
        if isinstance(value, dict) and not is_plural(value):
            return {name: said(each, f"{path}.{name}") for name, each in value.items()}
        if code != ENGLISH and value and path not in texts:
            raise InternalError(f"{code}.po has no text {path}: {UPDATE}")
        text = texts.get(path, value)
        return {"language": code, "forms": text} if is_plural(value) else text

    return said(english, room)


def is_plural(value: object) -> bool:
    """Whether a table of an English file is one text in two forms."""
    return isinstance(value, dict) and value.keys() == {"one", "other"}


def nested(code: str, room: str) -> dict[str, Any]:
    """All texts of a room in a language, as tables in tables by the parts of their names."""
    found: dict[str, Any] = {}
    for context, text in catalog(code).texts.items():
        if room_of(context) == room:
            _, *groups, name = context.split(".")
            table = found
            for group in groups:
                table = table.setdefault(group, {})
            table[name] = text
    return found


def parse_catalog(content: bytes, code: str, source: str) -> Catalog:
    """A catalog from its bytes; an error names every entry that breaks a rule."""
    from babel.messages.catalog import Catalog as Messages
    from babel.messages.pofile import PoFileError, PoFileParser

    class Reading(Messages):
        """Keeps what would otherwise be merged."""

        def __setitem__(self, id: Any, message: Message) -> None:
            seen.append(message)
            super().__setitem__(id, message)

    seen: list[Message] = []
    try:
        PoFileParser(Reading(locale=code.replace("-", "_")), abort_invalid=True).parse(
            _lines(content, source)
        )
    except PoFileError as error:
        rule = "must be a gettext catalog"
        raise _refused(source, error.lineno + 1, rule, error.line or None, str(error)) from None
    headers = _headers(seen)
    entries = [message for message in seen if message.id]
    wrong = [*_header_problems(headers, code), *_entry_problems(entries, code)]
    if wrong:
        raise SurveyErrors(source, wrong)
    texts = {_named(each): _text(each, code) for each in entries if _is_done(each)}
    missing = tuple(_named(each) for each in entries if not _is_done(each))
    rooms = {room_of(_named(each)) for each in entries}
    return Catalog(
        code=code,
        name=headers.get("Language-Team", code),
        texts=texts,
        rooms=frozenset(rooms - {room_of(name) for name in missing}),
        missing=missing,
    )


def _lines(content: bytes, source: str) -> list[str]:
    try:
        return content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refused(source, line, "must be UTF-8", None, "save it as UTF-8") from None


def _refused(source: str, line: int, rule: str, value: object, hint: str) -> InvalidInput:
    return SurveyErrors(source, [_problem(line, "", rule, value, hint)])


def _problem(line: int | None, path: str, rule: str, value: object, hint: str) -> Problem:
    return Problem(path=path, line=line, rule=rule, value=value, hint=hint)


def _headers(seen: list[Message]) -> dict[str, str]:
    head = next((str(each.string) for each in seen if not each.id), "")
    pairs = (line.partition(":") for line in head.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _header_problems(headers: Mapping[str, str], code: str) -> Iterator[Problem]:
    charset = headers.get("Content-Type", "")
    if not re.search(r"charset=utf-?8$", charset, re.IGNORECASE):
        hint = 'write "Content-Type: text/plain; charset=UTF-8\\n"'
        yield _problem(None, "Content-Type", "must say that the file is UTF-8", charset, hint)
    if headers.get("Language") != code:
        found = headers.get("Language")
        hint = "a catalog has the name of its language"
        yield _problem(None, "Language", f"must be {code}", found, hint)
    forms = plural_forms(code)
    plurals = headers.get("Plural-Forms", "")
    if not plurals.startswith(f"nplurals={len(forms)};"):
        hint = f"CLDR gives this language {len(forms)} forms: {', '.join(forms)}"
        yield _problem(None, "Plural-Forms", f"must say nplurals={len(forms)}", plurals, hint)


def _entry_problems(entries: list[Message], code: str) -> Iterator[Problem]:
    often = Counter(_named(each) for each in entries)
    for each in entries:
        path, line = each.context or "", each.lineno
        if not path:
            hint = "msgctxt is the text's name with its room, report.page.skip"
            yield _problem(line, "", "must have a context", each.id, hint)
        elif often[_named(each)] > 1:
            yield _problem(line, path, "must be there once", each.id, "remove all but one of them")
        elif _is_done(each):
            yield from _text_problems(each, code)


def _named(message: Message) -> str:
    return named(message.context, message.id)


def _is_done(message: Message) -> bool:
    """Whether there is a translation, of the English text as it is now."""
    return any(message.string or ()) and not message.fuzzy


def _text(message: Message, code: str) -> Text:
    if isinstance(message.string, str):
        return message.string
    return dict(zip(plural_forms(code), message.string or (), strict=True))


def _text_problems(message: Message, code: str) -> Iterator[Problem]:
    path, line = str(message.context), message.lineno
    text = _text(message, code)
    if isinstance(text, str):
        english = _names(str(message.id))
        yield from _name_problems(line, path, text, english, english)
        return
    one, other = (_names(each) for each in message.id)
    absent = [form for form, said in text.items() if not said]
    if absent:
        rule = f"must have {len(text)} forms: {', '.join(text)}"
        hint = f"msgstr[{list(text).index(absent[0])}] is the form {absent[0]!r}"
        yield _problem(line, path, rule, f"{len(text) - len(absent)} of them", hint)
        return
    for form, said in text.items():
        needed = (one & other) - {"number"} if form in SOME else other
        yield from _name_problems(line, f"{path}, {form}", said, needed, one | other)


def _name_problems(
    line: int | None, path: str, text: str, needed: set[str], allowed: set[str]
) -> Iterator[Problem]:
    try:
        found = _names(text)
    except ValueError:
        hint = "write a brace for itself twice: {{"
        yield _problem(line, path, "must have braces around names alone", text, hint)
        return
    for name in sorted(found - allowed):
        near = get_close_matches(name, allowed, 1)
        hint = f"did you mean {{{near[0]}}}?" if near else "remove it"
        known = ", ".join(f"{{{each}}}" for each in sorted(allowed)) or "no name"
        rule = f"must name only what is filled in: {known}"
        yield _problem(line, path, rule, f"{{{name}}}", hint)
    for name in sorted(needed - found):
        if not get_close_matches(name, found - allowed, 1):
            hint = "the English text has it, and it is filled in there"
            yield _problem(line, path, f"must name {{{name}}}", text, hint)


def _names(text: str) -> set[str]:
    """The names of what is filled in: in braces, or as %(name)s."""
    braced = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    return braced.union(VALUE.findall(text))
