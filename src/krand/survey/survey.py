"""A survey: who is promised what, what is asked, and what will be analysed jointly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from krand.errors import InvalidInput
from krand.mistakes import Broken, Path
from krand.models import Model, unsaid, wrong
from krand.policy import Policy
from krand.promise import MAX_COPIES, MAX_CROWD, MAX_ROUNDS, Linkage
from krand.showing import Shown, one_line, some
from krand.survey.coherence import (
    Rows,
    group_rules,
    linkage_rules,
    matrix_rules,
    name_rules,
    people_rules,
    size_rules,
)
from krand.survey.conditions import condition_rules, with_named_answers
from krand.survey.questions import JOINABLE, AnyQuestion, Matrix, Question
from krand.survey.rules import Day, Id, Language, Line, Text, Weight
from krand.survey.schedule import Schedule
from krand.survey.translations import (
    LINES,
    TEXTS,
    TRANSLATIONS_SCHEMA,
    Translation,
    translation_rules,
    worded,
)

MAX_MIXERS = 8
KEPT_DAYS = 31
"""Keys and copies of a round end so many days after its last day, whatever has come by then."""
SMALLEST_CROWD = 2
"""Where mixers add the noise, which needs no crowd, and a survey names none."""
COLLUDING_SHARE = 100
"""One in so many is counted on to hide nobody, where a survey does not say."""


class Together(Model):
    """Questions that will be analysed jointly; by default as precise as its weightiest one.

    >>> from krand import Together
    >>> Together(questions=["smokes", "pet"]).name
    'smokes+pet'
    """

    questions: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            min_length=2,
            examples=[["search_engine", "ad_blocker"]],
            description=f"Names of {JOINABLE} questions.",
        ),
    ]
    weight: Weight | None = None
    """How much precision the group deserves; by default the largest weight in it."""

    @property
    def name(self) -> str:
        """No question can be called like this: '+' is not allowed in names."""
        return "+".join(self.questions)


class Trust(Model):
    """Whom people must trust: who adds the noise, and how many mixers pass a batch on.

    >>> from krand import Trust
    >>> Trust(mixers=2).chain, Trust(noise="devices").chain
    (2, 0)
    """

    noise: Annotated[Literal["devices", "mixers"], Field(examples=["mixers"])] = "mixers"
    """Who adds the noise: every mixer, which needs one honest mixer; or each device, which needs a
    crowd and a collector that keeps secrets. A survey that does not say has mixers' noise; with
    linkage = "record" it has devices'."""
    mixers: Annotated[int, Field(ge=1, le=MAX_MIXERS, examples=[3])] = 1
    """How many mixers pass a batch on, one after the other; the collector is the first. Each adds
    noise that suffices alone."""
    analyst_runs: Annotated[
        tuple[Annotated[int, Field(ge=1, le=MAX_MIXERS)], ...],
        Field(strict=False, examples=[[1]], json_schema_extra={"uniqueItems": True}),
    ] = ()
    """Which mixers the analyst's organisation runs too, by their places in the chain: 1 is the
    collector. It is one party then, and people are told so."""

    def _rules(self) -> Iterator[Broken]:
        places = list(self.analyst_runs)
        if sorted(set(places)) != places or any(place > self.mixers for place in places):
            rule = f"must be different places in the chain, from 1 to {self.mixers}, in ascending"
            hint = "1 is the collector: analyst_runs = [1]"
            yield Broken(("analyst_runs",), f"{rule} order", places, hint)

    @property
    def chain(self) -> int:
        """How many mixers add dummies to a batch; 0 where devices alone add the noise."""
        return self.mixers if self.has_dummies else 0

    @property
    def has_dummies(self) -> bool:
        """Whether mixers add dummies; else devices flip bits."""
        return self.noise == "mixers"

    @property
    def in_one_hand(self) -> bool:
        """Whether the analyst runs every mixer, and so can look at each person's messages."""
        return len(self.analyst_runs) == self.mixers

    def with_analyst_as_collector(self) -> Trust:
        """The same where the analyst runs the collector, beside the mixers it runs already."""
        return self.changed(analyst_runs=tuple(sorted({1, *self.analyst_runs})))


def _translations(given: Any) -> Any:
    """In the order of their tags."""
    if isinstance(given, Mapping):
        given = [Translation(language=str(tag), texts=given[tag]) for tag in given]
    if isinstance(given, (list, tuple)):
        return tuple(sorted(given, key=lambda each: str(each.language)))
    hint = "write [translations.fr], then title and the other texts"
    raise wrong([Broken((), "must be a table of languages", given, hint)])


def _by_language(translations: Sequence[Translation]) -> dict[str, Any]:
    return {each.language: each.texts for each in translations}


Translations = Annotated[
    tuple[Translation, ...],
    BeforeValidator(_translations),
    PlainSerializer(_by_language),
    WithJsonSchema(TRANSLATIONS_SCHEMA),
]


class Survey(Model, Shown):
    """A survey that keeps every rule: another one cannot be constructed.

    >>> from krand import Choice, Policy, Survey, YesNo
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> asked = [YesNo(name="smokes"), Choice(name="pet", choices=["cat", "dog", "none"])]
    >>> Survey(id="habits", policy=policy, questions=asked).questions[1].name
    'pet'
    """

    hints = {  # noqa: RUF012
        "policy": "add a [policy] table with epsilon and delta",
        "question": "write [[question]] with two brackets, once for each question",
        "together": "write [[together]] with two brackets",
    }

    id: Annotated[Id, Field(examples=["browser-2026-11"])]
    """The survey's name, different for each survey."""
    title: Annotated[Line, Field(examples=["How we use browsers"], exclude_if=unsaid)] = ""
    """What people call the survey; where there is none they see its id."""
    organiser: Annotated[Line, Field(examples=["Institute of Examples"], exclude_if=unsaid)] = ""
    """Who asks."""
    contact: Annotated[Line, Field(examples=["survey@example.org"], exclude_if=unsaid)] = ""
    """How to reach the organiser: an address, a telephone number, a page."""
    introduction: Annotated[
        Text, Field(examples=["Ten questions, three minutes."], exclude_if=unsaid)
    ] = ""
    """What people read before the first question."""
    thanks: Annotated[
        Text,
        Field(examples=["Thank you. Results will be published in May."], exclude_if=unsaid),
    ] = ""
    """What people read once they have answered."""
    language: Annotated[Language, Field(examples=["de"])] = "en"
    """The language of the survey's texts, as a BCP 47 tag."""
    closes: Annotated[Day | None, Field(examples=["2026-12-24"])] = None
    """The last day, in UTC, on which answers are taken: a date, or text YYYY-MM-DD."""
    invitations: Annotated[bool, Field(examples=[True])] = False
    """Whether only people with an invitation may answer, each once a round."""
    linkage: Annotated[Linkage, Field(strict=False, examples=["bit"])] = Linkage.BIT
    """What travels together: every bit alone, or the whole record of a person's answers."""
    copies: Annotated[int, Field(ge=1, le=MAX_COPIES, examples=[1])] = 1
    """How many noisy copies of the record each person sends; 1 where bits travel apart."""
    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS, examples=[1])] = 1
    """How many times the same people are asked: more than once with a schedule alone. The promise
    covers all rounds."""
    expected: Annotated[int | None, Field(ge=1, le=MAX_CROWD, examples=[1200])] = None
    """How many people are expected in a round: the plan shows margins of error as shares of them,
    and warns of questions that would be too noisy. It changes no noise."""
    invited: Annotated[int | None, Field(ge=1, le=MAX_CROWD, examples=[2000])] = None
    """How many people are asked to take part: the report shows which part of them did. It changes
    no noise."""
    policy: Policy
    questions: Annotated[tuple[AnyQuestion, ...], Field(strict=False, min_length=1)] = Field(
        validation_alias="question", serialization_alias="question"
    )
    together: Annotated[tuple[Together, ...], Field(strict=False)] = ()
    trust: Trust = Trust()
    translations: Annotated[Translations, Field(exclude_if=unsaid)] = ()
    """All texts in each of its other languages; by their tags."""
    schedule: Schedule | None = None
    """When each round is open; None where there is one, which the organiser opens and closes."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any], directory: str | FilePath = ".") -> Survey:
        """The survey of a dictionary with the keys of a survey file, under the same rules.

        All mistakes are in one error, as for a file; `directory` is where lists of choices are
        looked for.

        >>> from krand import Survey
        >>> survey = Survey.from_values(
        ...     {
        ...         "id": "habits",
        ...         "policy": {"epsilon": 1, "delta": 1e-4, "minimum_crowd": 10_000},
        ...         "question": [{"name": "smokes", "type": "yes_no"}],
        ...     }
        ... )
        >>> survey.questions[0].name
        'smokes'
        """
        return cls.read(values, "survey", directory=FilePath(directory))

    @model_validator(mode="before")
    @classmethod
    def _with_what_it_may_leave_out(cls, given: Any) -> Any:
        """Who adds the noise; and what a [policy] may leave out, which depends on that."""
        if not isinstance(given, Mapping):
            return given
        trust, policy, noise = given.get("trust", {}), given.get("policy"), noise_of(given)
        if isinstance(trust, Mapping):
            given = {**given, "trust": {"noise": noise} | dict(trust)}
        if not isinstance(policy, Mapping):
            return given
        whole = dict(policy)
        if noise == "devices":
            crowd = whole.get("minimum_crowd")
            if type(crowd) is int and SMALLEST_CROWD <= crowd <= MAX_CROWD:
                whole.setdefault("colluding", default_colluding(crowd))
        else:
            whole = {"minimum_crowd": SMALLEST_CROWD, "colluding": 0} | whole
        return {**given, "policy": whole}

    @model_validator(mode="after")
    def _coherent(self, info: ValidationInfo) -> Self:
        """The rules of the whole; then each statement is a question, and what follows is said."""
        rows = tuple(_rows(self.questions))
        questions = tuple(question for _, question in rows)
        schedule = self.schedule and self.schedule.filled(self.id, self.rounds)
        if broken := tuple(self._whole_rules(rows, questions, schedule)):
            raise wrong(broken)
        self.__dict__["questions"] = with_named_answers(questions)
        if schedule is not None:
            self.__dict__ |= {"schedule": schedule, "closes": schedule.last_day}
        return self

    def _whole_rules(
        self, rows: Rows, questions: tuple[Question, ...], schedule: Schedule | None
    ) -> Iterator[Broken]:
        groups = [group.questions for group in self.together]
        yield from name_rules(rows)
        yield from group_rules({question.name: question for question in questions}, groups)
        yield from linkage_rules(rows, len(groups), self.linkage, self.copies)
        yield from size_rules(rows, groups)
        yield from condition_rules(rows)
        yield from matrix_rules(rows)
        yield from translation_rules(self.language, self._about, questions, self.translations)
        yield from self._noise_rules()
        yield from people_rules(self.expected, self.invited, self.policy.minimum_crowd)
        yield from self._schedule_rules(schedule)

    def _noise_rules(self) -> Iterator[Broken]:
        """What goes with noise of devices, and with noise of mixers."""
        if self.trust.noise == "devices":
            if self.trust.mixers != 1:
                rule = 'must be 1 with noise = "devices", where mixers add no noise'
                hint = 'leave it out, or say noise = "mixers"'
                hint = "leave it out" if self.linkage is Linkage.RECORD else hint
                yield Broken(("trust", "mixers"), rule, self.trust.mixers, hint)
            return
        if self.linkage is Linkage.RECORD:
            rule = 'must be "devices" with linkage = "record": dummies cannot cover all records'
            hint = 'analyse few questions jointly with [[together]] and linkage = "bit"'
            yield Broken(("trust", "noise"), rule, self.trust.noise, hint)
        if (cap := self.policy.max_local_epsilon) is not None:
            rule = 'cannot be kept with noise = "mixers": devices add no noise, so ε₀ has no limit'
            hint = 'leave it out, or say noise = "devices" in [trust]'
            yield Broken(("policy", "max_local_epsilon"), rule, cap, hint)

    def _schedule_rules(self, schedule: Schedule | None) -> Iterator[Broken]:
        if schedule is None:
            if self.rounds > 1:
                hint = "add [schedule], which says when each of them is open, or remove rounds"
                yield Broken(("rounds",), "must be 1 without a schedule", self.rounds, hint)
            return
        faults = list(schedule.rules_for(self.rounds))
        yield from (broken.under(("schedule",)) for broken in faults)
        if not faults and self.closes not in (None, schedule.last_day):
            rule = "must be left out: the schedule says when rounds close"
            yield Broken(("closes",), rule, str(self.closes), "remove it")

    def __repr__(self) -> str:
        asked = some(len(self.questions), "question")
        return one_line(f"Survey {self.id}", asked, repr(self.policy))

    @property
    def shown_title(self) -> str:
        """What people call the survey: its title, or its id where it has none."""
        return self.title or self.id

    @property
    def _about(self) -> dict[str, str]:
        return {key: getattr(self, key) for key in (*LINES, *TEXTS)}

    def is_over(self, today: date | None = None) -> bool:
        """Whether the last day has passed; the day is that of UTC, everywhere."""
        return self.closes is not None and (today or datetime.now(UTC).date()) > self.closes

    @property
    def has_last_day(self) -> bool:
        """Whether it says when it ends, as every published survey does."""
        return self.closes is not None

    def until(self, round_number: int) -> date:
        """The last day, in UTC, on which any party keeps keys or copies of a round: everybody
        computes it alike, from what the plan's hash covers.

        >>> from datetime import date
        >>> from krand.testing import small_plan
        >>> small_plan().survey.changed(closes=date(2026, 12, 24)).until(1)
        datetime.date(2027, 1, 24)
        """
        last = self.schedule.last_day_of(round_number) if self.schedule else self.closes
        if last is None:
            raise InvalidInput("closes", "must be given in a survey that is published", None)
        return last + timedelta(days=KEPT_DAYS)

    @property
    def has_conditions(self) -> bool:
        """Whether some questions are not asked of everybody."""
        return any(question.asked_if is not None for question in self.questions)

    @property
    def languages(self) -> tuple[str, ...]:
        """Those in which its texts can be read, its own first."""
        return (self.language, *(each.language for each in self.translations))

    def in_language(self, language: str) -> Survey:
        """The survey as if it had been written in another of its languages.

        The same answers, in whichever language, set the same positions.
        """
        if language == self.language:
            return self.changed(translations=())
        for texts in self.translations:
            if texts.language == language:
                said = {key: text for key in self._about if (text := texts.text(key))}
                questions = worded(self.questions, texts)
                return self.changed(language=language, questions=questions, translations=(), **said)
        rule = f"must be a language of the survey: {', '.join(self.languages)}"
        raise InvalidInput("language", rule, language)

    @property
    def promised_rounds(self) -> int:
        """How many rounds ε and δ are for, together."""
        return 1 if self.schedule is None else self.schedule.together(self.rounds)

    @property
    def periods(self) -> int:
        """How many times that is promised; more than once where a schedule says so."""
        return 1 if self.schedule is None else self.schedule.periods(self.rounds)

    @property
    def first_round(self) -> int:
        """The first round of this survey: more than 1 where it continues a campaign."""
        return 1 if self.schedule is None else self.schedule.first


def noise_of(values: Mapping[str, Any]) -> Any:
    """Who adds the noise by what a survey file says: mixers, or devices for whole records.

    It is whatever [trust] says, a mistake as well.
    """
    trust = values.get("trust")
    if isinstance(trust, Trust):
        return trust.noise
    default = "devices" if values.get("linkage") == Linkage.RECORD else "mixers"
    return trust.get("noise", default) if isinstance(trust, Mapping) else default


def default_colluding(crowd: int) -> int:
    """How many people a plan counts on to hide nobody, where a survey does not say.

    Anybody may take part, so some will show what they sent, or add no noise. One in a hundred costs
    half a per cent of precision. In a small crowd it is one person all the same: a promise that a
    single person can break is none. At least two must be left to hide each other.
    """
    return min(max(1, -(-crowd // COLLUDING_SHARE)), crowd - 2)


def _rows(given: tuple[Question, ...]) -> Iterator[tuple[Path, Question]]:
    """The questions, one for each statement of a table, with the places of all in the file."""
    for index, question in enumerate(given):
        if question.statements is None:
            yield ("question", index), question
            continue
        if question.matrix is not None:
            where, hint = ("question", index, "matrix"), "statements make a matrix: remove it"
            found = question.matrix.values()
            raise wrong([Broken(where, "must not be given beside statements", found, hint)])
        matrix = Matrix(name=question.name, text=question.text)
        for row, said in enumerate(question.statements):
            own = {"name": said.name, "text": said.text, "matrix": matrix, "statements": None}
            yield ("question", index, "statements", row), question.changed(**own)
