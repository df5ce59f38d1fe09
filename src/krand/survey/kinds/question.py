"""What every kind of question has: its keys, its positions, its answers and their names.

A kind is a model, in a module of its own. Privacy rests on two of its numbers: how many positions
it needs, and how many ones a true answer can set. Answers may always be missing: then no position
is set.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from krand.mistakes import Broken
from krand.models import Model, unsaid, wrong
from krand.survey.rules import Name, Text, Weight

WRONG = -2
"""In an array of levels: an answer that does not fit the question."""

MISSING = ("nan", "na", "<na>", "null")
"""What programs write where nothing is known, in any case of letters."""


class Kind(StrEnum):
    """What a question, or a group of questions, asks for."""

    YES_NO = "yes_no"
    CHOICE = "choice"
    PICK_ANY = "pick_any"
    NUMBER = "number"
    SCALE = "scale"
    WORDS = "words"
    TOGETHER = "together"


class Statement(Model):
    """A name, and what people read: of a statement, or of a whole matrix."""

    name: Name
    """A short name: it heads the column of answers."""
    text: Annotated[Text, Field(examples=["Do you smoke?"])] = ""
    """The wording shown to people."""


class Matrix(Statement):
    """What several statements have in common that are shown as one table."""


def _answers(given: Any) -> Any:
    """One answer, or several."""
    answers = tuple(given) if isinstance(given, (list, tuple, set, frozenset)) else (given,)
    if not answers:
        hint = "leave asked_if out to ask everybody"
        raise wrong([Broken((), "must hold at least one answer", [], hint)])
    return answers


_ANSWER = {"type": ["string", "number", "boolean"]}
_ANSWERS = {"anyOf": [_ANSWER, {"type": "array", "items": _ANSWER, "minItems": 1}]}
_EXAMPLE = 'for example asked_if = { question = "smokes", is = ["yes"] }'


class Condition(Model):
    """Whom a question is asked: people who gave one of these answers to an earlier question.

    >>> from krand.survey.questions import Condition
    >>> Condition(question="smokes", answers=True).answers
    (True,)
    """

    hints = {"question": _EXAMPLE, "is": _EXAMPLE}  # noqa: RUF012

    question: Annotated[str, Field(examples=["smokes"])]
    """The name of that question."""
    answers: Annotated[
        tuple[Any, ...],
        BeforeValidator(_answers),
        WithJsonSchema(_ANSWERS),
        Field(examples=[["yes"]]),
    ] = Field(validation_alias="is", serialization_alias="is")
    """One answer, or several: any of them suffices. A plan has them by their names, in the order of
    that question, each once."""


class Question(Statement):
    """What all questions have; `weight` says how much precision one deserves."""

    type: str
    help: Annotated[Text, Field(examples=["Count the ones you pay for."], exclude_if=unsaid)] = ""
    """What helps people to answer, shown beside the wording."""
    required: Annotated[bool, Field(examples=[True])] = False
    """Whether the form asks for an answer before it sends; it may be missing all the same."""
    weight: Weight = 1.0
    """Which questions deserve more precision: twice the weight, less noise here, more elsewhere."""
    asked_if: Annotated[
        Condition | None, Field(examples=[{"question": "smokes", "is": ["yes"]}])
    ] = None
    """Whom the question is asked: people who gave this answer, or one of these, to an earlier
    question. Others send what an unanswered question sends."""
    statements: Annotated[
        tuple[Statement, ...] | None,
        Field(
            strict=False,
            exclude=True,
            min_length=1,
            examples=[[{"name": "pay", "text": "My pay is fair."}]],
        ),
    ] = None
    """Several statements with the same answers, shown as one table: each becomes a question."""
    matrix: Annotated[Matrix | None, Field(examples=[{"name": "work"}])] = None
    """The table that this question is a row of, as plans have it; write `statements` instead."""

    closed: ClassVar[bool] = False
    """Whether answers are on a list, so that other questions can depend on them."""
    worded: ClassVar[tuple[str, ...]] = ()
    """What people read beside text and help: attributes that are a text, or several."""
    takes_statements: ClassVar[bool] = False
    """Whether it can be a row of a matrix."""

    @property
    def kind(self) -> Kind:
        """Which of the six it is."""
        return Kind(self.type)

    @property
    def positions(self) -> int:
        """How many bits the question takes when it stands alone."""
        raise NotImplementedError

    @property
    def most_ones(self) -> int:
        """The most bits that one true answer sets."""
        return 1

    def encode(self, survey_id: str, answer: object) -> set[int]:
        """The positions that an answer sets when the question stands alone."""
        raise NotImplementedError

    def position_name(self, position: int) -> str:
        """What a position counts when the question stands alone."""
        raise NotImplementedError

    def find(self, label: str) -> int | None:
        """Which answer has this name, counted from 0."""
        raise NotImplementedError

    def places_of(self, answer: object) -> set[int]:
        """Which answers of the list of a closed question were given, counted from 0."""
        raise NotImplementedError

    def place_named(self, answer: object) -> int:
        """Which one answer of the list is meant: by its name, or as a person would give it."""
        raise NotImplementedError

    def read_cell(self, value: Any) -> Any:
        """The answer that a cell of a data file means; None for none.

        Whatever could mean two things stays as it is, and is then a wrong answer.
        """
        return None if is_nan(value) else value


class Leveled(Question):
    """A question whose answer is exactly one of some levels; only these can be analysed jointly."""

    closed = True
    numeric: ClassVar[bool] = False
    """Answers are numbers: levels have an order, and a column of a file is read as numbers."""

    @property
    def levels(self) -> int:
        """How many different answers there are, silence not counted."""
        return self.positions

    def level_name(self, level: int) -> str:
        """The answer as people read it."""
        raise NotImplementedError

    def level_of(self, answer: object) -> int:
        """Which level an answer is; an answer that does not fit is an error."""
        raise NotImplementedError

    def answer_at(self, level: int) -> object:
        """An answer of this level."""
        return self.level_name(level)

    def encode(self, survey_id: str, answer: object) -> set[int]:
        return {self.level_of(answer)}

    def position_name(self, position: int) -> str:
        return self.level_name(position)

    def find(self, label: str) -> int | None:
        names = [self.level_name(level) for level in range(self.levels)]
        return names.index(label) if label in names else None

    def places_of(self, answer: object) -> set[int]:
        return {self.level_of(answer)}

    def place_named(self, answer: object) -> int:
        place = self.find(answer) if isinstance(answer, str) else None
        return self.level_of(answer) if place is None else place


class Several(Question):
    """A question that takes a list of answers."""

    @property
    def most_answers(self) -> int:
        """The most different answers that one person may give."""
        raise NotImplementedError

    @property
    def separated(self) -> bool:
        """Whether a text of a data file holds several answers with a separator between them."""
        return True

    def torn_by(self, separator: str) -> str | None:
        """A possible answer that holds the separator and would be torn apart; None if none does."""
        return None

    def identity(self, answer: object) -> object:
        """What two answers have in common that count as one."""
        raise NotImplementedError


def is_nan(value: object) -> bool:
    """Whether this is what programs call not a number."""
    return isinstance(value, (float, Decimal)) and value != value
