"""Probabilities of synthetic collections, put to the exact test: 002 §2–3, 003 §2–3, §7–8, 004."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any

from krand_lab import formulas as drafts
from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex, where
from krand_lab.statements.ranges import (
    count_law,
    law,
    noises_in_words,
    vector_tex,
    vectors_tex,
)
from krand_lab.statements.verdict import (
    Cases,
    Equations,
    Tested,
    check,
    corrected,
    printed,
    result,
    statement,
)

Sizes = tuple[tuple[int, int], ...]
"""Numbers of users, each with the largest number of bits that goes with it."""
Place = tuple[int, int, Fraction]
"""N, L and q."""


def multisets(crowd: int, bits: int) -> Iterator[Multiset]:
    """Every multiset of so many vectors."""
    return combinations_with_replacement(vectors(bits), crowd)


def _places(sizes: Sizes, denominator: int) -> Iterator[Place]:
    for n, most in sizes:
        for bits in range(1, most + 1):
            yield from ((n, bits, q) for q in noises(denominator))


def _in_words(sizes: Sizes, denominator: int) -> str:
    parts = (
        rf"$N={n}$ with $1 \le L \le {bits}$" if bits > 1 else f"$N={n}$ with $L=1$"
        for n, bits in sizes
    )
    return "; ".join(parts) + f"; {noises_in_words(denominator)}"


def _lettered(letters: str, make: Any) -> Cases:
    """Cases whose vectors and collections are shown by their bits."""

    def words(*case: Any) -> str:
        return where(**dict(zip(letters.split(), map(_shown, case), strict=True)))

    return Cases(make, words)


def _shown(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return vectors_tex(value) if value and isinstance(value[0], tuple) else vector_tex(value)


# --- 002 §2–3 -------------------------------------------------------------------------------------

SIZES_002: Sizes = ((1, 3), (2, 2), (3, 2), (4, 1), (5, 1))
RANGE_002 = _in_words(SIZES_002, 4)


def _collections_002() -> Iterator[tuple[int, int, Fraction, Multiset]]:
    for n, bits, q in _places(SIZES_002, 4):
        yield from ((n, bits, q, x) for x in multisets(n, bits))


def _changes_002() -> Iterator[tuple[int, int, Fraction, Multiset, Vector]]:
    for n, bits, q in _places(SIZES_002, 4):
        for others, x, y in product(multisets(n - 1, bits), vectors(bits), vectors(bits)):
            if y != x:
                yield n, bits, q, (x, *others), y


@printed("002-2.1", _lettered("N L q x", _collections_002))
def collection(n: int, bits: int, q: Fraction, x: Multiset) -> Equations:
    for s, exact in law(x, q).items():
        yield f"$s={vectors_tex(s)}$", drafts.collection_probability_002_2_1(x, s, q), exact


@printed("002-3.1", _lettered("N L q x x'_1", _changes_002))
def conditioning(n: int, bits: int, q: Fraction, x: Multiset, first: Vector) -> Equations:
    modified = law(tuple(sorted((first, *x[1:]))), q)
    for s, chance in law(tuple(sorted(x)), q).items():
        yield f"$s={vectors_tex(s)}$", drafts.ratio_002_3_1(s, x, first, q), modified[s] / chance


# --- privacy and anonymity: 002 §5, 003 §2–3, 004 -------------------------------------------------

SIZES: Sizes = ((1, 2), (2, 2), (3, 2), (4, 2), (5, 1), (6, 1))
DENOMINATOR = 7
RANGE = f"{_in_words(SIZES, DENOMINATOR)}; every collection $T$"
LAMBDA = Fraction(2)
TENTHS = 9
USERS = 5

Collection = tuple[int, int, Fraction, Multiset]
"""N, L, q and T."""


def _collections() -> Iterator[Collection]:
    for n, bits, q in _places(SIZES, DENOMINATOR):
        yield from ((n, bits, q, t) for t in multisets(n, bits))


COLLECTIONS = _lettered("N L q T", _collections)


@cache
def _anonymity(t: Multiset, q: Fraction) -> Fraction:
    return drafts.anonymity_003_3(t, q)


def _without(t: Multiset, i: int) -> Multiset:
    return (*t[:i], *t[i + 1 :])


@statement("003-3-factor")
def factor_epsilon() -> Tested:
    def exceeded(case: tuple[int, Fraction, int], factor: Fraction) -> str | None:
        """The first set S of counts with P[A(x) ∈ S] > factor·P[A(x') ∈ S], in either direction."""
        n, epsilon, ones = case
        q = 1 / (2 + epsilon)  # p/q = 1 + ε, which is below e^ε
        laws = count_law(n, ones, q), count_law(n, ones + 1, q)
        for size in range(n + 1, 0, -1):
            for chosen in combinations(range(n + 1), size):
                for law_x, law_y in (laws, laws[::-1]):
                    left = sum((law_x[s] for s in chosen), Fraction(0))
                    right = factor * sum((law_y[s] for s in chosen), Fraction(0))
                    if left > right:
                        place = where(N=n, q=q, **{r"\epsilon": epsilon})
                        counts = rf"$S = \{{{', '.join(map(str, chosen))}\}}$"
                        return f"{place}, {counts}: left ${tex(left)}$, right ${tex(right)}$"
        return None

    cases = [
        (n, Fraction(tenths, 10), ones)
        for n in range(1, USERS + 1)
        for tenths in range(1, TENTHS + 1)
        for ones in range(n)
    ]
    return result(
        check(cases, lambda case: exceeded(case, case[1])),
        check(cases, lambda case: exceeded(case, 1 + case[1])),
    )


@printed("003-2-presence", COLLECTIONS)
def presence_of_a_report(n: int, bits: int, q: Fraction, t: Multiset) -> Equations:
    for s in vectors(bits):
        exact = sum((c for reports, c in law(t, q).items() if s in reports), Fraction(0))
        yield f"$s={vector_tex(s)}$", drafts.presence_003_2(s, t, q), exact


@statement("003-3-record-taken-away")
def record_taken_away() -> Tested:
    def fails(case: Collection) -> str | None:
        *_, q, t = case
        whole, fewer = law(t, q), law(_without(t, 0), q)
        reports, chance = next(iter(whole.items()))
        if reports in fewer:
            return None
        place = f"{COLLECTIONS.words(*case)}, $v={vector_tex(t[0])}$, $S$ the event of the reports"
        return (
            f"{place} ${vectors_tex(reports)}$: $P[R(T) \\in S] = {tex(chance)}$, "
            "$P[R(T_v) \\in S] = 0$"
        )

    def corrected_fails(case: Collection) -> str | None:
        _, bits, q, t = case
        anonymity = _anonymity(t, q)
        for i, s in product(range(len(t)), vectors(bits)):
            without = drafts.presence_003_2(s, _without(t, i), q)
            if not anonymity * drafts.presence_003_2(s, t, q) < (anonymity + 1) * without:
                return f"{COLLECTIONS.words(*case)}, $s={vector_tex(s)}$"
        return None

    crowds = (case for case in _collections() if case[0] > 1)
    return result(check(_collections(), fails), check(crowds, corrected_fails))


@statement("003-3-anonymity")
def anonymity_and_the_ratio() -> Tested:
    def neighbours(t: Multiset, bits: int) -> Iterator[tuple[Vector, Multiset]]:
        for i, v in enumerate(t):
            yield from ((y, tuple(sorted((*_without(t, i), y)))) for y in vectors(bits) if y != v)

    def fails(case: Collection) -> str | None:
        _, bits, q, t = case
        original = law(t, q)
        for y, modified in neighbours(t, bits):
            for s, chance in law(modified, q).items():
                if chance > LAMBDA * original[s]:
                    return (
                        f"{COLLECTIONS.words(*case)}: $A_p = {tex(_anonymity(t, q))}$, and when one"
                        f" record turns to ${vector_tex(y)}$, $R = {tex(chance / original[s])}$ at "
                        f"$S = {vectors_tex(s)}$"
                    )
        return None

    def corrected_fails(case: Collection) -> str | None:
        *_, q, t = case
        shared = min(Counter(t).values()) >= 2
        return None if (_anonymity(t, q) >= 1) == shared else COLLECTIONS.words(*case)

    anonymous = (case for case in _collections() if _anonymity(case[3], case[2]) >= 1)
    quiet = (case for case in _collections() if case[2] * case[0] < 1)
    return result(check(anonymous, fails), check(quiet, corrected_fails), lam=tex(LAMBDA))


# --- reports of N unit vectors: 003 (7.12)–(7.21) -------------------------------------------------

SIZES_OF_REPORTS: Sizes = ((1, 3), (2, 3), (3, 2), (4, 2), (5, 1), (6, 1))
ALL_REPORTS = f"{_in_words(SIZES_OF_REPORTS, 5)}; every multiset of reports"
KINDS_USERS, KINDS_BITS, KINDS_DENOMINATOR = 6, 3, 9
KINDS = (
    rf"$1 \le N \le {KINDS_USERS}$, $1 \le L \le {KINDS_BITS}$, "
    rf"{noises_in_words(KINDS_DENOMINATOR)}, every $0 \le K \le N$"
)


def _reports() -> Iterator[tuple[int, int, Fraction, Multiset]]:
    for n, bits, q in _places(SIZES_OF_REPORTS, 5):
        yield from ((n, bits, q, s) for s in multisets(n, bits))


def _reports_and_records() -> Iterator[tuple[int, int, Fraction, Vector, Multiset]]:
    for n, bits, q, s in _reports():
        yield from ((n, bits, q, x, s) for x in vectors(bits))


REPORTS = _lettered("N L q S", _reports)


def _outlier(crowd: int, record: Vector) -> Multiset:
    """N-1 vectors of ones, and this one."""
    return (*((1,) * len(record),) * (crowd - 1), record)


def _original(n: int, bits: int, q: Fraction, s: Multiset) -> Fraction:
    return law(((1,) * bits,) * n, q)[s]


def _modified(n: int, bits: int, q: Fraction, s: Multiset) -> Fraction:
    return law(_outlier(n, (0,) * bits), q)[s]


def _ratio(n: int, bits: int, q: Fraction, s: Multiset) -> Fraction:
    return _modified(n, bits, q, s) / _original(n, bits, q, s)


@printed("003-7.12", REPORTS)
def modified_collection(n: int, bits: int, q: Fraction, s: Multiset) -> Equations:
    yield drafts.probability_modified_003_7_12(s, q), _modified(n, bits, q, s)


@corrected("003-7.12", REPORTS)
def modified_collection_corrected(n: int, bits: int, q: Fraction, s: Multiset) -> Equations:
    yield drafts.probability_modified_003_7_12_corrected(s, q), _modified(n, bits, q, s)


@printed("003-7.13", REPORTS)
def ratio_of_conditionings(n: int, bits: int, q: Fraction, s: Multiset) -> Equations:
    yield drafts.ratio_003_7_13(s, q), _ratio(n, bits, q, s)


@corrected("003-7.13", REPORTS)
def ratio_of_conditionings_corrected(n: int, bits: int, q: Fraction, s: Multiset) -> Equations:
    right = drafts.ratio_002_3_1(s, ((1,) * bits,) * n, (0,) * bits, q)
    yield right, _ratio(n, bits, q, s)


@printed("003-7.14", REPORTS)
def arrangements(n: int, bits: int, q: Fraction, s: Multiset) -> Equations:
    yield drafts.weight_003_7_14(s, q), _original(n, bits, q, s)


@corrected("003-7.14", REPORTS)
def arrangements_corrected(n: int, bits: int, q: Fraction, s: Multiset) -> Equations:
    yield drafts.probability_003_7_14_corrected(s, q), _original(n, bits, q, s)


@printed("003-7.17", REPORTS)
def ratio_of_arrangements(n: int, bits: int, q: Fraction, s: Multiset) -> Equations:
    yield "(7.16)", drafts.ratio_003_7_16(s, q), _ratio(n, bits, q, s)
    yield "(7.17)", drafts.ratio_003_7_17(s, q), _ratio(n, bits, q, s)


def _two_kinds() -> Iterator[tuple[int, int, Fraction, int]]:
    sizes = product(range(1, KINDS_USERS + 1), range(1, KINDS_BITS + 1))
    for (n, bits), q in product(sizes, noises(KINDS_DENOMINATOR)):
        yield from ((n, bits, q, k) for k in range(n + 1))


TWO_KINDS = _lettered("N L q K", _two_kinds)


def _ratio_of_two_kinds(n: int, bits: int, q: Fraction, k: int) -> Fraction:
    return drafts.ratio_003_7_17([(0,) * bits] * k + [(1,) * bits] * (n - k), q)


@printed("003-7.18", TWO_KINDS)
def two_kinds_of_reports(n: int, bits: int, q: Fraction, k: int) -> Equations:
    yield drafts.ratio_003_7_18(k, n - k, bits, q), _ratio_of_two_kinds(n, bits, q, k)


@corrected("003-7.18", TWO_KINDS)
def two_kinds_of_reports_corrected(n: int, bits: int, q: Fraction, k: int) -> Equations:
    yield drafts.ratio_003_7_18_corrected(k, n - k, bits, q), _ratio_of_two_kinds(n, bits, q, k)


@printed("003-7.21", _lettered("N L q x S", _reports_and_records))
def ratio_of_unequal_records(n: int, bits: int, q: Fraction, x: Vector, s: Multiset) -> Equations:
    exact = _modified(n, bits, q, s) / law(_outlier(n, x), q)[s]
    yield drafts.ratio_003_7_21(s, x, q), exact


# --- two vectors: 003 (7.1)–(7.9) -----------------------------------------------------------------

BITS = 3
TWO = rf"$N=2$, $1 \le L \le {BITS}$, {noises_in_words(4)}, every $l_1$, $l_2$"


def _twos() -> Iterator[tuple[int, Fraction, Vector, Vector, Vector]]:
    for bits, q in product(range(1, BITS + 1), noises(4)):
        yield from ((bits, q, l1, l2, x) for l1, l2, x in product(vectors(bits), repeat=3))


TWOS = _lettered("L q l_1 l_2 x", _twos)


def _of_two(l1: Vector, l2: Vector, z: Vector, x: Vector, q: Fraction) -> Fraction:
    """P({l1, l2} | {0, x})/P({l1, l2} | {z, x}) by enumeration."""
    reports: Multiset = tuple(sorted((l1, l2)))
    zeros = (0,) * len(x)
    return law(tuple(sorted((zeros, x))), q)[reports] / law(tuple(sorted((z, x))), q)[reports]


@printed("003-7.2-7.6", TWOS)
def two_vectors(bits: int, q: Fraction, l1: Vector, l2: Vector, x: Vector) -> Equations:
    for z in vectors(bits):
        exact = _of_two(l1, l2, z, x, q)
        yield "(7.2)", drafts.ratio_of_two_003_7_2(l1, l2, z, x, q), exact
        yield "(7.2), divided,", drafts.ratio_of_two_003_7_2_divided(l1, l2, z, x, q), exact
    exact = _of_two(l1, l2, (1,) * bits, x, q)
    yield "(7.1)", drafts.mean_ratio_003_7_1(bits, q), Fraction(1)
    yield "(7.3)", drafts.ratio_of_two_003_7_3(l1, l2, x, q), exact
    yield "(7.6)", drafts.ratio_of_two_003_7_6(l1, l2, x, q), exact


@printed("003-7.7", TWOS)
def quotient_of_powers(bits: int, q: Fraction, l1: Vector, l2: Vector, x: Vector) -> Equations:
    exact = _of_two(l1, l2, (1,) * bits, x, q)
    yield drafts.ratio_of_two_003_7_7(l1, l2, x, q), exact
    yield drafts.ratio_of_two_003_7_8(l1, l2, x, q), exact
    yield drafts.ratio_of_two_003_7_9(l1, l2, x, q), exact


@corrected("003-7.7", TWOS)
def quotient_of_powers_corrected(
    bits: int, q: Fraction, l1: Vector, l2: Vector, x: Vector
) -> Equations:
    exact = _of_two(l1, l2, (1,) * bits, x, q)
    yield drafts.ratio_of_two_003_7_7_corrected(l1, l2, x, q), exact
    yield drafts.ratio_of_two_003_7_9_corrected(l1, l2, x, q), exact


# --- one zero among equal reports: 003 §8 ---------------------------------------------------------

ZEROS = (
    rf"$1 \le N \le {USERS}$, $1 \le L \le {BITS}$, {noises_in_words(9)}, every vector $s$, "
    r"$s = 0$ included."
)


def _zeros() -> Iterator[tuple[int, int, Fraction, Vector]]:
    for n, bits, q in product(range(1, USERS + 1), range(1, BITS + 1), noises(9)):
        yield from ((n, bits, q, s) for s in vectors(bits))


ONE_ZERO = _lettered("N L q s", _zeros)
NOT_ALL_ZERO = _lettered("N L q s", lambda: (c for c in _zeros() if c[0] == 1 or any(c[3])))


def _laws(n: int, bits: int, q: Fraction, s: Vector) -> tuple[Fraction, Fraction]:
    """P(S|D) and P(S|D_m) of one report 0 and N-1 reports s, by enumeration."""
    zeros = (0,) * bits
    reports = tuple(sorted((zeros, *(s,) * (n - 1))))
    return law(((1,) * bits,) * n, q)[reports], law(_outlier(n, zeros), q)[reports]


@printed("003-8.1-8.3", ONE_ZERO)
@corrected("003-8.1-8.3", NOT_ALL_ZERO)
def one_zero_among_equals(n: int, bits: int, q: Fraction, s: Vector) -> Equations:
    original, modified = _laws(n, bits, q, s)
    yield "(8.1)", drafts.probability_003_8_1(n, bits, sum(s), q), original
    yield "(8.2)", drafts.probability_modified_003_8_2(n, bits, sum(s), q), modified
    yield "(8.3)", drafts.probability_modified_003_8_3(n, bits, sum(s), q), modified


@printed("003-8.4-8.8", ONE_ZERO)
def ratio_of_one_zero(n: int, bits: int, q: Fraction, s: Vector) -> Equations:
    original, modified = _laws(n, bits, q, s)
    yield "(8.4)", drafts.ratio_003_8_4(n, bits, sum(s), q), modified / original
    yield "(8.6)", drafts.ratio_003_8_6(n, bits, sum(s), q), modified / original
    yield "(8.7)", drafts.ratio_003_8_7(n, bits, sum(s), q), modified / original
    yield "(8.8)", drafts.ratio_003_8_8(n, bits, sum(s), q), modified / original
