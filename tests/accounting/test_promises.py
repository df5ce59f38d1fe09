"""What noise promises: held to every outcome of small crowds, to attackers, and to known limits."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import krand
import reference.delta
from accounting.engine import (
    DummyLaw,
    Pair,
    blanket,
    block_of,
    dummy_law,
    format_of,
    law_with,
    local_epsilon,
    profile,
    profile_of_dummies,
    promise_of,
    promise_of_bits,
    promise_of_dummies,
    window_binomial,
)
from effort import EFFORT
from oracle import (
    Answer,
    Case,
    Exact,
    Part,
    binomial_law,
    compared,
    convolved,
    factor_of,
    random_case,
    shifted_pair,
    surely_learned,
    truth_of,
    weighted_law,
    worst_of_bits,
    worst_of_dummies,
    worst_of_records,
)

Floats = NDArray[np.float64]
F = Fraction
BIT = Part(1, 0, 1)


def bits(count: int, q: Fraction, people: int, epsilon: float) -> krand.Promise:
    """So many bits of one noise, which need not lie on the grid."""
    return krand.assess(krand.ResponseFormat(count), float(q), people, epsilon)


def assert_covers(found: krand.Promise, exact: Exact, near: float | None = None) -> None:
    """The promise is at least the truth, and not much more; ε was rounded, as e^ε here was not."""
    for name in ("delta", "eta"):
        stated, true = getattr(found, name), float(getattr(exact, name))
        assert stated >= true * (1 - 1e-13), f"{name} {stated!r}, not at least {true!r}"
    if near:
        most = float(exact.delta) * near + 1e-9
        assert found.delta <= most, f"δ {found.delta!r}, not {float(exact.delta)!r}"


# --- every outcome ------------------------------------------------------------------------------


def test_promises_of_random_small_crowds_hold() -> None:
    """Bits and records, copies, rounds, colluding people, ε at a loss: at least the exact δ and η.

    And mostly the exact δ itself.
    """
    excess = defaultdict(list)
    for number in range(30 * EFFORT):
        chance = random.Random(number)
        case = random_case(chance, 60_000 if EFFORT > 1 else 6_000)
        found, truth = promise_of(case), truth_of(case, chance)
        assert found.delta >= truth.delta_low, f"{number}: δ {found.delta}, not {truth}, {case}"
        assert found.eta >= truth.eta_low, f"{number}: η {found.eta}, not {truth}, {case}"
        if truth.delta_low > 1e-12:
            excess[case.records].append(found.delta / truth.delta_high)
    medians = {records: statistics.median(each) for records, each in excess.items()}
    assert len(medians) == 2, medians
    assert max(medians.values()) < 1.05, medians


TIE, TIE_EPSILON = F(71400229, 2**32), 4.080134249902005
TIES, TIES_EPSILON = F(0.0034926903224117784), 11.307168339413936
TRAPS: dict[str, tuple[Callable[[], krand.Promise], str, Fraction | float]] = {
    "a tie of ε and a loss counts": (
        lambda: bits(1, TIE, 2, TIE_EPSILON),
        "delta",
        5.15e-16,
    ),
    "a tie of ε and a sum of losses counts": (
        lambda: bits(2, TIES, 6, TIES_EPSILON),
        "delta",
        7.6e-16,
    ),
    "the drafts' background is not always the worst": (
        lambda: bits(1, F(1, 5), 5, math.log(1.03)),
        "delta",
        F(93057, 312500),
    ),
    "the worst backgrounds of two bits are different ones": (
        lambda: bits(2, F(1, 5), 7, math.log(21 / 4)),
        "delta",
        0.0344885,
    ),
    "the worst directions of two bits are different ones": (
        lambda: bits(2, F(1, 5), 3, math.log(3)),
        "delta",
        0.259072,
    ),
    "η may rise with the crowd": (
        lambda: bits(1, F(2, 5), 3, math.log(1.1)),
        "eta",
        F(69, 125),
    ),
    "copies are not people": (
        lambda: krand.assess(krand.ResponseFormat(1, copies=2), 0.2, 3, math.log(2)),
        "delta",
        F(1024, 3125),
    ),
    "an own report without a message hides nobody": (
        lambda: record(2, 0.4, 2, math.log(2)),
        "delta",
        F(9, 625),
    ),
    "loud reports count": (lambda: record(16, 0.01, 2, 1.0), "delta", 0.99),
    "an end of a law tells": (
        lambda: promise_of_dummies({law_with((2, 1)): 1}, math.log(2)),
        "delta",
        F(1, 4),
    ),
    "an end of two laws tells": (
        lambda: promise_of_dummies({law_with((2, 1)): 2}, math.log(2)),
        "delta",
        F(9, 16),
    ),
    "noise that protects each report needs no crowd": (
        lambda: krand.assess(krand.ResponseFormat(1), 0.008, 2, 4.83),
        "eta",
        0.0,
    ),
}
"""What went wrong once, here or elsewhere, with the exact value or a little less."""


def record(positions: int, q: float, people: int, epsilon: float) -> krand.Promise:
    asked = format_of([Part(positions, 0, positions)], records=True)
    return krand.assess(asked, q, people, epsilon)


@pytest.mark.parametrize("trap", TRAPS)
def test_what_went_wrong_once(trap: str) -> None:
    ask, name, truth = TRAPS[trap]
    found = getattr(ask(), name)
    assert found >= float(truth) * (1 - 1e-13), f"{name} {found!r}, not at least {float(truth)!r}"
    if name == "delta" or not truth:  # η is converted from δ
        assert found <= 1.5 * float(truth) + 1e-12, f"{name} {found!r}, not {float(truth)!r}"


def test_an_outcome_whose_ratio_is_nearly_the_factor_counts() -> None:
    """e^ε is rounded up or down; what an outcome then adds to δ is tiny, and it is there."""
    nothing, added = np.zeros(2), 0
    for numerator in range(1, 500):
        small = numerator / 1024
        epsilon = math.log((1 - small) / small)
        exact = Decimal(1 - small) - Decimal(epsilon).exp() * Decimal(small)
        pair = Pair(np.array([1 - small, small]), np.array([small, 1 - small]), nothing, 0.0, 0.0)
        stated = float(profile(pair, np.array([epsilon]))[0])
        assert stated >= exact, f"{stated!r} at ε = {epsilon!r}, where δ is {exact}"
        added += exact > 0
    assert added > 100, f"δ is above 0 in {added} cases"


@pytest.mark.parametrize(
    ("people", "noises", "factor"),
    [
        (8, (F(1, 8), F(1, 4)), F(3, 2)),
        (8, (F(1, 16), F(5, 16)), F(4)),
        (3, (F(1, 4), F(1, 4), F(3, 8)), F(2)),
        (2, (F(1, 1024), F(1, 4)), F(20)),
    ],
)
def test_bits_of_different_noise(
    people: int, noises: tuple[Fraction, ...], factor: Fraction
) -> None:
    """For every mixture of backgrounds and directions, and not by much."""
    exact = worst_of_bits(people, noises, factor)
    together = {q: noises.count(q) for q in noises}
    assert_covers(promise_of_bits(together, people, math.log(factor)), exact, 1.36)


@pytest.mark.parametrize(("q", "factor"), [(F(1, 20), F(5)), (F(2, 5), F(11, 10))])
@pytest.mark.parametrize(
    ("parts", "people", "copies"),
    [
        ((Part(2, 0, 2),), 4, 1),
        ((Part(2, 0, 2),), 2, 2),
        ((Part(3, 0, 1),), 3, 1),
        ((Part(4, 0, 2),), 2, 1),
        ((Part(3, 1, 1), BIT), 2, 1),
        ((BIT, Part(2, 0, 1)), 3, 1),
    ],
    ids=str,
)
def test_records_whatever_the_others_answer(
    parts: tuple[Part, ...], people: int, copies: int, q: Fraction, factor: Fraction
) -> None:
    """In whole numbers: every background, not only those that a random case visits."""
    case = Case(
        parts=parts,
        records=True,
        copies=copies,
        rounds=1,
        people=people,
        colluding=0,
        noise=float(q),
        epsilon=math.log(factor),
    )
    assert_covers(promise_of(case), worst_of_records(people, case.answers, q, factor, copies))


def random_law(chance: random.Random) -> DummyLaw:
    """Symmetric, falling or not, and often with losses that are all alike."""
    if chance.random() < 0.3:
        return dummy_law(1.0, chance.uniform(0.5, 2.0), chance.randint(1, 4))
    inner = [chance.randint(1, 2**40) for _ in range(chance.randint(1, 4))]
    inner = sorted(inner, reverse=True) if chance.random() < 0.5 else inner
    return law_with((2**43 - 2 * sum(inner), *inner))


def test_dummies_of_random_laws() -> None:
    """All outcomes of up to three positions, in every pattern of signs; some ε equal a loss."""
    for number in range(30 * EFFORT):
        chance = random.Random(number)
        laws = [random_law(chance) for _ in range(chance.choice((1, 1, 2, 2, 3)))]
        weights = laws[0].half
        losses = [abs(math.log(a / b)) for a, b in itertools.pairwise(weights)]
        epsilon = chance.choice([math.exp(chance.uniform(-3, 2)), max(losses), sum(losses)])
        epsilon = min(max(epsilon, 1e-3), 50.0)
        exact = worst_of_dummies([weighted_law(law.weights) for law in laws], factor_of(epsilon))
        found = promise_of_dummies({law: laws.count(law) for law in laws}, epsilon)
        assert found.delta >= exact.delta, (
            f"{number}: δ {found.delta!r}, not {float(exact.delta)!r}"
        )
        assert found.eta >= exact.eta, f"{number}: η {found.eta!r}, not {float(exact.eta)!r}"
        near = float(exact.delta) * 1.05 + 1e-14
        if len(laws) == 1:  # to rounding, and up
            alone = profile_of_dummies(laws[0], epsilon)
            assert exact.delta <= alone <= exact.delta + F(1, 10**13), (
                f"{number}: δ {alone!r}, not {float(exact.delta)!r} rounded up"
            )
        assert found.delta <= near, f"{number}: δ {found.delta!r}, not {float(exact.delta)!r}"


def test_a_long_law_is_rounded_up() -> None:
    """Sums of 200,000 nearly equal weights err in one direction; δ is still not below the truth."""
    law = dummy_law(1.0, 3.3e6, 2**17 - 1)
    epsilon = 0.5 / 3.3e6
    factor = factor_of(epsilon)
    over, under = factor.denominator, factor.numerator
    terms = (over * b - under * a for a, b in itertools.pairwise((0, *law.weights)))
    exact = F(sum(term for term in terms if term > 0), over * 2**63)
    found = promise_of_dummies({law: 1}, epsilon).delta
    assert found >= float(exact), f"δ {found!r}, not at least {float(exact)!r}"
    assert found <= float(exact) * (1 + 1e-4), f"δ {found!r}, not {float(exact)!r}"


def test_errors_count_wherever_they_are() -> None:
    """An outcome whose listed ratio is just below e^ε may belong to the set, by its error."""
    halves, errors = np.full(2, 0.5), np.full(2, 8e-10)
    pair = Pair(halves, halves, errors, 0.0, 0.0)
    found = float(profile(pair, np.array([1e-12]))[0])
    assert 3.19e-9 <= found <= 3.3e-9, f"δ {found!r}, not 3.2e-9"


def test_directions_differ_where_a_law_is_skew() -> None:
    """(2, 1, 1)/4 at λ = 1.5: δ is ½ one way and ⅜ the other. So laws of dummies are symmetric."""
    one, other = shifted_pair(weighted_law((2, 1, 1)))
    found = {compared(*pair, F(3, 2)).delta for pair in ((one, other), (other, one))}
    assert found == {F(1, 2), F(3, 8)}
    for law in (law_with((2, 1)), dummy_law(1.3, 3.0, 12)):
        assert law.weights == law.weights[::-1]


def test_what_other_mixers_add_does_not_count() -> None:
    """One mixer may be all that is honest: with (1, 2, 1)/4 and λ = 2 it gives 1/4, two less."""
    law = weighted_law((1, 2, 1))
    both = worst_of_dummies([convolved(law, law)], F(2)).delta
    found = promise_of_dummies({law_with((2, 1)): 1}, math.log(2)).delta
    assert both < F(1, 4) <= found


def test_what_one_report_can_tell() -> None:
    """ε₀ = d·ln(p/q) with all its digits, for little noise and for much; beyond it nothing."""
    for q, distance in itertools.product((1e-6, 0.1, 0.26, 0.4999), (1, 3, 40, 1000)):
        limit = local_epsilon(q, distance)
        exact = distance * (math.log1p(-q) - math.log(q))
        assert limit == pytest.approx(exact, rel=1e-11), (
            f"ε₀ is {limit!r}, not {exact!r} (q = {q}, {distance} bits)"
        )
        beyond = min(100.0, limit * (1 + 1e-12))
        if beyond == limit * (1 + 1e-12):
            assert bits(distance, F(q), 3, beyond).delta == 0


def test_the_reference_agrees_about_bits() -> None:
    """The exact sums of the reference, over all backgrounds, at a hundred settings."""
    for number in range(100):
        chance = random.Random(number)
        people, numerator = chance.randint(2, 9), chance.randint(2**20, 2**31 - 1)
        q, epsilon = F(numerator, 2**32), math.exp(chance.uniform(-3, 2))
        exact = max(
            reference.delta.flips_delta(ones, people - 1 - ones, q, F(epsilon))
            for ones in range(people)
        )
        found = bits(1, q, people, epsilon).delta
        assert exact <= found <= float(exact) * (1 + 1e-9) + 1e-13, f"{number}: {found!r}"


def test_what_is_too_large_is_refused() -> None:
    """More than 64 different noises, or 10⁷ positions × rounds: refused, naming the bound."""
    with pytest.raises(krand.InvalidInput, match="64"):
        promise_of_bits({F(100 + n, 2**12): 1 for n in range(65)}, 1000, 1.0)
    with pytest.raises(krand.InvalidInput, match="10,000,000"):
        krand.assess(krand.ResponseFormat(10**6, rounds=11), 0.4, 1000, 1.0)


def test_more_dummies_than_padding_add_to_delta() -> None:
    """The probability of a surplus is part of what is promised, once."""
    law = dummy_law(1.3, 3.0, 12)
    bare, whole = (promise_of_dummies({law: 2}, 1.0, surplus).delta for surplus in (0.0, 1e-3))
    assert whole == pytest.approx(bare + 1e-3, rel=1e-12)


# --- submissions with room for some ones --------------------------------------------------------

Seen = dict[Answer, Fraction]


def sent(answer: Answer, q: Fraction, room: int) -> Seen:
    """What one person sends: flips, then any `room` of the ones that are there."""
    law: Seen = defaultdict(Fraction)
    for reported in itertools.product((0, 1), repeat=len(answer)):
        flips = sum(a != b for a, b in zip(answer, reported, strict=True))
        ones = [place for place, bit in enumerate(reported) if bit]
        kept = list(itertools.combinations(ones, min(room, len(ones))))
        for some in kept:
            seen = tuple(int(place in some) for place in range(len(answer)))
            law[seen] += q**flips * (1 - q) ** (len(answer) - flips) / len(kept)
    return law


def counted(laws: Iterable[Seen]) -> Seen:
    """The sums that an analyst sees."""
    total: Seen = {(0, 0, 0): F(1)}
    for law in laws:
        more: Seen = defaultdict(Fraction)
        for (a, x), (b, y) in itertools.product(total.items(), law.items()):
            more[tuple(map(sum, zip(a, b, strict=True)))] += x * y
        total = more
    return total


def dropping(
    people: int, q: Fraction, room: int, factor: Fraction, answers: Iterable[Answer]
) -> Exact:
    """The worst of all backgrounds and pairs of answers."""
    laws = {answer: sent(answer, q, room) for answer in answers}
    found = []
    for others in itertools.combinations_with_replacement(laws, people - 1):
        others_law = counted(laws[answer] for answer in others)
        seen = {answer: counted((others_law, law)) for answer, law in laws.items()}
        for one, two in itertools.permutations(seen.values(), 2):
            keys = one.keys() | two.keys()
            found.append(
                compared(*([law.get(k, F(0)) for k in keys] for law in (one, two)), factor)
            )
    return Exact(max(each.delta for each in found), max(each.eta for each in found))


CHOICE = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]


@pytest.mark.parametrize(("q", "room", "factor"), [(F(1, 4), 1, F(7)), (F(1, 16), 2, F(4, 3))])
def test_dropping_what_does_not_fit_is_covered(q: Fraction, room: int, factor: Fraction) -> None:
    """A choice of three among three people, whose tokens may outnumber the messages."""
    lost = max(
        sum(mass for report, mass in sent(answer, q, 3).items() if sum(report) > room)
        for answer in CHOICE
    )
    found = promise_of_bits({q: 2}, 3, math.log(factor), overflow=float(3 * lost))
    assert_covers(found, dropping(3, q, room, factor, CHOICE))
    bare = promise_of_bits({q: 2}, 3, math.log(factor)).delta
    price = float((1 + factor) * 3 * lost)
    assert found.delta == pytest.approx(min(1.0, bare + price), rel=1e-9)


# --- laws that bounds are made of ---------------------------------------------------------------


@pytest.mark.parametrize(("n", "q"), [(0, 0.3), (1, 0.2), (60, 0.4), (45, 1.9e-5), (400, 0.456)])
def test_a_window_of_a_binomial_law(n: int, q: float) -> None:
    """Every entry within the stated error; nothing beyond the window that counts."""
    first, masses, error = window_binomial(n, q)
    exact = binomial_law(n, F(q))
    for place, mass in enumerate(masses.tolist()):
        if mass > 1e-30:
            true = exact[first + place]
            assert abs(F(mass) - true) <= F(error) * true, f"P[{first + place}] {mass!r}"
    assert sum(exact[:first]) + sum(exact[first + masses.size :]) < F(1, 10**30)


PARTS = [
    (Part(4, 0, 4), (0, 0, 0, 0), (1, 1, 1, 1)),
    (Part(2, 1, 1), (1, 0), (0, 1)),
    (Part(5, 1, 1), (1, 0, 0, 0, 0), (0, 1, 0, 0, 0)),
    (Part(2, 0, 1), (1, 0), (0, 1)),
    (Part(6, 0, 2), (1, 1, 0, 0, 0, 0), (0, 0, 1, 1, 0, 0)),
]
"""Parts of a record, each with the pair of answers that is proven to be the worst."""


def report_law(answer: Answer, q: Fraction) -> list[Fraction]:
    """The chances of all reports."""
    reports = itertools.product((0, 1), repeat=len(answer))
    flips = [sum(a != b for a, b in zip(answer, report, strict=True)) for report in reports]
    return [q**f * (1 - q) ** (len(answer) - f) for f in flips]


def blanket_by_hand(
    part: Part, one: Answer, two: Answer, q: Fraction
) -> dict[tuple[int, int], float]:
    """What of every report does not depend on the answer, by the ratios of the two answers.

    For at most m set bits a simpler law is used, which must lie below.
    """
    least = [min(masses) for masses in zip(*(report_law(a, q) for a in part.answers), strict=True)]
    if part.least < part.most < part.positions:
        nobody = report_law((0,) * part.positions, q)
        simple = [mass * (q / (1 - q)) ** part.most for mass in nobody]
        assert all(a <= b for a, b in zip(simple, least, strict=True))
        least = simple
    found: dict[tuple[int, int], float] = defaultdict(float)
    for mass, *own in zip(least, report_law(one, q), report_law(two, q), strict=True):
        powers = (round(math.log(each / mass) / math.log((1 - q) / q)) for each in own)
        first, second = powers
        found[first, second] += float(mass)
    return found


@pytest.mark.parametrize("q", [F(1, 100), F(2, 5)])
@pytest.mark.parametrize("parts", [*([part] for part in PARTS), PARTS[:2], PARTS[2:4]])
def test_the_privacy_blanket_by_looking_at_every_report(
    parts: list[tuple[Part, Answer, Answer]], q: Fraction
) -> None:
    """Weights and ratios of parts, and of parts that travel together."""
    expected = {(0, 0): 1.0}
    for part in parts:
        grown: dict[tuple[int, int], float] = defaultdict(float)
        for (a, b), w in expected.items():
            for (c, d), x in blanket_by_hand(*part, q).items():
                grown[a + c, b + d] += w * x
        expected = grown
    law = blanket(float(q), tuple(block_of(part) for part, _, _ in parts))
    found: dict[tuple[int, int], float] = defaultdict(float)
    for first, second, mass in zip(law.first, law.second, np.exp(law.log_weight), strict=True):
        found[int(first), int(second)] += float(mass)
    assert found == pytest.approx(expected, rel=1e-11)


# --- attackers ----------------------------------------------------------------------------------


def test_no_promise_is_better_than_an_attack_allows() -> None:
    """Up to 10^12 people, 10^6 positions, 10^4 rounds: what somebody surely learns is below δ."""
    learned: dict[bool, list[float]] = {True: [], False: []}
    for number in range(24 * EFFORT):
        chance = random.Random(number + 50)
        asked = {
            "records": bool(number % 2),
            "people": chance.choice((2, 3, 12, 800, 10**6, 10**12)),
            "positions": chance.choice((1, 2, 5, 20, 40, 300, 10_000)),
            "copies": chance.choice((1, 1, 2, 16)),
            "rounds": chance.choice((1, 1, 2, 100)),
            "noise": chance.choice((1e-12, 1e-5, 0.001, 0.1, 0.25, 0.3, 0.4, 0.45)),
            "epsilon": chance.choice((0.001, 0.1, 1.0, 10.0, 40.0, 100.0)),
        }
        least = surely_learned(**asked)
        learned[asked["records"]].append(least)
        if asked["positions"] * asked["copies"] * asked["rounds"] > 300 * EFFORT:
            continue  # takes seconds
        form = krand.ResponseFormat(
            asked["positions"],
            linkage="record" if asked["records"] else "bit",
            copies=asked["copies"],
            rounds=asked["rounds"],
        )
        found = krand.assess(form, asked["noise"], asked["people"], asked["epsilon"])
        assert found.delta >= least * (1 - 1e-9) - 1e-15, f"{number}: {found.delta}, not {least}"
        assert found.eta >= found.delta * (1 - 1e-9), f"{number}: η {found.eta}, δ {found.delta}"
    assert all(max(each) > 0.9 for each in learned.values()), "attacks that never succeed"


HOPELESS = [
    (krand.ResponseFormat(10_000, rounds=2, linkage="record"), 203_004_219 / 2**32, 2, 0.999),
    (krand.ResponseFormat(10**5, rounds=100), 0.4, 3, 0.999),
    (krand.ResponseFormat(4), 1e-300, 100, 0.999),
    (krand.ResponseFormat(4, linkage="record"), 1e-300, 100, 0.999),
    (krand.ResponseFormat(120, linkage="record"), 0.001, 10**4, 0.95),
]


@pytest.mark.parametrize(("asked", "noise", "people", "least"), HOPELESS)
def test_what_protects_nobody_is_not_certified(
    asked: krand.ResponseFormat, noise: float, people: int, least: float
) -> None:
    """Losses that leave the range of floats do not turn into privacy."""
    found = krand.assess(asked, noise, people, 1.0)
    assert min(found.delta, found.eta) > least, found


# --- known limits -------------------------------------------------------------------------------


OVER = pytest.param(2100, 0.001, 0.02, marks=pytest.mark.nightly)


def worst_of_one_bit(people: int, q: float, epsilon: float) -> float:
    """The largest δ over every background and both directions, from scipy's binomials."""
    worst, factor = 0.0, math.exp(epsilon)
    for ones in range((people - 1) // 2 + 1):
        zeros = people - 1 - ones
        laws = (stats.binom.pmf(np.arange(n + 1), n, p) for n, p in ((ones, 1 - q), (zeros, q)))
        others = np.convolve(*laws)
        low, high = np.append(others, 0.0), np.append(0.0, others)
        zero, one = (1 - q) * low + q * high, q * low + (1 - q) * high
        for top, bottom in ((zero, one), (one, zero)):
            worst = max(worst, float(np.maximum(top - factor * bottom, 0.0).sum()))
    return worst


@pytest.mark.parametrize(
    ("people", "q", "near"),
    [(101, 0.02, 1e-9), (500, 0.2, 1e-9), (300, 0.002, 1e-9), OVER],
)
def test_one_bit_is_the_maximum_over_all_backgrounds(people: int, q: float, near: float) -> None:
    """Exactly so in crowds of up to 2000 people, and within 2 % in larger ones."""
    exact = worst_of_one_bit(people, q, 0.5)
    found = bits(1, F(q), people, 0.5).delta
    assert found >= exact * (1 - 1e-9), f"δ {found!r}, not at least {exact!r}"
    assert found <= exact * (1 + near) + 1e-15, f"δ {found!r}, not {exact!r}"


def gaussian_delta(shift: float, epsilon: float) -> float:
    """δ of two unit Gaussians so far apart."""
    near, far = (stats.norm.cdf(s * shift / 2 - epsilon / shift) for s in (1, -1))
    return float(near - math.exp(epsilon) * far)


@pytest.mark.parametrize(
    ("asked", "people", "q", "near"),
    [
        (krand.ResponseFormat(1), 10**5, 0.3, 1.06),
        (krand.ResponseFormat(1, copies=20), 5000, 0.3, 1.06),
        (krand.ResponseFormat(40), 10**5, 0.1, 1.06),
        (krand.ResponseFormat(2, rounds=500), 10**6, 0.02, 1.06),
    ],
)
def test_many_flips_are_gaussian(
    asked: krand.ResponseFormat, people: int, q: float, near: float
) -> None:
    """Counts of large crowds, copies, bits and rounds: the central limit theorem."""
    many = asked.copies * asked.sensitivity * asked.rounds
    shift = math.sqrt(many) * (1 - 2 * q) / math.sqrt(people * q * (1 - q))
    found = krand.assess(asked, q, people, 2 * shift)
    limit = gaussian_delta(shift, 2 * shift)
    assert 0.99 * limit <= found.delta <= near * limit, f"δ {found.delta}, not about {limit}"


def test_many_questions_of_different_noise() -> None:
    """Five noises compose to what the central limit theorem expects, between the extremes."""
    people, epsilon = 10**5, 0.1
    noises = {F(round(q * 2**32), 2**32): 1 for q in np.geomspace(1e-2, 4e-2, 5)}
    shift = math.sqrt(sum(float((1 - 2 * q) ** 2 / (people * q * (1 - q))) for q in noises))
    found = promise_of_bits(noises, people, epsilon).delta
    assert found == pytest.approx(gaussian_delta(shift, epsilon), rel=0.1)
    ends = [promise_of_bits({q: 5}, people, epsilon).delta for q in (min(noises), max(noises))]
    assert ends[1] < found < ends[0]


def test_what_is_equal_is_promised_alike() -> None:
    """Rounds and positions, rounds and copies of records, people who collude or stay away."""
    three = [
        krand.assess(asked, 0.2, 1000, 1.0)
        for asked in (
            krand.ResponseFormat(4, linkage="record", rounds=3),
            krand.ResponseFormat(4, linkage="record", copies=3),
        )
    ]
    assert three[0].delta == three[1].delta > record(4, 0.2, 1000, 1.0).delta
    assert bits(6, F(1, 50), 1000, 1.0).delta == pytest.approx(
        krand.assess(krand.ResponseFormat(2, rounds=3), 0.02, 1000, 1.0).delta, rel=1e-12
    )
    fewer = bits(2, F(1, 50), 600, 1.0)
    found = krand.assess(krand.ResponseFormat(2), 0.02, 1000, 1.0, 400)
    assert replace(found, crowd=600, colluding=0) == fewer
    most = krand.assess(
        krand.ResponseFormat(10, copies=2, max_set_bits=2, rounds=3), 0.2, 1000, 1.0
    )
    assert most.local_epsilon == pytest.approx(4 * 2 * 3 * math.log(4))
