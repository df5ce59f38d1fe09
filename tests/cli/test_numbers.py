"""Numbers on the command line are read as people write them, exactly, or refused by name."""

from __future__ import annotations

import pytest

from command_line import refused, told

PRIVACY = "privacy --bits 1 --crowd 7 --epsilon 1"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("10M", 10_000_000), ("10m", 10_000_000), ("10k", 10_000), ("1e7", 10_000_000)),
        *(("1E+7", 10_000_000), ("10_000_000", 10_000_000), ("2.5M", 2_500_000), ("1G", 10**9)),
        *(("1B", 10**9), ("1T", 10**12), ("0.5k", 500), ("7", 7), (" 7 ", 7), ("7.0", 7)),
        *(("1e3k", 10**6), ("-3", -3)),
        ("9007199254740993", 9_007_199_254_740_993),  # 2^53 + 1: no detour through floats
    ],
)
def test_a_count_has_many_spellings(text: str, value: int) -> None:
    """Suffixes, exponents, underscores and decimals that come out whole: too many here."""
    found = refused(PRIVACY, f"--noise 1/3 --max-set-bits='{text}'")
    assert (found["field"], found["value"]) == ("max_set_bits", value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "ten", "2.5", "1e-3", "inf", "nan", "-inf", "10 M", "10MM", "M", "1e999", "0x10"),
        *("1,000", "1" * 50, "²", "1/2", "e7", "_1", "."),
    ],
)
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    """With exactly what was typed."""
    error = refused(PRIVACY, f"--noise 1/3 --crowd '{text}'")
    assert (error["field"], error["value"]) == ("crowd", text)
    assert "whole number" in error["rule"]
    assert error["hint"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("0.45", 0.45), ("45e-2", 0.45), ("1/3", 1 / 3), (" .4 ", 0.4), ("800e-3/2", 0.4)),
        ("1431655765/4294967296", 1431655765 / 2**32),
    ],
)
def test_a_real_number_or_a_fraction_is_read(text: str, value: float) -> None:
    """Decimals, exponents and fractions give the nearest float."""
    found = told(PRIVACY, f"--noise '{text}'")["noise"]
    assert found == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "abc", "inf", "-inf", "nan", "Infinity", "1e999", "1/0", "1/inf", "inf/inf"),
        *("1/2/3", "/2", "1/", "0,5", "10M"),
    ],
)
def test_infinities_and_words_are_refused(text: str) -> None:
    """None gets past the command line, in whichever disguise."""
    error = refused(PRIVACY, "--noise 1/3", f"--epsilon '{text}'")
    assert (error["field"], error["value"]) == ("epsilon", text)
    assert "number" in error["rule"]


def test_several_counts_keep_their_order_and_come_once() -> None:
    """1,4,4 is two numbers, a trailing comma is forgiven; more copies, more data, less noise."""
    request = "noise --crowd 1000 --bits 2 --epsilon .69 --delta 1e-2 --linkage record --copies"
    rows = told(request, "4,1,4,")["rows"]
    assert [row["copies"] for row in rows] == [4, 1]
    four, one = rows
    single = told(request, "4")
    assert (four["noise"], four["sigma"]) == (single["noise"], single["sigma"])
    assert four["bytes_per_user"] == one["bytes_per_user"] * 4
    assert four["sigma"] < one["sigma"]
    for wrong, rule in ((",", "at least one number"), ("1,x", "whole number")):
        assert rule in refused(request, wrong)["rule"]
