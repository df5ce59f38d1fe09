"""Numbers and promises in words keep their digits and their meaning."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.promise import Policy, Precision
from krand.showing import decimals_for, fixed, some, total
from krand.wording.number_format import NumberFormat
from krand.wording.phrases import at_most, half_width, number, percent
from krand.wording.promises import factor, promise


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (14.4567, "14.46"),
        (6490.4, "6,490"),
        (12726.3, "12,726"),
        (0.35091412, "0.3509"),
        (2.0897e-05, "2.09×10⁻⁵"),
        (1e-6, "10⁻⁶"),
        (-1e-6, "-10⁻⁶"),
        (-0.0, "0"),
        (431.0, "431"),
        (2.5e12, "2.5×10¹²"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_keep_four_significant_digits(value: float, text: str) -> None:
    """Readable at every size: commas for thousands, powers of ten only far out."""
    assert number(value) == text


@pytest.mark.parametrize(
    ("count", "thing", "text"),
    [
        (1, "chain", "1 chain"),
        (2, "chain", "2 chains"),
        (0, "message", "0 messages"),
        (1, "person", "1 person"),
        (12_000, "person", "12,000 people"),
    ],
)
def test_one_thing_is_singular(count: int, thing: str, text: str) -> None:
    assert some(count, thing) == text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(-0.2, 0, "0"), (-0.004, 2, "0.00"), (-0.6, 0, "-1"), (12345.6, 1, "12,345.6")],
)
def test_no_number_is_minus_zero(value: float, decimals: int, text: str) -> None:
    """A sign is shown only if a digit other than 0 is."""
    assert fixed(value, decimals) == text


@pytest.mark.parametrize(
    ("half_width", "decimals"),
    [(32.0, 0), (3.2, 0), (1.0, 0), (0.32, 1), (0.1, 1), (0.032, 2), (0.0, 0), (math.inf, 0)],
)
def test_digits_follow_the_interval(half_width: float, decimals: int) -> None:
    """46 % ± 32 has no decimals; an estimate is shown up to the first digit of its margin."""
    assert decimals_for(half_width) == decimals


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.000283, "0.00028 %"), (2.5, "2.5 %"), (12.7, "13 %"), (45900.0, "45,900 %"), (0.0, "0 %")],
)
def test_percentages_have_no_exponent(value: float, text: str) -> None:
    """Two significant digits, as a person would write them."""
    assert percent(value) == text


def test_precision_is_told_in_people() -> None:
    """The half-width of the 95 % interval in people and in percent."""
    large, small = Precision(14.46, 28.34, 0.0002834), Precision(1.0, 1.96, 0.196)
    assert half_width(large) == "typical margin of error (95 %) ± 28 people (0.00028 %)"
    assert half_width(small) == "typical margin of error (95 %) ± 2 people (0.2 %)"


def test_the_promise_is_the_policy() -> None:
    """What is promised is what the policy asked for."""
    said = promise(Policy(epsilon=2.0, minimum_crowd=100, delta=1e-6))
    assert "by a factor of at most 7.39 (ε = 2), plus at most δ = 10⁻⁶." in said
    assert "η = 10⁻⁶." in promise(Policy(epsilon=2.0, minimum_crowd=100, eta=1e-6))


def value_of(text: str) -> float:
    """The number that a text for people stands for."""
    digits, _, power = text.replace(",", "").rpartition("10") if "⁻" in text else (text, "", "")
    exponent = int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)
    return float(f"{digits.replace(',', '').removesuffix('×') or 1}e{exponent}")


@given(st.floats(1e-12, 1e6), st.integers(2, 8))
def test_bounds_are_rounded_up(value: float, digits: int) -> None:
    """A printed bound is never below the proven one, and close to it."""
    shown = value_of(at_most(value, digits))
    assert value <= shown <= value * (1 + 1.1 * 10 ** (1 - digits))


@pytest.mark.parametrize(("rounds", "delta"), [(3, 1e-4), (12, 1e-4), (13, 1e-5), (52, 1e-9)])
def test_a_total_is_that_of_bounds_as_they_are_written(rounds: int, delta: float) -> None:
    assert total([delta] * rounds) == float(Fraction(repr(delta)) * rounds)


@given(st.lists(st.floats(0, 1), max_size=60))
def test_a_total_is_never_below_its_bounds(bounds: list[float]) -> None:
    """As they are written, and within a few units in the last place."""
    exact, shown = sum(Fraction(repr(each)) for each in bounds), Fraction(repr(total(bounds)))
    assert exact <= shown <= exact * (1 + Fraction(1, 2**51)) + Fraction(1, 10**320)


@pytest.mark.parametrize("value", [1e-5, 1e-6, 0.01, 0.07, 0.3, 2.5])
def test_a_bound_of_few_digits_is_shown_as_it_was_asked_for(value: float) -> None:
    """The float that stands for 0.01 is a hair above it; that is no reason to say 0.01001."""
    assert value_of(at_most(value)) == value


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [
        (1.0, "2.72 (ε = 1)"),
        (0.0, "1 (ε = 0)"),
        (60.55, "1.98×10²⁶ (ε = 60.55)"),
        (1000.0, "10⁴³⁵ (ε = 1,000)"),
        (math.inf, "inf (ε = inf)"),
    ],
)
def test_a_factor_is_never_too_small(epsilon: float, text: str) -> None:
    """Rounded up, and a power of ten where floating point ends."""
    assert factor(epsilon) == text


def test_a_language_chooses_the_signs_of_numbers() -> None:
    """Thousands, decimals and percent, in every form of a number; powers of ten stay."""
    german = NumberFormat(thousands=".", decimal=",", percent="{number}\N{NO-BREAK SPACE}%")
    assert german.whole(1234567) == "1.234.567"
    assert german.number(1234.5) == "1.234"
    assert german.at_most(1.0480094e-07) == "1,049×10⁻⁷"
    assert german.bound(1.0480094e-07) == "1,049\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻⁷"
    assert german.count(-1234.4) == "\N{MINUS SIGN}1.234"
    assert german.share(0.12345, 1) == "12,3"
    assert german.percent_of(0.955, "g") == "95,5\N{NO-BREAK SPACE}%"
    assert german.confidence(0.999) == "99,9\N{NO-BREAK SPACE}%"
    assert german.short_percent(0.00028) == "0,00028\N{NO-BREAK SPACE}%"


def test_english_numbers_are_those_of_the_formatters() -> None:
    """Whether a language is named or not; no count is minus zero."""
    english = NumberFormat()
    for value in (0.0, 1e-7, 0.35091412, 12726.3, 2.5e12):
        assert english.number(value) == number(value)
        assert english.at_most(value) == at_most(value)
        assert english.short_percent(value) == percent(value)
    shown = [english.confidence(value) for value in (0.95, 0.57, 0.1, 0.9999999, 1 - 2**-53)]
    assert shown == ["95 %", "57 %", "10 %", "99.99999 %", "99.99999999999999 %"]
    assert english.count(-0.2) == "0"
    assert english.share(-0.000001) == "0.00"
