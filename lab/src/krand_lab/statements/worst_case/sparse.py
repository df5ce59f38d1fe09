"""Draft 001, section 5: vectors with few set bits, and the noise they are said to need.

Users answer with exactly m, or with at most m, set bits among C. The draft protects them like
arbitrary vectors of L = 2m bits. It looks at a background that holds one of the two answers, and
leaves out a third answer that shares no set bit with either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

from krand_lab.statements.verdict import Count, Tested, check, result, statement
from krand_lab.statements.worst_case import domains
from krand_lab.statements.worst_case.comparison import Measure, Tally, compare, merged, place
from krand_lab.statements.worst_case.divergence import (
    check_chi_squares,
    check_means,
    chi_squared,
    mean_ratio,
    phi,
)
from krand_lab.statements.worst_case.domains import (
    AT_MOST,
    EXACTLY,
    Domain,
    range_of_users,
    roomy,
    sizes,
)
from krand_lab.statements.worst_case.maximality import dense_cases, outlier
from krand_lab.statements.worst_case.profiles import Bound, Case, profile

MEAN_USERS = 5
CHI_USERS = 3
"""The largest crowds for which means and χ² are taken; the domains may set a lower limit."""


# --- comparison -------------------------------------------------------------------------------


@cache
def _worst_of_twice(crowd: int, set_bits: int, q: Fraction) -> Bound:
    """The worst of all backgrounds and pairs of arbitrary vectors of 2m bits, at every λ."""
    return Bound.of([profile(case) for case in dense_cases(crowd, 2 * set_bits, q)])


@cache
def _tallies(exactly: bool) -> tuple[dict[Measure, Tally], dict[Measure, Tally]]:
    """How the outlier pair fares, and how the worst of all pairs of 2m arbitrary bits does."""
    found: list[list[dict[Measure, Tally]]] = []
    for crowd, domain, q in sizes(EXACTLY if exactly else AT_MOST):
        inside = domain.outlier(crowd, q)
        # (5.5) where set bits are required, zero vectors of 2m bits where they are only allowed.
        star = inside if exactly else outlier(crowd, 2 * domain.set_bits, q)
        outliers = Bound.of([profile(star), profile(star.swapped())])
        bounds = [outliers, _worst_of_twice(crowd, domain.set_bits, q)]
        scaled = [bound.in_scale(inside.scale) for bound in bounds]
        found.append(compare(domain.cases(crowd, q), scaled))
    first, second = (
        {measure: merged([tallies[measure] for tallies in by_size]) for measure in Measure}
        for by_size in zip(*found, strict=True)
    )
    return first, second


def _how_much(tally: Tally) -> str:
    """How often and by how much, in words."""
    if tally.largest is None:
        return "No case exceeds it."
    return (
        f"It fails in {tally.failures} of {tally.cases} cases, by a factor of up to "
        f"{float(tally.largest.factor):.3f}: {tally.largest.words()}."
    )


# --- what is right ----------------------------------------------------------------------------


@cache
def _means(exactly: bool) -> Count:
    """Whether the outlier pair, either way, and the third background have the largest means."""

    def cases() -> Iterator[tuple[Case, Fraction]]:
        for crowd, domain, q in sizes(_mean_users(exactly)):
            star = domain.outlier(crowd, q)
            largest = max(map(mean_ratio, (star, star.swapped(), domain.third(crowd, q))))
            for case in domain.cases(crowd, q):
                yield case, largest

    return check_means(cases())


@cache
def _chi_squares(exactly: bool) -> Count:
    """Whether no background has a larger χ² than 2φ^(2m) - 2φ^m, and the third one has this."""

    def cases() -> Iterator[tuple[Case, Fraction]]:
        for crowd, domain, q in sizes(_chi_users(exactly)):
            for case in domain.cases(crowd, q):
                yield case, _third_value(domain, q)

    def third(size: tuple[int, Domain, Fraction]) -> str | None:
        crowd, domain, q = size
        case = domain.third(crowd, q)
        value = chi_squared(case.background, case.y, case.y_prime, q)
        outlier_value = phi(q) ** (2 * domain.set_bits) - 1
        excess = (phi(q) ** domain.set_bits - 1) ** 2
        return None if value == _third_value(domain, q) == outlier_value + excess else place(case)

    within, attained = check_chi_squares(cases()), check(sizes(roomy(_chi_users(exactly))), third)
    return Count(
        within.cases + attained.cases,
        within.failures + attained.failures,
        within.first_failure or attained.first_failure,
    )


def _third_value(domain: Domain, q: Fraction) -> Fraction:
    """2φ^(2m) - 2φ^m, the χ² of a third background disjoint from both answers."""
    power = phi(q) ** domain.set_bits
    return 2 * power**2 - 2 * power


def _mean_users(exactly: bool) -> dict[Domain, int]:
    """The domains with options enough for a third answer, and users for whom means are taken."""
    chosen = roomy(EXACTLY if exactly else AT_MOST)
    return {domain: min(users, MEAN_USERS) for domain, users in chosen.items()}


def _chi_users(exactly: bool) -> dict[Domain, int]:
    """The domains, and users for whom χ² is taken."""
    chosen = EXACTLY if exactly else AT_MOST
    return {domain: min(users, CHI_USERS) for domain, users in chosen.items()}


# --- statements -------------------------------------------------------------------------------


def _test(exactly: bool, bound: int, measure: Measure) -> Callable[[], Tested]:
    """One bound in one measure: the correction is of the mean for η, of χ² for δ."""

    def test() -> Tested:
        tally = _tallies(exactly)[bound][measure]
        return result(
            tally.count(),
            _means(exactly) if measure is Measure.ETA else _chi_squares(exactly),
            how_much=_how_much(tally),
            DENOMINATOR=domains.DENOMINATOR,
            amount="exactly" if exactly else "at most",
            users=range_of_users(EXACTLY if exactly else AT_MOST),
            mean_users=range_of_users(_mean_users(exactly)),
            chi_users=range_of_users(_chi_users(exactly)),
        )

    return test


for _key, _exactly, _bound in (
    ("001-5.5-outlier", True, 0),
    ("001-5.10-two-bits", True, 1),
    ("001-5-set-bits-outlier", False, 0),
    ("001-5-set-bits", False, 1),
):
    for _measure in Measure:
        statement(f"{_key}-{_measure.name.lower()}")(_test(_exactly, _bound, _measure))
