"""The noise that the drafts choose."""

from __future__ import annotations

import math

import pytest

from krand import InvalidInput, Linkage
from krand_lab.choice import NOISE_GRID, noise
from krand_lab.exact.ratio import RatioLaw
from krand_lab.formulas.planners import single_bit_noise_000_0_19, single_bit_noise_003_4_45


def test_the_noise_of_a_record_comes_with_what_it_really_gives() -> None:
    """It is that of 001 (3.12), and leaves a larger tail than the .003 the draft hopes for."""
    found = noise(1000, 5, math.log(2), Linkage.RECORD)
    assert found.noise == pytest.approx(0.2445, abs=6e-5)
    assert found.source == "001 (3.12)"
    law = RatioLaw(found.noise, 5, 1000)
    assert found.delta == law.delta(math.log(2))
    assert found.eta == law.eta(math.log(2))
    assert found.eta.lower > 0.003


def test_the_noise_of_a_bit_is_the_larger_of_two_formulas() -> None:
    """000 (0.19) and 003 (4.45), rounded up to the grid; colluding people hide nobody."""
    found = noise(1000, 1, 1.0, colluding=100)
    least = max(formula(900, math.e) for formula in FORMULAS)
    assert found.noise_numerator == math.ceil(least * NOISE_GRID)
    assert found.delta == RatioLaw(found.noise, 1, 900).delta(1.0)
    assert "000 (0.19)" in found.source
    assert "003 (4.45)" in found.source


FORMULAS = (single_bit_noise_000_0_19, single_bit_noise_003_4_45)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("bits", (1000, 2, 1.0)),
        ("crowd", (1, 1, 1.0)),
        ("epsilon", (1000, 1, 0.0)),
    ],
)
def test_what_the_drafts_have_no_formula_for_is_refused(
    field: str, values: tuple[int, int, float]
) -> None:
    """They compose no bits that are reported apart."""
    with pytest.raises(InvalidInput) as error:
        noise(*values)
    assert error.value.field == field
