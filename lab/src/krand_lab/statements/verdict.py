"""Statements of the drafts, put to the test: their words, their cases, and what became of them.

The words are in `texts`, a table for each statement in the order of the page: where the draft says
it, what it says, the range that is enumerated, a comment, and the right statement if it is wrong.
`<NAME>` in them stands for a constant of the module that tests the statement, or for a value that
the test found.

Most statements are equations. Their test is a function of one case that yields what is printed and
what is exact; `printed` and `corrected` give it its key and its cases. Others count their cases
themselves: `statement`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from krand.errors import InternalError
from krand_lab.statements.notation import tex, where

__all__ = [
    "Cases",
    "Count",
    "Equations",
    "Statement",
    "Tested",
    "Verdict",
    "check",
    "corrected",
    "keys_of",
    "lettered",
    "printed",
    "result",
    "statement",
    "tested_keys",
    "verdict_of",
]

Case = TypeVar("Case")

Equations = Iterator[tuple[Fraction, Fraction] | tuple[str | tuple[str, str], Fraction, Fraction]]
"""What is printed and what is exact, for one case.

Where there are several, each has its number, or the names of both sides as formulas.
"""


@dataclass(frozen=True, slots=True)
class Count:
    """How a predicate fared over a range of cases, taken in the given order."""

    cases: int
    failures: int
    first_failure: str | None
    """The first, hence smallest, case that fails, in words; formulas between dollar signs."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a draft says. Texts may hold formulas in LaTeX between dollar signs."""

    key: str
    """A short name for programs, like `002-lemma-4.1`."""
    source: str
    """Document, section and equation, like `002 Lemma 4.1`."""
    says: str
    """The statement, close to the draft's own words."""
    covered: str
    """The range that is enumerated, exactly and completely."""
    comment: str = ""
    """What follows for a reader of the drafts, or the short proof."""
    corrected: str = ""
    """The statement that is right, where the printed one is not."""

    @property
    def tested(self) -> str:
        """The range as a sentence."""
        return f"{self.covered.rstrip('.')}."


@dataclass(frozen=True, slots=True)
class Verdict:
    """A statement, how it fared, and how its correction fares on a range of its own."""

    statement: Statement
    printed: Count
    correction: Count | None = None

    @property
    def holds(self) -> bool:
        """Whether no case contradicts the printed statement."""
        return self.printed.failures == 0


def check(cases: Iterable[Case], fails: Callable[[Case], str | None]) -> Count:
    """Run `fails` over all cases: None where the statement holds, else what contradicts it."""
    total = failures = 0
    first = None
    for case in cases:
        total += 1
        reason = fails(case)
        if reason is not None:
            failures += 1
            first = reason if first is None else first
    return Count(total, failures, first)


@dataclass(frozen=True, slots=True)
class Tested:
    """How a statement and its correction fared, and values that its words show."""

    printed: Count
    correction: Count | None
    values: Mapping[str, object] = field(default_factory=dict)


def result(printed: Count, correction: Count | None = None, /, **values: object) -> Tested:
    """What a test of a statement returns."""
    return Tested(printed, correction, values)


_TESTS: dict[str, tuple[Callable[[], Tested], Mapping[str, Any]]] = {}
"""By key: the test, and the names of its module."""


def statement(key: str) -> Callable[[Callable[[], Tested]], Callable[[], Tested]]:
    """Register a test that counts its cases itself."""

    def register(test: Callable[[], Tested]) -> Callable[[], Tested]:
        _TESTS[key] = test, test.__globals__
        return test

    return register


def verdict_of(key: str) -> Verdict:
    """What became of a statement whose module has been imported."""
    test, names = _TESTS[key]
    found = test()
    return Verdict(_in_words(key, {**names, **found.values}), found.printed, found.correction)


def tested_keys() -> frozenset[str]:
    """The keys of all tests that have been imported."""
    return frozenset(_TESTS)


def _in_words(key: str, known: Mapping[str, Any]) -> Statement:
    """The table of a statement, its placeholders filled in."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise InternalError(f"the words of {key} name {found[1]}, which its test does not have")
        return str(known[found[1]])

    words = {
        name: _PLACEHOLDER.sub(value, " ".join(text.split())) for name, text in _table(key).items()
    }
    return Statement(key=key, **words)


_PLACEHOLDER = re.compile(r"<(\w+)>")


def _table(key: str) -> dict[str, str]:
    return next(tables[key] for tables in _tables().values() if key in tables)


@cache
def _tables() -> dict[str, dict[str, dict[str, str]]]:
    """By section of the page and key."""
    folder = files(__package__).joinpath("texts")
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
    }


def keys_of(section: str) -> tuple[str, ...]:
    """The statements of a section, in the order of the page."""
    return tuple(_tables().get(section, {}))


# --- equations --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of equations, smallest first, and how a counterexample names one."""

    make: Callable[[], Iterable[tuple[Any, ...]]]
    words: Callable[..., str]

    def count(self, test: Callable[..., Equations]) -> Count:
        """Compare what is printed with what is exact in every case."""
        return check(self.make(), lambda case: self._first_unequal(case, test))

    def _first_unequal(self, case: tuple[Any, ...], test: Callable[..., Equations]) -> str | None:
        for *named, left, right in test(*case):
            if left != right:
                return self._unequal(case, named[0] if named else "", left, right)
        return None

    def _unequal(
        self, case: tuple[Any, ...], name: str | tuple[str, str], left: Fraction, right: Fraction
    ) -> str:
        words = self.words(*case)
        if isinstance(name, tuple):
            return f"{words}: ${name[0]} = {tex(left)}$, but ${name[1]} = {tex(right)}$"
        at = f"{name} at " if name else ""
        return f"{at}{words}: printed ${tex(left)}$, exact ${tex(right)}$"


def lettered(letters: str, make: Callable[[], Iterable[tuple[Any, ...]]]) -> Cases:
    """Cases of numbers, named by the letters that the drafts use for them."""

    def words(*case: Any) -> str:
        return where(**dict(zip(letters.split(), case, strict=True)))

    return Cases(make, words)


_Test = Callable[..., Equations]
_CORRECTIONS: dict[str, Callable[[], Count]] = {}


def printed(key: str, cases: Cases) -> Callable[[_Test], _Test]:
    """Register the equations of a statement, as they are printed."""

    def register(test: _Test) -> _Test:
        def run() -> Tested:
            correction = _CORRECTIONS.get(key)
            return result(cases.count(test), correction() if correction else None)

        _TESTS[key] = run, test.__globals__
        return test

    return register


def corrected(key: str, cases: Cases) -> Callable[[_Test], _Test]:
    """Register the right equations beside those that are printed."""

    def register(test: _Test) -> _Test:
        _CORRECTIONS[key] = lambda: cases.count(test)
        return test

    return register
