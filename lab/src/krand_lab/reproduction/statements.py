"""Which statements of the drafts belong to which section."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from krand_lab.reproduction.entries import Section
from krand_lab.statements import collections, copies, one_bit, tail_bound, vectors
from krand_lab.statements.backgrounds import (
    counts,
    log_concavity,
    maximal_bits,
    ordering,
    ratios_of_sums,
    tails,
)
from krand_lab.statements.verdict import Verdict, keys_of, verdict_of
from krand_lab.statements.worst_case import equal_laws, maximality, sparse

MODULES = (
    *(one_bit, vectors, tail_bound, copies, maximality, equal_laws, sparse, ratios_of_sums),
    *(maximal_bits, counts, log_concavity, ordering, tails, collections),
)
"""Who imports them knows all tests."""


def verdict(key: str) -> Verdict:
    """What became of a statement; in any process, which imports this module for it."""
    return verdict_of(key)


STATEMENTS_OF: dict[Section, tuple[Callable[[], Verdict], ...]] = {
    section: tuple(partial(verdict, key) for key in keys_of(section)) for section in Section
}
