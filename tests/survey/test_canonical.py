"""Canonical JSON: one text for each value, the one that JavaScript would write."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.survey.canonical import Json, canonical_json, sha256_of

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("number", "text"),
    [  # RFC 8785, appendix B, and ECMAScript's own boundaries
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999900000.0, "999999999999999900000"),
        (1e21, "1e+21"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (333333333.3333332, "333333333.3333332"),
        (4.5, "4.5"),
        (0.002, "0.002"),
        (1e30, "1e+30"),
        (-1.5e-9, "-1.5e-9"),
        (100.0, "100"),
    ],
)
def test_numbers_are_written_as_in_javascript(number: float, text: str) -> None:
    """Shortest digits, plain up to 10^21 and down to 10^-6, exponents without padding."""
    assert canonical_json(number).decode() == text


@given(FINITE)
def test_a_number_survives(number: float) -> None:
    """What is written reads back as the same double."""
    assert float(canonical_json(number)) == number


def test_keys_are_sorted_by_utf_16_and_spaces_left_out() -> None:
    """The example of RFC 8785, 3.2.3: sorted by code units, not by code points."""
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    keys = list(json.loads(canonical_json(value)))
    assert keys == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert canonical_json({"b": [1, 2.5, None], "a": True}) == b'{"a":true,"b":[1,2.5,null]}'


def test_text_is_escaped_only_where_it_must_be() -> None:
    """Control characters, quotes and backslashes; everything else is UTF-8."""
    assert canonical_json("€$\x0f\nA'\"\\") == '"€$\\u000f\\nA\'\\"\\\\"'.encode()


PLAIN = st.recursive(
    st.none() | st.booleans() | FINITE | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(PLAIN)
def test_reading_and_writing_again_changes_nothing(value: Json) -> None:
    """The name stays, whatever order the keys came in."""
    again = json.loads(canonical_json(value), parse_int=float)
    assert canonical_json(again) == canonical_json(value)
    assert sha256_of(again) == sha256_of(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, 2**53 + 1, {1, 2}, b"bytes"])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    """Rather than written in a way that another language reads differently."""
    with pytest.raises(InvalidInput, match="value"):
        canonical_json(value)  # type: ignore[arg-type]
