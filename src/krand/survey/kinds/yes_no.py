"""yes_no: a position that counts yes, and one that counts no where both are counted."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Annotated, Any, Literal

from pydantic import Field

from krand.errors import InvalidInput
from krand.survey.kinds.question import MISSING, Leveled, is_nan

YES: tuple[object, ...] = ("yes", "true", "1", "1.0", 1)  # True and 1.0 are equal to 1
NO: tuple[object, ...] = ("no", "false", "0", "0.0", 0)


class YesNo(Leveled):
    """Yes or no. Alone, and counting yes only, it cannot tell "no" from "no answer".

    >>> from krand import YesNo
    >>> YesNo(name="smokes", text="Do you smoke?").level_of("yes")
    0
    """

    type: Literal["yes_no"] = "yes_no"
    counts: Annotated[Literal["yes", "both"], Field(examples=["both"])] = "yes"
    """With "yes" one position; "no" and "no answer" cannot be told apart. "both": one for each
    answer, which needs more noise."""
    takes_statements = True

    @property
    def positions(self) -> int:
        return 2 if self.counts == "both" else 1

    @property
    def levels(self) -> int:
        return 2

    def level_name(self, level: int) -> str:
        return ("yes", "no")[level]

    def level_of(self, answer: object) -> int:
        known = answer.strip().casefold() if isinstance(answer, str) else answer
        if isinstance(known, (str, Real, Decimal)):
            if known in YES:
                return 0
            if known in NO:
                return 1
        raise InvalidInput(self.name, "must be yes or no, true or false, 1 or 0", answer)

    def answer_at(self, level: int) -> object:
        return level == 0

    def encode(self, survey_id: str, answer: object) -> set[int]:
        return {self.level_of(answer)} & set(range(self.positions))

    def read_cell(self, value: Any) -> Any:
        if isinstance(value, str):
            text = value.strip()
            return None if not text or text.casefold() in MISSING else text
        return None if is_nan(value) else value
