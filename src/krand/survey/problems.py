"""All mistakes of a survey file in one error: nobody should correct a file one run at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from krand.errors import InvalidInput

SHOWN_CHARACTERS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake: where it stands, which rule it breaks, what was found, what to do."""

    path: str
    line: int | None
    rule: str
    value: object
    hint: str

    def __str__(self) -> str:
        place = f"line {self.line}" if self.line is not None else ""
        where = ", ".join(part for part in (place, self.path) if part)
        found = "" if self.value is None else f", found {_short(self.value)}"
        hint = f"\n    {self.hint}" if self.hint else ""
        return f"{where}: {self.rule}{found}{hint}"


class SurveyErrors(InvalidInput):
    """A survey that breaks rules; `problems` holds every one of them, in the order of the file."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        rule = f"has {count} mistake{'' if count == 1 else 's'}"
        super().__init__(source, rule, None, "\n  ".join(str(problem) for problem in self.problems))

    def __str__(self) -> str:
        return f"{self.field} {self.rule}\n  {self.hint}"

    def __reduce__(self) -> tuple[type[SurveyErrors], tuple[str, tuple[Problem, ...]]]:
        return type(self), (self.field, self.problems)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
