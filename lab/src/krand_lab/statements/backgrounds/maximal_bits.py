"""Draft 002, section 3.1: which background of single bits makes the privacy ratio largest.

A(y) is the number of ones after randomization. Sizes, noises, numbers of ones and counts s are
enumerated; that nothing but the number of ones in y matters is a statement of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from krand_lab import formulas as drafts
from krand_lab.statements.notation import tex_list
from krand_lab.statements.ranges import at, count_weights, count_weights_by_outcomes, noises
from krand_lab.statements.verdict import Cases, corrected, lettered, printed

MAX_BITS, DENOMINATOR = 24, 9
MAX_BITS_BY_OUTCOMES, DENOMINATOR_BY_OUTCOMES = 7, 6


def places(first_bits: int, first_s: int) -> Iterator[tuple[int, Fraction, int, int]]:
    """n and q with all numbers of ones, and all s from the first one to n."""
    for bits, q in product(range(first_bits, MAX_BITS + 1), noises(DENOMINATOR)):
        yield from product((bits,), (q,), range(bits + 1), range(first_s, bits + 1))


def _cases(first_bits: int, first_s: int) -> Cases:
    return lettered("n q m s", lambda: places(first_bits, first_s))


def _of_ones(first_s: int) -> Cases:
    """The places of (3.6), which speaks of n - 1 ones only."""

    def make() -> Iterator[tuple[int, Fraction, int]]:
        for bits, q in product(range(2, MAX_BITS + 1), noises(DENOMINATOR)):
            yield from ((bits, q, s) for s in range(first_s, bits + 1))

    return lettered("n q s", make, equals=" = ")


def step_ratio(weights: tuple[int, ...], s: int) -> tuple[int, int]:
    """P(s) and P(s-1), the two terms of the ratio in (3.2)."""
    return at(weights, s), at(weights, s - 1)


def _answers() -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    sizes = range(1, MAX_BITS_BY_OUTCOMES + 1)
    for bits, q in product(sizes, noises(DENOMINATOR_BY_OUTCOMES)):
        yield from ((q, y) for y in product((0, 1), repeat=bits))


@printed("002-2.1-count", Cases(_answers, lambda q, y: f"$q = {q}$, $y = {tex_list(y)}$"))
def only_the_count_matters(q: Fraction, y: tuple[int, ...]) -> bool:
    """002 (2.1) for single bits: the law of A(y) depends on the number of ones in y alone."""
    return count_weights(sum(y), len(y) - sum(y), q) == count_weights_by_outcomes(y, q)


# --- the ratio itself -------------------------------------------------------------------------


def privacy_ratio(ones: int, others: int, x_1: int, s: int, q: Fraction) -> Fraction:
    """π(s, x, 1 - x_1) with so many ones among the other records (002 §3.1)."""
    now, before = map(Fraction, step_ratio(count_weights(ones, others - ones, q), s))
    # Exchanging the names of 0 and 1 exchanges p and q.
    return drafts.ratio_one_bit_002_3(before, now, q if x_1 else 1 - q)


def _is_maximal(bits: int, q: Fraction, ones: int, s: int, x_1: int) -> bool:
    """Whether the background that agrees with x_1 makes π(s, x, 1 - x_1) largest."""
    others = bits - 1
    value = privacy_ratio(ones, others, x_1, s, q)
    largest = privacy_ratio(others * x_1, others, x_1, s, q)
    inside = 0 < s < bits and ones != others * x_1
    return value < largest or (value == largest and not inside)


BACKGROUNDS = _cases(1, 0).only(lambda bits, q, ones, s: ones < bits)


@printed("002-maximal-ones", BACKGROUNDS)
def all_ones_is_maximal(bits: int, q: Fraction, ones: int, s: int) -> bool:
    """002 §3.1: for x_1 = 1 the background of ones is the maximal one."""
    return _is_maximal(bits, q, ones, s, 1)


@printed("002-maximal-zeros", BACKGROUNDS)
def all_zeros_is_maximal(bits: int, q: Fraction, ones: int, s: int) -> bool:
    """002 §3.1, the open TODO: for x_1 = 0 it is the background of zeros."""
    return _is_maximal(bits, q, ones, s, 0)


# --- the claim, and its proof: the induction step (3.5) and the last step (3.6) ------------------


@printed("002-claim-3.2", _cases(1, 1))
def claim_3_2(bits: int, q: Fraction, ones: int, s: int) -> bool:
    """002 (3.2): P(s)/P(s-1) is largest for the collection of ones."""
    now, before = step_ratio(count_weights(ones, bits - ones, q), s)
    top, bottom = step_ratio(count_weights(bits, 0, q), s)
    return (top * before > now * bottom) if ones < bits else (top * before == now * bottom)


def _steps() -> Iterator[tuple[int, Fraction, int, int, int]]:
    for bits, q, ones, s in places(2, 1):
        if ones < bits:
            yield from ((bits, q, ones, s, y_n) for y_n in (0, 1))


@printed("002-3.5", lettered("n q m s y_n", _steps))
def step_3_5(bits: int, q: Fraction, ones: int, s: int, y_n: int) -> bool:
    """002 (3.5): the induction step, with the conditions (4.5) under which Lemma 4.3 gives it."""
    mixed, all_ones = count_weights(ones, bits - 1 - ones, q), count_weights(bits - 1, 0, q)
    b1, a1, c1 = (at(mixed, s - i) for i in range(3))
    b, a, c = (at(all_ones, s - i) for i in range(3))
    if not (a > 0 < a1 and a * c1 >= a1 * c and a * b1 <= a1 * b and b * c1 >= b1 * c):
        return False
    top, bottom = step_ratio(count_weights(bits - 1 + y_n, 1 - y_n, q), s)
    now, before = step_ratio(count_weights(ones + y_n, bits - ones - y_n, q), s)
    return top * before >= now * bottom


@printed("002-3.6", _of_ones(1))
def step_3_6(bits: int, q: Fraction, s: int) -> bool:
    """002 (3.6): the last record should be a one as well."""
    top, bottom = step_ratio(count_weights(bits, 0, q), s)
    now, before = step_ratio(count_weights(bits - 1, 1, q), s)
    return top * before > now * bottom


def _weights_3_6(bits: int, q: Fraction, s: int) -> tuple[int, int, int]:
    """P(s), P(s-1), P(s-2) for n - 1 ones: λ_2, λ_1 = μ_2 and μ_1 in the proof of (3.6)."""
    all_ones = count_weights(bits - 1, 0, q)
    return at(all_ones, s), at(all_ones, s - 1), at(all_ones, s - 2)


@printed("002-3.6-by-lemma-4.2", _of_ones(2))
def step_3_6_by_lemma_4_2(bits: int, q: Fraction, s: int) -> bool | str:
    """002 after (3.6): whether Lemma 4.2 may be used for every s but 1."""
    now, before, two_before = _weights_3_6(bits, q, s)
    values = [Fraction(w, q.denominator ** (bits - 1)) for w in (before, now, two_before, before)]
    return (min(now, before, two_before) > 0 and before**2 >= now * two_before) or (
        rf": $\lambda = {tex_list(values[:2])}$ and $\mu = {tex_list(values[2:])}$ are not all "
        "positive"
    )


@corrected("002-3.6-by-lemma-4.2", _of_ones(1))
def step_3_6_with_a_zero(bits: int, q: Fraction, s: int) -> bool:
    now, before, two_before = _weights_3_6(bits, q, s)
    return before > 0 and before**2 >= now * two_before
