"""The form of the first page: whom to ask about what, and the survey file that it becomes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import partial

from krand.errors import InvalidInput
from krand.promise import MAX_CROWD
from krand.survey import mechanisms
from krand.survey.document import toml_value
from krand.survey.kinds.yes_no import COUNTED
from krand.survey.names import name_from, unused_name
from krand.survey.problems import SurveyErrors
from krand.survey.survey import MAX_MIXERS, Survey
from krand.web.settings import Choice, FilledForm, number_field
from krand.web.surveys import survey_from
from krand.web.texts import TEXTS
from krand.wording.mechanisms import words_of
from krand.wording.numbers import parse_count, parse_real

OWN = TEXTS.form
FIRST_PRESET = "staff"
LONGEST_TEXTS = {"topic": 100, "questions": 2000}
"""The most characters; other fields have `LONGEST_NUMBER`."""
LONGEST_NUMBER = 40
MOST_QUESTIONS = 30

_protection = partial(
    number_field, labels=TEXTS.fields.first_labels, hints=TEXTS.fields.first_hints
)
FIELDS = {
    field.name: field
    for field in (
        number_field("people", "800", 20, 1e8, whole=True),
        number_field("rate", "60", 1, 100, whole=True),
        _protection("epsilon", "2", 0.1, 10),
        _protection("delta", "1e-5", 1e-12, 1e-2),
        number_field("mixers", "3", 1, MAX_MIXERS, whole=True),
    )
}
CHOICES = {
    "noise": Choice(
        "noise",
        TEXTS.fields.labels["noise"],
        tuple((str(s), words_of(s).option) for s in mechanisms.mechanisms()),
    ),
    "counts": Choice(
        "counts",
        TEXTS.fields.labels["counts"],
        tuple((word, TEXTS.fields.options[f"counts-{word}"]) for word in COUNTED),
    ),
}
DEFAULTS = {
    **{name: field.default for name, field in FIELDS.items()},
    "topic": OWN.topics[FIRST_PRESET],
    "questions": OWN.questions[FIRST_PRESET],
    "noise": mechanisms.DEVICES.code,
    "counts": COUNTED[0],
}
NUMBERS = {
    "staff": {"people": "800", "rate": "60", "epsilon": "2", "delta": "1e-5", "noise": "devices"},
    "clinic": {"people": "5000", "rate": "50", "epsilon": "1", "delta": "1e-6", "noise": "mixers"},
    "app": {"people": "5M", "rate": "20", "epsilon": "1", "delta": "1e-9", "noise": "devices"},
}
PRESETS = {
    name: {**DEFAULTS, **numbers, "topic": OWN.topics[name], "questions": OWN.questions[name]}
    for name, numbers in NUMBERS.items()
}
"""Forms to begin with."""


class SurveyForm(FilledForm):
    """The form of the first page."""

    @property
    def crowd(self) -> int:
        """How many people answer at least."""
        people = parse_count("people", self._given("people"))
        if not 2 <= people <= MAX_CROWD:
            raise InvalidInput("people", OWN.people_rule.format(most=f"{MAX_CROWD:,}"), people)
        rate = parse_real("rate", self._given("rate"))
        if not 1 <= rate <= 100:
            raise InvalidInput("rate", OWN.percent_rule, self.texts["rate"])
        return math.floor(people * rate / 100)

    @property
    def lines(self) -> list[str]:
        """The questions as they were written."""
        return [line.strip() for line in self.texts["questions"].splitlines() if line.strip()]

    @property
    def noise(self) -> mechanisms.Mechanism:
        """Who adds the noise."""
        words = [source.code for source in mechanisms.mechanisms()]
        return mechanisms.mechanism_of(self.one_of("noise", words))

    def survey(self) -> Survey:
        """The survey; InvalidInput names a field of the form."""
        try:
            return survey_from(self.survey_text())
        except SurveyErrors as error:
            first = error.problems[0]
            field = "topic" if first.path in ("id", "title") else "questions"
            raise InvalidInput(field, first.rule, first.value, first.hint) from None

    def survey_text(self) -> str:
        """The survey file."""
        topic = self._given("topic")
        lines = [
            OWN.file_comment,
            "",
            f'id = "{name_from(topic, "-") or "survey"}"',
            f"title = {toml_value(topic)}",
            f"expected = {self._crowd_given()}",
            "",
            "[policy]",
            f"epsilon = {_float(self._real('epsilon', 100))}",
            f"delta = {_float(self._real('delta', 1))}",
            *self._minimum_crowd(),
            *self._trust(),
        ]
        for question in self._questions():
            lines += ["", "[[question]]", *question]
        return "\n".join(lines) + "\n"

    def _minimum_crowd(self) -> Iterator[str]:
        crowd = self.noise.planned_crowd(self._crowd_given())
        if crowd is not None:
            yield f"minimum_crowd = {crowd}"

    def _crowd_given(self) -> int:
        if self.crowd < 2:
            raise InvalidInput("people", OWN.too_few, self.crowd)
        return self.crowd

    def _trust(self) -> Iterator[str]:
        if not self.noise.chain(1):
            return
        mixers = parse_count("mixers", self._given("mixers"))
        if not 1 <= mixers <= MAX_MIXERS:
            raise InvalidInput("mixers", OWN.mixers_rule.format(most=MAX_MIXERS), mixers)
        yield from ("", "[trust]", f'noise = "{self.noise}"', f"mixers = {mixers}")

    def _questions(self) -> Iterator[list[str]]:
        self._given("questions")
        lines, counts = self.lines, self.one_of("counts", list(COUNTED))
        if len(lines) > MOST_QUESTIONS:
            raise InvalidInput(
                "questions", OWN.most_questions.format(most=MOST_QUESTIONS), len(lines)
            )
        seen: set[str] = set()
        for number, line in enumerate(lines, 1):
            text, choices = _parted(line)
            name = unused_name(name_from(text, "_"), number, seen)
            question = [f'name = "{name}"', f'type = "{"choice" if choices else "yes_no"}"']
            question.append(f"text = {toml_value(text)}")
            if choices:
                question.append(f"choices = [{', '.join(map(toml_value, choices))}]")
            elif counts != COUNTED[0]:
                question.append(f'counts = "{counts}"')
            yield question

    def _real(self, name: str, most: float) -> float:
        value = parse_real(name, self._given(name))
        if not 0 < value <= most:
            raise InvalidInput(name, OWN.between.format(most=f"{most:g}"), self.texts[name])
        return value

    def _given(self, name: str) -> str:
        text = self.given(name, DEFAULTS[name].splitlines()[0])
        most = LONGEST_TEXTS.get(name, LONGEST_NUMBER)
        if len(text) > most:
            raise InvalidInput(name, OWN.longest.format(most=f"{most:,}"), f"{len(text):,}")
        return text


def survey_form_from(query: Mapping[str, str]) -> SurveyForm:
    """The form in a query; unknown fields are ignored, missing ones are those of the preset."""
    defaults = PRESETS.get(query.get("preset", ""), DEFAULTS)
    given = {name: query.get(name, text) for name, text in defaults.items()}
    return SurveyForm({name: text.replace("\r\n", "\n") for name, text in given.items()})


def _parted(line: str) -> tuple[str, list[str]]:
    """The question, and its choices behind a question mark or a colon."""
    found = re.match(r"(.*?[?:])(.*)", line)
    if found is None:
        return line, []
    choices = [choice.strip() for choice in found[2].split(",") if choice.strip()]
    if len(choices) == 1:
        raise InvalidInput("questions", OWN.two_choices, line, OWN.question_hint)
    return found[1].removesuffix(":").strip() or line, choices


def _float(value: float) -> str:
    text = repr(float(value))
    return text if any(sign in text for sign in ".e") else f"{text}.0"
