"""The survey file as pydantic models: its keys, their types, their ranges, an example of each.

They are used twice: to check files, and to make the JSON Schema that editors use. Examples become
the mends of error messages. Values are taken from the file as they stand, never from the models,
so that nothing is converted on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from krand.promise import MAX_COPIES, MAX_POPULATION, MAX_ROUNDS
from krand.survey import rules
from krand.survey.rules import Broken

__all__ = [
    "QUESTION_TABLES",
    "ChoiceTable",
    "HeadTable",
    "NumberTable",
    "PickAnyTable",
    "PolicyTable",
    "QuestionTable",
    "SurveyFile",
    "TogetherTable",
    "WordsTable",
    "YesNoTable",
]


def _obeys(rule: Callable[[Any], Iterator[Broken]]) -> AfterValidator:
    """One of krand's own rules as a validator; all that it finds travels in one error."""

    def check(value: Any) -> Any:
        broken = list(rule(value))
        if broken:
            raise PydanticCustomError("krand_rule", "breaks a rule", {"broken": broken})
        return value

    return AfterValidator(check)


# The elements are left to krand's rules, which find all that is wrong with a list at once.
Items = Annotated[
    list[Any],
    _obeys(rules.item_rules),
    Field(
        examples=[["red", "blue"]],
        json_schema_extra={"items": {"type": "string"}, "minItems": 2, "uniqueItems": True},
    ),
]
Edges = Annotated[
    list[Any],
    _obeys(rules.edge_rules),
    Field(
        examples=[[0, 10, 20, 50]],
        json_schema_extra={"items": {"type": "number"}, "minItems": 2, "uniqueItems": True},
    ),
]
Open = Annotated[
    Any,
    _obeys(rules.open_rules),
    Field(examples=[True], json_schema_extra={"enum": list(rules.OPEN)}),
]
Weight = Annotated[float, Field(gt=0, le=rules.MAX_WEIGHT, examples=[2])]
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


def _exactly_one_of(*keys: str) -> dict[str, Any]:
    return {"oneOf": [{"required": [key]} for key in keys]}


RECORD: dict[str, Any] = {"properties": {"linkage": {"const": "record"}}, "required": ["linkage"]}
WHOLE: dict[str, Any] = {"properties": {"integer": {"const": True}}, "required": ["integer"]}
WHOLE_EDGES: dict[str, Any] = {"properties": {"edges": {"items": {"type": "integer"}}}}
ONE_COPY: dict[str, Any] = {"properties": {"copies": {"const": 1}}}


class PolicyTable(Table):
    """What is promised, to a member of which crowd."""

    model_config = ConfigDict(json_schema_extra=_exactly_one_of("delta", "eta"))

    epsilon: Annotated[float, Field(gt=0, le=100, examples=[1.0])]
    """ε: how much one person's answers may change the odds of any outcome, as a power of e."""
    population: Annotated[int, Field(ge=2, le=MAX_POPULATION, examples=[100_000])]
    """The crowd that hides each person: nothing is released below it."""
    delta: Annotated[float, Field(gt=0, lt=1, examples=[1e-6])] = ABSENT
    """δ of (ε, δ)-differential privacy. Give either delta or eta."""
    eta: Annotated[float, Field(gt=0, lt=1, examples=[0.001])] = ABSENT
    """η: the probability of an outcome that changes the odds by more than ε."""
    colluding: Annotated[int, Field(ge=0, le=MAX_POPULATION, examples=[100])] = ABSENT
    """How many members of the crowd may hide nobody, because they show their reports to the
    analyst or added no noise. If it is left out: one in a hundred, and at least one."""
    max_local_epsilon: Annotated[float, Field(gt=0, le=1e6, examples=[20])] = ABSENT
    """A cap on ε₀, what one report may reveal if shuffler and analyst collude."""
    assurance: Annotated[Literal["certified", "outlier"], Field(examples=["certified"])] = (
        "certified"
    )
    """How the promise is known: proven whatever the others answer, or for the worst known attack.
    The formulas of the drafts are for comparison only: no survey may promise by them."""


class QuestionTable(Table):
    """What every question has."""

    name: Annotated[
        str,
        _obeys(rules.name_rules),
        Field(examples=["search_engine"], json_schema_extra={"pattern": rules.NAME_PATTERN}),
    ]
    """A short name: it heads the column of answers."""
    text: Annotated[
        str,
        _obeys(rules.text_rules),
        Field(max_length=rules.MAX_TEXT_LENGTH, examples=["Do you smoke?"]),
    ] = ""
    """The wording shown to people."""
    weight: Weight = 1.0
    """Which questions deserve more precision: twice the weight, less noise here, more elsewhere."""


class YesNoTable(QuestionTable):
    """Yes or no."""

    type: Literal["yes_no"]


class ListTable(QuestionTable):
    """A question with a list of choices."""

    model_config = ConfigDict(json_schema_extra=_exactly_one_of("choices", "choices_file"))

    choices: Items = ABSENT
    """The list itself."""
    choices_file: Annotated[str, Field(min_length=1, examples=["items.txt"])] = ABSENT
    """A file beside the survey: one choice per line, UTF-8, up to a million."""
    choices_sha256: Annotated[
        str, Field(pattern="^[0-9a-f]{64}$", examples=["what sha256sum prints"])
    ] = ABSENT
    """Pins the content of choices_file: another content is refused."""


class ChoiceTable(ListTable):
    """One of a list."""

    type: Literal["choice"]


class PickAnyTable(ListTable):
    """Any of a list."""

    type: Literal["pick_any"]
    at_most: Annotated[int, Field(ge=1, le=rules.MAX_CHOICES, examples=[3])] = ABSENT
    """The most that one person may pick: fewer means less noise."""


class NumberTable(QuestionTable):
    """A number, known by its range."""

    model_config = ConfigDict(json_schema_extra={"if": WHOLE, "then": WHOLE_EDGES})

    type: Literal["number"]
    edges: Edges
    """Rising edges: a range reaches from one edge up to, not including, the next."""
    open: Open = False
    """Ranges without an end: below the first edge, from the last edge on, or both (true)."""
    integer: Annotated[bool, Field(examples=[True])] = False
    """Answers are whole numbers: the range from 5 to 10 holds 5, 6, 7, 8 and 9. Then edges are
    whole too, and the mean of ranges that hold one number each is known without assumptions."""


class WordsTable(QuestionTable):
    """Free words, hashed."""

    type: Literal["words"]
    positions: Annotated[int, Field(ge=2, le=rules.MAX_CHOICES, examples=[1024])]
    """Into how many positions words are hashed."""
    hashes: Annotated[int, Field(ge=1, le=rules.MAX_HASHES, examples=[2])]
    """How many different positions each word sets."""
    at_most: Annotated[int, Field(ge=1, le=rules.MAX_WORDS, examples=[1])] = 1
    """The most words that one person may give."""


class TogetherTable(Table):
    """Questions that will be analysed jointly."""

    questions: Annotated[list[str], Field(min_length=2, examples=[["search_engine", "ad_blocker"]])]
    """Names of yes_no, choice or number questions."""
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
    linkage: Annotated[Literal["bit", "record"], Field(examples=["bit"])] = "bit"
    """What travels together: every bit alone, or the whole record of a person's answers."""
    copies: Annotated[int, Field(ge=1, le=MAX_COPIES, examples=[1])] = 1
    """How many noisy copies of the record each person sends; 1 where bits travel apart."""
    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS, examples=[1])] = 1
    """How many times the same people are asked; the promise covers all rounds."""


QUESTION_TABLES: dict[str, type[QuestionTable]] = {
    "yes_no": YesNoTable,
    "choice": ChoiceTable,
    "pick_any": PickAnyTable,
    "number": NumberTable,
    "words": WordsTable,
}

AnyQuestion = Annotated[
    YesNoTable | ChoiceTable | PickAnyTable | NumberTable | WordsTable,
    Field(discriminator="type"),
]


class SurveyFile(HeadTable):
    """A krand survey."""

    policy: PolicyTable
    question: Annotated[list[AnyQuestion], Field(min_length=1)]
    together: list[TogetherTable] = []
