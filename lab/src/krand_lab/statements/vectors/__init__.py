"""R of whole vectors, its law, its moments and the bound on its tail: 000 §2, 001 §2–3, 003 §6."""

from __future__ import annotations

from collections.abc import Callable

from krand_lab.statements.vectors import equations, expected_state, moments, sums, tail_bound
from krand_lab.statements.verdict import Verdict

__all__ = ["STATEMENTS"]

STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    *equations.STATEMENTS,
    *sums.STATEMENTS,
    *expected_state.STATEMENTS,
    *moments.STATEMENTS,
    *tail_bound.STATEMENTS,
)
