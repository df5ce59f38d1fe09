"""From a policy to the smallest honest noise; records of several questions; the search for it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from effort import LONG
from krand.accounting.bounds import Effort
from krand.accounting.calibration import SEARCHED, assess, plan_noise, precision
from krand.accounting.channel import local_epsilon
from krand.accounting.curator import central_gaussian_sigma
from krand.accounting.mechanism import Mechanism
from krand.accounting.search import Grid, smallest_passing
from krand.errors import CannotMeet, InternalError, InvalidInput
from krand.promise import (
    NOISE_GRID,
    AtMost,
    Block,
    ExactlyOne,
    FreeBits,
    Linkage,
    Method,
    NoisePlan,
    Policy,
    ResponseFormat,
)

RECORD, BIT = Linkage.RECORD, Linkage.BIT
CROWD = 10**7


def bound(plan: NoisePlan, numerator: int) -> float:
    """The proven bound the policy speaks of, at another noise."""
    policy = plan.policy
    mechanism = Mechanism(plan.responses, policy.honest, policy.epsilon)
    ask = mechanism.delta if policy.eta is None else mechanism.eta
    return ask(numerator / NOISE_GRID, Effort.FULL)[0]


def assert_minimal(plan: NoisePlan) -> None:
    assert bound(plan, plan.noise_numerator) <= plan.policy.limit
    assert plan.noise_numerator == SEARCHED.up(plan.noise_numerator)
    assert bound(plan, SEARCHED.down(plan.noise_numerator - 1)) > plan.policy.limit


TABLE_7 = [
    # linkage, delta, noise and sigma
    (RECORD, 1e-3, 0.3702, 5883),
    (RECORD, 1e-6, 0.3817, 6490),
    (BIT, 1e-3, 8.96e-6, 9.47),
    (BIT, 1e-6, 2.09e-5, 14.47),
]


@pytest.mark.check
@pytest.mark.parametrize(("linkage", "delta", "noise", "sigma"), TABLE_7)
def test_table_of_linkages(linkage, delta, noise, sigma):
    """N = 10⁷, L = 40, ε = 2: noise and σ as listed, and the noise is minimal."""
    policy = Policy(epsilon=2.0, minimum_crowd=CROWD, delta=delta)
    plan = plan_noise(policy, ResponseFormat(40, linkage=linkage))
    assert plan.noise == pytest.approx(noise, abs=0.00006 if noise > 0.1 else noise * 0.0035)
    assert plan.precision.sigma == pytest.approx(sigma, rel=0.0015)
    assert_minimal(plan)


@pytest.mark.parametrize(
    ("eta", "delta", "sigma"), [(0.003, None, 9.7), (None, 1e-3, 9.14), (None, 1e-6, 14.11)]
)
def test_central_gaussian_row(eta, delta, sigma):
    """The trusted curator's σ for 40 free bits at ε = 2."""
    policy = Policy(epsilon=2.0, minimum_crowd=CROWD, delta=delta, eta=eta)
    assert central_gaussian_sigma(policy, ResponseFormat(40)) == pytest.approx(
        sigma, abs=0.05 if eta else 0.006
    )


def test_blanket_check_value_for_a_thousand():
    """N = 1000, L = 5, ε = ln 2, δ = 5e-4: q = .2838."""
    policy = Policy(epsilon=math.log(2), minimum_crowd=1000, delta=5e-4)
    plan = plan_noise(policy, ResponseFormat(5, linkage=RECORD))
    assert plan.noise == pytest.approx(0.2838, abs=6e-5)
    assert plan.promise.method is Method.PRIVACY_BLANKET


policies = st.builds(
    lambda epsilon, log_crowd, log_limit, tail: Policy(
        epsilon=epsilon,
        minimum_crowd=int(10**log_crowd),
        delta=None if tail else 10**log_limit,
        eta=10**log_limit if tail else None,
    ),
    st.floats(0.2, 3.0),
    st.floats(2.3, 7.0),
    st.floats(-7.0, -2.0),
    st.booleans(),
)
formats = st.one_of(
    st.builds(ResponseFormat, st.integers(1, 12), linkage=st.just(BIT)),
    st.builds(ResponseFormat, st.integers(1, 20), linkage=st.just(RECORD)),
    st.builds(
        ResponseFormat, st.integers(5, 12), linkage=st.just(RECORD), max_set_bits=st.integers(1, 2)
    ),
    st.builds(
        ResponseFormat, st.integers(5, 50), linkage=st.just(BIT), max_set_bits=st.integers(1, 2)
    ),
)


@pytest.mark.loop
@given(policies, formats)
@settings(max_examples=15 if LONG else 5, deadline=None, derandomize=True)
def test_noise_is_minimal(policy, responses):
    """Whatever the policy, a passes and a-1 fails, and the guarantee says so.

    Of five policies and formats; `make long` takes fifteen.
    """
    try:
        plan = plan_noise(policy, responses)
    except CannotMeet:
        assume(False)
    if plan.noise_numerator > 1:
        assert_minimal(plan)
    kept = plan.promise.delta if policy.eta is None else plan.promise.eta
    assert 0 <= kept <= policy.limit


def test_copies_are_minimal_too():
    """k copies of whole records: the composed bound is met at a and missed at a-1."""
    policy = Policy(epsilon=1.0, minimum_crowd=10**5, delta=1e-5)
    one = plan_noise(policy, ResponseFormat(10, linkage=RECORD))
    four = plan_noise(policy, ResponseFormat(10, linkage=RECORD, copies=4))
    assert_minimal(four)
    assert four.noise > one.noise
    assert four.precision.sigma < one.precision.sigma


def test_colluders_are_planned_for_exactly():
    """c colluding users among N give the noise of N - c users."""
    some = plan_noise(
        Policy(epsilon=1.0, minimum_crowd=10_000, delta=1e-6, colluding=4_000), ResponseFormat(3)
    )
    fewer = plan_noise(Policy(epsilon=1.0, minimum_crowd=6_000, delta=1e-6), ResponseFormat(3))
    assert some.noise_numerator == fewer.noise_numerator


def test_rounds_are_compositions():
    """Three rounds of two bits need the noise of one round of six."""
    policy = Policy(epsilon=1.0, minimum_crowd=10**5, delta=1e-6)
    rounds = plan_noise(policy, ResponseFormat(2, rounds=3))
    bits = plan_noise(policy, ResponseFormat(6))
    assert rounds.noise_numerator == bits.noise_numerator


def test_rounds_of_records_are_compositions():
    """Three rounds of a record tell as much as three copies of it, and more than one."""
    one, rounds, copies = (
        assess(ResponseFormat(4, linkage=Linkage.RECORD, **often), 0.2, 1000, 1.0).delta
        for often in ({}, {"rounds": 3}, {"copies": 3})
    )
    assert rounds == copies > one


@pytest.mark.check
def test_only_bits_a_user_can_change_count():
    """A choice costs 2 bits however many options it has."""
    policy = Policy(epsilon=1.0, minimum_crowd=10**5, delta=1e-6)
    few = plan_noise(policy, ResponseFormat(5, max_set_bits=1))
    many = plan_noise(policy, ResponseFormat(100_000, max_set_bits=1))
    assert few.noise_numerator == many.noise_numerator
    assert few.noise_numerator < plan_noise(policy, ResponseFormat(5)).noise_numerator


def test_local_epsilon_can_be_capped():
    """max_local_epsilon raises the noise until ε₀ is below the cap, and no further."""
    policy = Policy(epsilon=2.0, minimum_crowd=10**6, delta=1e-6, max_local_epsilon=8.0)
    plan = plan_noise(policy, ResponseFormat(1))
    assert plan.promise.local_epsilon <= 8.0
    assert local_epsilon(SEARCHED.down(plan.noise_numerator - 1) / NOISE_GRID) > 8.0
    free = plan_noise(replace(policy, max_local_epsilon=None), ResponseFormat(1))
    assert free.promise.local_epsilon > 8.0


def test_local_epsilon_counts_everything_a_change_touches():
    """ε₀ = t·k·rounds·ln(p/q)."""
    found = assess(ResponseFormat(10, copies=2, max_set_bits=2, rounds=3), 0.2, 1000, 1.0)
    assert found.local_epsilon == pytest.approx(4 * 2 * 3 * math.log(4))


def test_the_best_argument_is_named():
    """The method says which proof gave the number."""
    assert assess(ResponseFormat(3), 0.01, 10_000, 1.0).method is Method.EXACT_BITS
    record = ResponseFormat(5, linkage=RECORD)
    assert assess(record, 0.28, 1000, 0.7).method is Method.PRIVACY_BLANKET
    assert assess(ResponseFormat(2, linkage=RECORD), 0.49, 5, 1.0).method is Method.LOCAL_NOISE


def test_hopeless_requests_name_the_nearest_that_can_be_met():
    """40 linked bits, 100 people, ε = .1: refused, and the crowd offered can really be planned."""
    responses = ResponseFormat(40, linkage=RECORD)
    with pytest.raises(CannotMeet) as refusal:
        plan_noise(Policy(epsilon=0.1, minimum_crowd=100, delta=1e-6), responses)
    (only,) = refusal.value.nearest  # ε would have to be above 10
    crowd = int(only.split()[1].replace(",", ""))
    plan_noise(Policy(epsilon=0.1, minimum_crowd=crowd, delta=1e-6), responses)
    with pytest.raises(CannotMeet):
        plan_noise(Policy(epsilon=0.1, minimum_crowd=int(crowd * 0.9), delta=1e-6), responses)


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("epsilon", lambda: Policy(epsilon=0.0, minimum_crowd=100, delta=0.1)),
        ("epsilon", lambda: Policy(epsilon=-1.0, minimum_crowd=100, delta=0.1)),
        ("epsilon", lambda: Policy(epsilon=math.inf, minimum_crowd=100, delta=0.1)),
        ("epsilon", lambda: Policy(epsilon=math.nan, minimum_crowd=100, delta=0.1)),
        ("minimum_crowd", lambda: Policy(epsilon=1.0, minimum_crowd=1, delta=0.1)),
        ("minimum_crowd", lambda: Policy(epsilon=1.0, minimum_crowd=10.5, delta=0.1)),
        ("eta", lambda: Policy(epsilon=1.0, minimum_crowd=100, eta=1.0)),
        ("delta", lambda: Policy(epsilon=1.0, minimum_crowd=100, delta=0.0)),
        ("delta/eta", lambda: Policy(epsilon=1.0, minimum_crowd=100, delta=0.1, eta=0.1)),
        ("delta/eta", lambda: Policy(epsilon=1.0, minimum_crowd=100)),
        ("colluding", lambda: Policy(epsilon=1.0, minimum_crowd=100, delta=0.1, colluding=99)),
        ("bits", lambda: ResponseFormat(0)),
        ("copies", lambda: ResponseFormat(1, copies=0)),
        ("max_set_bits", lambda: ResponseFormat(3, max_set_bits=4)),
        ("max_set_bits", lambda: ResponseFormat(3, max_set_bits=1, structure=(FreeBits(3),))),
        ("structure", lambda: ResponseFormat(4, structure=(FreeBits(3),))),
        ("options", lambda: ExactlyOne(1)),
        ("noise", lambda: assess(ResponseFormat(1), 0.5, 100, 1.0)),
        ("noise", lambda: assess(ResponseFormat(1), 0.0, 100, 1.0)),
    ],
)
def test_bad_input_names_the_field(field, make):
    """Every broken rule names its field and the value found."""
    with pytest.raises(InvalidInput) as error:
        make()
    assert error.value.field == field


def test_sigma_is_known_before_any_data():
    """σ = √(Npq/k)/(p-q), and the half-width is 1.96 of it, also as a share of the crowd."""
    found = precision(ResponseFormat(1, copies=4), 0.25, 10_000)
    assert found.sigma == pytest.approx(math.sqrt(10_000 * 0.1875 / 4) / 0.5)
    assert found.half_width_95 == pytest.approx(1.959964 * found.sigma)
    assert found.half_width_percent == pytest.approx(found.half_width_95 / 100)


def test_a_tiny_crowd_is_told_the_next_one_that_would_do() -> None:
    """Below fifty people the crowd is searched to the last person, and the search ends."""
    responses = ResponseFormat(bits=6, linkage=Linkage.RECORD)
    asked = Policy(epsilon=2, delta=1e-3, minimum_crowd=20)
    with pytest.raises(CannotMeet) as refused:
        plan_noise(asked, responses)
    assert refused.value.nearest[0] == "crowd 45 at epsilon 2"
    plan_noise(replace(asked, minimum_crowd=45), responses)


@pytest.mark.check
def test_long_records_of_a_small_crowd_are_refused_in_words() -> None:
    """Scores of 1e120 are within reach of the search: its arithmetic stays in range."""
    asked = Policy(epsilon=0.1, delta=1e-6, minimum_crowd=100)
    with pytest.raises(CannotMeet, match="could be anything") as refused:
        plan_noise(asked, ResponseFormat(bits=1000, linkage=Linkage.RECORD))
    assert refused.value.nearest


@pytest.mark.parametrize("linkage", [BIT, RECORD])
@pytest.mark.parametrize("bits", [1, 2])
def test_an_eta_that_only_a_report_of_its_own_can_keep_is_stated_as_kept(linkage, bits):
    """Noise was found because no ratio can be above e^ε, and an η of .71 was printed beside it."""
    plan = plan_noise(
        Policy(epsilon=4.83, minimum_crowd=2, eta=0.001), ResponseFormat(bits, linkage=linkage)
    )
    assert plan.promise.eta <= 0.001


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.floats(0.1, 50))
@settings(max_examples=200, deadline=None)
def test_search_finds_the_first_that_passes(crossing, guess, slope):
    """For any falling function the search returns its first passing number in few steps."""
    tries: list[int] = []

    def excess(n: int, full: bool) -> float:
        tries.append(n)
        return (
            slope * (math.log(crossing) - math.log(n)) if n < crossing else -1e-12 * (n - crossing)
        )

    assert smallest_passing(excess, guess, 1, 10**9) == crossing
    assert len(tries) < 200


@pytest.mark.parametrize("crossing", [2, 17, 700, 2**10, 1_777, 2**11 - 3])
@pytest.mark.parametrize("error", [0.0, 1e-12, -1e-12])
def test_on_a_grid_rounding_errors_do_not_decide(crossing: int, error: float) -> None:
    """The first of the grid that passes, wherever the search begins; its neighbour fails."""
    grid, end = Grid(digits=5, end=2**11), 2**11 - 1
    expected = min(n for n in range(1, end + 1) if grid.up(n) == n and n >= crossing)
    for guess in (1, 500, crossing, end):
        found = smallest_passing(
            lambda n, _: (crossing - 0.5 - n) / 100 + error, guess, 1, end, grid=grid
        )
        assert found == expected
    before = grid.down(expected - 1)
    assert before < crossing
    assert grid.up(before + 1) == expected


def test_a_rise_near_the_limit_is_a_bug() -> None:
    """Whatever is found where the bound rises would be chance."""
    with pytest.raises(InternalError, match="rises"):
        smallest_passing(lambda n, _: n / 1000 if n < 900 else -1.0, 600, 1, 1_000)


def test_a_rise_far_below_the_limit_is_rounding() -> None:
    """A comparison of ways ended with exit code 70 for 10^8 compositions: from 1e-26 to 1e-21."""

    def excess(n: int, _: bool) -> float:
        return 5.0 if n < 300 else -53.6 if n < 800 else -42.6

    assert smallest_passing(excess, 900, 1, 1_000) == 300


def record(*blocks: Block, copies: int = 1) -> ResponseFormat:
    positions = sum(block.options for block in blocks)
    return ResponseFormat(positions, linkage=Linkage.RECORD, copies=copies, structure=blocks)


@pytest.mark.check
def test_one_part_is_the_plain_record() -> None:
    """A structure of one part says the same as bits and max_set_bits."""
    policy = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=10**6)
    plain = ResponseFormat(20, linkage=Linkage.RECORD, max_set_bits=2)
    assert plan_noise(policy, record(AtMost(2, 20))).noise == plan_noise(policy, plain).noise
    free = ResponseFormat(20, linkage=Linkage.RECORD)
    assert plan_noise(policy, record(FreeBits(20))).noise == plan_noise(policy, free).noise


@pytest.mark.check
def test_knowing_the_structure_saves_noise() -> None:
    """A choice among ten is less to hide than ten free bits, and more than one."""
    policy = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=10**6)
    choice = plan_noise(policy, record(FreeBits(5), AtMost(1, 10))).noise
    free = plan_noise(policy, record(FreeBits(15))).noise
    less = plan_noise(policy, record(FreeBits(6))).noise
    assert less < choice < free


@pytest.mark.check
def test_copies_of_mixed_records_are_composed() -> None:
    """More copies need more noise and give more precision."""
    policy = Policy(epsilon=2.0, delta=1e-6, minimum_crowd=10**6)
    one = plan_noise(policy, record(FreeBits(3), AtMost(1, 4)))
    four = plan_noise(policy, record(FreeBits(3), AtMost(1, 4), copies=4))
    assert four.noise > one.noise
    assert four.precision.sigma < one.precision.sigma
    assert four.promise.local_epsilon < 4 * one.promise.local_epsilon
