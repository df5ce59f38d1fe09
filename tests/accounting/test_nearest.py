"""What is suggested instead of a request that cannot be met."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from effort import LONG
from krand import Linkage, Policy, ResponseFormat, plan_noise
from krand.accounting import suggestions as nearest
from krand.accounting.division import Share, can_be_met
from krand.accounting.suggestions import (
    GIVEN_UP,
    HOPELESS,
    MOST_EPSILON,
    MOST_PEOPLE,
    nearest_policies,
)
from krand.errors import CannotMeet

SUGGESTION = re.compile(r"(crowd|epsilon|delta|max_local_epsilon|bits|copies) ([\d.,e+-]*\d)")


def refusal_of(policy: Policy, responses: ResponseFormat) -> CannotMeet | None:
    try:
        plan_noise(policy, responses)
    except CannotMeet as refused:
        return refused
    return None


def applied(text: str, policy: Policy, responses: ResponseFormat) -> tuple[Policy, ResponseFormat]:
    """The request that a suggestion names."""
    for name, value in SUGGESTION.findall(text):
        number = float(value.replace(",", ""))
        if name in ("bits", "copies"):
            responses = replace(responses, **{name: int(number)})
        elif name == "crowd":
            policy = replace(policy, minimum_crowd=int(number))
        else:
            policy = replace(policy, **{name: number})
    return policy, responses


LIMITS = [{"delta": 1e-12}, {"delta": 1e-6}, {"delta": 1e-3}, {"eta": 1e-3}]
requests = st.builds(
    lambda epsilon, crowd, limit, bits, linkage, copies, cap: (
        Policy(epsilon=epsilon, minimum_crowd=crowd, max_local_epsilon=cap, **limit),
        ResponseFormat(bits, linkage=linkage, copies=copies),
    ),
    st.sampled_from([0.01, 0.1, 0.5, 1.0, 4.0, 9.0, 15.0, 60.0] if LONG else [0.1, 1.0, 15.0]),
    st.sampled_from([2, 3, 8, 12, 30, 60, 150] if LONG else [2, 3, 8]),
    st.sampled_from(LIMITS),
    st.sampled_from([1, 2, 5, 20] if LONG else [2, 5]),
    st.sampled_from([Linkage.BIT, Linkage.RECORD]),
    st.sampled_from([1, 3] if LONG else [1]),
    st.sampled_from([None, None, 0.1, 2.0, 30.0]),
)


@pytest.mark.check
@pytest.mark.loop
@settings(max_examples=300 if LONG else 3, deadline=None, derandomize=not LONG)
@given(requests)
def test_every_suggestion_can_be_met_and_is_worth_promising(
    request: tuple[Policy, ResponseFormat],
) -> None:
    """ε at most 10, δ below 1/N, and each of them really plannable; or plainly that nothing is."""
    policy, responses = request
    refused = refusal_of(policy, responses)
    assume(refused is not None and "could be anything" in refused.reason)
    assert bool(refused.nearest) != (HOPELESS in refused.reason)
    for text in refused.nearest:
        other, fewer = applied(text, policy, responses)
        assert (other, fewer) != (policy, responses)
        named = [float(value) for name, value in SUGGESTION.findall(text) if "epsilon" in name]
        assert all(value <= MOST_EPSILON for value in named)
        assert other.minimum_crowd <= 1.2 * MOST_PEOPLE
        if other.delta != policy.delta:
            assert other.delta < 1 / policy.minimum_crowd
        assert refusal_of(other, fewer) is None, text


def test_an_epsilon_that_protects_nobody_is_not_offered() -> None:
    """Twelve people with 20 linked bits would need ε = 22: only a larger crowd is offered."""
    refused = refusal_of(
        Policy(epsilon=1.0, minimum_crowd=12, delta=1e-6),
        ResponseFormat(20, linkage=Linkage.RECORD),
    )
    assert not any("epsilon" in text and "crowd 12" in text for text in refused.nearest)
    assert refused.nearest[0].startswith("crowd ")


def test_where_nothing_would_do_it_is_said_plainly() -> None:
    """A cap on ε₀ of 10⁻⁶ for 40 linked bits: beyond 10¹⁰ people, and no other value helps."""
    asked = Policy(epsilon=0.01, minimum_crowd=2, delta=1e-6, max_local_epsilon=1e-6)
    refused = refusal_of(asked, ResponseFormat(1, linkage=Linkage.RECORD))
    assert refused.nearest == ()
    assert HOPELESS in refused.reason


@pytest.mark.check
@pytest.mark.parametrize("crowd", [10, 60])
def test_questions_are_suggested_a_crowd_and_an_epsilon_of_at_most_10(
    crowd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise divided over several questions: what is suggested can be met for all of them."""
    monkeypatch.setattr(nearest, "PATIENCE", 600.0)  # however busy the machine is
    policy, shares = (
        Policy(epsilon=0.1, minimum_crowd=crowd, delta=1e-9),
        [Share(2), Share(6, 2.0), Share(1)],
    )
    assert not can_be_met(policy, shares)
    found = nearest_policies(policy, lambda other: can_be_met(other, shares))
    assert found.complete
    assert found.requests
    for text in found.requests:
        other, _ = applied(text, policy, ResponseFormat(1))
        assert other.epsilon <= MOST_EPSILON
        assert can_be_met(other, shares)


def test_a_search_that_ran_out_of_time_does_not_say_that_nothing_would_do(monkeypatch):
    monkeypatch.setattr(nearest, "PATIENCE", -1.0)
    refused = refusal_of(Policy(epsilon=0.1, minimum_crowd=10, delta=1e-9), ResponseFormat(4))
    assert refused.nearest == ()
    assert refused.reason.endswith(GIVEN_UP)
    assert HOPELESS not in refused.reason
