"""Equations of one bit and k reports of each user, put to the exact test (000 §1, 003 §5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from krand_lab.formulas.single_bit_copies import (
    estimate_copies_000_1_1,
    inverse_ratio_copies_000_1_8,
    probability_modified_copies_000_1_5,
    probability_modified_copies_003_5_7,
    probability_modified_copies_003_5_8,
    probability_original_copies_000_1_6,
    probability_original_copies_000_1_7,
    probability_original_copies_003_5_6,
    ratio_copies_003_5_9,
    share_000_1_9,
    share_000_1_9_product,
    variance_of_estimate_copies_000_1_3,
)
from krand_lab.statements.ranges import (
    count_law,
    noises,
    noises_in_words,
    unequal,
    where,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["count_000", "estimate_copies", "label_000", "ratio_000", "ratio_of_copies_003"]

USERS = 5
COPIES = 4
DENOMINATOR = 10
RANGE = rf"$1 \le N \le {USERS}$, $1 \le k \le {COPIES}$ and {noises_in_words(DENOMINATOR)}"
COUNTS = rf"{RANGE}; every count $0 \le s \le kN$."

Case = tuple[int, int, Fraction, int]
"""N, k, q and a count."""

Law = Callable[[int, int, Fraction, int], Fraction]


def _cases(largest: Callable[[int, int], int]) -> Iterator[Case]:
    """Every N, k and q with every count from 0 to the largest."""
    for n in range(1, USERS + 1):
        for k in range(1, COPIES + 1):
            for q in noises(DENOMINATOR):
                yield from ((n, k, q, s) for s in range(largest(n, k) + 1))


def _counts() -> Iterator[Case]:
    return _cases(lambda n, k: n * k)


def estimate_copies() -> Verdict:
    """000 (1.1)–(1.3), 003 (5.1)–(5.3): the mean and the variance of the estimate."""

    def fails(case: Case) -> str | None:
        n, k, q, ones = case
        chances = count_law(n, ones, q, k)
        estimates = [estimate_copies_000_1_1(s, n, q, k) for s in range(k * n + 1)]
        mean = sum((c * t for c, t in zip(chances, estimates, strict=True)), Fraction(0))
        square = sum((c * t**2 for c, t in zip(chances, estimates, strict=True)), Fraction(0))
        place = where(N=n, k=k, q=q, T=ones)
        return unequal(f"(1.2) at {place}", Fraction(ones), mean) or unequal(
            f"(1.3) at {place}", variance_of_estimate_copies_000_1_3(n, q, k), square - mean**2
        )

    statement = Statement(
        key="000-1.2-1.3",
        source="000 (1.1)–(1.3), 003 (5.1)–(5.3)",
        says=(
            r"With $k$ reports of each user $\bar{T} = \frac{S-qkN}{k(p-q)}$ has mean $T$ and "
            r"variance $\frac{qpN}{k(p-q)^2}$."
        ),
        covered=rf"{RANGE}; every true count $0 \le T \le N$.",
        comment=r"The $kN$ reports are independent coins of variance $pq$ each.",
    )
    return Verdict(statement, check(_cases(lambda n, k: n), fails))


def count_000() -> Verdict:
    """000 (1.5) and (1.6): the law of the count without and with the one."""

    def fails(case: Case) -> str | None:
        n, k, q, s = case
        place = where(N=n, k=k, q=q, s=s)
        modified, original = count_law(n, 0, q, k)[s], count_law(n, 1, q, k)[s]
        return unequal(
            f"(1.5) at {place}", probability_modified_copies_000_1_5(n, s, q, k), modified
        ) or unequal(f"(1.6) at {place}", probability_original_copies_000_1_6(n, s, q, k), original)

    statement = Statement(
        key="000-1.5-1.6",
        source="000 (1.5), (1.6)",
        says=(
            r"$P(S=s|D_m) = \binom{kN}{s}q^s p^{kN-s}$ and $P(S=s|D) = \sum_{i=0}^k "
            r"\binom{k(N-1)}{s-i}q^{s-i}p^{k(N-1)-s+i}\binom{k}{i}p^i q^{k-i}$."
        ),
        covered=COUNTS,
        comment=r"$i$ counts the ones among the $k$ reports of the user whose bit is set.",
    )
    return Verdict(statement, check(_counts(), fails))


def label_000() -> Verdict:
    """000 (1.7): (1.6) in other words, under the name of the other collection."""

    def against(ones: int) -> Callable[[Case], str | None]:
        def fails(case: Case) -> str | None:
            n, k, q, s = case
            printed = probability_original_copies_000_1_7(n, s, q, k)
            return unequal(where(N=n, k=k, q=q, s=s), printed, count_law(n, ones, q, k)[s])

        return fails

    statement = Statement(
        key="000-1.7",
        source="000 (1.7)",
        says=(
            r"$P(S=s|D_m) = \sum_{i=0}^k \binom{k(N-1)}{s-i}\binom{k}{i}"
            r"q^{s+k-2i}p^{kN-s-(k-2i)}$"
        ),
        covered=COUNTS,
        comment=(
            r"The right side is that of (1.6) with its powers collected, hence the law of $D$; "
            r"that of $D_m$ is (1.5). (1.8) uses it rightly. Where the two agree, the two "
            "collections happen to give this count the same probability."
        ),
        corrected=r"It is $P(S=s|D)$, checked over the same range.",
    )
    return Verdict(statement, check(_counts(), against(0)), check(_counts(), against(1)))


def ratio_000() -> Verdict:
    """000 (1.8) and (1.9): the inverse ratio, and the share of binomials in it."""

    def fails(case: Case) -> str | None:
        n, k, q, s = case
        place = where(N=n, k=k, q=q, s=s)
        exact = count_law(n, 1, q, k)[s] / count_law(n, 0, q, k)[s]
        for i in range(k + 1):
            share, product = share_000_1_9(n, s, i, k), share_000_1_9_product(n, s, i, k)
            if share != product:
                return unequal(f"(1.9) at {place}, $i={i}$", product, share)
        return unequal(f"(1.8) at {place}", inverse_ratio_copies_000_1_8(n, s, q, k), exact)

    statement = Statement(
        key="000-1.8-1.9",
        source="000 (1.8), (1.9), 003 (5.10)",
        says=(
            r"$\frac{1}{R_s} = \sum_{i=0}^k \frac{\binom{k(N-1)}{s-i}\binom{k}{i}}{\binom{kN}{s}} "
            r"(\frac{q}{p})^{k-2i}$, where the share of binomials is "
            r"$\frac{\prod_{j<i}(s-j)\prod_{j<k-i}(kN-s-j)}{\prod_{j<k}(kN-j)}$."
        ),
        covered=f"{COUNTS[:-1]} and every $0 \\le i \\le k$.",
        comment=(
            r"The sum is the mean of $(\frac{q}{p})^{k-2i}$ where $i$ of $k$ reports are ones, "
            r"drawn without replacement from $kN$ reports with $s$ ones: $i$ is hypergeometric."
        ),
    )
    return Verdict(statement, check(_counts(), fails))


def ratio_of_copies_003() -> Verdict:
    """003 (5.6)–(5.9): the laws of the count and the ratio."""

    def fails(case: Case) -> str | None:
        n, k, q, s = case
        original, modified = count_law(n, n, q, k)[s], count_law(n, n - 1, q, k)[s]
        forms: dict[str, tuple[Law, Fraction]] = {
            "(5.6)": (probability_original_copies_003_5_6, original),
            "(5.7)": (probability_modified_copies_003_5_7, modified),
            "(5.8)": (probability_modified_copies_003_5_8, modified),
            "(5.9)": (ratio_copies_003_5_9, modified / original),
        }
        for name, (form, exact) in forms.items():
            if form(n, s, q, k) != exact:
                return unequal(f"{name} at {where(N=n, k=k, q=q, s=s)}", form(n, s, q, k), exact)
        return None

    statement = Statement(
        key="003-5.6-5.9",
        source="003 (5.6)–(5.9)",
        says=(
            r"$P(S=s|D)$ and $P(S=s|D_m)$ are (5.6) and (5.7), (5.8), and $R_s = \sum_{i=0}^k "
            r"\frac{\binom{k(N-1)}{s-i}\binom{k}{i}}{\binom{kN}{s}} (\frac{p}{q})^{k-2i}$."
        ),
        covered=COUNTS,
        comment=(
            r"Here all labels are right. Exchange the names of 0 and 1 and (5.9) is 000 (1.8): the "
            r"two drafts call opposite directions $R_s$."
        ),
    )
    return Verdict(statement, check(_counts(), fails))
