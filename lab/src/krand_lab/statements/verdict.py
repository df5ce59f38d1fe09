"""What became of a statement of the drafts when it was put to the test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Count", "Statement", "Verdict", "check"]

Case = TypeVar("Case")


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
