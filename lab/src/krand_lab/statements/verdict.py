"""Statements of the drafts, put to the test: their words, their cases, and what became of them.

The words are in `texts`, a table for each statement in the order of the page: where the draft says
it, what it says, the range that is enumerated, a comment, and the right statement if it is wrong.
Names in them are constants of the module that tests the statement, or values that the test found.

Most statements are equations: their tables name the cases, and formulas with what they should give.
Others have a function of one case, to which `printed` and `corrected` give its key and its cases.
A test whose words show what all cases found together counts them itself: `statement`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any, TypeVar

from krand_lab import formulas
from krand_lab.statements.notation import tex, where
from krand_lab.texts import SHARED, filled_in, tables

Case = TypeVar("Case")

Equations = Iterator[tuple[Fraction, Fraction] | tuple[str | tuple[str, str], Fraction, Fraction]]
"""What is printed and what is exact, for one case.

Where there are several, each has its number, or the names of both sides as formulas.
"""
Formula = Callable[..., Fraction]
Test = Callable[..., "bool | str | Equations"]
"""Whether the statement holds in a case; or what to say after the case where it does not."""


@dataclass(frozen=True, slots=True)
class Count:
    """How a predicate fared over a range of cases, taken in the given order."""

    cases: int
    failures: int
    first_failure: str | None
    """The first, hence smallest, case that fails, in words; formulas between dollar signs."""

    def __str__(self) -> str:
        """How it fared, for people."""
        contradict = (
            f"{self.failures:,} of them contradict it" if self.failures else "none contradicts it"
        )
        return f"{self.cases:,} cases, {contradict}."


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


# --- cases ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a test, smallest first, and how a counterexample names one."""

    make: Callable[[], Iterable[tuple[Any, ...]]]
    words: Callable[..., str]
    named: Callable[..., Mapping[str, Any]] = lambda *case: {}
    """The numbers of a case by the names that formulas have for them."""

    def count(self, test: Test) -> Count:
        """Look for contradictions in every case."""
        return check(self.make(), lambda case: self._contradiction(case, test(*case)))

    def _contradiction(self, case: tuple[Any, ...], found: bool | str | Equations) -> str | None:
        if found is True:
            return None
        if not found or isinstance(found, str):
            return f"{self.words(*case)}{found or ''}"
        for *named, left, right in found:
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

    def only(self, wanted: Callable[..., bool]) -> Cases:
        """Those of them that are wanted."""
        return replace(self, make=lambda: (case for case in self.make() if wanted(*case)))


def lettered(
    letters: str, make: Callable[[], Iterable[tuple[Any, ...]]], names: str = "", equals: str = "="
) -> Cases:
    """Cases of numbers, by the letters of the drafts and by the names that formulas have."""

    def words(*case: Any) -> str:
        return where(equals, **dict(zip(letters.split(), case, strict=True)))

    def named(*case: Any) -> dict[str, Any]:
        return dict(zip(names.split(), case, strict=True))

    return Cases(make, words, named)


def each(make: Callable[[], Iterable[Any]]) -> Cases:
    """Cases that say themselves in words what they are."""
    return Cases(lambda: ((case,) for case in make()), str)


# --- tests ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tested:
    """How a statement and its correction fared, and values that its words show."""

    printed: Count
    correction: Count | None
    values: Mapping[str, object] = field(default_factory=dict)


def result(printed: Count, correction: Count | None = None, /, **values: object) -> Tested:
    """What a test returns that counts its cases itself."""
    return Tested(printed, correction, values)


_TESTS: dict[str, tuple[Callable[[], Tested], Mapping[str, Any]]] = {}
"""By key: the test, and the names of its module."""
_CORRECTIONS: dict[str, Callable[[], Count]] = {}


def statement(key: str) -> Callable[[Callable[[], Tested]], Callable[[], Tested]]:
    """Register a test that counts its cases itself."""

    def register(test: Callable[[], Tested]) -> Callable[[], Tested]:
        _TESTS[key] = test, test.__globals__
        return test

    return register


def printed(key: str, cases: Cases) -> Callable[[Test], Test]:
    """Register the test of a statement as it is printed."""

    def register(test: Test) -> Test:
        def run() -> Tested:
            correction = _CORRECTIONS.get(key)
            return result(cases.count(test), correction() if correction else None)

        _TESTS[key] = run, test.__globals__
        return test

    return register


def corrected(key: str, cases: Cases) -> Callable[[Test], Test]:
    """Register the test of what is right beside it."""

    def register(test: Test) -> Test:
        _CORRECTIONS[key] = lambda: cases.count(test)
        return test

    return register


def _equations(key: str) -> tuple[Callable[[], Tested], Mapping[str, Any]]:
    """The test of a table that names formulas, each with what it should give.

    `cases` names them and their module, which also computes what is exact. All functions take
    those numbers of a case that they name; a name of the case is its own value. `right` are the
    formulas that do have the exact value.
    """
    table = _table(key)
    module, name = table["cases"].split(".")
    names = vars(import_module(f"{__package__}.{module}"))
    cases: Cases = names[name]
    known = {**vars(formulas), **names}
    sides = tuple(table["sides"]) if "sides" in table else ""

    def count(lines: Iterable[str]) -> Count:
        pairs = [[known.get(side, side) for side in line.split(" = ")] for line in lines]

        def test(*case: Any) -> Equations:
            named = cases.named(*case)
            for formula, exact in pairs:
                yield sides, _of(formula, named), _of(exact, named)

        return cases.count(test)

    def run() -> Tested:
        return result(count(table["printed"]), count(table["right"]) if "right" in table else None)

    return run, names


def _of(formula: Formula | str, named: Mapping[str, Any]) -> Any:
    if isinstance(formula, str):
        return named[formula]
    return formula(**{name: named[name] for name in _parameters(formula) if name in named})


@cache
def _parameters(formula: Formula) -> tuple[str, ...]:
    return tuple(signature(formula).parameters)


def verdict_of(key: str) -> Verdict:
    """What became of a statement whose module has been imported."""
    test, names = _TESTS[key] if key in _TESTS else _equations(key)
    found, table = test(), _table(key)
    known = {**names, **_tables_with(key).get(SHARED, {}), **found.values}
    words = {name: filled_in(table[name], known, key) for name in _WORDS if name in table}
    return Verdict(Statement(key=key, **words), found.printed, found.correction)


_WORDS = ("source", "says", "covered", "comment", "corrected")


def _table(key: str) -> dict[str, Any]:
    found: dict[str, Any] = _tables_with(key)[key]
    return found


def _tables_with(key: str) -> dict[str, Any]:
    return next(section for section in tables(__package__).values() if key in section)


def keys_of(section: str) -> tuple[str, ...]:
    """The statements of a section, in the order of the page."""
    return tuple(key for key in tables(__package__).get(section, {}) if key != SHARED)


def known_keys() -> frozenset[str]:
    """The keys of all tests that have been imported, and of all tables that name formulas."""
    listed = (table for section in tables(__package__).values() for table in section.items())
    return frozenset(_TESTS) | {key for key, table in listed if "printed" in table}
