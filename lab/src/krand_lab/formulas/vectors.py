"""R of whole vectors as printed: from all reports, or from their numbers of set bits.

000 §2.1.1, 001 §1–3, 003 §6.1.1. Counts are a histogram {vector: how often it was reported}; T
counts reports by their number of set bits. D is all zeros and D_m has one outlier of ones, except
in 000 (R upside down: D_m is all zeros) and in 003 (zeros and ones exchanged). The moments
are in `vector_moments`. 001 (2.1), (2.2) and 000 (2.2), (2.3) only
divide `collection_probability_000_2_1` by itself for another y.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import comb, factorial, prod
from typing import TypeVar

from krand_lab.enumeration import Vector
from krand_lab.formulas.arithmetic import Real

Counts = Mapping[Vector, int]
Outcome = TypeVar("Outcome")


# --- one report, and what a ratio is (001 §1) -------------------------------------------------


def report_probability_001_1_3(s: Vector, x: Vector, q: Real) -> Real:
    """P[A_0(x) = s] = q^(L-m) p^m, m the number of equal bits (001 §1.3)."""
    equal = sum(a == b for a, b in zip(s, x, strict=True))
    return q ** (len(x) - equal) * (1 - q) ** equal


def local_ratio_001_1_3(s: Vector, x: Vector, x_prime: Vector, q: Real) -> Real:
    """R(s; x, x') = P[A_0(x') = s]/P[A_0(x) = s], the ratio without a crowd (001 §1.1, §1.3)."""
    return report_probability_001_1_3(s, x_prime, q) / report_probability_001_1_3(s, x, q)


def largest_ratio_001_1_3(bits: int, q: Real) -> Real:
    """(p/q)^L, the largest ratio with or without a crowd (001 §1.3, §3.1)."""
    return ((1 - q) / q) ** bits


def ratio_law_001_1_6(
    law_m: Mapping[Outcome, Real], law: Mapping[Outcome, Real]
) -> dict[Real, Real]:
    """Law of R(S) = P(S|D_m)/P(S|D) for S drawn from D_m: {ratio: probability}."""
    result: dict[Real, Real] = {}
    for s, chance in law_m.items():
        ratio = chance / law[s]
        result[ratio] = result[ratio] + chance if ratio in result else chance
    return result


def exceedance_001_1_7(ratio_law: Mapping[Real, Real], lam: Real) -> Real:
    """P[R > λ | D_m], which (ε, η)-sufficient privacy wants to be at most η."""
    return sum((chance for ratio, chance in ratio_law.items() if ratio > lam), 0 * lam)


# --- R from the counts of vectors (000 §2.1.1, 001 §2, 003 §6.1.1) ----------------------------


def multinomial_probability_001_1_3(counts: Counts, x: Vector, q: Real) -> Real:
    """MN(m, p): the probability of the counts when all m users hold x (001 §1.3)."""
    arrangements = factorial(sum(counts.values()))
    chance = q**0
    for v, count in counts.items():
        arrangements //= factorial(count)
        chance *= report_probability_001_1_3(v, x, q) ** count
    return arrangements * chance


def collection_probability_000_2_1(counts: Counts, x: Vector, y: Vector, q: Real) -> Real:
    """P(S | D' + y) = Σ P(S less one v_i | D')·p(v_i|y), D' being N-1 times x (001 §2, 003 (6.1)).

    The last term is printed with s_2 - 1 in 000 and 003, where the last count less one is meant.
    """
    return sum(
        (
            multinomial_probability_001_1_3({**counts, v: count - 1}, x, q)
            * report_probability_001_1_3(v, y, q)
            for v, count in counts.items()
            if count > 0
        ),
        0 * q,
    )


def count_ratio_000_2_4(counts: Counts, v: Vector, x: Vector, q: Real) -> Real:
    """P(…, s_i - 1, … | D')/P(s_1 - 1, … | D'); (2^L)! is printed for (N-1)!, and cancels."""

    def printed(less_one: Vector) -> Real:
        fewer = {**counts, less_one: counts[less_one] - 1}
        chances = (report_probability_001_1_3(u, x, q) ** n for u, n in fewer.items())
        return (
            factorial(2 ** len(x))
            * prod(chances, start=q**0)
            / prod(map(factorial, fewer.values()))
        )

    return printed(v) / printed((0,) * len(v))


def count_ratio_000_2_5(counts: Counts, v: Vector, q: Real) -> Real:
    """(s_i/s_1)·p^L/p(v_i|0), what (2.4) comes to; v_1 is the vector of zeros."""
    zeros = (0,) * len(v)
    return counts[v] * (1 - q) ** len(v) / (counts[zeros] * report_probability_001_1_3(v, zeros, q))


def count_ratio_001_2_3(counts: Counts, v: Vector, x: Vector, q: Real) -> Real:
    """(s_i/s_1)·p(v_1|x)/p(v_i|x), the same for a background of any one vector x."""
    zeros = (0,) * len(v)
    return (
        counts[v]
        * report_probability_001_1_3(zeros, x, q)
        / (counts[zeros] * report_probability_001_1_3(v, x, q))
    )


def count_ratio_003_6_5(counts: Counts, v: Vector, q: Real) -> Real:
    """(s_i/s_1)·q^L/p(v_i|1), the same for a background of ones."""
    zeros, ones = (0,) * len(v), (1,) * len(v)
    return counts[v] * q ** len(v) / (counts[zeros] * report_probability_001_1_3(v, ones, q))


def ratio_001_2_4(counts: Counts, x: Vector, q: Real) -> Real:
    """Σ s_i p(v_i|1)/p(v_i|x) over Σ s_i p(v_i|0)/p(v_i|x), the background being N-1 times x."""
    zeros, ones = (0,) * len(x), (1,) * len(x)
    over = sum((n * local_ratio_001_1_3(v, x, ones, q) for v, n in counts.items()), 0 * q)
    under = sum((n * local_ratio_001_1_3(v, x, zeros, q) for v, n in counts.items()), 0 * q)
    return over / under


def ratio_001_3_1(counts: Counts, q: Real) -> Real:
    """(1/N) Σ s_i p(v_i|1)/p(v_i|0), the background being zeros."""
    return 1 / ratio_000_2_7(counts, q)


def ratio_000_2_7(counts: Counts, q: Real) -> Real:
    """P(S|D' + 0)/P(S|D' + 1) = N/Σ s_i p(v_i|1)/p(v_i|0), the background being zeros."""
    terms = (n * local_ratio_001_1_3(v, (0,) * len(v), (1,) * len(v), q) for v, n in counts.items())
    return sum(counts.values()) / sum(terms, 0 * q)


def ratio_003_6_7(counts: Counts, q: Real) -> Real:
    """P(S|D' + 0)/P(S|D' + 1) = (1/N) Σ s_i p(v_i|0)/p(v_i|1), the background being ones."""
    terms = (n * local_ratio_001_1_3(v, (1,) * len(v), (0,) * len(v), q) for v, n in counts.items())
    return sum(terms, 0 * q) / sum(counts.values())


# --- R from the numbers of set bits (000 §2.1.1, 001 §3, 003 §6.1.1) --------------------------


def likelihood_ratio_001_3_2(set_bits: int, bits: int, q: Real) -> Real:
    """p(v|1)/p(v|0) = (q/p)^(L-2l) for a vector with l set bits; also 000 (2.9)."""
    return (q / (1 - q)) ** (bits - 2 * set_bits)


def likelihood_ratio_003_6_9(set_bits: int, bits: int, q: Real) -> Real:
    """p(v|0)/p(v|1) = (p/q)^(L-2l)."""
    return ((1 - q) / q) ** (bits - 2 * set_bits)


def set_bit_histogram_001_3_3(reports: Iterable[Vector], bits: int) -> tuple[int, ...]:
    """T = (t_0, …, t_L): how many reports have l set bits."""
    histogram = [0] * (bits + 1)
    for report in reports:
        histogram[sum(report)] += 1
    return tuple(histogram)


def ratio_001_3_4(histogram: Sequence[int], q: Real) -> Real:
    """R(S) = (1/N) Σ t_l (q/p)^(L-2l); 1/R(S) of 000 (2.11)."""
    bits = len(histogram) - 1
    terms = (n * likelihood_ratio_001_3_2(ones, bits, q) for ones, n in enumerate(histogram))
    return sum(terms, 0 * q) / sum(histogram)


def ratio_001_3_6(histogram: Sequence[int], q: Real) -> Real:
    """R(T) = q^L/(N p^L)·Σ (p/q)^(2l) T_l."""
    bits, p = len(histogram) - 1, 1 - q
    terms = ((p / q) ** (2 * ones) * n for ones, n in enumerate(histogram))
    return q**bits / (sum(histogram) * p**bits) * sum(terms, 0 * q)


def ratio_000_2_10(histogram: Sequence[int], q: Real) -> Real:
    """P(S|D' + 0)/P(S|D' + 1) = N/Σ s_l (q/p)^(L-2l)."""
    return 1 / ratio_001_3_4(histogram, q)


def ratio_003_6_10(histogram: Sequence[int], q: Real) -> Real:
    """(1/N) Σ s_l (p/q)^(L-2l)."""
    bits = len(histogram) - 1
    terms = (n * likelihood_ratio_003_6_9(ones, bits, q) for ones, n in enumerate(histogram))
    return sum(terms, 0 * q) / sum(histogram)


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
