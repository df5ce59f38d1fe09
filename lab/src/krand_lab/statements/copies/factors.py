"""The bounds on factorials and binomials that 001 (8.37) is built from (001 (8.32)–(8.36))."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from krand_lab.formulas.copies_moments import (
    binomial_from_above_001_8_36,
    binomial_from_below_001_8_35,
    falling_factorial_001_8_32,
)
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    exceeds,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["STATEMENTS"]

USERS = range(2, 31)
MOST_COPIES = range(1, 21)


def falling_factorial() -> Verdict:
    """001 (8.32)."""

    def fails(case: tuple[int, int]) -> str | None:
        lower, middle, upper = falling_factorial_001_8_32(*case)
        names = (r"(kN)^{-k}", r"(kN-k)!/(kN)!", r"(k(N-1))^{-k}")
        return exceeds(_where(case), names[:2], lower, middle) or exceeds(
            _where(case), names[1:], middle, upper
        )

    return Verdict(
        Statement(
            key="001-8.32",
            source="001 (8.32)",
            says=r"$\left(\frac{1}{kN}\right)^k \le \frac{(kN-k)!}{(kN)!} \le "
            r"\left(\frac{1}{k(N-1)}\right)^k$.",
            covered=_users_and_copies(),
            comment=r"Each of the $k$ factors $kN, kN-1, \ldots, kN-k+1$ lies between $kN - k$ and "
            r"$kN$.",
        ),
        check(_users_cases(), fails),
    )


def falling_factorial_about_equal() -> Verdict:
    """001 (8.33)–(8.34)."""

    def fails(case: tuple[int, int]) -> str | None:
        users, copies = case
        lower, _, upper = falling_factorial_001_8_32(*case)
        names = (r"\left(1 - \frac{k}{N}\right) (k(N-1))^{-k}", r"(kN)^{-k}")
        return exceeds(_where(case), names, (1 - Fraction(copies, users)) * upper, lower)

    return Verdict(
        Statement(
            key="001-8.34",
            source="001 (8.33)–(8.34)",
            says=r"For $N \gg k$, $\frac{(kN-k)!}{(kN)!} \approx \left(\frac{1}{kN}\right)^k "
            r"\approx \left(\frac{1}{k(N-1)}\right)^k$; tested as: the smallest of the three is at "
            r"least $1 - \frac{k}{N}$ times the largest.",
            covered=_users_and_copies(),
            comment=r"By Bernoulli's inequality $\left(1 - \frac{1}{N}\right)^k \ge 1 - "
            r"\frac{k}{N}$. For $N = 10$, $k = 2$ the middle of (8.32) is $\frac{20}{19}$ of its "
            r"left side and the right side $\frac{100}{81}$. But (8.37) puts the left side, which "
            r"is too small, where a bound from above is needed.",
        ),
        check(_users_cases(), fails),
    )


def binomial_from_below() -> Verdict:
    """001 (8.35)."""
    return Verdict(
        Statement(
            key="001-8.35",
            source="001 (8.35)",
            says=r"$\binom{Nk-k}{k-r} \ge \left(\frac{Nk-k}{k-r}\right)^{k-r} \ge (N-1)^{k-r}$.",
            covered=_users_and_copies() + r", all $0 \le r \le k$",
            comment=r"$\binom{n}{j} = \prod_{i<j} \frac{n-i}{j-i}$ and each factor is at least "
            r"$\frac{n}{j}$ for $j \le n$. At $r = k$ the middle divides by zero; read as an empty "
            r"product it is 1.",
        ),
        check(_binomial_cases(), lambda case: _descending(binomial_from_below_001_8_35(*case))),
    )


def binomial_from_above() -> Verdict:
    """001 (8.36)."""

    def fails(case: tuple[int, int, int]) -> str | None:
        return _descending(reversed(binomial_from_above_001_8_36(*case)))

    return Verdict(
        Statement(
            key="001-8.36",
            source="001 (8.36)",
            says=r"$\binom{Nk-k}{k-r} \le \frac{(Nk-k)^{k-r}}{(k-r)!} \le (Nk-k)^{k-r}$.",
            covered=_users_and_copies() + r", all $0 \le r \le k$",
            comment=r"The second step drops $(k-r)!$. In (8.37) this makes up for the $k!$ that is "
            r"missing from (8.21) in the term $r = 0$, and not at all in the term $r = k$.",
        ),
        check(_binomial_cases(), fails),
    )


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


STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    falling_factorial,
    falling_factorial_about_equal,
    binomial_from_below,
    binomial_from_above,
)
