"""yes_no: alone it is one position that counts yes; in a group it has two answers."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

from krand.errors import InvalidInput
from krand.survey.kinds.question import MISSING, Kind, Leveled, is_nan

YES: tuple[object, ...] = ("yes", "true", "1", "1.0", 1)  # True and 1.0 are equal to 1
NO: tuple[object, ...] = ("no", "false", "0", "0.0", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNo(Leveled):
    """Yes or no. Alone it is one bit, and "no" and "no answer" cannot be told apart.

    >>> from krand import YesNo
    >>> YesNo(name="smokes", text="Do you smoke?").level_of("yes")
    0
    """

    kind = Kind.YES_NO
    summary = "Yes or no."

    @property
    def positions(self) -> int:
        return 1

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
        return {0} if self.level_of(answer) == 0 else set()

    def read_cell(self, value: Any) -> Any:
        if isinstance(value, str):
            text = value.strip()
            return None if not text or text.casefold() in MISSING else text
        return None if is_nan(value) else value
