"""Survey files, each in a folder of its own, or those that a site names."""

from __future__ import annotations

import hashlib
import re
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import unreadable, unwritable, write_atomically
from krand.languages.speaking import language
from krand.survey.reading import toml_document
from krand.survey.rules import name_from

FILE = "survey.toml"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
LONGEST_FILE = 2**20
FIRST = """\
id = "{name}"
title = {title}
language = "{language}"

[policy]
epsilon = 1.0
delta = 1e-6

[[question]]
name = "question_1"
type = "yes_no"
text = ""
"""
"""A new survey: one question to be written, and a promise that needs no crowd. Its form is in the
language in which it was begun."""

_writing = threading.Lock()


class Stage(StrEnum):
    """How far a survey is."""

    DRAFT = "draft"
    WAITING = "waiting"
    """It is being published: keys and plan are made, and partners asked."""
    OPEN = "open"
    CLOSED = "closed"
    EMPTY = "empty"
    """Closed, and nothing can be released."""
    REPORTED = "reported"

    @property
    def is_editable(self) -> bool:
        """Whether the survey may still be changed."""
        return self is Stage.DRAFT

    @property
    def is_published(self) -> bool:
        """Whether people have, or had, its form."""
        return self not in (Stage.DRAFT, Stage.WAITING)


class Changed(Unavailable):
    """The file is not the one that the page showed: it stays as it is."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A survey file as it was read; `base` names these bytes."""

    text: str
    base: str


@dataclass(frozen=True, slots=True)
class Place:
    """One survey file."""

    file: Path
    name: str
    """As addresses name it."""

    @property
    def path(self) -> Path:
        """The folder that it lies in."""
        return self.file.parent

    @property
    def document(self) -> dict[str, Any]:
        """The file as plain data; empty while it cannot be read."""
        try:
            return document_in(self.read().text) or {}
        except KrandError:
            return {}

    @property
    def title(self) -> str:
        """What people call the survey; its name where the file cannot be read."""
        title = self.document.get("title")
        return title if isinstance(title, str) and title.strip() else self.name

    def read(self) -> Draft:
        """The file now."""
        try:
            content = self.file.read_bytes()
        except OSError as error:
            raise unreadable("survey", self.file, error) from None
        text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        return Draft(text, hashlib.sha256(content).hexdigest())

    def write(self, text: str, base: str | None) -> Draft:
        """Write the file, unless somebody else did since `base` was read; None writes over it."""
        if len(text.encode()) > LONGEST_FILE:
            rule, hint = f"must have at most {LONGEST_FILE:,} bytes", "use choices_file"
            raise InvalidInput("survey", rule, len(text.encode()), hint)
        with _writing:
            now = self.read()
            if base is not None and now.base != base:
                raise Changed(f"{self.file} was changed since this page read it")
            if now.text != text:
                write_atomically("survey", self.file, text)
            return self.read()


@dataclass(frozen=True, slots=True)
class Surveys:
    """Those of a folder, to which new ones are added, or these files."""

    path: Path | None
    files: tuple[Path, ...] = ()

    def places(self) -> list[Place]:
        """Each folder in it that has a survey file."""
        if self.path is None:
            return [Place(file, file.stem) for file in self.files]
        try:
            found = sorted(path for path in self.path.iterdir() if NAME.fullmatch(path.name))
        except OSError as error:
            raise unreadable("folder", self.path, error) from None
        return [Place(path / FILE, path.name) for path in found if (path / FILE).is_file()]

    def place(self, name: str) -> Place | None:
        """The survey of this name."""
        return next((place for place in self.places() if place.name == name), None)

    def make(self, title: str) -> Place:
        """A new survey with one empty question, in a folder that is named after it."""
        from krand.survey.document import toml_value

        if self.path is None:
            raise InvalidInput("title", "must be of a survey that krand run was given", title)
        start = name_from(title, "-") or "survey"
        taken = {path.name for path in self.path.iterdir()}
        names = (start if number == 1 else f"{start}-{number}" for number in range(1, 10_000))
        name = next(each for each in names if each not in taken)
        text = FIRST.format(name=name, title=toml_value(title.strip()), language=language())
        place = Place(self.path / name / FILE, name)
        try:
            place.path.mkdir(parents=True)
        except OSError as error:
            raise unwritable("folder", place.path, error) from None
        write_atomically("survey", place.file, text)
        return place


def document_in(text: str) -> dict[str, Any] | None:
    """The file as plain data; None while it is not TOML."""
    try:
        return toml_document(text)
    except (ValueError, RecursionError):
        return None
