"""Mistakes in what people wrote: where each stands, which rule it breaks, what to do about it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from krand.errors import InvalidInput

Path = tuple[str | int, ...]
SHOWN_CHARACTERS = 80
_CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
"""Characters that nobody sees or that reorder others; docs/reference/survey-file.md says which."""
_JOINERS = "(?<![^\x00-\x7f\u200c\u200d])[\u200c\u200d]"
"""Persian, Indic scripts and emoji need joiners, always behind a character of theirs."""
HIDDEN = re.compile(f"[{_CONTROLS}{_UNSEEN}]|{_JOINERS}")
HIDDEN_IN_LINES = re.compile(f"(?![\n\t])[{_CONTROLS}{_UNSEEN}]|{_JOINERS}")


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that is broken; `where` leads to the guilty part."""

    where: Path
    rule: str
    value: object
    hint: str = ""

    def under(self, path: Path) -> Broken:
        """The same complaint, seen from further out."""
        return Broken(path + self.where, self.rule, self.value, self.hint)


@dataclass(frozen=True, slots=True)
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


def problems_of(
    broken: Iterable[Broken], line_of: Callable[[Path], int] | None = None
) -> list[Problem]:
    """In the order of the file, as it is corrected from top to bottom."""
    found = [
        Problem(path_text(one.where), line_of and line_of(one.where), one.rule, one.value, one.hint)
        for one in broken
    ]
    return sorted(found, key=lambda problem: problem.line or 0)


def path_text(path: Path) -> str:
    """A path as people write it: question[2].choices."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def nearest(said: object, known: Sequence[str], otherwise: str, shown: str = "{}") -> str:
    """What was probably meant, or else what there is."""
    near = difflib.get_close_matches(str(said), known, 1)
    return f"did you mean {shown.format(near[0])}?" if near else otherwise


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


def visible(text: str) -> str:
    """The text with every character that hides or reorders others written as its number."""
    return HIDDEN_IN_LINES.sub(lambda found: ascii(found[0])[1:-1], text)
