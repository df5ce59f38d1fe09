"""Few flips among many positions: exact counts, uniform places."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, combinations
from math import comb

import numpy as np
import pytest
from scipy import stats

from flip_checks import ALPHA, GRID, Replay, in_wilson, rate_complaints
from krand.errors import InvalidInput
from krand.randomness import sparse
from krand.randomness.binomial import BinomialBounds, binomial_bounds, draw_flips
from krand.randomness.generator import SecureRandom
from krand.randomness.sparse import _places, flipped_positions, uses_blocks

TINY = [1, 429, 8590, 89_768]
"""q from 2^-32 over 1e-7 and 2e-6 to 2.09e-5: all by blocks."""
MIDDLE = [round(q * GRID) for q in (2e-4, 0.0101, 0.0299)]
LARGE = [round(q * GRID) for q in (0.13, 0.35, 0.4999)]


@pytest.fixture
def random() -> SecureRandom:
    return SecureRandom()


def distribution(size: int, numerator: int) -> list[Fraction]:
    """F(0), F(1), … of the binomial law, as fractions."""
    q = Fraction(numerator, GRID)
    masses = (comb(size, k) * q**k * (1 - q) ** (size - k) for k in range(size + 1))
    return list(accumulate(masses))


# --- the number of flips -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("numerator", [1, 3, 429, 2**20 + 1, 2**27, 2**30, 2**31 - 1])
@pytest.mark.parametrize("size_bits", [0, 1, 3, 6])
@pytest.mark.parametrize("precision", [3, 16, 64, 128])
def test_bounds_enclose_the_law(numerator: int, size_bits: int, precision: int) -> None:
    """Both sides enclose the exact distribution function, and closely."""
    bounds = binomial_bounds(size_bits, numerator, precision)
    exact = distribution(1 << size_bits, numerator)
    assert len(bounds.low) == len(bounds.high) <= len(exact)
    for low, high, value in zip(bounds.low, bounds.high, exact, strict=False):
        assert low <= value * 2**precision <= high
        assert high - low <= 2


@pytest.mark.parametrize("numerator", [2**27, 2**30 + 12345, 2**31 - 1])
def test_digits_settle_rightly(numerator: int) -> None:
    """For all 4096 beginnings of U: a settled K is right for every way U may go on."""
    bounds, exact = binomial_bounds(4, numerator, 12), distribution(16, numerator)
    settled = 0
    for digits in range(4096):
        flips = bounds.settle(digits)
        if flips is not None:
            settled += 1
            assert Fraction(digits + 1, 4096) <= exact[flips]
            assert flips == 0 or Fraction(digits, 4096) >= exact[flips - 1]
    assert settled > 4096 - 2 * 17


def test_precision_sees_far_enough() -> None:
    """At 64 digits, a draw stays unsettled less often than once in 2^50."""
    for size_bits, numerator in ((20, 8590), (20, 1), (13, 2**27), (24, 45_000), (32, 1)):
        bounds = binomial_bounds(size_bits, numerator, 64)
        gaps = sum(high - low for low, high in zip(bounds.low, bounds.high, strict=True))
        assert 2**64 - bounds.low[-1] + gaps < 2**14


def test_unsettled_digits_go_on() -> None:
    """Digits on a bound are continued, and what follows them decides."""
    numerator, size_bits = 8590, 20
    fine = binomial_bounds(size_bits, numerator, 128)
    for flips in (0, 2, 5):
        bound = fine.low[flips]
        below, above = bound - 3, fine.high[flips] + 1
        for digits, expected in ((below, flips), (above, flips + 1)):
            assert binomial_bounds(size_bits, numerator, 64).settle(digits >> 64) is None
            random = Replay(digits.to_bytes(16))
            assert draw_flips(size_bits, numerator, random) == expected
            assert random.left == b""


def test_far_tail_goes_on() -> None:
    """The largest digits lie beyond what one look sees: more are drawn, and many flips found."""
    assert draw_flips(10, 2**20, Replay(b"\xff" * 8 + b"\x00" * 8)) >= 8


def test_settle_by_hand() -> None:
    """F(0) in [3, 4]/8 and F(1) in [6, 6]/8: what U = u/8 … (u+1)/8 settles."""
    bounds = BinomialBounds(3, (3, 6), (4, 6))
    assert [bounds.settle(u) for u in range(8)] == [0, 0, 0, None, 1, 1, None, None]


@pytest.mark.parametrize(("size_bits", "numerator"), [(20, 8590), (6, 2**26), (13, 2**27)])
def test_number_of_flips(size_bits: int, numerator: int, random: SecureRandom) -> None:
    """Drawn numbers of flips follow the binomial law (chi-square)."""
    drawn = [draw_flips(size_bits, numerator, random) for _ in range(20_000)]
    law = stats.binom(1 << size_bits, numerator / GRID)
    low, high = int(law.ppf(0.002)), int(law.ppf(0.998))
    inner = np.clip(drawn, low, high)
    expected = law.pmf(np.arange(low, high + 1))
    expected[0], expected[-1] = law.cdf(low), law.sf(high - 1)
    observed = np.bincount(inner - low, minlength=high - low + 1)
    assert stats.chisquare(observed, 20_000 * expected).pvalue > ALPHA


# --- their places --------------------------------------------------------------------------------


@pytest.mark.parametrize("flips", [1, 2, 3, 4, 7, 8])
def test_all_sets_alike(flips: int, random: SecureRandom) -> None:
    """Every set of so many of eight positions is equally likely."""
    sets = {s: i for i, s in enumerate(combinations(range(8), flips))}
    counts = np.zeros(len(sets))
    for _ in range(300 * len(sets)):
        counts[sets[tuple(_places(flips, 3, random).tolist())]] += 1
    assert len(sets) == 1 or stats.chisquare(counts).pvalue > ALPHA


def total(count: int, numerator: int, draws: int, random: SecureRandom) -> np.ndarray:
    return np.concatenate([flipped_positions(count, numerator, random) for _ in range(draws)])


@pytest.mark.parametrize("numerator", [*TINY, *MIDDLE, *LARGE])
@pytest.mark.parametrize("count", [1, 2, 40, 1000, 10**6])
def test_sorted_and_in_range(numerator: int, count: int, random: SecureRandom) -> None:
    """Positions are sorted, different and in range, for every size."""
    for _ in range(5):
        found = flipped_positions(count, numerator, random)
        assert found.dtype == np.int64
        assert (np.diff(found) > 0).all()
        assert found.size == 0 or (found[0] >= 0 and found[-1] < count)


@pytest.mark.parametrize(
    ("numerator", "count", "draws"),
    [
        (8590, 10**6, 10_000),
        (429, 10**7, 10_000),
        (89_768, 10**7, 500),
        (MIDDLE[0], 10**7, 10),
        (MIDDLE[1], 10**7, 10),
        (MIDDLE[1], 1000, 20_000),
        (LARGE[1], 10**7, 2),
        (LARGE[1], 40, 20_000),
    ],
)
def test_rate_and_places(numerator: int, count: int, draws: int, random: SecureRandom) -> None:
    """The rate lies in its Wilson interval, and no part of the range is preferred."""
    found = total(count, numerator, draws, random)
    assert in_wilson(found.size, count * draws, Fraction(numerator, GRID))
    parts = min(count, 50)
    # Compared by where a flip falls: bins of nearly equal size, expected by their true size.
    edges = np.arange(parts + 1) * count // parts
    observed = np.histogram(found, edges - 0.5)[0]
    expected = found.size * np.diff(edges) / count
    variance = 1 - numerator / GRID
    assert stats.chi2.sf((((observed - expected) ** 2) / expected).sum() / variance, parts) > ALPHA


@pytest.mark.parametrize("numerator", [MIDDLE[1], LARGE[0]])
def test_gaps_between_flips(numerator: int, random: SecureRandom) -> None:
    """Gaps follow the geometric law, across the ends of a word's reach too (chi-square)."""
    found = flipped_positions(5_000_000, numerator, random)
    gaps, q = np.diff(found) - 1, numerator / GRID
    top = int(6 / q)
    observed = np.bincount(np.minimum(gaps, top), minlength=top + 1)
    expected = np.append(q * (1 - q) ** np.arange(top), (1 - q) ** top) * gaps.size
    assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > ALPHA


def test_the_two_ways_agree(random: SecureRandom, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and gaps give the same law of the number of flips in 700 positions (chi-square)."""
    numerator, counts = MIDDLE[1], []
    for below in (0, GRID):
        monkeypatch.setattr(sparse, "LITTLE_BELOW", below)
        monkeypatch.setattr(sparse, "BLOCKS_BELOW", below)
        assert uses_blocks(700, numerator) == (below > 0)
        drawn = [flipped_positions(700, numerator, random).size for _ in range(10_000)]
        counts.append(np.bincount(np.clip(drawn, 1, 14), minlength=15)[1:])
    assert stats.chi2_contingency(np.array(counts)).pvalue > ALPHA


def test_many_blocks(random: SecureRandom, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flips fall on both sides of the edges of blocks alike."""
    monkeypatch.setattr(sparse, "FLIPS_PER_BLOCK", 1)
    monkeypatch.setattr(sparse, "BLOCKS_BELOW", GRID)
    numerator, size = GRID // 100, 64
    found = flipped_positions(20_000 * size, numerator, random) % size
    counts = np.bincount(found, minlength=size)
    assert rate_complaints(counts, 20_000, numerator) == []


def test_neighbours_are_independent(random: SecureRandom) -> None:
    """Of two positions that follow each other, both flip with chance q²."""
    for numerator, count in ((MIDDLE[1], 10**7), (LARGE[0], 10**6)):
        found = flipped_positions(count, numerator, random)
        even = found[:-1][(np.diff(found) == 1) & (found[:-1] % 2 == 0)]
        assert in_wilson(even.size, count // 2, Fraction(numerator, GRID) ** 2)


def test_nothing_asked(random: SecureRandom) -> None:
    """No positions, no flips; a negative number of them, or odd noise, is refused."""
    assert flipped_positions(0, 1, random).size == 0
    with pytest.raises(InvalidInput, match="count"):
        flipped_positions(-1, 1, random)
    for numerator in (0, 2**31, 1.5):
        with pytest.raises(InvalidInput, match="numerator"):
            flipped_positions(10, numerator, random)  # type: ignore[arg-type]
