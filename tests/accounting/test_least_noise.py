"""From a promise to the least noise that keeps it: known values, divisions, dummies, refusals."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from scipy import stats

import krand
from accounting.engine import (
    LARGEST_REACH,
    NEAR,
    curator,
    curator_sigmas,
    format_of,
    least_dummies,
    least_flips,
    local_epsilon,
    nearest_for_dummies,
    promise_of_division,
    promise_of_dummies,
)
from effort import EFFORT
from oracle import Part

GRID = 2**32
RECORD, BIT = krand.Linkage.RECORD, krand.Linkage.BIT


def policy(
    epsilon: float, delta: float | None, people: int = 2, **more: float | None
) -> krand.Policy:
    return krand.Policy(epsilon=epsilon, delta=delta, minimum_crowd=people, **more)


def record(*parts: Part, copies: int = 1) -> krand.ResponseFormat:
    return format_of(parts, records=True, copies=copies)


def kept(promise: krand.Promise, asked: krand.Policy) -> float:
    """δ or η as a part of what was asked for."""
    return (promise.delta if asked.eta is None else promise.eta) / asked.asked


def check_least(plan: krand.NoisePlan) -> None:
    """The promise is kept, as `assess` says as well, and hardly less noise does not keep it."""
    asked, numerator = plan.policy, plan.noise_numerator
    for factor, keeps in ((1.0, True), (1 - NEAR, False)):
        noise = max(1, math.floor(numerator * factor)) / GRID
        found = krand.assess(
            plan.responses, noise, asked.minimum_crowd, asked.epsilon, asked.colluding
        )
        assert (kept(found, asked) <= 1) is keeps or numerator == 1, f"{factor}·q: {found}"
        if keeps:
            assert found.delta == plan.promise.delta


# --- flips --------------------------------------------------------------------------------------

KNOWN = [
    (policy(2.0, 1e-3, 10**7), krand.ResponseFormat(40, linkage=RECORD), 0.3702, 5883),
    (policy(2.0, 1e-3, 10**7), krand.ResponseFormat(40), 8.96e-6, 9.47),
    (policy(2.0, 1e-6, 10**7), krand.ResponseFormat(40), 2.09e-5, 14.47),
    (policy(math.log(2), 5e-4, 1000), krand.ResponseFormat(5, linkage=RECORD), 0.2838, None),
    (policy(1.0, 1e-5, 10**5), record(Part(4, 1, 1), Part(2, 0, 2)), 0.1090850, None),
]
"""Noise and σ as two programs found them."""


@pytest.mark.parametrize(("asked", "responses", "noise", "sigma"), KNOWN, ids=str)
def test_the_least_noise_is_the_known_one(
    asked: krand.Policy, responses: krand.ResponseFormat, noise: float, sigma: float | None
) -> None:
    plan = krand.plan_noise(asked, responses)
    assert plan.noise == pytest.approx(noise, rel=1e-3 if sigma is None else 4e-3)
    if sigma is not None:
        assert plan.precision.sigma == pytest.approx(sigma, rel=0.0015)
    check_least(plan)


def test_no_less_noise_keeps_a_random_promise() -> None:
    """δ and η, bits and records, copies, colluding people: what was found is kept, and is least."""
    checked = 0
    for number in range(4 * EFFORT):
        chance = random.Random(number)
        limit = {chance.choice(("delta", "eta")): 10 ** chance.uniform(-7, -2)}
        people = int(10 ** chance.uniform(2.3, 6))
        asked = policy(
            chance.uniform(0.2, 3.0),
            limit.get("delta"),
            people,
            eta=limit.get("eta"),
            colluding=chance.choice((0, people // 3)),
        )
        bits = chance.randint(1, 12)
        responses = krand.ResponseFormat(
            bits,
            linkage=chance.choice((BIT, RECORD)),
            copies=chance.choice((1, 1, 2)),
            max_set_bits=chance.choice((None, 1, min(2, bits))),
        )
        try:
            plan = krand.plan_noise(asked, responses, suggestions=False)
        except krand.CannotMeet:
            continue
        check_least(plan)
        checked += 1
    assert checked > EFFORT


def test_noise_pays_for_what_is_asked_and_nothing_else() -> None:
    """Copies gain precision, a choice costs two bits whatever its options, colluders people."""
    asked = policy(1.0, 1e-5, 10**4)
    one, four = (
        krand.plan_noise(asked, krand.ResponseFormat(3, linkage=RECORD, copies=k)) for k in (1, 4)
    )
    assert four.noise > one.noise
    assert four.precision.sigma < one.precision.sigma
    few, many, free = (
        krand.plan_noise(asked, krand.ResponseFormat(bits, max_set_bits=most)).noise_numerator
        for bits, most in ((5, 1), (100_000, 1), (5, None))
    )
    assert few == many < free
    with_some = krand.plan_noise(asked.changed(colluding=4_000), krand.ResponseFormat(3))
    without = krand.plan_noise(asked.changed(minimum_crowd=6_000), krand.ResponseFormat(3))
    assert with_some.noise_numerator == without.noise_numerator


def test_what_one_response_reveals_can_be_capped() -> None:
    """Noise rises until ε₀ is below the cap, and no further; for one noise and for several."""
    asked = policy(2.0, 1e-6, 10**6, max_local_epsilon=8.0)
    plan = krand.plan_noise(asked, krand.ResponseFormat(1))
    assert plan.promise.local_epsilon <= 8.0 < local_epsilon(plan.noise * (1 - NEAR))
    free = krand.plan_noise(asked.changed(max_local_epsilon=None), krand.ResponseFormat(1))
    assert free.promise.local_epsilon > 8.0
    several = asked.changed(max_local_epsilon=20.0)
    found = least_flips(several, [(2, 1.0), (1, 1.0)])
    assert 19.9 < found.promise.local_epsilon <= 20.0
    assert found.promise.delta < 1e-6
    with pytest.raises(krand.CannotMeet, match="ε₀"):
        least_flips(asked.changed(max_local_epsilon=1e-9), [(2, 1.0)])


@pytest.mark.parametrize("bits", [1, 2])
@pytest.mark.parametrize("linkage", [BIT, RECORD])
def test_noise_that_protects_every_report_is_stated_as_kept(linkage: str, bits: int) -> None:
    """No ratio can be above e^ε then, so η is 0 and not what is converted from a δ."""
    asked = policy(4.83, None, eta=0.001)
    plan = krand.plan_noise(asked, krand.ResponseFormat(bits, linkage=linkage))
    assert plan.promise.eta <= 0.001


def test_precision_is_known_before_any_data() -> None:
    """σ = √(Npq/k)/(p-q), and the half-width is 1.96 of it, also as a share of the crowd."""
    plan = krand.plan_noise(policy(1.0, 1e-4, 10**4), krand.ResponseFormat(1, copies=4))
    q, found = plan.noise, plan.precision
    sigma = math.sqrt(10_000 * q * (1 - q) / 4) / (1 - 2 * q)
    assert found.sigma == pytest.approx(sigma)
    assert found.half_width_95 == pytest.approx(1.959964 * sigma)
    assert found.half_width_percent == pytest.approx(1.959964 * sigma / 100)


# --- several questions --------------------------------------------------------------------------

ASKED = policy(1.0, 1e-6, 100_000)
QUESTIONS = ((2, 1.0), (1, 1.0), (1, 4.0), (6, 1.0))


def spread(numerator: int) -> float:
    """The variance of an estimated count, as a part of the crowd."""
    q = numerator / GRID
    return q * (1 - q) / (1 - 2 * q) ** 2


def test_several_questions_share_one_promise() -> None:
    """v ∝ √(t/w); the promise is kept, and not with less for all of them."""
    found = least_flips(ASKED, QUESTIONS)
    assert 0.99 * 1e-6 < found.promise.delta <= 1e-6
    less = [math.floor(n * (1 - NEAR)) for n in found.noise]
    assert promise_of_division(ASKED, QUESTIONS, less).delta > 1e-6
    units = [spread(n) / math.sqrt(t / w) for n, (t, w) in zip(found.noise, QUESTIONS, strict=True)]
    assert max(units) == pytest.approx(min(units), rel=1e-4)


def test_questions_that_are_alike_may_be_listed_or_added_up() -> None:
    """Three shares of two, six positions, two rounds of three: one noise, that of the planner."""
    asked = policy(2.0, 1e-6, 20_000)
    expected = krand.plan_noise(asked, krand.ResponseFormat(6)).noise_numerator
    for questions, rounds in (([(2, 1.0)] * 3, 1), ([(6, 1.0)], 1), ([(3, 1.0)], 2)):
        found = least_flips(asked, questions, rounds)
        assert set(found.noise) == {expected}, (
            f"noise {found.noise}, not {expected} ({questions}, {rounds} rounds)"
        )
    crowded = asked.changed(minimum_crowd=30_000, colluding=10_000)
    assert least_flips(crowded, [(6, 1.0)]).noise == (expected,)


def test_a_tail_can_be_promised_to_several_questions() -> None:
    asked = policy(1.0, None, 100_000, eta=1e-3)
    found = least_flips(asked, QUESTIONS[:2])
    assert 0.98e-3 < found.promise.eta <= 1e-3


# --- dummies of mixers --------------------------------------------------------------------------

PRINTED = {
    (1, 1.0): 1.357,
    (8, 1.0): 10.83,
    (40, 2.0): 14.05,
    (2, 1.0): 2.799,
    (4, 1.0): 5.642,
    (16, 1.0): 16.53,
    (40, 1.0): 26.63,
    (1, 2.0): 0.602,
    (8, 2.0): 5.531,
}
"""σ at δ = 1e-6 by two other programs."""
CASES = [pytest.param(*key, marks=[pytest.mark.nightly] * (n > 2)) for n, key in enumerate(PRINTED)]


@pytest.mark.parametrize(("positions", "epsilon"), CASES)
def test_dummies_need_what_other_programs_found(positions: int, epsilon: float) -> None:
    """And hardly more than the better of geometric and Gaussian noise of a curator."""
    asked, sigma = policy(epsilon, 1e-6), PRINTED[positions, epsilon]
    found = least_dummies(asked, [(positions, 1.0)])
    assert 0.997 * sigma <= found.sigmas[0] <= 1.002 * sigma, found.sigmas
    assert found.sigmas[0] == math.sqrt(found.noise[0].variance)
    assert found.promise.delta <= 1e-6
    again = promise_of_dummies({found.noise[0]: positions}, epsilon)
    assert again.delta == pytest.approx(found.promise.delta, rel=1e-6)
    yardstick = curator(asked, krand.ResponseFormat(positions)).sigma
    assert found.sigmas[0] <= 1.002 * yardstick
    if (positions, epsilon) == (8, 1.0):  # in between, neither geometric nor Gaussian noise is best
        assert found.sigmas[0] < 0.98 * yardstick


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


@pytest.mark.parametrize(("epsilon", "delta", "steps"), [(1.0, 1e-6, 13), (0.5, 1e-6, 24)])
def test_no_law_of_one_position_is_better(epsilon: float, delta: float, steps: int) -> None:
    """A ten-thousandth above the least σ of any law of whole numbers, which is proven."""
    least = math.sqrt(least_variance(epsilon, delta, steps))
    (found,) = least_dummies(policy(epsilon, delta), [(1, 1.0)]).sigmas
    assert least <= found <= 1.0001 * least


def test_dummies_of_several_questions() -> None:
    """What weighs more gets less noise; rounds and η count."""
    asked, questions = policy(2.0, 1e-6), [(1, 1.0), (2, 1.0), (2, 4.0)]
    found = least_dummies(asked, questions)
    plain, two, precise = found.sigmas
    assert precise < plain < two
    together = promise_of_dummies(dict(zip(found.noise, (1, 2, 2), strict=True)), 2.0)
    assert together.delta == pytest.approx(found.promise.delta, rel=1e-6)
    assert found.promise.delta <= 1e-6
    weekly = least_dummies(asked, [(2, 1.0)], rounds=4)
    assert weekly.noise == least_dummies(asked, [(8, 1.0)]).noise
    tail = least_dummies(policy(1.0, None, eta=1e-3), [(2, 1.0)])
    assert tail.promise.eta <= 1e-3
    assert tail.sigmas[0] < 2.83  # no sum of two losses ½ is above ε


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("positions", "epsilon", "delta", "limit"),
    [
        (20, 1.0, 1e-300, "2^-63"),
        pytest.param(1, 1e-6, 1e-6, f"{LARGEST_REACH:,}", marks=pytest.mark.nightly),
    ],
)
def test_dummies_that_do_not_fit_name_the_limit_and_what_would_do(
    positions: int, epsilon: float, delta: float, limit: str
) -> None:
    asked = policy(epsilon, delta)
    with pytest.raises(krand.CannotMeet, match=re.escape(limit)):
        least_dummies(asked, [(positions, 1.0)])
    nearest = nearest_for_dummies(asked, [(positions, 1.0)])
    assert nearest
    for text in nearest:
        near = applied(text, asked)
        assert least_dummies(near, [(positions, 1.0)]).promise.delta <= near.asked, text


SUGGESTED = re.compile(r"(crowd|epsilon|delta) ([\d.,e+-]*\d)")


def applied(text: str, asked: krand.Policy) -> krand.Policy:
    """The request that a suggestion names."""
    for name, value in SUGGESTED.findall(text):
        number = float(value.replace(",", ""))
        field = {"minimum_crowd": int(number)} if name == "crowd" else {name: number}
        asked = asked.changed(**field)
    return asked


def test_a_hopeless_request_is_told_the_next_one_that_can_be_met() -> None:
    """The crowd to a person below fifty, no ε above 10, and what is said can be planned."""
    responses = krand.ResponseFormat(6, linkage=RECORD)
    asked = policy(2.0, 1e-3, 20)
    with pytest.raises(krand.CannotMeet, match="could be anything") as refused:
        krand.plan_noise(asked, responses)
    assert refused.value.nearest[0] == "crowd 44 at epsilon 2"
    for text in refused.value.nearest:
        near = applied(text, asked)
        assert near.epsilon <= 10
        krand.plan_noise(near, responses)
    with pytest.raises(krand.CannotMeet, match="could be anything"):
        krand.plan_noise(asked.changed(minimum_crowd=42), responses, suggestions=False)


WRONG: list[tuple[str, Callable[[], object]]] = [
    ("epsilon", lambda: policy(math.nan, 0.1, 100)),
    ("epsilon", lambda: policy(101.0, 0.1, 100)),
    ("minimum_crowd", lambda: policy(1.0, 0.1, 1)),
    ("eta", lambda: policy(1.0, None, 100, eta=1.0)),
    ("delta", lambda: policy(1.0, 0.0, 100)),
    ("eta", lambda: policy(1.0, 0.1, 100, eta=0.1)),
    ("delta", lambda: policy(1.0, None, 100)),
    ("colluding", lambda: policy(1.0, 0.1, 100, colluding=99)),
    ("bits", lambda: krand.ResponseFormat(0)),
    ("copies", lambda: krand.ResponseFormat(1, copies=0)),
    ("max_set_bits", lambda: krand.ResponseFormat(3, max_set_bits=4)),
    ("noise", lambda: krand.assess(krand.ResponseFormat(1), 0.5, 100, 1.0)),
    ("noise", lambda: krand.assess(krand.ResponseFormat(1), 0.0, 100, 1.0)),
    ("crowd", lambda: krand.assess(krand.ResponseFormat(1), 0.1, 1, 1.0)),
]


@pytest.mark.parametrize(("field", "make"), WRONG)
def test_a_request_without_meaning_names_its_field(field: str, make: Callable[[], object]) -> None:
    with pytest.raises(krand.InvalidInput) as error:
        make()
    assert error.value.field == field


# --- what a curator needs -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "sigmas"),
    [(1.0, (1.357, 2.799, 5.642, 11.30)), (2.0, (0.6017, 1.357, 2.799, 5.642))],
)
def test_the_better_of_gaussian_and_geometric_noise(
    epsilon: float, sigmas: tuple[float, ...]
) -> None:
    """Geometric for few counts, as other programs found it; Gaussian for many, by its own δ."""
    asked = policy(epsilon, 1e-6, 100_000)
    for counts, sigma in zip((1, 2, 4, 8), sigmas, strict=True):
        found = curator(asked, krand.ResponseFormat(counts)).sigma
        assert found == pytest.approx(sigma, rel=1e-3), f"{counts} counts: {found}"
    thrice = curator(asked, krand.ResponseFormat(20, rounds=3)).sigma
    shift = math.sqrt(60) / thrice
    near, far = (stats.norm.cdf(s * shift / 2 - epsilon / shift) for s in (1, -1))
    assert near - math.exp(epsilon) * far == pytest.approx(1e-6, rel=1e-4)
    nearly = curator_sigmas(asked, [(1, 1 + n * 1e-9) for n in range(8)])
    assert nearly == pytest.approx([sigmas[3]] * 8, rel=1e-3)
    light = curator_sigmas(asked, [(1, 1e6), (2, 1e-6)])
    assert 0 < light[0] < light[1] < math.inf
