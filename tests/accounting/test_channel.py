"""The bit-flip channel."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.accounting.channel import (
    ReportLaw,
    homogeneous_law,
    local_epsilon,
    noise_of_local_epsilon,
    noise_of_phi,
    outlier_law,
    phi_of_noise,
    window_binomial,
)
from krand.errors import InvalidInput

noises = st.floats(1e-6, 0.499)


@given(noises)
def test_three_names_of_one_noise(q):
    """q, φ and ε₀ convert into each other and back."""
    assert noise_of_phi(phi_of_noise(q)) == pytest.approx(q, rel=1e-6)
    assert noise_of_local_epsilon(local_epsilon(q)) == pytest.approx(q, rel=1e-9)


@given(noises)
def test_phi_has_two_forms(q):
    """φ = p/q + q/p - 1 = (p³+q³)/(pq) (001 (3.14))."""
    p = 1 - q
    assert phi_of_noise(q) == pytest.approx((p**3 + q**3) / (p * q), rel=1e-9)


@pytest.mark.parametrize("q", [0.0, 0.5, 0.7, -0.1, math.nan, math.inf])
def test_noise_out_of_range_is_refused(q):
    """Noise lies strictly between 0 and one half."""
    with pytest.raises(InvalidInput) as error:
        phi_of_noise(q)
    assert error.value.field == "noise"


def by_hand(q: float, x: tuple, y: tuple, z: tuple) -> dict[tuple[float, float], float]:
    """The law of (K(y)/K(x), K(z)/K(x)) under K(x) by going through all reports."""

    def channel(source: tuple, report: tuple) -> float:
        same = sum(a == b for a, b in zip(source, report, strict=True))
        return float((1 - q) ** same * q ** (len(source) - same))

    law: dict[tuple[float, float], float] = {}
    for report in itertools.product((0, 1), repeat=len(x)):
        base = channel(x, report)
        key = (
            round(math.log(channel(y, report) / base), 9),
            round(math.log(channel(z, report) / base), 9),
        )
        law[key] = law.get(key, 0.0) + base
    return law


def as_dict(law: ReportLaw) -> dict[tuple[float, float], float]:
    return {
        (round(a * law.log_odds, 9) + 0.0, round(b * law.log_odds, 9) + 0.0): math.exp(p)
        for a, b, p in zip(law.first, law.second, law.log_reference, strict=True)
    }


@given(st.floats(0.01, 0.49), st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=6))
def test_report_law_of_any_pattern(q, columns):
    """Grouped by ratios, the law of a report is that of going through all 2^L reports."""
    x, y, z = (tuple(column[i] for column in columns) for i in range(3))
    near_first = sum(a == b != c for a, b, c in columns)
    near_second = sum(a == c != b for a, b, c in columns)
    common = sum(b == c != a for a, b, c in columns)
    if near_first == 0:
        x, y, z, near_first, near_second = x, z, y, near_second, near_first
    expected = {(a + 0.0, b + 0.0): p for (a, b), p in by_hand(q, x, y, z).items()}
    assert as_dict(homogeneous_law(q, near_first, near_second, common)) == pytest.approx(expected)


@given(st.floats(0.01, 0.49), st.integers(1, 30))
def test_all_three_laws_sum_to_one(q, bits):
    """ν, K(y) and K(y') are probabilities."""
    law = outlier_law(q, bits)
    for logs in (law.log_reference, law.log_first, law.log_second):
        assert float(np.exp(logs).sum()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("n", "p"), [(0, 0.3), (1, 0.2), (50, 0.4), (10**5, 1e-4), (10**9, 1e-8), (10**9, 0.3)]
)
def test_windowed_binomial(n, p):
    """The window holds the whole law: it sums to 1 and has the right mean and variance."""
    first, pmf = window_binomial(n, p)
    k = np.arange(first, first + pmf.size)
    assert float(pmf.sum()) == pytest.approx(1, abs=1e-12)
    mean = float(pmf @ k)
    assert mean == pytest.approx(n * p, rel=1e-9)
    assert float(pmf @ (k - mean) ** 2) == pytest.approx(n * p * (1 - p), rel=1e-6, abs=1e-12)


def test_blocks_multiply():
    """The law of two linked blocks is the product of their laws."""
    whole = homogeneous_law(0.2, 3, 2, 1)
    parts = homogeneous_law(0.2, 1, 2, 0).times(homogeneous_law(0.2, 2, 0, 1))
    assert as_dict(whole) == pytest.approx(as_dict(parts))


def test_symmetry_is_recognised():
    """The mirror of the outlier law is another law; that of a balanced pattern is itself."""
    assert not outlier_law(0.2, 3).is_symmetric
    assert homogeneous_law(0.2, 2, 2, 1).is_symmetric
