"""Numbers on the command line are read as people write them, exactly, or refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.cli.numbers import Count, Counts, parse_count, parse_real
from krand.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10M", 10_000_000),
        ("10m", 10_000_000),
        ("10k", 10_000),
        ("1e7", 10_000_000),
        ("1E+7", 10_000_000),
        ("10_000_000", 10_000_000),
        ("2.5M", 2_500_000),
        ("1G", 10**9),
        ("1B", 10**9),
        ("1T", 10**12),
        ("0.5k", 500),
        ("7", 7),
        (" 7 ", 7),
        ("7.0", 7),
        ("-3", -3),
        ("1e3k", 10**6),
        ("9007199254740993", 9_007_199_254_740_993),  # 2^53 + 1: no detour through floats
    ],
)
def test_a_count_has_many_spellings(text: str, value: int) -> None:
    """Suffixes, exponents, underscores and decimals that come out whole all work."""
    assert parse_count("crowd", text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "ten", "2.5", "1e-3", "inf", "nan", "-inf", "10 M", "10MM", "M", "1e999", "0x10"),
        *("1,000", "1" * 50, "²", "1/2", "e7", "_1", "."),
    ],
)
def test_what_is_no_whole_number_is_refused_with_field_rule_and_value(text: str) -> None:
    """The error names the field, the rule and exactly what was typed."""
    with pytest.raises(InvalidInput) as caught:
        parse_count("crowd", text)
    assert caught.value.field == "crowd"
    assert "whole number" in caught.value.rule
    assert caught.value.value == text
    assert caught.value.hint


@given(st.integers(-(10**15), 10**15))
def test_every_integer_survives_the_round_trip(value: int) -> None:
    """Writing an integer and reading it back changes nothing, with or without underscores."""
    assert parse_count("n", str(value)) == value
    assert parse_count("n", f"{value:_}") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.003", 0.003),
        ("1e-6", 1e-6),
        ("1/3", 1 / 3),
        ("89752/4294967296", 89752 / 2**32),
        ("2", 2.0),
        ("-1", -1.0),
        (" .5 ", 0.5),
        ("1e-3/2", 0.0005),
    ],
)
def test_a_real_number_or_a_fraction_is_read(text: str, value: float) -> None:
    """Decimals, exponents and fractions give the nearest float."""
    assert parse_real("noise", text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "abc", "inf", "-inf", "nan", "Infinity", "1e999", "1/0", "1/inf", "inf/inf"),
        *("1/2/3", "/2", "1/", "0,5", "10M"),
    ],
)
def test_infinities_and_words_are_refused_with_field_rule_and_value(text: str) -> None:
    """No infinity and no word gets past the command line, in whichever disguise."""
    with pytest.raises(InvalidInput) as caught:
        parse_real("epsilon", text)
    assert caught.value.field == "epsilon"
    assert "number" in caught.value.rule
    assert caught.value.value == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_survives_the_round_trip(value: float) -> None:
    """repr of a float reads back as the same float."""
    assert parse_real("x", repr(value)) == value


def test_limits_are_part_of_the_type() -> None:
    """A count with limits refuses what lies outside and says where they are."""
    kind = Count(low=100, high=1000)
    assert kind.convert("100", None, None) == 100
    assert kind.convert("1k", None, None) == 1000
    for text in ("99", "1001", "-5"):
        with pytest.raises(InvalidInput, match="at least 100 and at most 1,000"):
            kind.convert(text, None, None)


def test_a_list_of_counts_keeps_its_order_and_drops_repetitions() -> None:
    """1,4,4,16 is three numbers; a trailing comma is forgiven; an empty list is not."""
    assert Counts().convert("1, 16,4,4,", None, None) == (1, 16, 4)
    with pytest.raises(InvalidInput, match="at least one number"):
        Counts().convert(",", None, None)
    with pytest.raises(InvalidInput, match="whole number"):
        Counts().convert("1,x", None, None)
