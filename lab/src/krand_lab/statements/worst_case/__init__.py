"""The worst collection of vectors, dense and sparse: 001 §1.2 and §5."""

from __future__ import annotations

from collections.abc import Callable

from krand_lab.statements.verdict import Verdict
from krand_lab.statements.worst_case import maximality, sparse

__all__ = ["STATEMENTS"]

STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    *maximality.STATEMENTS,
    *sparse.STATEMENTS,
)
