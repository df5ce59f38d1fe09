"""What every kind of question has: its keys in files, its positions, its answers and their names.

A kind is a frozen value. Privacy rests on two of its numbers: how many positions it needs, and how
many ones a true answer can set. Answers may always be missing: then no position is set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import EllipsisType, NoneType
from typing import TYPE_CHECKING, Any, ClassVar

from krand.errors import InvalidInput
from krand.survey.conditions import Condition, condition_from
from krand.survey.rules import (
    MAX_WEIGHT,
    Broken,
    flag_rules,
    name_rules,
    raise_first,
    range_rules,
    text_rules,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of a [[question]] table, as plain data: `krand.survey.models` makes a model of it."""

    name: str
    form: type | None
    """The type of its value; None leaves that to the rule."""
    says: str
    """What it means, for editors that know the JSON Schema."""
    example: object
    default: EllipsisType | object = None
    """Ellipsis: must be given. None: may be left out, and has no default."""
    limits: Mapping[str, float | str] = field(default_factory=dict)
    """As pydantic names them: ge, le, min_length, pattern."""
    rule: Callable[[Any], Iterator[Broken]] | None = None
    schema: Mapping[str, Any] = field(default_factory=dict)
    """What the JSON Schema says beyond type and limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """What several statements have in common that are shown as one table."""

    name: str
    text: str = ""

    def __post_init__(self) -> None:
        raise_first(name_rules(self.name), ("matrix", "name"))
        raise_first(text_rules(self.text), ("matrix", "text"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What all questions have; `weight` says how much precision one deserves."""

    name: str
    text: str = ""
    help: str = ""
    """What helps people to answer, shown beside the wording."""
    required: bool = False
    """Whether a form asks for an answer before it sends; an answer may be missing all the same."""
    weight: float = 1.0
    asked_if: Condition | None = None
    """Whom it is asked; None asks everybody."""
    matrix: Matrix | None = None
    """The table whose row it is; its neighbours of the same matrix have the same answers."""
    kind: ClassVar[Kind]
    summary: ClassVar[str]
    """The kind in a few words, for the JSON Schema."""
    closed: ClassVar[bool] = False
    """Whether answers are on a list, so that other questions can depend on them."""
    keys: ClassVar[tuple[Key, ...]] = ()
    """Its own keys in a survey file, beside those that all questions have."""
    schema: ClassVar[Mapping[str, Any]] = {}
    """What the JSON Schema says about several of its keys at once."""
    worded: ClassVar[tuple[str, ...]] = ()
    """What people read beside text and help: attributes that are a text, or several."""
    takes_statements: ClassVar[bool] = False
    """Whether it can be a row of a matrix."""

    def __post_init__(self) -> None:
        raise_first(name_rules(self.name), ("name",))
        raise_first(text_rules(self.text), (self.name, "text"))
        raise_first(text_rules(self.help), (self.name, "help"))
        raise_first(flag_rules(self.required), (self.name, "required"))
        raise_first(range_rules(self.weight, MAX_WEIGHT, ("weight",)), (self.name,))
        if not isinstance(self.asked_if, (Condition, NoneType)):  # as a file has it
            object.__setattr__(self, "asked_if", condition_from(self.asked_if))
        raise_first(self._own_rules(), (self.name,))

    def _own_rules(self) -> Iterator[Broken]:
        yield from ()

    @classmethod
    def pair_rules(cls, values: Mapping[str, Any]) -> Iterator[Broken]:
        """Rules about two keys of a file at once, where both are there."""
        yield from ()

    @classmethod
    def arguments(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """What the kind's own keys of a file or plan are as arguments of the class."""
        return {key.name: values[key.name] for key in cls.keys if key.name in values}

    def own_values(self) -> dict[str, Any]:
        """The kind's own keys in a plan, every value written out; None is left out."""
        return {}

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


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def levels_of(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """As `level_of` for many numbers at once; WRONG instead of an error."""
        import numpy as np

        return np.array([self._level_or_wrong(value) for value in values.tolist()], np.int64)

    def _level_or_wrong(self, value: object) -> int:
        try:
            return self.level_of(value)
        except InvalidInput:
            return WRONG

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


@dataclass(frozen=True, slots=True, kw_only=True)
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
