"""Probabilities of synthetic collections, put to the exact test: 002 §2–3, 003 §2–3, §7–8, 004."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any

from krand_lab import formulas as drafts
from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.statements.notation import tex, where
from krand_lab.statements.ranges import (
    count_law,
    law,
    noises,
    noises_in_words,
    vector_tex,
    vectors_tex,
)
from krand_lab.statements.verdict import Cases, Equations, corrected, lettered, printed

Case = tuple[Any, ...]


class Sizes(tuple[tuple[int, int], ...]):
    """Numbers of users, each with the largest number of bits that goes with it."""

    __slots__ = ()

    def places(self, denominator: int) -> Iterator[tuple[int, int, Fraction]]:
        """N, L and q."""
        for n, most in self:
            yield from product((n,), range(1, most + 1), noises(denominator))

    def __str__(self) -> str:
        """The sizes in words."""
        return "; ".join(
            rf"$N={n}$ with $1 \le L \le {bits}$" if bits > 1 else f"$N={n}$ with $L=1$"
            for n, bits in self
        )


def multisets(crowd: int, bits: int) -> Iterator[Multiset]:
    """Every multiset of so many vectors."""
    return combinations_with_replacement(vectors(bits), crowd)


def _lettered(letters: str, make: Callable[[], Iterator[Case]], names: str = "") -> Cases:
    """Cases whose vectors and collections are shown by their bits."""

    def words(*case: Any) -> str:
        return where(**dict(zip(letters.split(), map(_shown, case), strict=True)))

    return Cases(make, words, lettered(letters, make, names).named)


def _shown(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return vectors_tex(value) if value and isinstance(value[0], tuple) else vector_tex(value)


# --- 002 §2–3 -------------------------------------------------------------------------------------

SIZES_002 = Sizes(((1, 3), (2, 2), (3, 2), (4, 1), (5, 1)))
NOISES_002 = noises_in_words(4)


def _collections_002() -> Iterator[Case]:
    for n, bits, q in SIZES_002.places(4):
        yield from ((n, bits, q, x) for x in multisets(n, bits))


def _changes_002() -> Iterator[Case]:
    for n, bits, q in SIZES_002.places(4):
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

SIZES = Sizes(((1, 2), (2, 2), (3, 2), (4, 2), (5, 1), (6, 1)))
DENOMINATOR = 7
NOISES = noises_in_words(DENOMINATOR)
LAMBDA = Fraction(2)
LAM = tex(LAMBDA)
TENTHS = 9
USERS = 5


def _collections() -> Iterator[Case]:
    for n, bits, q in SIZES.places(DENOMINATOR):
        yield from ((n, bits, q, t) for t in multisets(n, bits))


COLLECTIONS = _lettered("N L q T", _collections)


@cache
def _anonymity(t: Multiset, q: Fraction) -> Fraction:
    return drafts.anonymity_003_3(t, q)


def _without(t: Multiset, i: int) -> Multiset:
    return (*t[:i], *t[i + 1 :])


def _pairs() -> Iterator[tuple[int, Fraction, Fraction, int]]:
    """N, q, ε and the ones of the first: p/q = 1 + ε, which is below e^ε."""
    for n, tenths in product(range(1, USERS + 1), range(1, TENTHS + 1)):
        epsilon = Fraction(tenths, 10)
        yield from ((n, 1 / (2 + epsilon), epsilon, ones) for ones in range(n))


PAIRS = Cases(_pairs, lambda n, q, epsilon, ones: where(N=n, q=q, **{r"\epsilon": epsilon}))


@printed("003-3-factor", PAIRS)
def factor_epsilon(n: int, q: Fraction, epsilon: Fraction, ones: int) -> bool | str:
    return _exceeded(n, q, ones, epsilon)


@corrected("003-3-factor", PAIRS)
def factor_of_one_more(n: int, q: Fraction, epsilon: Fraction, ones: int) -> bool | str:
    return _exceeded(n, q, ones, 1 + epsilon)


def _exceeded(n: int, q: Fraction, ones: int, factor: Fraction) -> bool | str:
    """The first set S of counts with P[A(x) ∈ S] > factor·P[A(x') ∈ S], in either direction."""
    laws = count_law(n, ones, q), count_law(n, ones + 1, q)
    for size in range(n + 1, 0, -1):
        for chosen in combinations(range(n + 1), size):
            for law_x, law_y in (laws, laws[::-1]):
                left = sum((law_x[s] for s in chosen), Fraction(0))
                right = factor * sum((law_y[s] for s in chosen), Fraction(0))
                if left > right:
                    counts = rf"$S = \{{{', '.join(map(str, chosen))}\}}$"
                    return f", {counts}: left ${tex(left)}$, right ${tex(right)}$"
    return True


@printed("003-2-presence", COLLECTIONS)
def presence_of_a_report(n: int, bits: int, q: Fraction, t: Multiset) -> Equations:
    for s in vectors(bits):
        exact = sum((c for reports, c in law(t, q).items() if s in reports), Fraction(0))
        yield f"$s={vector_tex(s)}$", drafts.presence_003_2(s, t, q), exact


@printed("003-3-record-taken-away", COLLECTIONS)
def record_taken_away(n: int, bits: int, q: Fraction, t: Multiset) -> bool | str:
    reports, chance = next(iter(law(t, q).items()))
    return reports in law(_without(t, 0), q) or (
        f", $v={vector_tex(t[0])}$, $S$ the event of the reports ${vectors_tex(reports)}$: "
        f"$P[R(T) \\in S] = {tex(chance)}$, $P[R(T_v) \\in S] = 0$"
    )


@corrected("003-3-record-taken-away", COLLECTIONS.only(lambda n, *_: n > 1))
def presence_without_a_record(n: int, bits: int, q: Fraction, t: Multiset) -> bool:
    anonymity = _anonymity(t, q)
    return all(
        anonymity * drafts.presence_003_2(s, t, q)
        < (anonymity + 1) * drafts.presence_003_2(s, _without(t, i), q)
        for i, s in product(range(len(t)), vectors(bits))
    )


@printed("003-3-anonymity", COLLECTIONS.only(lambda n, bits, q, t: _anonymity(t, q) >= 1))
def anonymity_and_the_ratio(n: int, bits: int, q: Fraction, t: Multiset) -> bool | str:
    original = law(t, q)
    for (i, v), y in product(enumerate(t), vectors(bits)):
        modified = law(tuple(sorted((*_without(t, i), y))), q) if y != v else {}
        for s, chance in modified.items():
            if chance > LAMBDA * original[s]:
                return (
                    f": $A_p = {tex(_anonymity(t, q))}$, and when one record turns to "
                    f"${vector_tex(y)}$, $R = {tex(chance / original[s])}$ at "
                    f"$S = {vectors_tex(s)}$"
                )
    return True


@corrected("003-3-anonymity", COLLECTIONS.only(lambda n, bits, q, t: q * n < 1))
def anonymity_of_shared_records(n: int, bits: int, q: Fraction, t: Multiset) -> bool:
    return (_anonymity(t, q) >= 1) == (min(Counter(t).values()) >= 2)


# --- reports of N unit vectors: 003 (7.12)–(7.21) -------------------------------------------------

SIZES_OF_REPORTS = Sizes(((1, 3), (2, 3), (3, 2), (4, 2), (5, 1), (6, 1)))
NOISES_OF_REPORTS = noises_in_words(5)
KINDS_USERS, KINDS_BITS, KINDS_DENOMINATOR = 6, 3, 9
KINDS_NOISES = noises_in_words(KINDS_DENOMINATOR)


def _reports() -> Iterator[Case]:
    for n, bits, q in SIZES_OF_REPORTS.places(5):
        yield from ((n, bits, q, s) for s in multisets(n, bits))


def _reports_and_records() -> Iterator[Case]:
    for n, bits, q, s in _reports():
        yield from ((n, bits, q, x, s) for x in vectors(bits))


def _two_kinds() -> Iterator[Case]:
    sizes = product(range(1, KINDS_USERS + 1), range(1, KINDS_BITS + 1))
    for (n, bits), q in product(sizes, noises(KINDS_DENOMINATOR)):
        yield from ((n, bits, q, k) for k in range(n + 1))


def _named_kinds(n: int, bits: int, q: Fraction, k: int) -> dict[str, Any]:
    return {"zero_reports": k, "unit_reports": n - k, "bits": bits, "q": q}


REPORTS = _lettered("N L q S", _reports, "crowd bits q reports")
REPORTS_AND_RECORDS = _lettered("N L q x S", _reports_and_records, "crowd bits q x reports")
TWO_KINDS = Cases(_two_kinds, lettered("N L q K", _two_kinds).words, _named_kinds)


def _outlier(crowd: int, record: Vector) -> Multiset:
    """N-1 vectors of ones, and this one."""
    return (*((1,) * len(record),) * (crowd - 1), record)


def original(crowd: int, bits: int, q: Fraction, reports: Multiset) -> Fraction:
    """P(S|D), by enumeration."""
    return law(((1,) * bits,) * crowd, q)[reports]


def modified(crowd: int, bits: int, q: Fraction, reports: Multiset) -> Fraction:
    """P(S|D_m), by enumeration."""
    return law(_outlier(crowd, (0,) * bits), q)[reports]


def ratio(crowd: int, bits: int, q: Fraction, reports: Multiset) -> Fraction:
    """R of the multiset of reports."""
    return modified(crowd, bits, q, reports) / original(crowd, bits, q, reports)


def conditioned(crowd: int, bits: int, q: Fraction, reports: Multiset) -> Fraction:
    """R by conditioning on one report (002 (3.1))."""
    return drafts.ratio_002_3_1(reports, ((1,) * bits,) * crowd, (0,) * bits, q)


def ratio_of_records(crowd: int, bits: int, q: Fraction, x: Vector, reports: Multiset) -> Fraction:
    """R where x is the record that turns to zeros."""
    return modified(crowd, bits, q, reports) / law(_outlier(crowd, x), q)[reports]


def ratio_of_two_kinds(zero_reports: int, unit_reports: int, bits: int, q: Fraction) -> Fraction:
    """(7.17), which holds, for reports of zeros and of ones."""
    reports = [(0,) * bits] * zero_reports + [(1,) * bits] * unit_reports
    return drafts.ratio_003_7_17(reports, q)


# --- two vectors: 003 (7.1)–(7.9) -----------------------------------------------------------------

BITS = 3


def _twos() -> Iterator[Case]:
    for bits, q in product(range(1, BITS + 1), noises(4)):
        yield from ((bits, q, l1, l2, x) for l1, l2, x in product(vectors(bits), repeat=3))


TWOS = _lettered("L q l_1 l_2 x", _twos, "bits q l1 l2 x")


def _of_two(l1: Vector, l2: Vector, z: Vector, x: Vector, q: Fraction) -> Fraction:
    """P({l1, l2} | {0, x})/P({l1, l2} | {z, x}) by enumeration."""
    reports: Multiset = tuple(sorted((l1, l2)))
    zeros = (0,) * len(x)
    return law(tuple(sorted((zeros, x))), q)[reports] / law(tuple(sorted((z, x))), q)[reports]


def ratio_of_two(l1: Vector, l2: Vector, x: Vector, q: Fraction) -> Fraction:
    """The same where z is a unit vector."""
    return _of_two(l1, l2, (1,) * len(x), x, q)


@printed("003-7.2-7.6", TWOS)
def two_vectors(bits: int, q: Fraction, l1: Vector, l2: Vector, x: Vector) -> Equations:
    for z in vectors(bits):
        exact = _of_two(l1, l2, z, x, q)
        yield "(7.2)", drafts.ratio_of_two_003_7_2(l1, l2, z, x, q), exact
        yield "(7.2), divided,", drafts.ratio_of_two_003_7_2_divided(l1, l2, z, x, q), exact
    exact = ratio_of_two(l1, l2, x, q)
    yield "(7.1)", drafts.mean_ratio_003_7_1(bits, q), Fraction(1)
    yield "(7.3)", drafts.ratio_of_two_003_7_3(l1, l2, x, q), exact
    yield "(7.6)", drafts.ratio_of_two_003_7_6(l1, l2, x, q), exact


# --- one zero among equal reports: 003 §8 ---------------------------------------------------------


def _zeros() -> Iterator[Case]:
    for n, bits, q in product(range(1, USERS + 1), range(1, BITS + 1), noises(9)):
        yield from ((n, bits, q, s) for s in vectors(bits))


def _named_zero(n: int, bits: int, q: Fraction, s: Vector) -> dict[str, Any]:
    return {"crowd": n, "bits": bits, "q": q, "s": s, "ones": sum(s)}


ONE_ZERO = Cases(_zeros, _lettered("N L q s", _zeros).words, _named_zero)


def _one_zero(crowd: int, bits: int, s: Vector) -> Multiset:
    """One report 0 and N-1 reports s."""
    return tuple(sorted(((0,) * bits, *(s,) * (crowd - 1))))


def ratio_of_one_zero(crowd: int, bits: int, q: Fraction, s: Vector) -> Fraction:
    """R of these reports."""
    return ratio(crowd, bits, q, _one_zero(crowd, bits, s))


@printed("003-8.1-8.3", ONE_ZERO)
@corrected("003-8.1-8.3", ONE_ZERO.only(lambda n, bits, q, s: n == 1 or any(s)))
def one_zero_among_equals(n: int, bits: int, q: Fraction, s: Vector) -> Equations:
    reports = _one_zero(n, bits, s)
    exact = modified(n, bits, q, reports)
    yield "(8.1)", drafts.probability_003_8_1(n, bits, sum(s), q), original(n, bits, q, reports)
    yield "(8.2)", drafts.probability_modified_003_8_2(n, bits, sum(s), q), exact
    yield "(8.3)", drafts.probability_modified_003_8_3(n, bits, sum(s), q), exact
