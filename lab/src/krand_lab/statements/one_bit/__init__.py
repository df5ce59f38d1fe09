"""Counts of one bit: 000 §0–1 and 003 §4–5, equation by equation."""

from __future__ import annotations

from collections.abc import Callable

from krand_lab.statements.one_bit.bit_000 import (
    count_and_ratio_000,
    extremes_000,
    mean_of_the_modified_count_000,
    three_deviations_000,
    unit_ratio_000,
)
from krand_lab.statements.one_bit.bit_003 import (
    estimate_003,
    largest_ratio_003,
    modified_count_003,
    ratio_003,
)
from krand_lab.statements.one_bit.copies import (
    count_000,
    estimate_copies,
    label_000,
    ratio_000,
    ratio_of_copies_003,
)
from krand_lab.statements.one_bit.copies_bounds import (
    bound_of_the_inverse_ratio_000,
    bound_of_the_ratio_003,
    bound_of_the_share_000,
    lowered_fraction_000,
)
from krand_lab.statements.one_bit.copies_noise import (
    planning_000,
    planning_003,
    three_deviations_of_copies,
)
from krand_lab.statements.verdict import Verdict

__all__ = ["STATEMENTS"]

STATEMENTS: tuple[Callable[[], Verdict], ...] = (
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
    estimate_003,
    modified_count_003,
    ratio_003,
    largest_ratio_003,
    ratio_of_copies_003,
    bound_of_the_ratio_003,
    planning_003,
)
