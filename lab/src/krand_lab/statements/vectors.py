"""R of whole vectors, its law and its moments, held against every multiset of reports.

000 §2, 001 §2–3.3 and §7, 003 §6.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from fractions import Fraction
from functools import cache
from typing import Any

from krand_lab import formulas as drafts
from krand_lab.enumeration import Multiset, Vector, report_law, vectors
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import law as law_of_reports
from krand_lab.statements.ranges import mean_and_variance, noises
from krand_lab.statements.vector_cases import (
    Outcome,
    Range,
    Setting,
    copies_moments,
    outcomes,
    reports_in_words,
    settings,
    with_outcomes,
)
from krand_lab.statements.verdict import Cases, Equations, corrected, lettered, printed

# --- R from the reports: 000 §2.1.1, 001 §2–3.1, 003 §6.1.1 ---------------------------------------

ANY_BACKGROUND = Range(range(2, 6), range(1, 4), 4, most_reports={1: 5, 2: 4, 3: 2})
ZEROS = Range(range(2, 9), range(1, 4), 6, most_reports={1: 8, 2: 5, 3: 4})


def _backgrounds() -> Iterator[tuple[Setting, Multiset, Vector]]:
    """Every setting, every outcome, every vector x that all others may hold."""
    for setting in ANY_BACKGROUND:
        for x in vectors(setting.bits):
            for reports in law_of_reports((x,) * setting.crowd, setting.q):
                yield setting, reports, x


def _seen(case: Setting, reports: Multiset, *_: Vector) -> str:
    return f"{case}, {reports_in_words(reports)}"


def _named(case: Setting, s: Multiset, x: Vector, y: Vector = ()) -> dict[str, Any]:
    return {**asdict(case), "reports": s, "counts": Counter(s), "x": x, "y": y}


BACKGROUNDS = Cases(_backgrounds, _seen, _named)
WITH_ANSWERS = Cases(
    lambda: ((case, s, x, y) for case, s, x in _backgrounds() for y in vectors(case.bits)),
    _seen,
    _named,
)
WITH_REPORTS = Cases(
    lambda: (
        (case, s, x, v)
        for case, s, x in _backgrounds()
        if case.zeros in s
        for v in sorted({*s} - {case.zeros})
    ),
    _seen,
)


def probability(crowd: int, x: Vector, y: Vector, q: Fraction, reports: Multiset) -> Fraction:
    """P(S) where one user holds y and all others x, by enumeration."""
    return law_of_reports((*(x,) * (crowd - 1), y), q)[reports]


def ratio(crowd: int, x: Vector, q: Fraction, reports: Multiset) -> Fraction:
    """R where all others hold x and the user's zeros become ones."""
    zeros, ones = (0,) * len(x), (1,) * len(x)
    modified = probability(crowd, x, ones, q, reports)
    return modified / probability(crowd, x, zeros, q, reports)


@printed("000-2.5", WITH_REPORTS)
def ratio_of_neighbouring_counts(case: Setting, s: Multiset, x: Vector, v: Vector) -> Equations:
    law, counts = law_of_reports((x,) * (case.crowd - 1), case.q), Counter(s)
    true = law[_less_one(s, v)] / law[_less_one(s, case.zeros)]
    yield "000 (2.4)", drafts.count_ratio_000_2_4(counts, v, x, case.q), true
    yield "001 (2.3)", drafts.count_ratio_001_2_3(counts, v, x, case.q), true
    if x == case.zeros:
        yield "000 (2.5)", drafts.count_ratio_000_2_5(counts, v, case.q), true
    if x == case.ones:
        yield "003 (6.5)", drafts.count_ratio_003_6_5(counts, v, case.q), true


def _less_one(reports: Multiset, v: Vector) -> Multiset:
    """The multiset without one report v."""
    at = reports.index(v)
    return reports[:at] + reports[at + 1 :]


@printed("000-2.7", with_outcomes(ZEROS))
def ratio_from_counts_of_vectors(case: Setting, s: Outcome) -> Equations:
    counts = Counter(s.reports)
    mirrored = Counter({tuple(1 - bit for bit in v): count for v, count in counts.items()})
    yield "001 (3.1)", drafts.ratio_001_3_1(counts, case.q), s.ratio
    yield "000 (2.7)", 1 / drafts.ratio_000_2_7(counts, case.q), s.ratio
    yield "003 (6.7)", drafts.ratio_003_6_7(mirrored, case.q), s.ratio


@printed("000-2.10", with_outcomes(ZEROS))
def ratio_from_set_bits(case: Setting, s: Outcome) -> Equations:
    histogram = drafts.set_bit_histogram_001_3_3(s.reports, case.bits)
    yield "001 (3.4)", drafts.ratio_001_3_4(histogram, case.q), s.ratio
    yield "001 (3.6)", drafts.ratio_001_3_6(histogram, case.q), s.ratio
    yield "000 (2.10)", 1 / drafts.ratio_000_2_10(histogram, case.q), s.ratio
    yield "003 (6.10)", drafts.ratio_003_6_10(histogram[::-1], case.q), s.ratio


@printed("000-2.1.1-sufficient", settings(ZEROS))
def set_bits_are_sufficient(case: Setting) -> Equations:
    seen: dict[tuple[int, ...], Fraction] = {}
    for s in outcomes(case):
        histogram = drafts.set_bit_histogram_001_3_3(s.reports, case.bits)
        yield f"$T = {histogram}$", seen.setdefault(histogram, s.ratio), s.ratio


@printed("001-3.1-maximum", settings(ZEROS))
def largest_ratio_is_that_of_local_privacy(case: Setting) -> Equations:
    limit = drafts.largest_ratio_001_1_3(case.bits, case.q)
    for s in outcomes(case):
        reached = s.reports == (case.ones,) * case.crowd
        yield reports_in_words(s.reports), max(limit, s.ratio), limit
        yield reports_in_words(s.reports), Fraction(s.ratio == limit), Fraction(reached)


# --- X = N/R as a sum over the numbers of set bits: 000 §2.1.2 ------------------------------------

CASES = Range(range(1, 9), range(1, 4), 8, most_reports={1: 8, 2: 5, 3: 4})
LIMITS = tuple(Fraction(n, 4) for n in range(4, 41))
LIMITS_DENOMINATOR = 20
LAMBDAS = tuple(Fraction(n, 2) for n in range(3, 17))
ALL_LIMITS = rf"{tex(LIMITS[0])}, {tex(LIMITS[1])}, \ldots, {tex(LIMITS[-1])}"
ALL_LAMBDAS = rf"{tex(LAMBDAS[0])}, {tex(LAMBDAS[1])}, \ldots, {tex(LAMBDAS[-1])}"


def _terms(case: Setting, histogram: tuple[int, ...]) -> list[Fraction]:
    """What the reports with l set bits add to X, for every l."""
    odds = drafts.likelihood_ratio_001_3_2
    return [n * odds(ones, case.bits, case.q) for ones, n in enumerate(histogram)]


@cache
def _histograms(case: Setting) -> Mapping[tuple[int, ...], Fraction]:
    """Law of the histogram T when everybody holds zeros, from every multiset of reports."""
    law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for reports, chance in law_of_reports((case.zeros,) * case.crowd, case.q).items():
        law[drafts.set_bit_histogram_001_3_3(reports, case.bits)] += chance
    return law


@cache
def _moments(case: Setting) -> tuple[Fraction, Fraction]:
    """Mean and variance of X when everybody holds zeros."""
    law = _histograms(case).items()
    return mean_and_variance((sum(_terms(case, t), Fraction(0)), chance) for t, chance in law)


def second_moment(crowd: int, variance: Fraction) -> Fraction:
    """What VAR(X) is N times, once 1 is taken off (000 (2.20))."""
    return 1 + variance / crowd


SUMS = settings(CASES, _moments)
HISTOGRAMS_OF_ZEROS = Cases(
    lambda: ((case, histogram) for case in CASES for histogram in _histograms(case)),
    lambda case, histogram: f"{case}, $T = {histogram}$",
)
BUCKETS = Cases(
    lambda: ((case, ones) for case in CASES for ones in range(case.bits + 1)),
    lambda case, ones: f"{case}, $l={ones}$",
)


@printed("000-2.14", HISTOGRAMS_OF_ZEROS)
def number_of_terms(case: Setting, histogram: tuple[int, ...]) -> Equations:
    terms = _terms(case, histogram)
    names = (r"\sum_{l=1}^L X_l", "X")
    yield names, sum(terms[1:], Fraction(0)), sum(terms, Fraction(0))


@corrected("000-2.14", BUCKETS)
def law_of_a_term(case: Setting, ones: int) -> Equations:
    law: dict[Fraction, Fraction] = defaultdict(Fraction)
    for histogram, chance in _histograms(case).items():
        law[_terms(case, histogram)[ones]] += chance
    right = drafts.bucket_law_000_2_14(ones, case.crowd, case.bits, case.q)
    for value in {*law, *right}:
        yield right.get(value, Fraction(0)), law.get(value, Fraction(0))


NOISES_AND_LIMITS = lettered(
    "q z", lambda: ((q, z) for q in noises(LIMITS_DENOMINATOR) for z in LIMITS)
)


@printed("000-2.32", NOISES_AND_LIMITS)
def condition_solved_for_the_noise(q: Fraction, limit: Fraction) -> Equations:
    phi = drafts.phi_000_2_31(q)
    yield "(2.31)", phi, drafts.exact_phi_001_3_14(q)
    met = drafts.quadratic_000_2_32(q, limit) <= 0
    yield "(2.32)", Fraction(met), Fraction(phi <= limit)


SUMS_AND_LAMBDAS = Cases(
    lambda: ((case, lam) for case in CASES for lam in LAMBDAS),
    lambda case, lam: f"{case}, $\\lambda={tex(lam)}$",
)


@printed("000-2.29", SUMS_AND_LAMBDAS)
def three_deviations_as_a_limit_on_phi(case: Setting, lam: Fraction) -> Equations:
    mean, variance = _moments(case)
    # E - 3√V ≥ N/λ without the root: E ≥ N/λ and 9V ≤ (E - N/λ)²
    reached = mean - case.crowd / lam
    three_sigma = reached >= 0 and 9 * variance <= reached**2
    power = drafts.exact_phi_001_3_14(case.q) ** case.bits
    met = power <= drafts.power_limit_000_2_29(case.crowd, lam)
    yield Fraction(met), Fraction(three_sigma)


# --- the expected state: 003 §6.1.2, all hold ones, one holds zeros -------------------------------


@printed("003-6.17", SUMS)
def mean_ratio_of_003(case: Setting) -> Equations:
    n, bits, q = case.crowd, case.bits, case.q
    law = law_of_reports((case.zeros,) + (case.ones,) * (n - 1), q)
    histogram = drafts.set_bit_histogram_001_3_3
    histograms = [(histogram(s, bits), chance) for s, chance in law.items()]
    for ones, expected in enumerate(drafts.expected_histogram_003_6_11(n, bits, q)):
        true = sum((t[ones] * chance for t, chance in histograms), Fraction(0))
        yield f"(6.11), $l={ones}$,", expected, true
    ratios = ((drafts.ratio_003_6_10(t, q), chance) for t, chance in histograms)
    mean, _ = mean_and_variance(ratios)
    yield "(6.17)", drafts.exact_mean_ratio_001(n, bits, q), mean
    yield "(6.15)", (n - 1 + drafts.one_outlier_mean_003_6_15(bits, q)) / n, mean  # with (6.14)


MOST_BITS, LARGEST_DENOMINATOR = CASES.bits[-1], CASES.largest_denominator
ONE_BUCKET = Cases(
    lambda: (case for case in BUCKETS.make() if case[0].crowd == 1),
    lambda case, ones: f"$L={case.bits}$, $q={tex(case.q)}$",
)


def _variance_of_a_bucket(case: Setting, x: Vector, ones: int) -> Fraction:
    """Of the number of reports with so many set bits, if one user holds x."""
    law = law_of_reports((x,), case.q).items()
    return mean_and_variance((Fraction(sum(s[0]) == ones), chance) for s, chance in law)[1]


@printed("003-6.19", ONE_BUCKET)
def variance_of_a_bucket(case: Setting, ones: int) -> Equations:
    zero, one = (_variance_of_a_bucket(case, x, ones) for x in (case.zeros, case.ones))
    yield (rf"\mathrm{{VAR}}(s_{ones}|0)", rf"\mathrm{{VAR}}(s_{ones}|1)"), zero, one


@corrected("003-6.19", ONE_BUCKET)
def variance_of_a_bucket_corrected(case: Setting, ones: int) -> Equations:
    zero = drafts.set_bits_of_zero_001_3_7(ones, case.bits, case.q)
    yield zero * (1 - zero), _variance_of_a_bucket(case, case.zeros, ones)
    one = drafts.set_bits_of_one_001_3_9(ones, case.bits, case.q)
    yield one * (1 - one), _variance_of_a_bucket(case, case.ones, ones)


# --- the law of R with one outlier and its moments: 001 §3.1–3.2, §7 ------------------------------

OUTCOMES = ZEROS
HISTOGRAMS = Range(range(2, 9), range(1, 5), 5)
ONE_REPORT = Range(range(1, 2), range(1, 7), 12)
LONGEST_REPORT = ONE_REPORT.bits[-1]
FORMULAS = Range(range(1, 31), range(1, 11), 12)
NOISE_DENOMINATOR = 60
ALL_NOISES = lettered("q", lambda: ((q,) for q in noises(NOISE_DENOMINATOR)))


def _all_noises(largest_denominator: int) -> str:
    """The range of q in words."""
    return rf"all fractions $0 < q < \frac{{1}}{{2}}$ with denominators up to {largest_denominator}"


NOISES = _all_noises(NOISE_DENOMINATOR)
NOISES_OF_ONE_REPORT = _all_noises(ONE_REPORT.largest_denominator)


@printed("001-3.5", settings(OUTCOMES))
def law_of_the_histogram(case: Setting) -> Equations:
    law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for s in outcomes(case):
        law[drafts.set_bit_histogram_001_3_3(s.reports, case.bits)] += s.modified
    right = drafts.histogram_law_001_3_5(case.crowd, case.bits, case.q)
    for histogram in {*law, *right}:
        yield f"$T = {histogram}$", right.get(histogram, Fraction(0)), law[histogram]


@printed("001-3.11", settings(OUTCOMES))
def generating_function_of_the_sum(case: Setting) -> Equations:
    law: dict[Fraction, Fraction] = defaultdict(Fraction)
    for s in outcomes(case):
        law[case.crowd * s.ratio] += s.modified
    right = drafts.generating_function_001_3_11(case.crowd, case.bits, case.q)
    for value in {*law, *right}:
        yield right.get(value, Fraction(0)), law[value]


def _small_and_large() -> list[Setting]:
    cases = {*OUTCOMES, *HISTOGRAMS}
    return sorted(cases, key=lambda s: (s.crowd, s.bits, s.q.denominator, s.q))


@cache
def _moments_of_ratio(case: Setting) -> tuple[Fraction, Fraction]:
    """From every multiset of reports, where these can be enumerated, else by (3.11)."""
    if case in _enumerated():
        return copies_moments(case)
    law = drafts.generating_function_001_3_11(case.crowd, case.bits, case.q).items()
    return mean_and_variance((x / case.crowd, chance) for x, chance in law)


SMALL_AND_LARGE = settings(_small_and_large(), _moments_of_ratio)


@cache
def _enumerated() -> frozenset[Setting]:
    return frozenset(OUTCOMES)


@printed("001-3.13", settings(FORMULAS))
def simplified_condition_is_stricter(case: Setting) -> bool:
    place = case.crowd, case.bits, case.q
    mean, variance = drafts.simplified_moments_001_3_13(*place)
    return (
        drafts.exact_mean_ratio_001(*place) <= mean
        and drafts.exact_variance_ratio_001(*place) <= variance
    )


@printed("001-3.14", ALL_NOISES)
def fifth_powers(q: Fraction) -> Equations:
    names = (r"\frac{p^5 + q^5}{(pq)^2}", r"\frac{(p+q)(\ldots)}{(pq)^4}")
    yield names, drafts.fifth_powers_001_3_14(q), drafts.fifth_powers_001_3_14_misprint(q)


@corrected("001-3.14", ALL_NOISES)
def fifth_powers_corrected(q: Fraction) -> Equations:
    p, phi, fifth = 1 - q, drafts.exact_phi_001_3_14(q), drafts.fifth_powers_001_3_14(q)
    yield phi, p / q + q / p - 1
    yield fifth, drafts.fifth_powers_001_3_14_misprint(q) * (p * q) ** 2
    yield fifth, phi**2 + phi - 1
    yield fifth, drafts.fifth_powers_of_phi_001_3_15(phi)


@printed("001-3.16", ALL_NOISES)
def noise_from_phi(q: Fraction) -> Equations:
    phi, odds = drafts.exact_phi_001_3_14(q), (1 - q) / q
    root = odds - 1 / odds  # positive, and its square is (φ+1)² - 4
    yield "the root", (phi + 1) ** 2 - 4, root**2
    yield "(3.16)", 1 / (1 + (phi + 1 + root) / 2), q


@printed("001-7.9", settings(ONE_REPORT))
def contributions_of_one_report(case: Setting) -> Equations:
    bits, q = case.bits, case.q
    (mean_0, variance_0), (mean_1, variance_1) = (
        mean_and_variance(
            (drafts.local_ratio_001_1_3(v, case.zeros, case.ones, q), chance)
            for v, chance in report_law(x, q).items()
        )
        for x in (case.zeros, case.ones)
    )
    mean, variance = mean_and_variance(drafts.generating_function_001_3_8(bits, q).items())
    yield from (("(3.8)", mean, mean_0), ("(3.8)", variance, variance_0))
    mean, variance = mean_and_variance(drafts.generating_function_001_3_10(bits, q).items())
    yield from (("(3.10)", mean, mean_1), ("(3.10)", variance, variance_1))
    second = drafts.second_derivative_of_zero_001_7_3(bits, q)
    yield "(7.1)", drafts.mean_of_zero_001_7_1(bits, q), mean_0
    yield "(7.3)", second, variance_0
    yield "(7.4)", drafts.second_derivative_of_zero_001_7_4(bits, q), variance_0
    yield "(7.2)", drafts.variance_by_generating_function_001_7_2(mean_0, second), variance_0
    yield "(7.1)", Fraction(1), mean_0
    yield "(7.7)", drafts.variance_of_zero_001_7_7(bits, q), variance_0
    yield "(7.8)", drafts.mean_of_one_001_7_8(bits, q), mean_1
    yield "(7.9)", drafts.variance_of_one_001_7_9(bits, q), variance_1
