"""The survey file as pydantic models: its keys, their types, their ranges, an example of each.

They are used twice: to check files, and to make the JSON Schema that editors use. Examples become
the hints of error messages. Values are taken from the file as they stand, never from the models,
so that nothing is converted on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model
from pydantic_core import PydanticCustomError

from krand.errors import InvalidInput
from krand.promise import MAX_COPIES, MAX_CROWD, MAX_ROUNDS
from krand.survey import rules
from krand.survey.about import DEFAULT_LANGUAGE, LINES, TEXTS
from krand.survey.conditions import KEYS, shape_rules
from krand.survey.kinds.question import Key
from krand.survey.mechanisms import DEVICES, mechanism_of, mechanisms
from krand.survey.questions import KINDS, Question, any_of, joinable_kinds
from krand.survey.rules import Broken
from krand.survey.survey import MAX_MIXERS, Trust


def _obeys(rule: Callable[[Any], Iterator[Broken]]) -> AfterValidator:
    """One of krand's own rules as a validator; all that it finds travels in one error."""

    def check(value: Any) -> Any:
        broken = list(rule(value))
        if broken:
            raise PydanticCustomError("krand_rule", "invalid value", {"broken": broken})
        return value

    return AfterValidator(check)


Weight = Annotated[float, Field(gt=0, le=rules.MAX_WEIGHT, examples=[2])]
Line = Annotated[
    str,
    _obeys(rules.line_rules),
    Field(json_schema_extra={"maxLength": rules.MAX_LINE_LENGTH}),
]
Text = Annotated[str, _obeys(rules.text_rules), Field(max_length=rules.MAX_TEXT_LENGTH)]
_ANSWER = {"type": ["string", "number", "boolean"]}
ABSENT: Any = None
"""TOML has no null: a key that may be left out has a type of its own and no default."""


class Table(BaseModel):
    """A table of the file: unknown keys are mistakes, and nothing is converted."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        json_schema_extra={"additionalProperties": False},
    )


RECORD: dict[str, Any] = {"properties": {"linkage": {"const": "record"}}, "required": ["linkage"]}
ONE_COPY: dict[str, Any] = {"properties": {"copies": {"const": 1}}}


def _noise_rules(value: str) -> Iterator[Broken]:
    """A mechanism that surveys may name."""
    try:
        mechanism_of(value)
    except InvalidInput as error:
        yield Broken((), error.rule, value, error.hint)


def _by_mechanism(schema: dict[str, Any]) -> None:
    """What goes with each mechanism; the first is that of a file which names none."""
    schema["anyOf"] = [RECORD, ONE_COPY]
    schema["allOf"] = [
        {"if": _names(known.code, known == Trust().noise), "then": known.schema()}
        for known in mechanisms()
    ]


def _names(code: str, is_default: bool) -> dict[str, Any]:
    """That the file names this mechanism, or none if it is the default."""
    table: dict[str, Any] = {"properties": {"noise": {"const": code}}}
    if is_default:
        return {"properties": {"trust": table}}
    return {
        "properties": {"trust": {**table, "required": ["noise"]}},
        "required": ["trust"],
    }


def _codes(schema: dict[str, Any]) -> None:
    schema["enum"] = [known.code for known in mechanisms()]


class PolicyTable(Table):
    """What is promised, to a member of which crowd."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [key]} for key in ("delta", "eta")]}
    )

    epsilon: Annotated[float, Field(gt=0, le=100, examples=[1.0])]
    """ε: how much one person's answers may change the odds of any outcome, as a power of e."""
    minimum_crowd: Annotated[int, Field(ge=2, le=MAX_CROWD, examples=[100_000])] = ABSENT
    """The crowd that hides each person: nothing is released below it. It may be left out where
    mixers add the noise: their promise needs no crowd, and 2 asks for none."""
    delta: Annotated[float, Field(gt=0, lt=1, examples=[1e-6])] = ABSENT
    """δ of (ε, δ)-differential privacy. Give either delta or eta."""
    eta: Annotated[float, Field(gt=0, lt=1, examples=[0.001])] = ABSENT
    """η: the probability of an outcome that changes the odds by more than ε."""
    colluding: Annotated[int, Field(ge=0, le=MAX_CROWD, examples=[100])] = ABSENT
    """How many members of the crowd may hide nobody, because they show their responses to the
    analyst or added no noise. If it is left out: one in a hundred, and at least one; none where
    mixers add the noise, whose promise holds however many collude."""
    max_local_epsilon: Annotated[float, Field(gt=0, le=1e6, examples=[20])] = ABSENT
    """A cap on ε₀, what one response may reveal if collector and analyst collude."""


class TrustTable(Table):
    """Whom people must trust."""

    noise: Annotated[
        str,
        _obeys(_noise_rules),
        Field(examples=["mixers"], json_schema_extra=_codes),
    ] = DEVICES.code
    """Who adds the noise: each device, which needs a crowd and a collector that keeps secrets;
    or every mixer, which needs one honest mixer."""
    mixers: Annotated[int, Field(ge=1, le=MAX_MIXERS, examples=[3])] = 1
    """How many mixers pass a batch on, one after the other; the collector is the first. Each adds
    noise that suffices alone."""
    analyst_runs: Annotated[
        list[Annotated[int, Field(ge=1, le=MAX_MIXERS)]],
        Field(examples=[[1]], json_schema_extra={"uniqueItems": True}),
    ] = []
    """Which mixers the analyst's organisation runs too, by their places in the chain: 1 is the
    collector. It is one party then, and people are told so."""


DAY = {"type": "string", "format": "date", "pattern": rules.DATE_PATTERN}


class ScheduleTable(Table):
    """When people are asked again, and for how long one promise is."""

    every: Annotated[Literal["day", "week", "month"], Field(examples=["week"])]
    """How often a round begins; it ends where the next one begins."""
    starts: Annotated[
        Any,
        _obeys(rules.starts_rules),
        Field(examples=["2027-01-04"], json_schema_extra=DAY),
    ]
    """The day on which round 1 opens, at midnight: a date, or text YYYY-MM-DD."""
    time_zone: Annotated[str, Field(examples=["Europe/Berlin"])] = "UTC"
    """Whose midnight it is."""
    promise: Annotated[Literal["campaign", "quarter", "round"], Field(examples=["quarter"])] = (
        "campaign"
    )
    """What epsilon and delta are for: all rounds together, those of a quarter, or each round."""
    campaign: Annotated[
        str,
        _obeys(rules.id_rules),
        Field(examples=["app-2027"], json_schema_extra={"pattern": rules.ID_PATTERN}),
    ] = ABSENT
    """What a changed survey continues: the id of the survey that came first; its own if it is left
    out."""
    first: Annotated[int, Field(ge=1, le=MAX_ROUNDS, examples=[14])] = 1
    """The first round of a survey that continues a campaign; `rounds` is its last one."""
    opens: Annotated[list[str], Field(examples=[["2027-01-03T23:00:00Z"]])] = ABSENT
    """When each round opens, and when the last one closes, as plans have it; leave it out."""


class NamedTable(Table):
    """A name, and what people read: of a statement, or of a whole matrix."""

    name: Annotated[
        str,
        _obeys(rules.name_rules),
        Field(examples=["search_engine"], json_schema_extra={"pattern": rules.NAME_PATTERN}),
    ]
    """A short name: it heads the column of answers."""
    text: Annotated[Text, Field(examples=["Do you smoke?"])] = ""
    """The wording shown to people."""


class QuestionTable(NamedTable):
    """What every question has."""

    help: Annotated[Text, Field(examples=["Count the ones you pay for."])] = ""
    """What helps people to answer, shown beside the wording."""
    required: Annotated[bool, Field(examples=[True])] = False
    """Whether the form asks for an answer before it sends."""
    weight: Weight = 1.0
    """Which questions deserve more precision: twice the weight, less noise here, more elsewhere."""
    asked_if: Annotated[
        Any,
        _obeys(shape_rules),
        Field(
            examples=[{"question": "smokes", "is": ["yes"]}],
            json_schema_extra={
                "type": "object",
                "properties": {
                    "question": {"type": "string", "pattern": rules.NAME_PATTERN},
                    "is": {"anyOf": [_ANSWER, {"type": "array", "items": _ANSWER, "minItems": 1}]},
                },
                "required": list(KEYS),
                "additionalProperties": False,
            },
        ),
    ] = ABSENT
    """Whom the question is asked: people who gave this answer, or one of these, to an earlier
    question. Others send what an unanswered question sends."""
    statements: Annotated[
        list[NamedTable],
        Field(min_length=1, examples=[[{"name": "pay", "text": "My pay is fair."}]]),
    ] = ABSENT
    """Several statements with the same answers, shown as one table: each becomes a question."""
    matrix: Annotated[NamedTable, Field(examples=[{"name": "work"}])] = ABSENT
    """The table that this question is a row of, as plans have it; write `statements` instead."""


def _annotation(key: Key) -> Any:
    """The type of a key with its limits, rules, meaning and example."""
    parts = () if key.rule is None else (_obeys(key.rule),)
    limits: dict[str, Any] = dict(key.limits)
    extra = dict(key.schema) or None
    about = Field(description=key.says, examples=[key.example], json_schema_extra=extra, **limits)
    # The elements of a list are left to krand's rules, which find all that is wrong at once.
    forms: dict[Any, Any] = {None: Any, list: list[Any]}
    form = forms.get(key.form, key.form)
    return Annotated[(form, *parts, about)]


def _table_of(question: type[Question]) -> type[QuestionTable]:
    """The model of a kind, from what its module declares."""

    class Base(QuestionTable):
        model_config = ConfigDict(
            json_schema_extra=dict(question.schema), use_attribute_docstrings=False
        )

    fields: dict[str, Any] = {"type": (Literal[question.kind.value], ...)}
    fields |= {key.name: (_annotation(key), key.default) for key in question.keys}
    name = f"{question.__name__}Table"
    made: type[QuestionTable] = create_model(
        name, __base__=Base, __doc__=question.summary, __module__=__name__, **fields
    )
    return made


class TogetherTable(Table):
    """Questions that will be analysed jointly."""

    questions: Annotated[
        list[str],
        Field(
            min_length=2,
            examples=[["search_engine", "ad_blocker"]],
            description=f"Names of {any_of(joinable_kinds())} questions.",
        ),
    ]
    weight: Weight = ABSENT
    """How much precision the group deserves; by default the largest weight in it."""


class HeadTable(Table):
    """What stands above the first table of the file."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [RECORD, ONE_COPY]})

    id: Annotated[
        str,
        _obeys(rules.id_rules),
        Field(examples=["browser-2026-11"], json_schema_extra={"pattern": rules.ID_PATTERN}),
    ]
    """The survey's name, different for each survey."""
    title: Annotated[Line, Field(examples=["How we use browsers"])] = ""
    """What people call the survey; where there is none they see its id."""
    organiser: Annotated[Line, Field(examples=["Institute of Examples"])] = ""
    """Who asks."""
    contact: Annotated[Line, Field(examples=["survey@example.org"])] = ""
    """How to reach the organiser."""
    introduction: Annotated[Text, Field(examples=["Ten questions, three minutes."])] = ""
    """What people read before the first question."""
    thanks: Annotated[Text, Field(examples=["Thank you. Results will be published in May."])] = ""
    """What people read once they have answered."""
    language: Annotated[
        str,
        _obeys(rules.language_rules),
        Field(
            examples=["de"],
            json_schema_extra={
                "pattern": rules.LANGUAGE_PATTERN,
                "maxLength": rules.MAX_TAG_LENGTH,
            },
        ),
    ] = DEFAULT_LANGUAGE
    """The language of the survey's texts, as a BCP 47 tag."""
    closes: Annotated[
        Any,
        _obeys(rules.closes_rules),
        Field(
            examples=["2026-12-24"],
            json_schema_extra=DAY,
        ),
    ] = ABSENT
    """The last day, in UTC, on which answers are taken: a date, or text YYYY-MM-DD."""
    invitations: Annotated[bool, Field(examples=[True])] = False
    """Whether only people with an invitation may answer, each once a round."""
    linkage: Annotated[Literal["bit", "record"], Field(examples=["bit"])] = "bit"
    """What travels together: every bit alone, or the whole record of a person's answers."""
    copies: Annotated[int, Field(ge=1, le=MAX_COPIES, examples=[1])] = 1
    """How many noisy copies of the record each person sends; 1 where bits travel apart."""
    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS, examples=[1])] = 1
    """How many times the same people are asked: more than once with a schedule alone. The promise
    covers all rounds."""
    expected: Annotated[int, Field(ge=1, le=MAX_CROWD, examples=[1200])] = ABSENT
    """How many people are expected in a round: the plan shows margins of error as shares of them,
    and warns of questions that would be too noisy. It changes no noise."""
    invited: Annotated[int, Field(ge=1, le=MAX_CROWD, examples=[2000])] = ABSENT
    """How many people are asked to take part: the report shows which part of them did. It changes
    no noise."""


_Item = Annotated[str, Field(min_length=1, max_length=rules.MAX_ITEM_LENGTH)]
_Words = dict[str, _Item] | Literal["same"]


class QuestionTexts(Table):
    """A question in another language: every text that it has."""

    text: Annotated[Text, Field(examples=["Fumez-vous ?"])] = ABSENT
    """The wording shown to people."""
    help: Annotated[Text, Field(examples=["Comptez tous les abonnements."])] = ABSENT
    """What helps people to answer."""
    choices: Annotated[_Words, Field(examples=[{"cat": "chat"}, "same"])] = ABSENT
    """Each choice as it stands in the survey, and its translation; "same" for names that are the
    same in this language."""
    labels: Annotated[_Words, Field(examples=[{"bad": "mauvais", "good": "bon"}])] = ABSENT
    """The same for the labels of a scale."""
    unit: Annotated[Line, Field(examples=["heures par semaine"])] = ABSENT
    """What a number counts or measures."""


class _Translation(Table):
    question: Annotated[dict[str, QuestionTexts], Field(examples=[{"smokes": {"text": "…"}}])] = {}
    """By the names of questions and statements."""


_TEXTS: dict[str, Any] = {
    key: (HeadTable.model_fields[key].annotation, HeadTable.model_fields[key])
    for key in (*LINES, *TEXTS)
}
TranslationTable: type[Table] = create_model(
    "TranslationTable",
    __base__=_Translation,
    __doc__="A survey in another language: every text that it has; names and addresses may stay.",
    __module__=__name__,
    **_TEXTS,
)


QUESTION_TABLES: dict[str, type[QuestionTable]] = {
    kind: _table_of(question) for kind, question in KINDS.items()
}
"""By the `type` of a [[question]] table."""

_ANY_QUESTION: Any = Annotated[
    Union[tuple(QUESTION_TABLES.values())],  # noqa: UP007 - of what is known only when it runs
    Field(discriminator="type"),
]
_ALL_QUESTIONS: Any = Annotated[list[_ANY_QUESTION], Field(min_length=1)]


class _File(HeadTable):
    model_config = ConfigDict(
        use_attribute_docstrings=False,
        json_schema_extra=_by_mechanism,
    )


SurveyFile: type[HeadTable] = create_model(
    "SurveyFile",
    __base__=_File,
    __doc__="A krand survey.",
    __module__=__name__,
    policy=(PolicyTable, ...),
    question=(_ALL_QUESTIONS, ...),
    together=(list[TogetherTable], []),
    trust=(TrustTable, ABSENT),
    translations=(dict[str, TranslationTable], {}),  # type: ignore[valid-type]
    schedule=(ScheduleTable, ABSENT),
)
