"""Which statements of the drafts belong to which section."""

from __future__ import annotations

from collections.abc import Callable

from krand.present.reproduction.entries import Section
from krand.privacy.statements import (
    copies_bounds,
    copies_condition,
    copies_equations,
    copies_factors,
    copies_terms,
    counts,
    equations,
    expected_state,
    maximality,
    moments,
    ratios_of_sums,
    sparse,
    tail_bound,
    vector_equations,
    vector_sums,
)
from krand.privacy.statements.verdict import Verdict

__all__ = ["STATEMENTS_OF"]

Test = Callable[[], Verdict]


def _about_one_bit(test: Test) -> bool:
    """The equations of 000 and 003 are about one bit, or about collections of vectors."""
    return not test.__module__.endswith("equations_collections")


STATEMENTS_OF: dict[Section, tuple[Test, ...]] = {
    Section.SINGLE_BIT: tuple(filter(_about_one_bit, equations.STATEMENTS)),
    Section.RATIO: (
        *vector_equations.STATEMENTS,
        *vector_sums.STATEMENTS,
        *expected_state.STATEMENTS,
        *moments.STATEMENTS,
    ),
    Section.TAIL: tail_bound.STATEMENTS,
    Section.PRECISION: (),
    Section.SPARSE: sparse.STATEMENTS,
    Section.COPIES: (
        *copies_equations.STATEMENTS,
        *copies_terms.STATEMENTS,
        *copies_factors.STATEMENTS,
        *copies_bounds.STATEMENTS,
        *copies_condition.STATEMENTS,
    ),
    Section.COLLECTIONS: (
        *maximality.STATEMENTS,
        *ratios_of_sums.STATEMENTS,
        *counts.STATEMENTS,
        *(test for test in equations.STATEMENTS if not _about_one_bit(test)),
    ),
}
