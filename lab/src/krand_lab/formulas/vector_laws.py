"""Laws of the histogram T and of X = N·R as printed (000 §2.1.2, 001 §3.1, 003 §6.1.2).

A law is {value: probability}; a generating function is {exponent: weight}, which is the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from math import comb, factorial

from krand_lab.formulas.arithmetic import Real
from krand_lab.formulas.vectors import likelihood_ratio_001_3_2

__all__ = [
    "bucket_law_000_2_14",
    "expected_histogram_003_6_11",
    "generating_function_001_3_8",
    "generating_function_001_3_10",
    "generating_function_001_3_11",
    "generating_function_value_001_3_8",
    "histogram_law_001_3_5",
    "set_bits_of_one_001_3_9",
    "set_bits_of_zero_001_3_7",
]


# --- the law of T and of X = N·R (001 §3.1, 000 §2.1.2, 003 §6.1.2) ---------------------------


def set_bits_of_zero_001_3_7(set_bits: int, bits: int, q: Real) -> Real:
    """p(l|0) = C(L,l) q^l p^(L-l); also 000 (2.13) and 003 (6.13)."""
    return comb(bits, set_bits) * q**set_bits * (1 - q) ** (bits - set_bits)


def set_bits_of_one_001_3_9(set_bits: int, bits: int, q: Real) -> Real:
    """p(l|1) = C(L,l) p^l q^(L-l); also 000 (2.12) and 003 (6.12)."""
    return comb(bits, set_bits) * (1 - q) ** set_bits * q ** (bits - set_bits)


def histogram_law_001_3_5(crowd: int, bits: int, q: Real) -> dict[tuple[int, ...], Real]:
    """Law of T under D_m: MN(N-1, p_0) + MN(1, p_1)."""
    zero = [set_bits_of_zero_001_3_7(ones, bits, q) for ones in range(bits + 1)]
    one = [set_bits_of_one_001_3_9(ones, bits, q) for ones in range(bits + 1)]
    law: dict[tuple[int, ...], Real] = {}
    for others in _histograms(crowd - 1, bits + 1):
        chance = q**0 * factorial(crowd - 1)
        for count, cell in zip(others, zero, strict=True):
            chance = chance * cell**count / factorial(count)
        for ones in range(bits + 1):
            whole = _with_one_more(others, ones)
            law[whole] = law.get(whole, 0 * q) + chance * one[ones]
    return law


def _histograms(total: int, cells: int) -> Iterator[tuple[int, ...]]:
    """Every way to put `total` reports into the cells."""
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _histograms(total - first, cells - 1):
            yield (first, *rest)


def _with_one_more(histogram: tuple[int, ...], cell: int) -> tuple[int, ...]:
    """The histogram once a report has been added to the cell."""
    return (*histogram[:cell], histogram[cell] + 1, *histogram[cell + 1 :])


def generating_function_001_3_8(bits: int, q: Real) -> dict[Real, Real]:
    """G(X_0) as {exponent: weight}: Σ p(l|0) t^((q/p)^(L-2l))."""
    return {
        likelihood_ratio_001_3_2(ones, bits, q): set_bits_of_zero_001_3_7(ones, bits, q)
        for ones in range(bits + 1)
    }


def generating_function_001_3_10(bits: int, q: Real) -> dict[Real, Real]:
    """G(X_1) as {exponent: weight}: Σ p(l|1) t^((q/p)^(L-2l))."""
    return {
        likelihood_ratio_001_3_2(ones, bits, q): set_bits_of_one_001_3_9(ones, bits, q)
        for ones in range(bits + 1)
    }


def generating_function_001_3_11(crowd: int, bits: int, q: Real) -> dict[Real, Real]:
    """G(X) = G(X_0)^(N-1) G(X_1), the law of X under D_m as {exponent: weight}."""
    zero, result = generating_function_001_3_8(bits, q), generating_function_001_3_10(bits, q)
    for _ in range(crowd - 1):
        grown: dict[Real, Real] = defaultdict(lambda: 0 * q)
        for (x, chance), (step, weight) in product(result.items(), zero.items()):
            grown[x + step] += chance * weight
        result = dict(grown)
    return result


def generating_function_value_001_3_8(terms: Mapping[Real, Real], t: float) -> float:
    """A generating function {exponent: weight} at t, for (3.8), (3.10) and (3.11)."""
    return float(sum(float(weight) * t ** float(exponent) for exponent, weight in terms.items()))


def bucket_law_000_2_14(set_bits: int, crowd: int, bits: int, q: Real) -> dict[Real, Real]:
    """Law of X_l = (q/p)^(L-2l)·Binomial(p(l|0), N), as {value: probability}."""
    factor = likelihood_ratio_001_3_2(set_bits, bits, q)
    chance = set_bits_of_zero_001_3_7(set_bits, bits, q)
    return {
        factor * n: comb(crowd, n) * chance**n * (1 - chance) ** (crowd - n)
        for n in range(crowd + 1)
    }


def expected_histogram_003_6_11(crowd: int, bits: int, q: Real) -> tuple[Real, ...]:
    """(N-1) p(l|1) + p(l|0) for every l: the expected state S_e."""
    return tuple(
        (crowd - 1) * set_bits_of_one_001_3_9(ones, bits, q)
        + set_bits_of_zero_001_3_7(ones, bits, q)
        for ones in range(bits + 1)
    )
