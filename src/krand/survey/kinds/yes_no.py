"""yes_no: a position that counts yes, and one that counts no where both are counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from numbers import Real
from typing import Any

from krand.errors import InvalidInput
from krand.survey.kinds.question import MISSING, Key, Kind, Leveled, is_nan
from krand.survey.rules import Broken, one_of_rules

YES: tuple[object, ...] = ("yes", "true", "1", "1.0", 1)  # True and 1.0 are equal to 1
NO: tuple[object, ...] = ("no", "false", "0", "0.0", 0)
COUNTED = ("yes", "both")
_counts_rules = partial(one_of_rules, known=COUNTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNo(Leveled):
    """Yes or no. Alone, and counting yes only, it cannot tell "no" from "no answer".

    >>> from krand import YesNo
    >>> YesNo(name="smokes", text="Do you smoke?").level_of("yes")
    0
    """

    counts: str = "yes"
    """Which answers have a position: yes alone, or both."""
    kind = Kind.YES_NO
    summary = "Yes or no."
    takes_statements = True
    keys = (
        Key(
            name="counts",
            form=str,
            says=(
                '"yes": one position; "no" and "no answer" cannot be told apart. "both": one for'
                " each\nanswer, which needs more noise."
            ),
            example="both",
            default="yes",
            rule=_counts_rules,
            schema={"enum": list(COUNTED)},
        ),
    )

    def _own_rules(self) -> Iterator[Broken]:
        yield from (broken.under(("counts",)) for broken in _counts_rules(self.counts))

    def own_values(self) -> dict[str, Any]:
        return {"counts": self.counts}

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
