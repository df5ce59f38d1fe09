"""Probabilities of synthetic collections: 002 §2–3, 003 §2–3 and §7–8, 004."""

from __future__ import annotations

from collections.abc import Callable

from krand_lab.statements.collections.anonymity import (
    anonymity_and_the_ratio_003,
    factor_epsilon_003,
    presence_of_a_report_003,
    record_taken_away_003,
)
from krand_lab.statements.collections.arrangements import (
    arrangements_003,
    modified_collection_003,
    ratio_of_arrangements_003,
    ratio_of_conditionings_003,
    ratio_of_unequal_records_003,
    two_kinds_of_reports_003,
)
from krand_lab.statements.collections.conditioning import collection_002, conditioning_002
from krand_lab.statements.collections.examples import (
    one_zero_among_equals_003,
    quotient_of_powers_003,
    ratio_of_one_zero_003,
    two_vectors_003,
)
from krand_lab.statements.verdict import Verdict

__all__ = ["STATEMENTS"]

STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    collection_002,
    conditioning_002,
    presence_of_a_report_003,
    factor_epsilon_003,
    record_taken_away_003,
    anonymity_and_the_ratio_003,
    two_vectors_003,
    quotient_of_powers_003,
    modified_collection_003,
    ratio_of_conditionings_003,
    arrangements_003,
    ratio_of_arrangements_003,
    two_kinds_of_reports_003,
    ratio_of_unequal_records_003,
    one_zero_among_equals_003,
    ratio_of_one_zero_003,
)
