"""Which statements of the drafts belong to which section."""

from __future__ import annotations

from collections.abc import Callable

from krand_lab.reproduction.entries import Section
from krand_lab.statements import backgrounds, collections, copies, one_bit
from krand_lab.statements.vectors import equations, expected_state, moments, sums, tail_bound
from krand_lab.statements.verdict import Verdict
from krand_lab.statements.worst_case import maximality, sparse

__all__ = ["STATEMENTS_OF"]

STATEMENTS_OF: dict[Section, tuple[Callable[[], Verdict], ...]] = {
    Section.SINGLE_BIT: one_bit.STATEMENTS,
    Section.RATIO: (
        *equations.STATEMENTS,
        *sums.STATEMENTS,
        *expected_state.STATEMENTS,
        *moments.STATEMENTS,
    ),
    Section.TAIL: tail_bound.STATEMENTS,
    Section.PRECISION: (),
    Section.SPARSE: sparse.STATEMENTS,
    Section.COPIES: copies.STATEMENTS,
    Section.COLLECTIONS: (
        *maximality.STATEMENTS,
        *backgrounds.STATEMENTS,
        *collections.STATEMENTS,
    ),
}
