"""Every picture of the reproduction, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from krand_lab.reproduction import pictures_copies as copies
from krand_lab.reproduction import pictures_ratio as ratio
from krand_lab.reproduction import pictures_single_bit as single_bit
from krand_lab.reproduction import pictures_vectors as vectors
from krand_lab.reproduction.entries import Picture, Section

PICTURES_OF: dict[Section, tuple[Callable[[], Picture], ...]] = {
    Section.SINGLE_BIT: (
        single_bit.ratio_of_one_bit_000,
        single_bit.ratio_of_one_bit_003,
        single_bit.intervals_absolute_000,
        single_bit.intervals_000,
        single_bit.intervals_absolute_003,
        single_bit.intervals_003,
        single_bit.noise_of_bit_copies,
        single_bit.precision_of_bit_copies,
    ),
    Section.RATIO: tuple(partial(ratio.density, setting) for setting in ratio.SETTINGS),
    Section.TAIL: (ratio.tail_and_bound_of_5_bits, ratio.tail_and_bound_of_40_bits),
    Section.PRECISION: (vectors.sigma_multiplier,),
    Section.SPARSE: (vectors.failure_rate_of_one_hot,),
    Section.COPIES: (
        copies.noise_of_copies,
        copies.precision_of_copies,
        copies.failure_rate_of_copies,
    ),
    Section.COLLECTIONS: (single_bit.ones_in_the_background,),
}
"""What computes the pictures of each section."""

PICTURES: tuple[Callable[[], Picture], ...] = tuple(
    compute for computes in PICTURES_OF.values() for compute in computes
)
