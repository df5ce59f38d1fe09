"""The probability of a synthetic collection, and anonymity (002 §2–3, 003 §2–3 and §7, 004).

As printed. Collections and reports are sequences of bit vectors. A formula here is either a
probability of the multiset of reports, as in 002, or a weight of its arrangements, N!·Π, which
001 §8 and 003 §7 also write as P(S|D): that is no probability when reports repeat, but the
repetition cancels in the ratio. 003 turns one unit vector among unit vectors to zeros; 001 turns
one zero vector among zero vectors to ones, and (8.5)–(8.8) are in `copies`.

Not here: 003 (7.10) is empty; (7.11) is a left side only; (7.19) is (7.15) again; (7.22) breaks off
after its first term, and with N for its denominator 1 it would be (7.17). 003 (7.1)–(7.9) and §8
are in `examples`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from math import factorial, prod

from krand.errors import InvalidInput
from krand_lab.enumeration import Vector, vectors
from krand_lab.formulas.arithmetic import Real

# --- 002: probabilities of multisets -----------------------------------------------------------


def report_probability_002_2(x: Vector, y: Vector, q: Real) -> Real:
    """P[R(x) = y] = p^(L-δ) q^δ, δ(x, y) bits apart; 003 §2 and 004 §1 count the equal bits."""
    distance = sum(a != b for a, b in zip(x, y, strict=True))
    return (1 - q) ** (len(x) - distance) * q**distance  # 002 §2.1


def collection_probability_002_2_1(
    collection: Sequence[Vector], reports: Sequence[Vector], q: Real
) -> Real:
    """P[A(x) = s]: the sum over all distinct arrangements y of the reports of Π P[R(x_i) = y_i]."""
    if len(collection) != len(reports):
        raise InvalidInput("reports", f"must be {len(collection)}, one of each user", len(reports))
    arrangements = sorted(set(permutations(reports)))
    return sum((_product(collection, y, q) for y in arrangements), 0 * q)  # 002 (2.1)


def ratio_002_3(
    reports: Sequence[Vector], collection: Sequence[Vector], modified: Sequence[Vector], q: Real
) -> Real:
    """π(s, x, x') = P[A(x') = s]/P[A(x) = s], the privacy ratio."""
    above = collection_probability_002_2_1(modified, reports, q)
    return above / collection_probability_002_2_1(collection, reports, q)  # 002 §3


def ratio_002_3_1(
    reports: Sequence[Vector], collection: Sequence[Vector], first: Vector, q: Real
) -> Real:
    """π(s, x, x'_1), conditioning on the report of the first user, who turns from x_1 to x'_1."""
    rests = _rests(collection[1:], reports, q)
    return _conditioned(first, rests, q) / _conditioned(collection[0], rests, q)  # 002 (3.1)


def ratio_one_bit_002_3(before: Real, here: Real, q: Real) -> Real:
    """π for one bit, x_1 = 1 and x'_1 = 0, from P[A(x̃) = s-1] and P[A(x̃) = s] of the others."""
    p = 1 - q
    return (q * before + p * here) / (p * before + q * here)  # 002 §3.1


def step_002_3_4(two_before: Real, before: Real, here: Real, chance: Real) -> Real:
    """P[A(y) = s]/P[A(y) = s-1] from the law of all but the last, whose report is 1 with a chance.

    The arguments are P[A(ỹ) = s-2], P[A(ỹ) = s-1] and P[A(ỹ) = s]; (3.6) has chances p and q.
    """
    above = here * (1 - chance) + before * chance
    return above / (before * (1 - chance) + two_before * chance)  # 002 (3.4)


def step_all_ones_002_3_6(crowd: int, observed: int, q: Real) -> Real:
    """P[A(1) = s]/P[A(1) = s-1] = (n-s)/s·p/q, where A(1) is the count of n-1 ones."""
    return (crowd - observed) * ((1 - q) / q) / observed  # 002, below (3.6)


# --- 003 §7: D all ones ------------------------------------------------------------------------


def probability_modified_003_7_12(reports: Sequence[Vector], q: Real) -> Real:
    """Σ_(i<N) p(s_i|0)·p(S - s_i|D_(N-1)), printed for p(S|D_m).

    Wrong twice: the sum stops at N-1 where (7.13) goes to N, and either counts a repeated report
    once for each time; see `probability_modified_003_7_12_corrected`.
    """
    terms = _terms_003_7_12(_zeros(reports), reports, q)
    return sum(terms[:-1], 0 * q)  # 003 (7.12)


def probability_modified_003_7_12_corrected(reports: Sequence[Vector], q: Real) -> Real:
    """p(S|D_m) = Σ p(v|0)·p(S - v|D_(N-1)) over the distinct reports v."""
    rests = _rests([_ones(reports)] * (len(reports) - 1), reports, q)
    return _conditioned(_zeros(reports), rests, q)


def ratio_003_7_13(reports: Sequence[Vector], q: Real) -> Real:
    """Σ_i p(s_i|0)·p(S - s_i|D_(N-1))/Σ_i p(s_i|1)·p(S - s_i|D_(N-1)), i from 1 to N.

    Wrong when reports repeat, if p(S - s_i|D_(N-1)) is the probability of a multiset: the sums go
    over distinct reports. With the weights of (7.14) it is right, and is (7.17).
    """
    above = sum(_terms_003_7_12(_zeros(reports), reports, q), 0 * q)
    return above / sum(_terms_003_7_12(_ones(reports), reports, q), 0 * q)  # 003 (7.13)


def weight_003_7_14(reports: Sequence[Vector], q: Real) -> Real:
    """N!·Π p^(s_i) q^(L-s_i), s_i set bits, printed for p(S|D).

    Wrong when reports repeat: it counts equal arrangements once for each order of equal reports,
    see `probability_003_7_14_corrected`. (7.15) does the same, and it cancels in the ratio.
    """
    n = len(reports)
    return factorial(n) * _product([_ones(reports)] * n, reports, q)  # 003 (7.14)


def probability_003_7_14_corrected(reports: Sequence[Vector], q: Real) -> Real:
    """p(S|D) = N!/Π s_v!·Π p^(s_i) q^(L-s_i), where s_v reports are the vector v."""
    repeats = prod(factorial(count) for count in Counter(reports).values())
    return weight_003_7_14(reports, q) / repeats


def weight_modified_003_7_15(reports: Sequence[Vector], q: Real) -> Real:
    """Σ_i p(s_i|0)·(N-1)!·Π_(j≠i) p^(s_j) q^(L-s_j), printed for p(S|D_m); again as (7.19)."""
    return weight_003_7_20(reports, _zeros(reports), q)  # 003 (7.15)


def ratio_003_7_16(reports: Sequence[Vector], q: Real) -> Real:
    """p(S|D_m)/p(S|D) as the quotient of the two weights."""
    return weight_modified_003_7_15(reports, q) / weight_003_7_14(reports, q)  # 003 (7.16)


def ratio_003_7_17(reports: Sequence[Vector], q: Real) -> Real:
    """p(S|D_m)/p(S|D) = 1/N·Σ p(s_i|0)/p(s_i|1)."""
    zeros, ones = _zeros(reports), _ones(reports)
    terms = (
        report_probability_002_2(zeros, s, q) / report_probability_002_2(ones, s, q)
        for s in reports
    )
    return sum(terms, 0 * q) / len(reports)  # 003 (7.17)


def ratio_003_7_18(zero_reports: int, unit_reports: int, bits: int, q: Real) -> Real:
    """K/N·Σ_(i≤K) p(0|0)/p(0|1) + M/N·Σ_(i≤M) p(1|0)/p(1|1) for K reports 0 and M reports 1.

    Wrong: a factor K beside a sum of K equal terms counts twice, and so with M; see
    `ratio_003_7_18_corrected`.
    """
    k, m, odds = zero_reports, unit_reports, ((1 - q) / q) ** bits
    return k * (k * odds) / (k + m) + m * (m / odds) / (k + m)  # 003 (7.18)


def ratio_003_7_18_corrected(zero_reports: int, unit_reports: int, bits: int, q: Real) -> Real:
    """K/N·p(0|0)/p(0|1) + M/N·p(1|0)/p(1|1)."""
    k, m, odds = zero_reports, unit_reports, ((1 - q) / q) ** bits
    return k * odds / (k + m) + m / odds / (k + m)


def weight_003_7_20(reports: Sequence[Vector], x: Vector, q: Real) -> Real:
    """Σ_i p(s_i|x)·(N-1)!·Π_(j≠i) p^(s_j) q^(L-s_j), printed for p(S|D) of x and N-1 ones."""
    others = [_ones(reports)] * (len(reports) - 1)
    terms = (
        report_probability_002_2(x, s, q) * _product(others, _without(reports, i), q)
        for i, s in enumerate(reports)
    )
    return factorial(len(reports) - 1) * sum(terms, 0 * q)  # 003 (7.20)


def ratio_003_7_21(reports: Sequence[Vector], x: Vector, q: Real) -> Real:
    """The ratio when x turns to zeros among N-1 ones, as the quotient of two weights."""
    return weight_modified_003_7_15(reports, q) / weight_003_7_20(reports, x, q)  # 003 (7.21)


# --- anonymity: 003 §2–3, 004 §1–2 --------------------------------------------------------------


def presence_003_2(s: Vector, collection: Sequence[Vector], q: Real) -> Real:
    """P[s ∈ R(T)] = 1 - Π_(v∈T) [1 - q^(L-m(v,s)) p^m(v,s)]; 004 §1."""
    absent = (1 - q) + q  # 1, in the arithmetic of q
    for v in collection:
        absent = absent * (1 - report_probability_002_2(v, s, q))
    return 1 - absent  # 003 §2


def anonymity_003_3(collection: Sequence[Vector], q: Real) -> Real:
    """A_p = min over v ∈ T and s of P[s ∈ R(T_v)]/P[s = R(v)], T_v = T without v; 004 §2.

    A_p ≥ 1 says that any report is at least as likely to come from somebody else. It does not
    bound the ratio of neighbouring collections: two users who agree have A_p = 1 at every noise.
    """
    if not collection:
        raise InvalidInput("collection", "must hold at least one vector", collection)
    return min(_of_one_user(collection, i, q) for i in range(len(collection)))  # 003 §3


def _of_one_user(collection: Sequence[Vector], i: int, q: Real) -> Real:
    """min over s of P[s ∈ R(T_v)]/P[s = R(v)] for the i-th vector v."""
    v, others = collection[i], [*collection[:i], *collection[i + 1 :]]
    return min(
        presence_003_2(s, others, q) / report_probability_002_2(v, s, q) for s in vectors(len(v))
    )


# --- shared ------------------------------------------------------------------------------------


def _zeros(reports: Sequence[Vector]) -> Vector:
    return (0,) * len(reports[0])


def _ones(reports: Sequence[Vector]) -> Vector:
    return (1,) * len(reports[0])


def _product(collection: Sequence[Vector], reports: Sequence[Vector], q: Real) -> Real:
    """Π P[R(x_i) = y_i]."""
    result = (1 - q) + q  # 1, in the arithmetic of q
    for x, y in zip(collection, reports, strict=True):
        result = result * report_probability_002_2(x, y, q)
    return result


def _without(reports: Sequence[Vector], i: int) -> list[Vector]:
    return [*reports[:i], *reports[i + 1 :]]


def _rests(
    others: Sequence[Vector], reports: Sequence[Vector], q: Real
) -> list[tuple[Vector, Real]]:
    """Each distinct report v, and P[A(others) = s - v] of the rest."""
    positions = sorted({v: i for i, v in enumerate(reports)}.values())
    return [
        (reports[i], collection_probability_002_2_1(others, _without(reports, i), q))
        for i in positions
    ]


def _conditioned(x: Vector, rests: Sequence[tuple[Vector, Real]], q: Real) -> Real:
    """Σ_v P[R(x) = v]·P[A(others) = s - v]."""
    return sum((report_probability_002_2(x, v, q) * rest for v, rest in rests), 0 * q)


def _terms_003_7_12(x: Vector, reports: Sequence[Vector], q: Real) -> list[Real]:
    """p(s_i|x)·p(S - s_i|D_(N-1)) for i from 1 to N."""
    others = [_ones(reports)] * (len(reports) - 1)
    return [
        report_probability_002_2(x, s, q)
        * collection_probability_002_2_1(others, _without(reports, i), q)
        for i, s in enumerate(reports)
    ]
