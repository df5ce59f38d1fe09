"""R of k copies and its moments: 001 §6 and §8."""

from __future__ import annotations

from collections.abc import Callable

from krand_lab.statements.copies import bounds, condition, equations, factors, terms
from krand_lab.statements.verdict import Verdict

__all__ = ["STATEMENTS"]

STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    *equations.STATEMENTS,
    *terms.STATEMENTS,
    *factors.STATEMENTS,
    *bounds.STATEMENTS,
    *condition.STATEMENTS,
)
