"""Every picture of the reproduction, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable

from krand_lab.reproduction.entries import Picture, Section
from krand_lab.reproduction.pictures_bit_copies import (
    noise_of_bit_copies,
    ones_in_the_background,
    precision_of_bit_copies,
)
from krand_lab.reproduction.pictures_copies import (
    failure_rate_of_copies,
    noise_of_copies,
    precision_of_copies,
)
from krand_lab.reproduction.pictures_ratio import (
    density_lambda_2_of_1000,
    density_lambda_2_of_3000,
    density_lambda_2_of_5000,
    density_lambda_e2_of_1000,
    density_lambda_e2_of_3000,
    density_lambda_e2_of_5000,
    tail_and_bound_of_5_bits,
    tail_and_bound_of_40_bits,
)
from krand_lab.reproduction.pictures_single_bit import (
    intervals_000,
    intervals_003,
    intervals_absolute_000,
    intervals_absolute_003,
    ratio_of_one_bit_000,
    ratio_of_one_bit_003,
)
from krand_lab.reproduction.pictures_vectors import failure_rate_of_one_hot, sigma_multiplier

__all__ = ["PICTURES", "PICTURES_OF"]

PICTURES_OF: dict[Section, tuple[Callable[[], Picture], ...]] = {
    Section.SINGLE_BIT: (
        ratio_of_one_bit_000,
        ratio_of_one_bit_003,
        intervals_absolute_000,
        intervals_000,
        intervals_absolute_003,
        intervals_003,
        noise_of_bit_copies,
        precision_of_bit_copies,
    ),
    Section.RATIO: (
        density_lambda_2_of_1000,
        density_lambda_2_of_3000,
        density_lambda_2_of_5000,
        density_lambda_e2_of_1000,
        density_lambda_e2_of_3000,
        density_lambda_e2_of_5000,
    ),
    Section.TAIL: (tail_and_bound_of_5_bits, tail_and_bound_of_40_bits),
    Section.PRECISION: (sigma_multiplier,),
    Section.SPARSE: (failure_rate_of_one_hot,),
    Section.COPIES: (noise_of_copies, precision_of_copies, failure_rate_of_copies),
    Section.COLLECTIONS: (ones_in_the_background,),
}
"""What computes the pictures of each section."""

PICTURES: tuple[Callable[[], Picture], ...] = tuple(
    compute for computes in PICTURES_OF.values() for compute in computes
)
