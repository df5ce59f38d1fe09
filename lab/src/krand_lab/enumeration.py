"""Exact privacy of small cases, in whole numbers: the oracle for everything that computes faster.

A neighbouring pair is D = background + [y] and D_m = background + [y']; S is the multiset of all
reports, R(S) = P(S|D_m)/P(S|D). Nothing here is rounded: with q = a/b every probability is a
whole number over a power of b, and only the results are fractions. Three levels, each held
against the one before it:

    any background       `exact_privacy`, `exact_worst`         every multiset of reports
    one pattern          `exact_homogeneous`, `exact_outlier`   histogram of likelihood ratios
    one bit              `exact_one_bit`                        number of ones
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import comb, lcm

from krand.errors import InternalError, InvalidInput

Vector = tuple[int, ...]
"""One user's bits, or one report."""

Multiset = tuple[Vector, ...]
"""What the observer sees: the reports in sorted order, so that order says nothing."""


@dataclass(frozen=True, slots=True)
class Exact:
    """The four numbers of a neighbouring pair at λ, without error (inequalities are strict)."""

    delta_forward: Fraction
    """E_D[(R - λ)+]"""
    delta_reverse: Fraction
    """E_D[(1 - λR)+]"""
    eta_forward: Fraction
    """P[R > λ | D_m]"""
    eta_reverse: Fraction
    """P[1/R > λ | D]"""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """D = background + [y] and D_m = background + [y']."""

    background: Multiset
    y: Vector
    y_prime: Vector


@dataclass(frozen=True, slots=True)
class Worst:
    """The largest value of each of the four numbers, and one pair at which it is reached."""

    value: Exact
    at: Mapping[str, Neighbours]
    """By field of `Exact`."""


# --- any background ---------------------------------------------------------------------------


def report_law(x: Vector, q: Fraction) -> dict[Vector, Fraction]:
    """Law of one report: q to the number of flips, p to the rest (001 §1.3)."""
    scale = q.denominator ** len(x)
    return {v: Fraction(weight, scale) for v, weight in _report_weights(x, q).items()}


def collection_law(
    users: Sequence[Vector], q: Fraction, copies: int = 1
) -> dict[Multiset, Fraction]:
    """Law of the multiset of all users' reports, by adding one report at a time."""
    weights = _collection_weights(users, q, copies)
    scale = q.denominator ** (copies * sum(map(len, users)))
    return {s: Fraction(weight, scale) for s, weight in weights.items()}


def exact_privacy(
    background: Sequence[Vector],
    y: Vector,
    y_prime: Vector,
    q: Fraction,
    lam: Fraction,
    copies: int = 1,
) -> Exact:
    """The four numbers for any background: every multiset of reports is visited."""
    _check_same_length((*background, y, y_prime))
    weights = _collection_weights(background, q, copies)
    d = _with_user(weights, y, q, copies)
    d_m = _with_user(weights, y_prime, q, copies)
    scale = q.denominator ** (copies * len(y) * (len(background) + 1))
    return _exact(((d[s], d_m[s]) for s in d), scale, lam)


def vectors(
    bits: int, max_set_bits: int | None = None, exactly: int | None = None
) -> Iterator[Vector]:
    """The answers a user may give: all of {0,1}^L, or those with few or exactly so many ones."""
    for v in product((0, 1), repeat=bits):
        if (max_set_bits is None or sum(v) <= max_set_bits) and exactly in (None, sum(v)):
            yield v


def exact_worst(
    crowd: int, domain: Iterable[Vector], q: Fraction, lam: Fraction, copies: int = 1
) -> Worst:
    """The worst over every background and every ordered pair of answers from the domain."""
    answers = sorted(set(domain))
    _check_same_length(answers)
    if len(answers) < 2:
        raise InvalidInput("domain", "must hold at least two answers", answers)
    scale = q.denominator ** (copies * len(answers[0]) * crowd)
    best: dict[str, Fraction] = {}
    at: dict[str, Neighbours] = {}
    for background in combinations_with_replacement(answers, crowd - 1):
        weights = _collection_weights(background, q, copies)
        law = {y: _with_user(weights, y, q, copies) for y in answers}
        for y, y_prime in permutations(answers, 2):
            exact = _exact(((law[y][s], law[y_prime][s]) for s in law[y]), scale, lam)
            for name in (f.name for f in fields(Exact)):
                value: Fraction = getattr(exact, name)
                if name not in best or value > best[name]:
                    best[name], at[name] = value, Neighbours(background, y, y_prime)
    return Worst(Exact(**best), at)


# --- a background of one pattern --------------------------------------------------------------


def exact_homogeneous(
    crowd: int,
    x: Vector,
    y: Vector,
    y_prime: Vector,
    q: Fraction,
    lam: Fraction,
    copies: int = 1,
) -> Exact:
    """The four numbers when the other N-1 users all hold x (001 (2.4)).

    Reports with the same pair of ratios K(y)/K(x), K(y')/K(x) are one cell.
    """
    _check_same_length((x, y, y_prime))
    of_x, of_y, of_y_prime = (_report_weights(v, q) for v in (x, y, y_prime))
    cells: dict[tuple[Fraction, Fraction], int] = defaultdict(int)
    for v, weight in of_x.items():
        cells[Fraction(of_y[v], weight), Fraction(of_y_prime[v], weight)] += weight
    return _one_pattern(crowd, copies, cells, q.denominator ** len(x), lam)


def exact_copies_outlier(crowd: int, bits: int, copies: int, q: Fraction, lam: Fraction) -> Exact:
    """The drafts' outlier pair with k copies: N-1 users hold 0…0, y = 0…0, y' = 1…1.

    Under D all kN reports come from 0…0, and R = e_k(w)/C(kN, k): 001 (8.21) with
    the factor k! that is missing there.
    """
    _check_noise(q)
    flip, keep = q.numerator, q.denominator - q.numerator
    cells = {
        (Fraction(1), Fraction(keep, flip) ** (2 * ones - bits)): (  # w_l, 001 (3.2)
            comb(bits, ones) * flip**ones * keep ** (bits - ones)  # 001 (3.7)
        )
        for ones in range(bits + 1)
    }
    return _one_pattern(crowd, copies, cells, q.denominator**bits, lam)


def exact_outlier(crowd: int, bits: int, q: Fraction, lam: Fraction) -> Exact:
    """The drafts' outlier pair by the histogram of set bits, one copy (001 (3.3)–(3.6))."""
    return exact_copies_outlier(crowd, bits, 1, q, lam)


def _one_pattern(
    crowd: int,
    copies: int,
    cells: Mapping[tuple[Fraction, Fraction], int],
    cell_scale: int,
    lam: Fraction,
) -> Exact:
    """Sum over histograms of kN reports in cells {(r, r'): weight under x}.

    P(S|D) = P(S|x^N)·e_k(r)/C(kN,k), and D_m alike with r'. Histograms that agree in e_1..e_k of
    both ratios are merged: a state is (reports placed, e_0..e_k of r, e_0..e_k of r').
    """
    _check_count("crowd", crowd)
    _check_count("copies", copies)
    reports = crowd * copies
    common = lcm(*(r.denominator for pair in cells for r in pair))
    start = (1, *(0,) * copies)
    states: dict[tuple[int, Vector, Vector], int] = {(0, start, start): 1}
    for position, ((r, r_prime), weight) in enumerate(cells.items(), 1):
        step, step_prime = int(r * common), int(r_prime * common)
        powers = [weight**count for count in range(reports + 1)]
        merged: dict[tuple[int, Vector, Vector], int] = defaultdict(int)
        for (placed, e, e_prime), chance in states.items():
            room = reports - placed
            for count in range(room if position == len(cells) else 0, room + 1):  # last: the rest
                grown = _with_variables(e, step, count), _with_variables(e_prime, step_prime, count)
                merged[placed + count, *grown] += (
                    chance * comb(placed + count, count) * powers[count]
                )
        states = merged
    scale = cell_scale**reports * common**copies * comb(reports, copies)
    outcomes = (
        (chance * e[-1], chance * e_prime[-1]) for (_, e, e_prime), chance in states.items()
    )
    return _exact(outcomes, scale, lam)


def _with_variables(e: Vector, w: int, count: int) -> Vector:
    """Elementary symmetric e_0..e_k after `count` more variables w: times (1 + wt)^count."""
    if len(e) == 2:  # one copy: e_1 is the sum
        return 1, e[1] + count * w
    return tuple(sum(e[i - j] * comb(count, j) * w**j for j in range(i + 1)) for i in range(len(e)))


# --- one bit ----------------------------------------------------------------------------------


def exact_one_bit(crowd: int, ones: int, q: Fraction, lam: Fraction) -> Exact:
    """One bit, `ones` ones among the N-1 others, y = 0 and y' = 1: only the count of ones matters.

    Generating functions of 003 §4.2: (q + px)^m (p + qx)^(N-1-m), times p + qx or q + px.
    """
    _check_noise(q)
    _check_count("crowd", crowd)
    if not 0 <= ones < crowd:
        raise InvalidInput("ones", f"must lie from 0 to {crowd - 1}", ones)
    flip, keep = q.numerator, q.denominator - q.numerator
    zeros = crowd - 1 - ones
    background = times(power(flip, keep, ones), power(keep, flip, zeros))
    d, d_m = times(background, [keep, flip]), times(background, [flip, keep])
    return _exact(zip(d, d_m, strict=True), q.denominator**crowd, lam)


def power(constant: int, linear: int, exponent: int) -> list[int]:
    """Coefficients of (constant + linear·x)^exponent."""
    return [comb(exponent, i) * constant ** (exponent - i) * linear**i for i in range(exponent + 1)]


def times(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """Coefficients of the product of two polynomials."""
    result = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            result[i + j] += a * b
    return result


# --- shared -----------------------------------------------------------------------------------


def _exact(outcomes: Iterable[tuple[int, int]], scale: int, lam: Fraction) -> Exact:
    """The four numbers from the pairs scale·P(S|D), scale·P(S|D_m)."""
    if lam < 1:
        raise InvalidInput("lam", "must be at least 1", lam)
    over, under = lam.numerator, lam.denominator
    delta = delta_reverse = eta = eta_reverse = total = total_m = 0
    for d, d_m in outcomes:
        total, total_m = total + d, total_m + d_m
        if (excess := under * d_m - over * d) > 0:
            eta, delta = eta + d_m, delta + excess
        if (excess := under * d - over * d_m) > 0:
            eta_reverse, delta_reverse = eta_reverse + d, delta_reverse + excess
    if not total == total_m == scale:
        raise InternalError("enumerated probabilities do not sum to one")
    return Exact(
        Fraction(delta, under * scale),
        Fraction(delta_reverse, under * scale),
        Fraction(eta, scale),
        Fraction(eta_reverse, scale),
    )


def _report_weights(x: Vector, q: Fraction) -> dict[Vector, int]:
    """Law of one report of x, times b^L for q = a/b."""
    _check_noise(q)
    flip, keep = q.numerator, q.denominator - q.numerator
    weights = {}
    for v in product((0, 1), repeat=len(x)):
        flips = sum(a != b for a, b in zip(x, v, strict=True))
        weights[v] = flip**flips * keep ** (len(x) - flips)
    return weights


def _collection_weights(users: Sequence[Vector], q: Fraction, copies: int) -> dict[Multiset, int]:
    """The weights of all multisets of the users' reports."""
    weights: dict[Multiset, int] = {(): 1}
    for x in users:
        weights = _with_user(weights, x, q, copies)
    return weights


def _with_user(
    weights: Mapping[Multiset, int], x: Vector, q: Fraction, copies: int
) -> dict[Multiset, int]:
    """The weights of all multisets once a user with answer x has added k reports."""
    _check_count("copies", copies)
    reports = _report_weights(x, q)
    result = dict(weights)
    for _ in range(copies):
        grown: dict[Multiset, int] = defaultdict(int)
        for s, chance in result.items():
            for v, weight in reports.items():
                larger = list(s)
                insort(larger, v)
                grown[tuple(larger)] += chance * weight
        result = grown
    return result


def _check_noise(q: Fraction) -> None:
    if not 0 < q < Fraction(1, 2):
        raise InvalidInput("noise", "must be between 0 and 1/2, both excluded", q)


def _check_count(field: str, value: int) -> None:
    if value < 1:
        raise InvalidInput(field, "must be at least 1", value)


def _check_same_length(answers: Sequence[Vector]) -> None:
    if len({len(x) for x in answers}) > 1:
        raise InvalidInput("answers", "must all have the same number of bits", answers)
