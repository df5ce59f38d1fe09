"""The drafts' formulas that plan: as printed, consistent, and safe from overflow.

That they give the drafts' numbers, or the corrected ones, is in `lab/tests/reproduction`.
"""

from __future__ import annotations

import inspect
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.errors import CannotMeet, InvalidInput
from krand_lab import formulas as drafts

POPULATIONS = st.integers(2, 10**9)
BITS = st.integers(1, 1000)
LAMBDAS = st.floats(1.05, 50)
NOISES = st.floats(1e-9, 0.4999)


@given(POPULATIONS, LAMBDAS, st.integers(1, 1000))
def test_single_bit_noise_as_printed(crowd: int, lam: float, copies: int) -> None:
    """The stable arithmetic is the printed formula, and the 1/R side always asks for more."""
    reverse = drafts.single_bit_copies_noise_000_1_23(crowd, lam, copies)
    forward = drafts.single_bit_copies_noise_003_5_24(crowd, lam, copies)
    root = lam ** (1 / copies)
    for noise, slack in ((reverse, 1 - 1 / root), (forward, root - 1)):
        printed = (1 - 1 / math.sqrt(1 + 36 / (slack**2 * copies * crowd))) / 2
        assert noise == pytest.approx(printed, abs=1e-9)
    assert forward <= reverse < 0.5


@given(NOISES)
def test_phi_and_back(q: float) -> None:
    """(3.14) is p/q + q/p - 1 = (p³+q³)/(pq), and (3.16) inverts it."""
    p = 1 - q
    assert drafts.phi_001_3_14(q) == pytest.approx(p / q + q / p - 1, rel=1e-9)
    assert drafts.phi_001_3_14(q) == pytest.approx((p**3 + q**3) / (p * q), rel=1e-9)
    assert drafts.noise_of_phi_001_3_16(drafts.phi_001_3_14(q)) == pytest.approx(q, rel=1e-6)


@given(POPULATIONS, st.integers(1, 20), st.floats(0.05, 0.49))
def test_moments_as_printed(crowd: int, bits: int, q: float) -> None:
    """The mean and variance computed in logarithms are those printed in 001 §3.1."""
    p = 1 - q
    second, fourth = ((p**3 + q**3) / (p * q)) ** bits, ((p**5 + q**5) / (p * q) ** 2) ** bits
    mean = (crowd - 1 + second) / crowd
    variance = ((crowd - 1) * (second - 1) + fourth - second**2) / crowd**2
    assert drafts.mean_ratio_001(crowd, bits, q) == pytest.approx(mean)
    assert drafts.variance_ratio_001(crowd, bits, q) == pytest.approx(variance)


@given(st.integers(1000, 10**9), BITS, st.floats(1.5, 50))
def test_planners_agree(crowd: int, bits: int, lam: float) -> None:
    """(3.15) is (3.13) in φ, and both ask for no less noise than (3.12)."""
    noise = drafts.planner_001_3_13(crowd, bits, lam)
    assert drafts.planner_001_3_15(crowd, bits, lam) == pytest.approx(noise, rel=1e-9)
    assert drafts.planner_001_3_12(crowd, bits, lam) <= noise * (1 + 1e-12)


@given(POPULATIONS, BITS, LAMBDAS)
def test_planner_is_the_least_noise(crowd: int, bits: int, lam: float) -> None:
    """The noise of (3.12) satisfies its condition and a little less does not."""

    def reach(q: float) -> float:
        sigma = math.sqrt(drafts.variance_ratio_001(crowd, bits, q))
        return drafts.mean_ratio_001(crowd, bits, q) + 3 * sigma

    noise = drafts.planner_001_3_12(crowd, bits, lam)
    assert reach(noise) <= lam < reach(noise * (1 - 1e-9))


def test_long_vectors_do_not_overflow() -> None:
    """A thousand bits at little noise have infinite moments, and a plan all the same."""
    assert drafts.mean_ratio_001(1000, 1000, 0.01) == math.inf
    assert drafts.variance_ratio_001(1000, 1000, 0.01) == math.inf
    assert drafts.copies_variance_001_6_2(1000, 1000, 0.01, 4) == math.inf
    assert 0.48 < drafts.planner_001_3_12(1000, 1000, 2) < 0.49


def test_simplified_planner_can_be_out_of_reach() -> None:
    """(3.13) and (3.15) charge even q = 1/2, so a small crowd cannot meet them."""
    for planner in (drafts.planner_001_3_13, drafts.planner_001_3_15):
        with pytest.raises(CannotMeet, match="001"):
            planner(10, 5, 1.5)


@given(st.integers(2, 10**6), st.integers(1, 20), st.floats(0.05, 0.49), st.floats(1, 4))
def test_unreduced_tail_bound_as_printed(crowd: int, bits: int, q: float, beta: float) -> None:
    """The line above (3.17) is exp(-β²·VarX/(2·ΣE[X²])); (3.17) is smaller, hence not implied."""
    phi = drafts.phi_001_3_14(q)
    variance = drafts.variance_ratio_001(crowd, bits, q) * crowd**2
    squares = (crowd - 1) * phi**bits + (phi**2 + phi - 1) ** bits
    bound = drafts.tail_bound_001_3_17_unreduced(crowd, bits, q, beta)
    assert bound == pytest.approx(math.exp(-(beta**2) * variance / 2 / squares))
    assert drafts.tail_bound_001_3_17(crowd, bits, q, beta) <= bound * (1 + 1e-12)


@given(st.integers(2, 10**6), st.data(), st.floats(0.01, 0.45), st.integers(1, 50))
def test_estimate_undoes_the_expected_noise(
    crowd: int, data: st.DataObject, q: float, copies: int
) -> None:
    """The estimate of the expected number of observed ones is the true number."""
    true = data.draw(st.integers(0, crowd))
    observed = copies * ((1 - q) * true + q * (crowd - true))
    assert drafts.estimate_001_4(observed, crowd, q, copies) == pytest.approx(true, abs=1e-4)


def test_impossible_values_are_refused() -> None:
    """λ at most 1, φ below 1 and noise outside (0, ½] have no meaning in these formulas."""
    with pytest.raises(InvalidInput, match="lam"):
        drafts.single_bit_noise_000_0_19(1000, 1.0)
    with pytest.raises(InvalidInput, match="phi"):
        drafts.noise_of_phi_001_3_16(0.5)
    for q in (0.0, 0.6):
        with pytest.raises(InvalidInput, match="noise"):
            drafts.phi_001_3_14(q)


def test_every_public_formula_names_its_equation() -> None:
    """Each function carries its document's number, and a docstring that says what it computes."""
    named = {
        name
        for name, value in vars(drafts).items()
        if inspect.isfunction(value)
        and value.__module__.startswith("krand_lab.formulas.")
        and not value.__module__.endswith(".arithmetic")
    }
    assert len(named) > 150
    for name in named - {"draft_noise"}:
        assert any(f"_{document}" in name for document in ("000", "001", "002", "003")), name
        assert getattr(drafts, name).__doc__
    assert "(3.12)" in drafts.DRAFT_WARNING
