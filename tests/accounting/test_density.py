"""The law that the figure of R draws is the law that the promise speaks of."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from enumerated_crowds import count_laws
from krand.accounting.backgrounds import Pattern
from krand.accounting.calibration import plan_noise
from krand.accounting.density import RatioDensity, bits_density, plan_density, reports_density
from krand.accounting.division import Share, assess_shares
from krand.accounting.ratio import RatioLaw, one_way_eta
from krand.promise import NOISE_GRID, Assurance, Linkage, NoisePlan, Policy, ResponseFormat

OUTLIER = Assurance.OUTLIER
SMALL = Policy(epsilon=1.0, minimum_crowd=10_000, delta=1e-3)
REQUESTS = {
    "bits": (Policy(epsilon=2.0, minimum_crowd=10**7, delta=1e-6), ResponseFormat(40)),
    "bits, outlier": (
        Policy(epsilon=1.0, minimum_crowd=10_000, eta=0.003, assurance=OUTLIER),
        ResponseFormat(4),
    ),
    "bits, copies": (SMALL, ResponseFormat(3, copies=4)),
    "one bit, outlier": (
        Policy(epsilon=0.7, minimum_crowd=1000, delta=1e-3, assurance=OUTLIER),
        ResponseFormat(1),
    ),
    "record": (SMALL, ResponseFormat(5, linkage=Linkage.RECORD)),
    "record, outlier": (
        Policy(epsilon=0.7, minimum_crowd=1000, eta=0.007, assurance=OUTLIER),
        ResponseFormat(5, linkage="record"),
    ),
    "records": (SMALL, ResponseFormat(5, linkage=Linkage.RECORD, copies=4)),
    "sparse record": (
        Policy(epsilon=1.0, minimum_crowd=100_000, delta=1e-4, assurance=OUTLIER),
        ResponseFormat(10, linkage=Linkage.RECORD, copies=1, max_set_bits=1),
    ),
}


@pytest.fixture(scope="module", params=REQUESTS)
def case(request: pytest.FixtureRequest) -> tuple[NoisePlan, RatioDensity]:
    plan = plan_noise(*REQUESTS[request.param])
    return plan, plan_density(plan)


Case = tuple[NoisePlan, RatioDensity]


def test_all_of_the_law_is_there(case: Case) -> None:
    """Both laws have mass one, but for what lies outside of the picture."""
    _, density = case
    assert density.mine.min() >= 0
    assert density.another.min() >= 0
    assert density.mine.sum() == pytest.approx(1, abs=2e-3)
    assert density.another.sum() == pytest.approx(1, abs=2e-3)


def test_what_lies_beyond_is_the_tail_of_the_guarantee(case: Case) -> None:
    """The worse direction is the η that the promise reports as its value."""
    plan, density = case
    worst = max(density.above, density.below)
    assert worst == pytest.approx(plan.assessment.eta.value, rel=1e-9)
    assert worst <= plan.promise.eta


def test_the_limits_are_edges_of_cells(case: Case) -> None:
    """±ε are edges, and the cells beyond them hold the tail, but for what is not drawn."""
    plan, density = case
    epsilon = plan.policy.epsilon
    assert {epsilon, -epsilon} <= set(density.edges.tolist())
    above = float(density.mine[density.edges[:-1] >= epsilon].sum())
    below = float(density.another[density.edges[1:] <= -epsilon].sum())
    assert 0.5 * density.above <= above <= density.above * (1 + 1e-9)
    assert 0.5 * density.below <= below <= density.below * (1 + 1e-9)
    areas = density.beyond * np.diff(density.edges)
    assert float(areas.sum()) == pytest.approx(above + below)


def test_one_law_is_the_ratio_times_the_other(case: Case) -> None:
    """R is the ratio of the two: where log R = x, my law is e^x times the other one."""
    _, density = case
    middle = (density.edges[1:] + density.edges[:-1]) / 2
    ratio = np.exp(middle)
    known = math.fsum(density.mine)
    assert math.fsum(density.another * ratio) == pytest.approx(known, rel=0.05)
    heavy = np.minimum(density.mine, density.another) > 0.005
    # An outcome is spread as far as its neighbours: with a single bit there are only thirty.
    off = np.abs(np.log(density.mine[heavy] / density.another[heavy]) - middle[heavy])
    assert float(np.median(off)) < 0.08


def test_a_tail_far_too_small_to_be_seen_keeps_its_digits() -> None:
    """The cells beyond the limit sum up to some 1e-15, not to rounding errors."""
    density = plan_density(
        plan_noise(Policy(epsilon=2.0, minimum_crowd=10**7, delta=1e-16), ResponseFormat(40))
    )
    beyond = density.mine[density.edges[:-1] >= density.epsilon]
    assert density.above < 1e-14
    assert float(beyond.sum()) == pytest.approx(density.above, rel=0.01)
    assert np.all(np.diff(beyond[:10]) < 0)


@pytest.mark.parametrize("log_ratio", [-0.6, -0.3, 0.0, 0.2, 0.6])
def test_a_record_has_the_exact_law(log_ratio: float) -> None:
    """Cells summed up from the right are the tails of the exact law, below R = 1 as well."""
    policy = Policy(epsilon=0.6, minimum_crowd=1000, eta=0.01, assurance=OUTLIER)
    density = reports_density(0.2446, policy, ResponseFormat(5, linkage=Linkage.RECORD))
    place = int(np.argmin(np.abs(density.edges - log_ratio)))
    tail = RatioLaw(0.2446, 5, 1000).tail(float(density.edges[place]))
    assert float(density.mine[place:].sum()) == pytest.approx(tail, abs=2e-3)


def test_one_bit_by_hand() -> None:
    """A crowd of 30 and one bit: every outcome written down."""
    q, n, epsilon = 0.1, 30, 0.8
    zero, one = count_laws(n, 0, Fraction(q))
    pairs = list(zip(map(float, one), map(float, zero), strict=True))
    above = sum(a for a, b in pairs if a > math.exp(epsilon) * b)
    below = sum(b for a, b in pairs if b > math.exp(epsilon) * a)
    density = bits_density({q: 1}, Policy(epsilon=epsilon, minimum_crowd=n, delta=0.01))
    assert (density.above, density.below) == pytest.approx((above, below), rel=1e-9)
    assert density.law == "exact law, everybody else alike, 1 bit"


def test_different_noises_are_composed_like_their_guarantee() -> None:
    """Shares with noises of their own: the tail is that of the promise for all of them."""
    policy = Policy(epsilon=1.0, minimum_crowd=50_000, delta=1e-4)
    numerators = (int(0.003 * NOISE_GRID), int(0.006 * NOISE_GRID))
    guarantee = assess_shares(policy, [Share(1), Share(4)], numerators)
    noises = {numerators[0] / NOISE_GRID: 1, numerators[1] / NOISE_GRID: 4}
    density = bits_density(noises, policy)
    assert density.above == pytest.approx(guarantee.eta.forward.value, rel=1e-9)
    assert density.law == "supremum over all crowds, sensitivity 5"


def test_colluders_hide_nobody() -> None:
    """The law is that of the honest crowd."""
    responses = ResponseFormat(2)
    with_colluders = reports_density(
        0.02, Policy(epsilon=1.0, minimum_crowd=2000, delta=0.01, colluding=1000), responses
    )
    alone = reports_density(0.02, Policy(epsilon=1.0, minimum_crowd=1000, delta=0.01), responses)
    assert with_colluders.above == alone.above


@pytest.mark.check
def test_the_worst_background_of_a_sparse_record_is_drawn() -> None:
    """One of ten: everybody else gives a third answer, not one of the two."""
    plan = plan_noise(*REQUESTS["sparse record"])
    of_drafts, third = (
        one_way_eta(pattern.law(plan.noise), 100_000, 1.0).value
        for pattern in (Pattern(2), Pattern(1, 1, 1))
    )
    assert plan_density(plan).above == pytest.approx(third)
    assert third > 2 * of_drafts
