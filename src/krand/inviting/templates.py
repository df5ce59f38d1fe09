"""What is written to people: a template in each language, filled in for each of them.

    Subject: {title}

    You are invited … {link}

The first line is the subject, and an empty line follows it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from unicodedata import category

from krand.errors import InvalidInput
from krand.files import read_whole
from krand.languages.catalogs import languages_of, spoken
from krand.mistakes import Problem, SurveyErrors
from krand.survey.survey import Survey
from krand.survey.translations import nearest_language

ROOM = "mail"
INVITATION, REMINDER, SLIP, SHEET = "invitation", "reminder", "slip", "sheet"
LINK = "link"
NAMES = (LINK, "title", "organiser", "contact", "closes")
FIELD = re.compile(r"\{([^{}\s]*)\}")
GAP = re.compile(r"\n\s*\n\n")
"""Where a line was left out between empty ones."""
SUBJECT = "Subject:"
LONGEST = 100_000
"""Characters of a template."""


@dataclass(frozen=True, slots=True)
class Template:
    """A message before it is filled in; neither part has a line that the survey cannot fill."""

    subject: str
    body: str

    def body_with(self, link: str) -> str:
        """The text for one person."""
        return self.body.replace(f"{{{LINK}}}", link)


class Templates:
    """The message of everybody, in their language if there is one in it, else in the survey's."""

    def __init__(self, kind: str, survey: Survey, given: Path | None = None) -> None:
        """`given` is the user's own text, for everybody; it names the survey as they read it."""
        if given is None:
            texts = {tag: (own_text(kind, tag), f"krand, {tag}") for tag in languages_of(ROOM)}
        else:
            texts = dict.fromkeys(map(str.lower, survey.languages), (_text_of(given), str(given)))
        self._found = {tag: _template(kind, _said(survey, tag), *texts[tag]) for tag in texts}
        self._usual = next(iter(self._found.values()))
        self._usual = self.of(survey.language.lower())

    def of(self, tag: str) -> Template:
        """The template for somebody with this language, "de" for "de-AT"."""
        return self._found.get(tag) or self._found.get(_primary(tag)) or self._usual


def own_text(kind: str, tag: str) -> str:
    """krand's own text in a language that has them."""
    content = files("krand.inviting").joinpath("mail_en.toml").read_text(encoding="utf-8")
    return str(spoken(tomllib.loads(content), ROOM, tag)[kind])


def known_values(survey: Survey) -> dict[str, str]:
    """What a text may name about the survey; empty where the survey says nothing."""
    return {
        "title": survey.shown_title,
        "organiser": survey.organiser,
        "contact": survey.contact,
        "closes": "" if survey.closes is None else survey.closes.isoformat(),
    }


def filled_lines(text: str, values: Mapping[str, str]) -> list[str]:
    """The lines with their values; those that need an empty one are left out."""
    lines = [
        line
        for line in text.splitlines()
        if all(values.get(name, name) for name in FIELD.findall(line))
    ]
    return [FIELD.sub(lambda found: values.get(found[1], found[0]), line) for line in lines]


def _said(survey: Survey, tag: str) -> Survey:
    """The survey in the language of a text, if it has that."""
    found = nearest_language(survey.languages, tag)
    return survey if found in (None, survey.language) else survey.in_language(str(found))


def _primary(tag: str) -> str:
    return tag.partition("-")[0]


def _text_of(path: Path) -> str:
    try:
        text = read_whole("template", path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("template", "must be UTF-8", str(path), "save it as UTF-8") from None
    if len(text) > LONGEST:
        raise InvalidInput("template", f"must have at most {LONGEST:,} characters", len(text))
    return text


def _template(kind: str, survey: Survey, text: str, source: str) -> Template:
    lines = text.strip("\n").splitlines()
    wrong = list(_problems(kind, lines))
    if wrong:
        raise SurveyErrors(source, wrong)
    subject = filled_lines(lines[0], known_values(survey))
    body = filled_lines("\n".join(lines[2:]), known_values(survey))
    if not subject:
        rule, hint = "must name only what the survey says", "give the survey a title"
        raise InvalidInput("template", rule, lines[0], f"{hint}, or write the subject; in {source}")
    text = GAP.sub("\n\n", "\n".join(body).strip("\n"))
    return Template(subject[0].removeprefix(SUBJECT).strip(), f"{text}\n")


def _problems(kind: str, lines: list[str]) -> Iterator[Problem]:
    head = lines[0] if lines else ""
    if not head.startswith(SUBJECT) or not head.removeprefix(SUBJECT).strip():
        hint = f"for example {SUBJECT} {{title}}"
        yield _problem(1, "must begin with the subject", head, hint)
    if len(lines) > 1 and lines[1].strip():
        yield _problem(2, "must be empty, between the subject and the text", lines[1], "")
    for number, line in enumerate(lines, 1):
        if any(category(sign) == "Cc" and sign != "\t" for sign in line):
            yield _problem(number, "must have no control characters", line, "type it again")
        for name in {*FIELD.findall(line)} - {*NAMES}:
            known = ", ".join(f"{{{each}}}" for each in NAMES)
            yield _problem(number, f"must be one of {known}", f"{{{name}}}", "")
    with_link = [number for number, line in enumerate(lines, 1) if f"{{{LINK}}}" in line]
    if 1 in with_link:
        hint = "mail servers write subjects into their logs"
        yield _problem(1, "must not have the link", head, hint)
    if kind == REMINDER and with_link:
        hint = "nobody knows whose link is which: refer to the first message"
        yield _problem(
            with_link[0], "must have no link in a reminder", lines[with_link[0] - 1], hint
        )
    if kind == INVITATION and not with_link:
        hint = "it is replaced by each person's link"
        yield _problem(len(lines), "must have {link}", None, hint)


def _problem(line: int, rule: str, value: object, hint: str) -> Problem:
    return Problem(path="", line=line, rule=rule, value=value, hint=hint)
