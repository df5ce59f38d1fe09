"""What is written to people: a template in each language, filled in for each of them.

    Subject: {title}

    You are invited … {link}

The first line is the subject, and an empty line follows it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from unicodedata import category

from krand.errors import InvalidInput
from krand.files import read_whole
from krand.inviting.addresses import Recipient
from krand.languages.catalogs import languages_of, spoken
from krand.mistakes import Problem, SurveyErrors
from krand.survey.survey import Survey
from krand.survey.translations import nearest_language

ROOM = "mail"
INVITATION, REMINDER, SLIP = "invitation", "reminder", "slip"
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
    """The templates of a message, by language; "" is for everybody else."""

    def __init__(self, kind: str, survey: Survey, given: Iterable[tuple[str, Path]]) -> None:
        """`given` are a user's own files, each with its language or with none."""
        texts = [(tag.lower(), *_file(path)) for tag, path in given]
        self._found = {tag: _template(kind, _said(survey, tag), *text) for tag, *text in texts}
        if len(self._found) < len(texts):
            tags = ", ".join(tag or "one without a language" for tag, *_ in texts)
            raise InvalidInput("template", "must be one for each language", tags)
        if not texts:
            for tag in languages_of(ROOM):
                text = own_text(kind, tag)
                self._found[tag] = _template(kind, _said(survey, tag), text, f"krand, {tag}")
        tag = survey.language.lower()
        usual = [self._found[each] for each in ("", tag, _primary(tag)) if each in self._found]
        self._usual = usual[0] if usual else next(iter(self._found.values()))

    @property
    def languages(self) -> tuple[str, ...]:
        """All that there is a template for."""
        return tuple(tag for tag in self._found if tag)

    def of(self, tag: str) -> Template:
        """The template for somebody with this language, "de" for "de-AT"."""
        return self._found.get(tag) or self._found.get(_primary(tag)) or self._usual

    def check(self, recipients: Iterable[Recipient], source: str) -> None:
        """Every language that the addresses name must have a template, or there is one for all."""
        wrong = [
            Problem(
                path="",
                line=one.line,
                rule="must be a language that has a template",
                value=one.language,
                hint=f"there are {', '.join(self.languages) or 'none with a language'};"
                f" add --template {one.language}=FILE",
            )
            for one in recipients
            if one.language and not {"", one.language, _primary(one.language)} & {*self._found}
        ]
        if wrong:
            raise SurveyErrors(source, wrong)


def own_text(kind: str, tag: str) -> str:
    """krand's own text in a language that has them."""
    content = files("krand.inviting").joinpath("mail_en.toml").read_text(encoding="utf-8")
    return str(spoken(tomllib.loads(content), ROOM, tag)[kind])


def _said(survey: Survey, tag: str) -> Survey:
    """The survey in the language of a text, if it has that."""
    found = nearest_language(survey.languages, tag)
    return survey if found in (None, survey.language) else survey.in_language(str(found))


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


def _primary(tag: str) -> str:
    return tag.partition("-")[0]


def _file(path: Path) -> tuple[str, str]:
    try:
        text = read_whole("template", path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("template", "must be UTF-8", str(path), "save it as UTF-8") from None
    if len(text) > LONGEST:
        raise InvalidInput("template", f"must have at most {LONGEST:,} characters", len(text))
    return text, str(path)


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


def _problems(kind: str, lines: list[str]) -> Iterable[Problem]:
    def problem(line: int, rule: str, value: object, hint: str = "") -> Problem:
        return Problem(path="", line=line, rule=rule, value=value, hint=hint)

    head = lines[0] if lines else ""
    if not head.startswith(SUBJECT) or not head.removeprefix(SUBJECT).strip():
        hint = f"for example {SUBJECT} {{title}}"
        yield problem(1, "must begin with the subject", head, hint)
    if len(lines) > 1 and lines[1].strip():
        yield problem(2, "must be empty, between the subject and the text", lines[1])
    known = ", ".join(f"{{{name}}}" for name in NAMES)
    has_link = False
    for number, line in enumerate(lines, 1):
        if any(category(sign) == "Cc" and sign != "\t" for sign in line):
            yield problem(number, "must have no control characters", line, "type it again")
        for name in FIELD.findall(line):
            if name not in NAMES:
                yield problem(number, f"must be one of {known}", f"{{{name}}}")
            elif name == LINK and number == 1:
                hint = "mail servers write subjects into their logs"
                yield problem(1, "must not have the link", head, hint)
            elif name == LINK and kind == REMINDER:
                hint = "nobody knows whose link is which: refer to the first message"
                yield problem(number, "must have no link in a reminder", line, hint)
            has_link = has_link or name == LINK
    if kind == INVITATION and not has_link:
        yield problem(len(lines), "must have {link}", None, "it is replaced by each person's link")
