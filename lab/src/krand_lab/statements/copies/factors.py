"""The bounds on factorials and binomials that 001 (8.37) is built from (001 (8.32)–(8.36))."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from krand_lab import formulas as drafts
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    exceeds,
)
from krand_lab.statements.verdict import Tested, check, result, statement

USERS = range(2, 31)
MOST_COPIES = range(1, 21)


@statement("001-8.32")
def falling_factorial() -> Tested:
    """001 (8.32)."""

    def fails(case: tuple[int, int]) -> str | None:
        lower, middle, upper = drafts.falling_factorial_001_8_32(*case)
        names = (r"(kN)^{-k}", r"(kN-k)!/(kN)!", r"(k(N-1))^{-k}")
        return exceeds(_where(case), names[:2], lower, middle) or exceeds(
            _where(case), names[1:], middle, upper
        )

    return result(check(_users_cases(), fails), users_and_copies=_users_and_copies())


@statement("001-8.34")
def falling_factorial_about_equal() -> Tested:
    """001 (8.33)–(8.34)."""

    def fails(case: tuple[int, int]) -> str | None:
        users, copies = case
        lower, _, upper = drafts.falling_factorial_001_8_32(*case)
        names = (r"\left(1 - \frac{k}{N}\right) (k(N-1))^{-k}", r"(kN)^{-k}")
        return exceeds(_where(case), names, (1 - Fraction(copies, users)) * upper, lower)

    return result(check(_users_cases(), fails), users_and_copies=_users_and_copies())


@statement("001-8.35")
def binomial_from_below() -> Tested:
    """001 (8.35)."""
    return result(
        check(
            _binomial_cases(), lambda case: _descending(drafts.binomial_from_below_001_8_35(*case))
        ),
        users_and_copies=_users_and_copies(),
    )


@statement("001-8.36")
def binomial_from_above() -> Tested:
    """001 (8.36)."""

    def fails(case: tuple[int, int, int]) -> str | None:
        return _descending(reversed(drafts.binomial_from_above_001_8_36(*case)))

    return result(check(_binomial_cases(), fails), users_and_copies=_users_and_copies())


def _users_cases() -> Iterator[tuple[int, int]]:
    """Every number of users with every number of copies."""
    return ((users, copies) for users in USERS for copies in MOST_COPIES)


def _binomial_cases() -> Iterator[tuple[int, int, int]]:
    """The same with every number r of reports from the outlier."""
    return ((users, copies, r) for users, copies in _users_cases() for r in range(copies + 1))


def _users_and_copies() -> str:
    """The range in words."""
    return (
        rf"all ${USERS[0]} \le N \le {USERS[-1]}$, all ${MOST_COPIES[0]} \le k \le "
        rf"{MOST_COPIES[-1]}$"
    )


def _where(case: tuple[int, int]) -> str:
    """The case in words."""
    return f"$N={case[0]}$, $k={case[1]}$"


def _descending(values: Iterable[Fraction]) -> str | None:
    """What contradicts that the values do not grow, if anything."""
    ordered = list(values)
    return None if ordered == sorted(ordered, reverse=True) else f"${', '.join(map(tex, ordered))}$"
