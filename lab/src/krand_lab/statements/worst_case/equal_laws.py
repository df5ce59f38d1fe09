"""Draft 001: different collections under which R has one and the same law (§1.2 and §5).

The whole law of R, under D and under D_m, is computed from every multiset of reports, without any
of the simplifications that these statements allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

from krand_lab.enumeration import collection_law, vectors
from krand_lab.statements.ranges import noises
from krand_lab.statements.verdict import Cases, printed
from krand_lab.statements.worst_case.comparison import place
from krand_lab.statements.worst_case.domains import Domain
from krand_lab.statements.worst_case.profiles import Case

DENOMINATOR = 5
MOST_USERS = {1: 12, 2: 7, 3: 4}
"""By the number of bits, for claim 2."""
MOST_SPARSE_USERS = {(1, 2): 7, (1, 3): 5, (1, 4): 4, (1, 5): 3, (2, 4): 3, (2, 5): 2}
"""By set bits and options, for the remark of section 5."""

ALL_USERS = ", ".join(rf"$N \le {users}$ with $L = {bits}$" for bits, users in MOST_USERS.items())
ALL_SPARSE_USERS = ", ".join(
    rf"$N \le {users}$ with $m = {m}$, $C = {options}$"
    for (m, options), users in MOST_SPARSE_USERS.items()
)

RatioLaw = dict[Fraction, tuple[Fraction, Fraction]]
"""For each value of R its chances under D and under D_m."""


def ratio_law(case: Case) -> RatioLaw:
    """The law of R from every multiset of reports."""
    d, d_m = (collection_law([*case.background, x], case.q) for x in (case.y, case.y_prime))
    law: RatioLaw = {}
    for s, chance in d.items():
        before = law.get(d_m[s] / chance, (Fraction(0), Fraction(0)))
        law[d_m[s] / chance] = before[0] + chance, before[1] + d_m[s]
    return law


@cache
def _law_of_zeros(crowd: int, bits: int, q: Fraction) -> RatioLaw:
    """The law of R for N zero vectors, one of which becomes the vector of ones."""
    zeros = (0,) * bits
    return ratio_law(Case((zeros,) * (crowd - 1), zeros, (1,) * bits, q))


def _same(case: Case) -> bool:
    """Whether only the bits in which y and y' differ matter, if all others hold y."""
    distance = sum(a != b for a, b in zip(case.y, case.y_prime, strict=True))
    return ratio_law(case) == _law_of_zeros(case.crowd, distance, case.q)


def _homogeneous() -> Iterator[tuple[Case]]:
    for crowd in range(1, max(MOST_USERS.values()) + 1):
        for bits, q in product(MOST_USERS, noises(DENOMINATOR)):
            for x in vectors(bits) if crowd <= MOST_USERS[bits] else ():
                yield (Case((x,) * (crowd - 1), x, tuple(1 - bit for bit in x), q),)


def _sparse() -> Iterator[tuple[Case]]:
    for crowd in range(1, max(MOST_SPARSE_USERS.values()) + 1):
        for (m, options), q in product(MOST_SPARSE_USERS, noises(DENOMINATOR)):
            if crowd <= MOST_SPARSE_USERS[m, options]:
                yield (Domain(m, options, exactly=True).outlier(crowd, q),)


@printed("001-1.2-claim-2", Cases(_homogeneous, place))
def claim_2(case: Case) -> bool:
    """001 §1.2, claim 2: all homogeneous collections with their outliers have one law of R."""
    return _same(case)


@printed("001-5-remark", Cases(_sparse, place))
def remark_5(case: Case) -> bool:
    """001 §5, remark: 10…0 with the outlier 010…0 has the law of R of 00 with the outlier 11."""
    return _same(case)
