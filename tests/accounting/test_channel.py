"""The bit-flip channel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.accounting.channel import (
    local_epsilon,
    noise_of_local_epsilon,
    noise_of_phi,
    window_binomial,
)
from krand.errors import InvalidInput

noises = st.floats(1e-6, 0.499)


@given(noises)
def test_three_names_of_one_noise(q):
    """q, φ = (p³+q³)/(pq) (001 (3.14)) and ε₀ convert into each other and back."""
    p = 1 - q
    assert noise_of_phi((p**3 + q**3) / (p * q)) == pytest.approx(q, rel=1e-6)
    assert noise_of_local_epsilon(local_epsilon(q)) == pytest.approx(q, rel=1e-9)


@pytest.mark.parametrize("q", [0.0, 0.5, 0.7, -0.1, math.nan, math.inf])
def test_noise_out_of_range_is_refused(q):
    """Noise lies strictly between 0 and one half."""
    with pytest.raises(InvalidInput) as error:
        local_epsilon(q)
    assert error.value.field == "noise"


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
