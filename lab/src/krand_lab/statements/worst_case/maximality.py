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
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex
from krand_lab.statements.verdict import Count, Tested, result, statement
from krand_lab.statements.worst_case.comparison import (
    Measure,
    Tally,
    compare,
    merged,
    neighbours,
)
from krand_lab.statements.worst_case.divergence import (
    CHI_SQUARED,
    check_chi_squares,
    check_means,
    mean_ratio,
    phi,
)
from krand_lab.statements.worst_case.profiles import Bound, Case, profile

NOISES = noises(10)
MOST_USERS = {1: 20, 2: 6, 3: 4, 4: 3}
"""By the number of bits."""
MEAN_USERS = {1: 20, 2: 5, 3: 3, 4: 2}
CHI_USERS = {1: 6, 2: 5, 3: 3, 4: 3}
CROWD = 100
CROWD_NOISES = (Fraction(1, 50), Fraction(1, 20))


def range_of_users(most: Mapping[int, int]) -> str:
    """Which numbers of users are enumerated for which numbers of bits, in words."""
    return ", ".join(
        (rf"$2 \le N \le {users}$" if users > 2 else "$N = 2$") + f" with $L = {bits}$"
        for bits, users in most.items()
    )


COVERED = (
    f"Every background and every pair $y$, $y'$: {range_of_users(MOST_USERS)}; all $q = a/b < 1/2$ "
    rf"with $b \le {NOISES[-1].denominator}$; every $\lambda \ge 1$, because both sides are "
    "compared wherever they can change course. Cases that become each other by renaming bits, or "
    "by adding one vector modulo 2 to all answers, are counted once."
)


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


IN_THE_MEAN = (
    r"In the mean, from which (3.12) is made, no case contradicts it once both directions count: "
    r"the mean of $R(S; D, D_m)$ under $D_m$ is at most the larger of the means of "
    r"$R(S; D^*, D_m^*)$ under $D_m^*$ and of $R(S; D_m^*, D^*)$ under $D^*$. Enumerated for "
    f"{range_of_users(MEAN_USERS)} and the same $q$; not proved."
)

TO_LEADING_ORDER = (
    rf"To leading order it is right. {CHI_SQUARED}, and $\chi^2 \le \phi^L - 1$, its value for the "
    f"starred pair. Enumerated for {range_of_users(CHI_USERS)} and the same $q$."
)

PROOF_OF_LEADING_ORDER = (
    r"Proof of the corrected statement: let $a$, $b$, $c$ be the numbers of bits with "
    r"$x = y \ne y'$, $x = y' \ne y$ and $y = y' \ne x$. If all others hold $x$, then "
    r"$\chi^2 = \phi^c (\phi^a + \phi^b - 2) \le \phi^c (\phi^{a+b} - 1) \le \phi^L - 1$, because "
    r"$(\phi^a - 1)(\phi^b - 1) \ge 0$ and $\phi \ge 1$. Since $\frac{1}{f}$ is convex in $f$, a "
    "mixed background has at most the average of the values of its members."
)


@statement("001-1.2-claim-1-eta-as-printed")
def claim_1_eta_as_printed() -> Tested:
    """001 §1.2, claim 1, as it stands: one direction of the starred pair bounds all pairs."""
    case = outlier(2, 1, Fraction(1, 4))
    there, back = (profile(c).eta(Fraction(2)) for c in (case, case.swapped()))
    return result(_tally(1, Measure.ETA).count(), _means(), back=tex(back), there=tex(there))


@statement("001-1.2-claim-1-delta-as-printed")
def claim_1_delta_as_printed() -> Tested:
    """The same for δ: one direction of the starred pair bounds all pairs."""
    return result(_tally(1, Measure.DELTA).count(), _chi_squares())


@statement("001-1.2-claim-1-eta")
def claim_1_eta() -> Tested:
    """001 §1.2, claim 1, read fairly: the larger of both directions bounds all pairs."""
    tally = _tally(2, Measure.ETA)
    assert tally.largest is not None
    return result(
        tally.count(), _means(), how_much=_how_much(Measure.ETA), words=tally.largest.words()
    )


@statement("001-1.2-claim-1-delta")
def claim_1_delta() -> Tested:
    """The same for δ: the larger of both directions bounds all pairs."""
    tally = _tally(2, Measure.DELTA)
    assert tally.largest is not None
    return result(
        tally.count(),
        _chi_squares(),
        how_much=_how_much(Measure.DELTA),
        words=tally.largest.words(),
        in_a_crowd=_in_a_crowd(),
    )


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
