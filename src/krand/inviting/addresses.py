"""The addresses of the people to be invited: a CSV file, and each of its mistakes with its line."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from krand.collector.invitations import MOST_INVITATIONS
from krand.errors import InvalidInput
from krand.files import read_whole
from krand.mistakes import Problem, SurveyErrors

ADDRESS_COLUMNS = ("email", "e-mail", "mail", "e-mail-adresse", "courriel", "correo", "address")
LANGUAGE_COLUMNS = ("language", "lang", "sprache", "langue", "idioma")
DELIMITERS = ",;\t"
LONGEST_LOCAL, LONGEST = 64, 254
"""In bytes, as RFC 5321 has them."""
ATOM = r'[^\s@<>()\[\]\\,;:".]+'
LOCAL = re.compile(rf"{ATOM}(\.{ATOM})*")
DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")
AMBIGUOUS = "ßς"
"""Letters that the two standards of domain names in other alphabets read differently."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """Somebody to be reached."""

    address: str
    language: str
    """As the file says; empty if it does not."""
    line: int


def read_addresses(path: Path) -> tuple[Recipient, ...]:
    """Everybody in the file, in its order; an error lists all mistakes."""
    rows = list(_rows(path))
    if not rows:
        hint = "for example anna@example.org"
        raise _mistake(path, 1, "must have an address in each line", None, hint)
    place, language, has_header = _columns(path, *rows[0])
    found: dict[str, Recipient] = {}
    wrong: list[Problem] = []
    for line, cells in rows[has_header:]:
        text = cells[place].strip(" \t") if place < len(cells) else ""
        tag = cells[language].strip() if language is not None and language < len(cells) else ""
        try:
            address = checked_address(text)
        except InvalidInput as error:
            wrong.append(_problem(line, error.rule, text, error.hint))
            continue
        first = found.setdefault(address.casefold(), Recipient(address, tag.lower(), line))
        if first.line != line:
            rule = f"must be there once, but line {first.line:,} has it too"
            wrong.append(_problem(line, rule, text, "remove one: each address gets one link"))
    if wrong:
        raise SurveyErrors(str(path), wrong)
    if not 1 <= len(found) <= MOST_INVITATIONS:
        rule = f"must have 1 to {MOST_INVITATIONS:,} addresses"
        raise InvalidInput("addresses", rule, len(found), f"in {path}")
    return tuple(found.values())


def checked_address(text: str) -> str:
    """The address as an envelope has it: the domain in ASCII and in small letters."""
    if not text.isprintable():
        hint = "type it again: it has a line break, or characters that cannot be seen"
        raise InvalidInput("address", "must be one line of visible characters", text, hint)
    if "<" in text or '"' in text:
        hint = "leave out the name, the quotes and the < >"
        raise InvalidInput("address", "must be an address alone", text, hint)
    local, _, domain = unicodedata.normalize("NFC", text).rpartition("@")
    if not LOCAL.fullmatch(local):
        hint = "one address in each line, such as anna@example.org"
        raise InvalidInput("address", "must be one address with one @", text, hint)
    address = f"{local}@{_ascii_domain(text, domain)}"
    if len(local.encode()) > LONGEST_LOCAL or len(address.encode()) > LONGEST:
        rule = f"must have at most {LONGEST_LOCAL} bytes before the @, and {LONGEST} in all"
        raise InvalidInput("address", rule, text, "no mail server takes a longer one")
    return address


def _ascii_domain(text: str, domain: str) -> str:
    coded = "write the domain in ASCII, beginning with xn--"
    if any(letter in domain for letter in AMBIGUOUS):
        rule = f"must have no {' or '.join(AMBIGUOUS)} behind the @: some read it as another domain"
        raise InvalidInput("address", rule, text, coded)
    try:
        found = domain.encode("idna").decode("ascii").lower()
    except UnicodeError:
        found = ""
    if not DOMAIN.fullmatch(found):
        hint = "for example @example.org" if domain.isascii() else coded
        raise InvalidInput("address", "must end in a domain", text, hint)
    return found


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with its first line."""
    content = read_whole("addresses", path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        hint = "save it as CSV in UTF-8, with any spreadsheet"
        raise _mistake(path, line, "must be UTF-8", None, hint) from None
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        hint = "a quote must be closed in its own cell"
        raise _mistake(path, line, f"must be CSV: {error}", None, hint) from None


def _columns(path: Path, line: int, cells: Sequence[str]) -> tuple[int, int | None, bool]:
    """Where addresses and languages stand, and whether the first row only says so."""
    names = [cell.strip().lower() for cell in cells]
    named = next((name for name in ADDRESS_COLUMNS if name in names), None)
    if named is not None and names.count(named) == 1:
        languages = [names.index(name) for name in LANGUAGE_COLUMNS if name in names]
        return names.index(named), languages[0] if languages else None, True
    holding = [place for place, name in enumerate(names) if "@" in name]
    if named is None and len(holding) == 1:
        return holding[0], None, False
    hint = "name the column of the addresses in the first line: email"
    raise _mistake(path, line, "must have one column of addresses", ", ".join(names), hint)


def _mistake(path: Path, line: int, rule: str, value: object, hint: str) -> SurveyErrors:
    return SurveyErrors(str(path), [_problem(line, rule, value, hint)])


def _problem(line: int, rule: str, value: object, hint: str) -> Problem:
    return Problem(path="", line=line, rule=rule, value=value, hint=hint)
