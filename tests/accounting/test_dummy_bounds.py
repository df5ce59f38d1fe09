"""Dummies of mixers: the promise of integer weights, by two ways, the least noise, and sums."""

from __future__ import annotations

import hashlib
import itertools
import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

from enumerated_crowds import dummies_delta
from krand.accounting import dummy_bounds as dummies
from krand.accounting.bounds import Effort
from krand.accounting.curator import curator
from krand.accounting.division import Share
from krand.accounting.dummy_bounds import (
    DummyBound,
    dummy_law,
    law_profile,
    padding_needed,
    surplus_bound,
)
from krand.accounting.dummy_division import MOST_RATIOS, assess_dummies, divide_dummies
from krand.accounting.dummy_sums import sum_distance, sum_tails
from krand.accounting.portable import portable_exp, portable_log, portable_power
from krand.errors import CannotMeet, InvalidInput
from krand.promise import DUMMY_GRID, DummyLaw, Policy, ResponseFormat

LAWS = [dummy_law(1.0, 1.0, 4), dummy_law(1.5, 2.0, 5), dummy_law(2.0, 1.5, 3)]


@pytest.mark.parametrize("chosen", [(0,), (1,), (0, 0), (0, 1), (1, 2), (2, 2, 2), (0, 1, 2)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_delta_is_that_of_every_outcome_enumerated(chosen: tuple[int, ...], epsilon: float) -> None:
    """Whatever the signs of the moves: the exact value, or a little more."""
    laws = [LAWS[each] for each in chosen]
    bound = DummyBound(parts=tuple((law, 1) for law in laws), epsilon=epsilon)
    factor = Fraction(math.exp(epsilon))
    signs = list(itertools.product((-1, 1), repeat=len(laws)))
    every = {dummies_delta(laws, each, factor) for each in (signs if len(laws) < 3 else signs[:2])}
    exact = float(max(every))
    assert max(every) - min(every) < 1e-17, "all patterns of signs are alike"
    found = bound.delta(Effort.FULL)
    assert exact * (1 - 1e-11) <= found <= exact * 1.02 + 1e-15


def test_the_profile_of_one_position_is_exact_to_rounding() -> None:
    """The sum of fractions, rounded up."""
    for law, epsilon in itertools.product(LAWS, (0.0, 0.3, 1.0, 3.0)):
        (found,) = law_profile(law, np.array([epsilon]))
        exact = float(dummies_delta([law], (1,), Fraction(math.exp(epsilon))))
        assert exact <= found < exact + 1e-14


PRINTED = {
    (1, 1.0): (1.357, 14),
    (2, 1.0): (2.799, 27),
    (4, 1.0): (5.642, 53),
    (8, 1.0): (10.83, 90),
    (16, 1.0): (16.53, 110),
    (40, 1.0): (26.63, 150),
    (1, 2.0): (0.602, 10),
    (2, 2.0): (1.357, 15),
    (8, 2.0): (5.531, 60),
    (16, 2.0): (8.677, 70),
    (40, 2.0): (14.05, 90),
}
"""σ at δ = 1e-6 by two other programs, and a reach that must suffice."""


@pytest.mark.slow
@pytest.mark.parametrize(("count", "epsilon"), PRINTED)
def test_sigma_is_what_other_programs_found(count: int, epsilon: float) -> None:
    """Never above what is printed, and below it by a fifth of a per cent at most."""
    policy = Policy(epsilon=epsilon, delta=1e-6, minimum_crowd=2)
    divided = divide_dummies(policy, [Share(count)])
    sigma, reach = PRINTED[count, epsilon]
    digit = 10 ** (math.floor(math.log10(sigma)) - 3)
    assert 0.998 * sigma <= divided.sigmas[0] <= sigma + 0.5 * digit
    assert divided.laws[0].reach <= reach
    assert divided.promise.delta <= 1e-6
    assert assess_dummies(divided.policy, divided.shares, divided.laws) == divided.promise


USUAL = itertools.product((1, 2, 4, 8, 16, 40), (0.5, 1.0, 2.0, 4.0), (1e-6, 1e-12))
SMALL = [(1, 0.001, 1e-6), (1, 0.003, 1e-4), (20, 0.005, 1e-6), (20, 0.1, 1e-6), (40, 0.05, 1e-6)]
GRID = [
    *((*case, 1.001) for case in USUAL),
    *(pytest.param(*case, 1.005, marks=pytest.mark.check) for case in SMALL),
]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "epsilon", "delta", "factor"), GRID)
def test_no_trusted_curator_needs_less(
    count: int, epsilon: float, delta: float, factor: float
) -> None:
    """The policy is kept, with hardly more than the better of geometric and Gaussian noise."""
    policy = Policy(epsilon=epsilon, delta=delta, minimum_crowd=2)
    divided = divide_dummies(policy, [Share(count)])
    assert divided.sigmas[0] <= factor * curator(policy, ResponseFormat(count)).sigma
    assert divided.promise.delta <= delta


def least_variance(epsilon: float, delta: float, steps: int) -> Fraction:
    """No law of whole numbers that hides a shift by 1 has a smaller σ²: a dual certificate.

    Let y_x be between 0 and ν. Then Σ y_x·(p_x - λ·p_(x-1)) ≤ ν·Σ (p_x - λ·p_(x-1))⁺ ≤ ν·δ, for any
    λ ≥ e^ε. Averaging a law with its mirror image changes neither σ² nor what is hidden, so let p
    be symmetric. If y_0 - λ·y_1 ≥ μ, and for all k ≥ 1
    2k² + y_k + y_(-k) - λ·y_(k+1) - λ·y_(1-k) ≥ 2μ, then adding up gives σ² + ν·δ ≥ μ. Here y is
    0 above 0 and ν below -steps, and the inequalities are equalities in between, which gives y_(-k)
    one after the other, as a + b·μ, and μ from the last one. All of it is checked in fractions.
    """
    factor = Fraction(math.ceil(math.exp(epsilon) * 10**9), 10**9)
    a, b = Fraction(0), Fraction(1)
    for k in range(1, steps + 1):
        a, b = factor * a - 2 * k * k, factor * b + 2
    mu = (2 * (steps + 1) ** 2 - (factor - 1) * a) / ((factor - 1) * b + 2)
    down = [mu]
    for k in range(1, steps + 1):
        down.append(factor * down[-1] + 2 * mu - 2 * k * k)
    nu = down[-1]
    assert all(0 <= value <= nu for value in down)
    for k in range(1, steps + 3):  # beyond, both y are ν and only k² grows
        here, before = (down[n] if n <= steps else nu for n in (k, k - 1))
        assert 2 * k * k + here - factor * before >= 2 * mu
    return mu - nu * Fraction(delta)


@pytest.mark.parametrize(
    ("epsilon", "delta", "steps", "sigma"),
    [
        (1.0, 1e-6, 13, 1.35687),
        (2.0, 1e-6, 6, 0.60167),
        (0.5, 1e-6, 24, 2.79876),
        (1.0, 1e-9, 19, 1.35696),
        (0.1, 1e-6, 108, 14.1268),
    ],
)
def test_the_law_of_one_position_is_optimal(
    epsilon: float, delta: float, steps: int, sigma: float
) -> None:
    """A ten-thousandth above the least σ of any law of whole numbers, which is proven."""
    least = math.sqrt(least_variance(epsilon, delta, steps))
    assert sigma <= least < sigma + 1e-3
    policy = Policy(epsilon=epsilon, delta=delta, minimum_crowd=2)
    (found,) = divide_dummies(policy, [Share(1)]).sigmas
    assert least <= found <= 1.0001 * least


@pytest.mark.check
@pytest.mark.parametrize(
    ("count", "epsilon", "delta", "limit", "nearest"),
    [
        (1, 1.0, 1e-30, "2^-63", ("delta 1.1",)),
        (20, 1.0, 1e-300, "2^-63", ("delta 2.",)),
        (1, 1e-6, 1e-6, "131,072", ("epsilon ", "delta ")),
    ],
)
def test_a_refusal_names_the_limit_and_the_nearest_plan(
    count: int, epsilon: float, delta: float, limit: str, nearest: tuple[str, ...]
) -> None:
    """Weights are at least 2^-63, and laws not longer than R: both are said, and what would do."""
    policy = Policy(epsilon=epsilon, delta=delta, minimum_crowd=2)
    with pytest.raises(CannotMeet) as caught:
        divide_dummies(policy, [Share(count)])
    assert limit in caught.value.reason
    assert len(caught.value.nearest) == len(nearest)
    for text, beginning in zip(caught.value.nearest, nearest, strict=True):
        assert text.startswith(beginning)
        field, value = text.split(",")[0].split()
        near = replace(policy, **{field: float(value)})
        assert divide_dummies(near, [Share(count)]).promise.delta <= (near.delta or 0)


def test_weights_have_the_same_bits_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made without exp and log of any library."""
    made = [dummy_law(1.0, 2.0, 27), dummy_law(1.35, 77.7, 500)]
    for name in ("exp", "log", "power", "expm1", "log1p"):
        monkeypatch.delattr(np, name)
    for name in ("exp", "log", "pow"):
        monkeypatch.delattr(math, name)
    assert [dummy_law(1.0, 2.0, 27), dummy_law(1.35, 77.7, 500)] == made
    digest = hashlib.sha256(repr([law.half for law in made]).encode()).hexdigest()
    assert digest == "6e2e1a6b5d3aa1c93b031ca9f4d76c397aa0d3da7de573eefca49365b3fe772e"


def test_portable_functions_are_exp_log_and_powers() -> None:
    """To 13 digits, against decimal arithmetic."""
    x = np.concatenate((-np.geomspace(1e-9, 699.0, 40), np.linspace(-1.0, 1.0, 11)))
    with localcontext() as context:
        context.prec = 40
        exps = [float(Decimal(one).exp()) for one in x.tolist()]
        logs = [float(Decimal(one).ln()) for one in (-x[:40]).tolist()]
        powers = [float((Decimal(one).ln() * Decimal("1.35")).exp()) for one in (-x[:40]).tolist()]
    assert portable_exp(x) == pytest.approx(exps, rel=1e-13)
    assert portable_log(-x[:40]) == pytest.approx(logs, rel=1e-13)
    assert portable_power(-x[:40], 1.35) == pytest.approx(powers, rel=1e-13)


def test_in_between_it_is_below_both() -> None:
    """Eight positions: neither geometric nor Gaussian noise is best."""
    policy = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=2)
    divided = divide_dummies(policy, [Share(8)])
    assert divided.sigmas[0] < 0.97 * curator(policy, ResponseFormat(8)).sigma
    assert 1 < divided.shape < 2


def test_eta_can_be_promised() -> None:
    """Converted from δ, as everywhere."""
    policy = Policy(epsilon=1.0, eta=1e-3, minimum_crowd=2)
    divided = divide_dummies(policy, [Share(2)])
    assert divided.promise.eta <= 1e-3
    assert str(divided.promise.method) == "dummies-converted"


def test_more_weight_gets_less_noise() -> None:
    """Questions of different weights share one promise, which is kept for all of them."""
    policy = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=2)
    shares = [Share(1), Share(2), Share(2, 4.0)]
    divided = divide_dummies(policy, shares)
    plain, two, precise = divided.sigmas
    assert precise < plain < two
    assert assess_dummies(policy, shares, divided.laws) == divided.promise
    assert divided.promise.delta <= 1e-6
    more = assess_dummies(policy, shares, divided.laws, rounds=2)
    assert more.delta > 1e-6, "two rounds reveal more"


@pytest.mark.parametrize("positions", [1, 3, 40])
def test_padding_is_needed_no_more_often_than_stated(positions: int) -> None:
    """Against the exact law of the sum, by convolution."""
    law = dummy_law(1.3, 3.0, 12)
    mass = np.array(law.weights, dtype=float) / DUMMY_GRID
    total = mass
    for _ in range(positions - 1):
        total = np.convolve(total, mass)
    for most in (law.mean * positions, law.mean * positions + 8, 2 * law.reach * positions - 1):
        assert total[most + 1 :].sum() <= surplus_bound(law, positions, most) + 1e-15
    padding = padding_needed(law, positions, 2, 1e-9)
    assert total[padding - 2 + 1 :].sum() <= 1e-9
    assert surplus_bound(law, positions, padding - 3) > 1e-9


def test_a_surplus_costs_more_than_its_probability() -> None:
    """Two messages over two positions, mixed with 0 to 2 dummies for each, by enumeration of all
    answers and outcomes: with a padding B, δ is more than δ° + P[ΣZ > B] and at most
    δ° + P[ΣZ > B - 2], which plans count."""
    quarters = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    draws = {z: quarters[z[0]] * quarters[z[1]] for z in itertools.product(range(3), repeat=2)}

    def worst(padding: int) -> Fraction:
        laws = []
        for answer in itertools.product((0, 1), repeat=2):
            law: dict[tuple[int, ...], Fraction] = {}
            for z, chance in draws.items():
                nulls = 2 - sum(answer) + max(0, padding - sum(z))
                seen = (answer[0] + z[0], answer[1] + z[1], nulls)
                law[seen] = law.get(seen, Fraction(0)) + chance
            laws.append(law)
        return max(
            sum(
                (max(Fraction(0), p - 2 * other.get(seen, 0)) for seen, p in law.items()),
                Fraction(0),
            )
            for law, other in itertools.product(laws, repeat=2)
        )

    def surplus(most: int) -> Fraction:
        return sum((chance for z, chance in draws.items() if sum(z) > most), Fraction(0))

    ideal, real = worst(4), worst(3)
    assert ideal + surplus(3) < real <= ideal + surplus(1)


@pytest.mark.parametrize(
    "half", [(2**63,), (2**62, 2**61), (2**61, 2**61 + 2**60)], ids=["one", "two", "rising"]
)
def test_a_law_has_weights_that_add_up(half: tuple[int, ...]) -> None:
    """Any symmetric law with whole weights will do; mean and variance follow."""
    law = DummyLaw(half)
    assert sum(law.weights) == DUMMY_GRID
    mean = Fraction(sum(x * w for x, w in enumerate(law.weights)), DUMMY_GRID)
    second = Fraction(sum((x - law.mean) ** 2 * w for x, w in enumerate(law.weights)), DUMMY_GRID)
    assert (mean, float(second)) == (law.mean, law.variance)


@pytest.mark.parametrize("half", [(2**63 - 1,), (2**63 - 2, 0), (2**63 + 2, -1)])
def test_other_weights_are_refused(half: tuple[int, ...]) -> None:
    """A mixer that draws from them would draw something else than was promised."""
    with pytest.raises(InvalidInput, match="weights"):
        DummyLaw(half)


@pytest.mark.check
def test_many_different_weights_share_few_laws() -> None:
    """Twenty weights need no twenty laws: some scales are made alike, and the promise is kept."""
    policy = Policy(epsilon=8.0, delta=1e-3, minimum_crowd=2)
    shares = [Share(1, 1 + place) for place in range(20)]
    divided = divide_dummies(policy, shares)
    assert 2 < len(set(divided.laws)) <= MOST_RATIOS
    assert list(divided.sigmas) == sorted(divided.sigmas, reverse=True)
    assert divided.promise.delta <= 1e-3


def test_eta_asks_one_composition_about_many_epsilons(monkeypatch: pytest.MonkeyPatch) -> None:
    """The composition is the same for all of them, and it is what takes the time."""
    calls = 0
    compose = dummies.compose

    def counted(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        return compose(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(dummies, "compose", counted)
    bound = DummyBound(parts=((dummy_law(1.7, 3.25, 20), 8),), epsilon=1.0)
    assert bound.eta(Effort.FULL) >= bound.delta(Effort.FULL)
    assert calls == 1


SUMMED = [dummy_law(1.0, 0.5, 10), dummy_law(1.0, 2.0, 27), dummy_law(1.3, 4.0, 20)]


def exact_tails(law: DummyLaw, draws: int) -> list[Fraction]:
    """P[S - nR ≥ w] for w = 0, 1, …, by whole numbers."""
    weights = np.array(law.weights, dtype=object)
    sums = weights
    for _ in range(draws - 1):
        sums = np.convolve(sums, weights)
    upper = np.cumsum(sums[::-1])[::-1][draws * law.reach :]
    return [Fraction(int(weight), 2 ** (63 * draws)) for weight in upper]


@pytest.mark.parametrize("law", SUMMED)
@pytest.mark.parametrize("draws", [1, 2, 3, 8])
def test_tails_are_those_of_whole_numbers_and_never_below(law: DummyLaw, draws: int) -> None:
    """Rounded up, by less than 10⁻¹¹."""
    true, found = exact_tails(law, draws), sum_tails(law, draws)
    for exact, bound in zip(true, found.tolist(), strict=False):
        assert float(exact) <= bound <= float(exact) + 1e-11
    assert all(exact <= Fraction(found[-1]) for exact in true[len(found) :])


@pytest.mark.parametrize("law", SUMMED)
@pytest.mark.parametrize("tail", [0.2, 0.025, 1e-4, 1e-8])
def test_distance_is_the_last_one_that_is_not_too_rare(law: DummyLaw, tail: float) -> None:
    """One step further out lies no more than the tail."""
    true = [*exact_tails(law, 3), Fraction(0)]
    found = sum_distance(law, 3, tail)
    assert true[found] > tail >= true[found + 1]


def test_rarer_than_can_be_computed_is_everything() -> None:
    """The safe side: the whole range of the sum."""
    law = SUMMED[1]
    assert sum_distance(law, 4, 1e-30) == 4 * law.reach


@pytest.mark.parametrize("draws", [10_000, 1_000_000])
def test_many_draws_are_normal(draws: int) -> None:
    """The window is short, and nothing outside is lost."""
    law = SUMMED[1]
    sigma = math.sqrt(draws * law.variance)
    for tail in (0.025, 1e-4):
        assert sum_distance(law, draws, tail) == pytest.approx(-ndtri(tail) * sigma, rel=2e-3)
    assert sum_tails(law, draws)[0] == pytest.approx(0.5, abs=0.5 / sigma)
