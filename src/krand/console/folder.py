"""Surveys in a folder: each is a folder of ordinary files, as the commands read and write them."""

from __future__ import annotations

import hashlib
import re
import threading
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from krand.collector.rounds import State, read_round
from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import unreadable, unwritable, write_atomically
from krand.languages.speaking import language
from krand.partners.clock import ClockJumped, SystemClock
from krand.site.running import is_reported
from krand.site.site_file import Site, SiteSurvey, read_site
from krand.survey.plan_file import read_plan
from krand.survey.reading import toml_document
from krand.survey.rules import name_from
from krand.survey.survey_folder import SurveyFolder, folder_beside

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
    PAIRING = "pairing"
    READY = "ready"
    """Its plan is made and signed by partners, and nobody has seen it."""
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
        return self in (Stage.OPEN, Stage.CLOSED, Stage.EMPTY, Stage.REPORTED)


class Changed(Unavailable):
    """The file is not the one that the page showed: it stays as it is."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A survey file as it was read; `base` names these bytes."""

    text: str
    base: str


@dataclass(frozen=True, slots=True)
class Place:
    """One survey file, and what krand makes beside it."""

    file: Path
    name: str
    """As addresses name it."""
    root: Path
    """The folder in which people type its commands."""
    site: Site | None = None
    """The site that runs it now; None: the site file of the survey alone says."""

    @property
    def path(self) -> Path:
        """The folder that it lies in."""
        return self.file.parent

    @property
    def folder(self) -> SurveyFolder:
        """What krand run and krand pair make beside it."""
        return folder_beside(self.file)

    @property
    def title(self) -> str:
        """What people call the survey; its name where the file cannot be read."""
        try:
            title = toml_document(self.read().text).get("title")
        except (KrandError, ValueError, RecursionError):
            title = None
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
        if not self.stage.is_editable:
            hint = "a published survey cannot be edited, only ended"
            raise InvalidInput("survey", "must not be published yet", self.name, hint)
        if len(text.encode()) > LONGEST_FILE:
            rule = f"must have at most {LONGEST_FILE:,} bytes"
            raise InvalidInput(
                "survey", rule, len(text.encode()), "use choices_file for long lists"
            )
        with _writing:
            now = self.read()
            if base is not None and now.base != base:
                raise Changed(f"{self.file} was changed since this page read it")
            if now.text != text:
                write_atomically("survey", self.file, text)
            return self.read()

    @property
    def served(self) -> SiteSurvey:
        """The survey in the site file that serves it."""
        site = self.site or read_site(self.folder.site_file)
        return next(each for each in site.surveys if each.folder == self.folder)

    @property
    def url(self) -> str:
        """Where people reach the form."""
        return self.served.address or f"http://{self.served.listen}/"

    @property
    def stage(self) -> Stage:
        """How far it is, by the files that are there."""
        folder = self.folder
        if not folder.path.exists():
            return Stage.DRAFT
        if not folder.plan.exists() or not folder.site_file.exists():
            return Stage.PAIRING
        if not folder.published.exists():
            return Stage.READY
        plan = read_plan(folder.plan)
        if plan.survey.schedule is not None:  # its rounds open and close by themselves
            with suppress(ClockJumped, Unavailable):  # or its spool is being made
                return Stage.REPORTED if is_reported(self.served, SystemClock()) else Stage.OPEN
            return Stage.OPEN
        if folder.results("report.html", 1, 1).exists():
            return Stage.REPORTED
        found = read_round(folder.collector, plan, 1)
        if found is None or found.is_open:
            return Stage.OPEN
        return Stage.EMPTY if found.state is State.ERASED else Stage.CLOSED


@dataclass(frozen=True, slots=True)
class Surveys:
    """All surveys of a folder."""

    path: Path

    def places(self) -> list[Place]:
        """Each folder in it that has a survey file."""
        try:
            found = sorted(path for path in self.path.iterdir() if NAME.fullmatch(path.name))
        except OSError as error:
            raise unreadable("folder", self.path, error) from None
        return [self._at(path.name) for path in found if (path / FILE).is_file()]

    def place(self, name: str) -> Place | None:
        """The survey of this name."""
        place = self._at(name)
        return place if NAME.fullmatch(name) and place.file.is_file() else None

    def _at(self, name: str) -> Place:
        return Place(self.path / name / FILE, name, self.path)

    def make(self, title: str) -> Place:
        """A new survey with one empty question, in a folder that is named after it."""
        from krand.survey.document import toml_value

        start = name_from(title, "-") or "survey"
        taken = {path.name for path in self.path.iterdir()} if self.path.is_dir() else set()
        names = (start if number == 1 else f"{start}-{number}" for number in range(1, 10_000))
        name = next(each for each in names if each not in taken)
        text = FIRST.format(name=name, title=toml_value(title.strip()), language=language())
        place = self._at(name)
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
