"""Single equations and definitions of the drafts, each put to the exact test over a full range."""

from __future__ import annotations

from collections.abc import Callable

from krand.privacy.statements.equations_anonymity import (
    anonymity_and_the_ratio_003,
    factor_epsilon_003,
    presence_of_a_report_003,
    record_taken_away_003,
)
from krand.privacy.statements.equations_arrangements import (
    arrangements_003,
    modified_collection_003,
    ratio_of_arrangements_003,
    ratio_of_conditionings_003,
    ratio_of_unequal_records_003,
    two_kinds_of_reports_003,
)
from krand.privacy.statements.equations_bit_000 import (
    count_and_ratio_000,
    extremes_000,
    mean_of_the_modified_count_000,
    three_deviations_000,
    unit_ratio_000,
)
from krand.privacy.statements.equations_bit_003 import (
    estimate_003,
    largest_ratio_003,
    modified_count_003,
    ratio_003,
)
from krand.privacy.statements.equations_collections import (
    collection_002,
    conditioning_002,
)
from krand.privacy.statements.equations_copies import (
    count_000,
    estimate_copies,
    label_000,
    ratio_000,
    ratio_of_copies_003,
)
from krand.privacy.statements.equations_copies_bounds import (
    bound_of_the_inverse_ratio_000,
    bound_of_the_ratio_003,
    bound_of_the_share_000,
    lowered_fraction_000,
)
from krand.privacy.statements.equations_copies_noise import (
    planning_000,
    planning_003,
    three_deviations_of_copies,
)
from krand.privacy.statements.equations_examples import (
    one_zero_among_equals_003,
    quotient_of_powers_003,
    ratio_of_one_zero_003,
    two_vectors_003,
)
from krand.privacy.statements.verdict import Verdict

__all__ = ["STATEMENTS"]

STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    # 000
    count_and_ratio_000,
    extremes_000,
    unit_ratio_000,
    three_deviations_000,
    mean_of_the_modified_count_000,
    estimate_copies,
    count_000,
    label_000,
    ratio_000,
    lowered_fraction_000,
    bound_of_the_share_000,
    bound_of_the_inverse_ratio_000,
    three_deviations_of_copies,
    planning_000,
    # 002
    collection_002,
    conditioning_002,
    # 003, and 004 where it says the same
    presence_of_a_report_003,
    factor_epsilon_003,
    record_taken_away_003,
    anonymity_and_the_ratio_003,
    estimate_003,
    modified_count_003,
    ratio_003,
    largest_ratio_003,
    ratio_of_copies_003,
    bound_of_the_ratio_003,
    planning_003,
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
