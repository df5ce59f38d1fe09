"""Numbers and promises in words keep their digits and their meaning."""

from __future__ import annotations

import pytest

from krand.present.wording import half_width, number, percent, promise
from krand.privacy.guarantee import (
    Assurance,
    Bounds,
    Guarantee,
    Policy,
    Precision,
    TwoWay,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (14.4567, "14.46"),
        (6490.4, "6,490"),
        (12726.3, "12,726"),
        (0.35091412, "0.3509"),
        (2.0897e-05, "2.09e-05"),
        (1e-6, "1e-06"),
        (431.0, "431"),
        (2.5e12, "2.5e+12"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_keep_four_significant_digits(value: float, text: str) -> None:
    """Readable at every size: commas for thousands, exponents only far out."""
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.000283, "0.00028 %"), (2.5, "2.5 %"), (12.7, "13 %"), (45900.0, "45,900 %"), (0.0, "0 %")],
)
def test_percentages_have_no_exponent(value: float, text: str) -> None:
    """Two significant digits, as a person would write them."""
    assert percent(value) == text


def test_precision_is_told_in_people() -> None:
    """The half-width of the 95 % interval in people and in percent."""
    assert half_width(Precision(14.46, 28.34, 0.0002834)) == "± 28 people (0.00028 %) at 95 %"
    assert half_width(Precision(1.0, 1.96, 0.196)) == "± 2 people (0.2 %) at 95 %"


def test_the_promise_uses_the_proven_end_of_the_worse_direction() -> None:
    """What is promised is the upper bound of the larger direction, not the middle value."""
    both = TwoWay(Bounds(1e-7, 1e-8, 2e-7), Bounds(3e-7, 2e-7, 9.5e-7))
    guarantee = Guarantee(
        2.0, both, TwoWay(both.reverse, both.forward), 9.0, Assurance.CERTIFIED, "m", 100, 0, ()
    )
    told = promise(Policy(2.0, 100, delta=1e-6), guarantee)
    assert "e^2 = 7.389" in told
    assert "δ = 9.5e-07 (1e-06 allowed)" in told
    told = promise(Policy(2.0, 100, eta=1e-6), guarantee)
    assert "η = 9.5e-07 (1e-06 allowed)" in told
