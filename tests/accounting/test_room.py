"""How much is sent says nothing: room for tokens, padding for dummies, and sums of dummies."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import krand
from accounting.engine import (
    Tokens,
    dummy_law,
    law_with,
    least_flips,
    message_size,
    messages_needed,
    overflow_bound,
    padding_needed,
    promise_of_division,
    sum_distance,
    sum_law,
    sum_tails,
    surplus_bound,
)
from oracle import convolved, weighted_law

TOKENS = [
    Tokens(positions, ones, math.ceil(q * 2**32))
    for positions, ones, q in [
        (40, 40, 0.002),
        (10, 1, 0.003),
        (600, 1, 0.003),
        (300, 3, 0.1),
        (1, 1, 0.2),
        (5, 1, 0.45),
    ]
]


def overflow(block: Tokens, messages: int) -> float:
    """The probability of more ones than messages, when everybody sets the most ones."""
    law, q = np.ones(1), block.numerator / 2**32
    for count, p in ((block.most_ones, 1 - q), (block.positions - block.most_ones, q)):
        law = np.convolve(law, stats.binom.pmf(np.arange(count + 1), count, p))
    return min(1.0, float(law[messages + 1 :].sum()))


@pytest.mark.parametrize("block", TOKENS, ids=str)
def test_tokens_overflow_no_more_often_than_stated(block: Tokens) -> None:
    """For every room; and what is needed is not much more than would do."""
    rooms = range(block.positions + 2)
    bounds = [overflow_bound(block, room) for room in rooms]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[block.positions :] == [0.0, 0.0]
    for room, bound in zip(rooms, bounds, strict=True):
        true = overflow(block, room)
        assert true <= bound, f"{true!r} overflow a room of {room}, {bound!r} is stated"
    for most in (1e-6, 1e-30):
        needed = messages_needed(block, most)
        assert block.most_ones <= needed <= block.positions
        assert bounds[needed] <= most
        if needed < block.positions:
            less = needed - (needed - block.most_ones) // 3 - 1
            assert overflow(block, less) > most, f"{needed} messages, though {less} would do"


@pytest.mark.parametrize("limit", [{"delta": 1e-6}, {"eta": 1e-3}])
def test_noise_pays_for_an_overflow(limit: dict[str, float]) -> None:
    """With a given distance from what never overflows, the promise is kept all the same."""
    policy = krand.Policy(epsilon=1.0, minimum_crowd=3000, **limit)
    distance, questions = 1e-9, [(2, 1.0), (3, 1.0)]
    found = least_flips(policy, questions, overflow=distance)
    bare = promise_of_division(policy, questions, found.noise)
    assert found.promise.delta == pytest.approx(bare.delta + (1 + math.e) * distance, rel=1e-9)
    name = next(iter(limit))
    assert getattr(bare, name) < getattr(found.promise, name) <= policy.limit


def test_what_a_person_sends() -> None:
    """Records: a message for each copy; tokens: those that are set, and some room."""
    policy = krand.Policy(epsilon=1.0, minimum_crowd=1000, delta=1e-3)
    records = krand.ResponseFormat(9, linkage="record")
    assert message_size(krand.plan_noise(policy, records)) == (1, 50 + 2)
    many, size = message_size(krand.plan_noise(policy, krand.ResponseFormat(50, max_set_bits=2)))
    assert 2 < many < 30, many
    assert size == 54 * many


# --- dummies ------------------------------------------------------------------------------------

LAWS = [dummy_law(1.0, 0.5, 10), dummy_law(1.0, 2.0, 27), dummy_law(1.3, 3.0, 12)]


def test_a_law_of_dummies() -> None:
    """Whole weights that add up to 2^63, symmetric; mean, variance and reach follow from them."""
    for law in (*LAWS, law_with((1,)), law_with((2, 1)), law_with((2, 3))):
        weights = law.weights
        assert sum(weights) == 2**63
        assert weights == weights[::-1]
        assert len(weights) == 2 * law.reach + 1
        places = range(len(weights))
        mean = Fraction(sum(x * w for x, w in zip(places, weights, strict=True)), 2**63)
        assert mean == law.mean
        square = Fraction(sum(x * x * w for x, w in zip(places, weights, strict=True)), 2**63)
        assert float(square - mean**2) == pytest.approx(law.variance, rel=1e-12)
    for half in ((2**63 - 1,), (2**63, 1), (2**63 - 2, 0), (2**63 + 2, -1)):
        with pytest.raises(krand.InvalidInput, match="weights"):
            type(LAWS[0])(half)


def test_weights_of_dummies_fall_as_their_shape_says() -> None:
    """Geometric: every weight is e^(-1/s) of the one before; others fall faster at their ends."""
    geometric, other = dummy_law(1.0, 2.0, 27).half, dummy_law(1.5, 2.0, 10).half
    ratios = [b / a for a, b in itertools.pairwise(geometric[:20])]
    assert ratios == pytest.approx([math.exp(-1 / 2)] * 19, rel=1e-9)
    for x in range(1, 5):
        expected = math.exp(-((x / 2) ** 1.5)) * (1 - (x / 11) ** 8) ** 2
        assert other[x] / other[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("positions", [1, 3, 20])
def test_padding_is_exceeded_no_more_often_than_stated(positions: int) -> None:
    """With room for what a person sends, which is not to be seen either."""
    law = LAWS[2]
    mass = np.array(law.weights, dtype=float) / 2**63
    total = np.ones(1)
    for _ in range(positions):
        total = np.convolve(total, mass)
    for most in (law.mean * positions, law.mean * positions + 8, 2 * law.reach * positions - 1):
        assert total[most + 1 :].sum() <= surplus_bound(law, positions, most) + 1e-15
    padding = padding_needed(law, positions, 2, 1e-9)
    assert total[padding - 2 + 1 :].sum() <= 1e-9
    assert surplus_bound(law, positions, padding - 3) > 1e-9


def test_a_surplus_costs_what_a_person_may_add() -> None:
    """Two messages over two positions with 0 to 2 dummies each: P[ΣZ > B - 2], not P[ΣZ > B]."""
    quarters = weighted_law((1, 2, 1))
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
        pairs = itertools.product(laws, repeat=2)
        return max(sum(max(0, p - 2 * b.get(seen, 0)) for seen, p in a.items()) for a, b in pairs)

    def surplus(most: int) -> Fraction:
        return sum((chance for z, chance in draws.items() if sum(z) > most), Fraction(0))

    assert worst(4) + surplus(3) < worst(3) <= worst(4) + surplus(1)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"reach {law.reach}")
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_sums_of_dummies(law: object, draws: int) -> None:
    """The dummies of several mixers: their law, their tails, and where a tail ends."""
    exact = convolved(*[weighted_law(law.weights)] * draws)  # type: ignore[attr-defined]
    start, masses = sum_law(law, draws)
    listed = [float(mass) for mass in exact[start : start + len(masses)]]
    assert masses == pytest.approx(listed, rel=1e-12)
    assert sum(exact) - sum(exact[start : start + len(masses)]) < 1e-280
    middle = draws * law.reach  # type: ignore[attr-defined]
    true = [float(sum(exact[middle + w :])) for w in range(middle + 1)]
    tails = sum_tails(law, draws).tolist()
    for w, tail in enumerate(tails[: len(true)]):
        assert true[w] <= tail <= true[w] + 1e-11, f"P[S ≥ {w}] {tail!r}, not {true[w]!r}"
    assert all(rest <= tails[-1] for rest in true[len(tails) :])
    for tail in (0.2, 0.025, 1e-8):
        found = sum_distance(law, draws, tail)
        assert true[found] > tail >= (true[found + 1] if found < middle else 0)
