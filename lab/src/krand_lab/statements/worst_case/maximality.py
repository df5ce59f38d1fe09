"""Draft 001, section 1.2: is the outlier pair the worst of all neighbouring collections?

D* holds N zero vectors, D*_m has one of them replaced by the vector of ones. Every background and
every pair of answers is held against this pair, at every λ ≥ 1 at once (`profiles`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product

from krand_lab.enumeration import vectors
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import noises
from krand_lab.statements.verdict import Count, Tested, result, statement
from krand_lab.statements.worst_case.comparison import (
    Measure,
    Tally,
    compare,
    merged,
    neighbours,
    users_in_words,
)
from krand_lab.statements.worst_case.divergence import (
    check_chi_squares,
    check_means,
    mean_ratio,
    phi,
)
from krand_lab.statements.worst_case.profiles import Bound, Case, profile

DENOMINATOR = 10
NOISES = noises(DENOMINATOR)
MOST_USERS = {1: 20, 2: 6, 3: 4, 4: 3}
"""By the number of bits."""
MEAN_USERS = {1: 20, 2: 5, 3: 3, 4: 2}
CHI_USERS = {1: 6, 2: 5, 3: 3, 4: 3}
CROWD = 100
CROWD_NOISES = (Fraction(1, 50), Fraction(1, 20))


def _in_words(most: Mapping[int, int]) -> str:
    """Which numbers of users are enumerated for which numbers of bits."""
    return ", ".join(f"{users_in_words(users)} with $L = {bits}$" for bits, users in most.items())


ALL_USERS, ALL_MEAN_USERS, ALL_CHI_USERS = map(_in_words, (MOST_USERS, MEAN_USERS, CHI_USERS))


def outlier(crowd: int, bits: int, q: Fraction) -> Case:
    """The starred pair: all zeros, and one vector of ones among them."""
    zeros = (0,) * bits
    return Case((zeros,) * (crowd - 1), zeros, (1,) * bits, q)


def dense_cases(crowd: int, bits: int, q: Fraction) -> Iterator[Case]:
    """Every background and pair of arbitrary vectors, up to renaming bits and adding a vector.

    Adding y to all answers modulo 2 renames the reports and makes y the zero vector, so both
    orders of every pair are among them.
    """
    for background, y, y_prime in neighbours(crowd, ((0,) * bits,), tuple(vectors(bits))):
        yield Case(background, y, y_prime, q)


def _sizes(most: Mapping[int, int]) -> Iterator[tuple[int, int, Fraction]]:
    """(N, L, q), fewest users first, then fewest bits."""
    for crowd in range(2, max(most.values()) + 1):
        for bits, q in product(most, NOISES):
            if crowd <= most[bits]:
                yield crowd, bits, q


# --- claim 1 ----------------------------------------------------------------------------------


@cache
def _by_size() -> dict[tuple[int, int, Fraction], tuple[dict[Measure, Tally], ...]]:
    """For each size, how the starred pair fares as printed, and with both directions taken."""
    found = {}
    for crowd, bits, q in _sizes(MOST_USERS):
        star = outlier(crowd, bits, q)
        there, back = profile(star), profile(star.swapped())
        bounds = [Bound.of([there]), Bound.of([there, back])]
        found[crowd, bits, q] = tuple(compare(dense_cases(crowd, bits, q), bounds))
    return found


def _tally(directions: int, measure: Measure) -> Tally:
    """Over all sizes, with one or both directions of the starred pair."""
    return merged([tallies[directions - 1][measure] for tallies in _by_size().values()])


def _how_much(measure: Measure) -> str:
    """How often and by how much both directions together are exceeded, by number of bits."""
    parts = []
    for bits in MOST_USERS:
        sizes = [t[1][measure] for (_, length, _), t in _by_size().items() if length == bits]
        tally = merged(sizes)
        assert tally.largest is not None
        parts.append(
            f"with $L = {bits}$ in {tally.failures} of {tally.cases} cases, by a factor of up to "
            f"{float(tally.largest.factor):.3f}"
        )
    return "; ".join(parts)


@cache
def _means() -> Count:
    """Whether no pair has a larger mean of R than the starred pair in either direction."""

    def cases() -> Iterator[tuple[Case, Fraction]]:
        for crowd, bits, q in _sizes(MEAN_USERS):
            star = outlier(crowd, bits, q)
            largest = max(mean_ratio(star), mean_ratio(star.swapped()))
            for case in dense_cases(crowd, bits, q):
                yield case, largest

    return check_means(cases())


@cache
def _chi_squares() -> Count:
    """Whether no background has a larger χ² than φ^L - 1, that of the starred pair."""

    def cases() -> Iterator[tuple[Case, Fraction]]:
        for crowd, bits, q in _sizes(CHI_USERS):
            for case in dense_cases(crowd, bits, q):
                yield case, phi(q) ** bits - 1

    return check_chi_squares(cases())


def _claim_1(directions: int, measure: Measure, **values: str) -> Tested:
    """001 §1.2, claim 1: the starred pair, in one direction or in both, bounds all pairs."""
    tally = _tally(directions, measure)
    assert tally.largest is not None
    return result(
        tally.count(),
        _means() if measure is Measure.ETA else _chi_squares(),
        how_much=_how_much(measure),
        words=tally.largest.words(),
        **values,
    )


@statement("001-1.2-claim-1-eta-as-printed")
def claim_1_eta_as_printed() -> Tested:
    """As it stands: one direction of the starred pair bounds all pairs."""
    case = outlier(2, 1, Fraction(1, 4))
    there, back = (tex(profile(c).eta(Fraction(2))) for c in (case, case.swapped()))
    return _claim_1(1, Measure.ETA, back=back, there=there)


@statement("001-1.2-claim-1-delta-as-printed")
def claim_1_delta_as_printed() -> Tested:
    """The same for δ."""
    return _claim_1(1, Measure.DELTA)


@statement("001-1.2-claim-1-eta")
def claim_1_eta() -> Tested:
    """Read fairly: the larger of both directions bounds all pairs."""
    return _claim_1(2, Measure.ETA)


@statement("001-1.2-claim-1-delta")
def claim_1_delta() -> Tested:
    """The same for δ."""
    return _claim_1(2, Measure.DELTA, in_a_crowd=_in_a_crowd())


def _in_a_crowd() -> str:
    """By how much δ exceeds the starred pair for one bit and many users, in words."""
    parts = []
    for q in CROWD_NOISES:
        star = outlier(CROWD, 1, q)
        bound = Bound.of([profile(star), profile(star.swapped())])
        largest = compare(dense_cases(CROWD, 1, q), [bound])[0][Measure.DELTA].largest
        assert largest is not None
        parts.append(
            f"{float(largest.factor):.3f} for $q = {tex(q)}$, where the starred pair has "
            rf"$\delta = {float(largest.allowed):.2g}$"
        )
    return f"For one bit and $N = {CROWD}$ the largest factors are {' and '.join(parts)}."
