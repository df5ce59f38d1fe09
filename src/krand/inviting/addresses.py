"""The addresses of the people to be invited: a CSV file, and each of its mistakes with its line."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import Address
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
LOCAL = re.compile(r'[^\s@<>()\[\]\\,;:"]+')
DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")
OTHER = re.compile(r"[^\x00-\x7f]")
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
        rule, hint = "must have an address in each line", "for example anna@example.org"
        raise _mistakes(path, [_problem(1, rule, None, hint)])
    (first, header), *_ = rows
    place, language, is_header = _columns(path, first, header)
    found: list[Recipient] = []
    wrong: list[Problem] = []
    lines: dict[str, int] = {}
    for line, cells in rows[is_header:]:
        text = cells[place].strip(" \t") if place < len(cells) else ""
        try:
            address = checked_address(text)
        except InvalidInput as error:
            wrong.append(_problem(line, error.rule, text, error.hint))
            continue
        earlier = lines.setdefault(address.casefold(), line)
        if earlier != line:
            rule = f"must be there once, but line {earlier:,} has it too"
            wrong.append(_problem(line, rule, text, "remove one: each address gets one link"))
        tag = cells[language].strip() if language is not None and language < len(cells) else ""
        found.append(Recipient(address, tag.lower(), line))
    if wrong:
        raise _mistakes(path, wrong)
    if not 1 <= len(found) <= MOST_INVITATIONS:
        rule = f"must have 1 to {MOST_INVITATIONS:,} addresses"
        raise InvalidInput("addresses", rule, len(found), f"in {path}")
    return tuple(found)


def checked_address(text: str) -> str:
    """The address as an envelope has it: the domain in ASCII and in small letters."""
    if "\n" in text or "\r" in text:
        raise _refusal(text, "must stand in one line", "remove the line break within the cell")
    if not text.isprintable():
        hint = "type it again: it has characters that cannot be seen"
        raise _refusal(text, "must have visible characters only", hint)
    if "<" in text or '"' in text:
        hint = "leave out the name, the quotes and the < >"
        raise _refusal(text, "must be an address alone", hint)
    local, _, domain = unicodedata.normalize("NFC", text).rpartition("@")
    if not LOCAL.fullmatch(local):
        hint = "one address in each line, as anna@example.org"
        raise _refusal(text, "must be one address with one @", hint)
    address = f"{local}@{_ascii_domain(text, domain)}"
    if len(local.encode()) > LONGEST_LOCAL or len(address.encode()) > LONGEST:
        rule = f"must have at most {LONGEST_LOCAL} bytes before the @, and {LONGEST} in all"
        raise _refusal(text, rule, "no mail server takes a longer one")
    try:
        Address(addr_spec=OTHER.sub("x", address))
    except (ValueError, MessageError):
        hint = "dots stand between other signs; is it typed correctly?"
        raise _refusal(text, "must be an address that mail servers understand", hint) from None
    return address


def _ascii_domain(text: str, domain: str) -> str:
    coded = "write the domain as it is written in ASCII, beginning with xn--"
    if any(letter in domain for letter in AMBIGUOUS):
        rule = f"must have no {' or '.join(AMBIGUOUS)} behind the @: some read it as another domain"
        raise _refusal(text, rule, coded)
    try:
        found = domain.encode("idna").decode("ascii").lower()
    except UnicodeError:
        found = ""
    if not DOMAIN.fullmatch(found):
        hint = "for example @example.org" if domain.isascii() else coded
        raise _refusal(text, "must end in a domain", hint)
    return found


def _refusal(text: str, rule: str, hint: str) -> InvalidInput:
    return InvalidInput("address", rule, text, hint)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with its first line."""
    text = _text(path)
    head = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        hint = "a quote must be closed in its own cell"
        raise _mistakes(path, [_problem(line, f"must be CSV: {error}", None, hint)]) from None


def _text(path: Path) -> str:
    content = read_whole("addresses", path)
    hint = "save it as CSV in UTF-8, with any spreadsheet"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _mistakes(path, [_problem(1, "must be UTF-8, not UTF-16", None, hint)])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _mistakes(path, [_problem(line, "must be UTF-8", None, hint)]) from None


def _columns(path: Path, line: int, cells: Sequence[str]) -> tuple[int, int | None, bool]:
    """Where addresses and languages stand, and whether the first row only says so."""
    names = [cell.strip().lower() for cell in cells]
    named = [name for name in ADDRESS_COLUMNS if name in names]
    hint = "name the column of the addresses in the first line: email"
    if named:
        if names.count(named[0]) > 1:
            rule = "must have one column of addresses"
            raise _mistakes(path, [_problem(line, rule, named[0], "rename the others")])
        languages = [names.index(name) for name in LANGUAGE_COLUMNS if name in names]
        return names.index(named[0]), languages[0] if languages else None, True
    holding = [place for place, name in enumerate(names) if "@" in name]
    if len(holding) != 1:
        rule = "must have one column of addresses"
        raise _mistakes(path, [_problem(line, rule, ", ".join(names), hint)])
    return holding[0], None, False


def _problem(line: int, rule: str, value: object, hint: str) -> Problem:
    return Problem(path="", line=line, rule=rule, value=value, hint=hint)


def _mistakes(path: Path, problems: Sequence[Problem]) -> SurveyErrors:
    return SurveyErrors(str(path), problems)
