"""What ε₀ is worth, in words."""

from __future__ import annotations

import math

import pytest

from krand.wording.collusion import if_they_collude, protection


@pytest.mark.parametrize(
    ("local_epsilon", "said"),
    [
        (0.8, "If collector and analyst collude, real protection remains (ε₀ = 0.8)"),
        (2.0, "If collector and analyst collude, only weak protection remains (ε₀ = 2)"),
        (5.0, "If collector and analyst collude, hardly any protection remains (ε₀ = 5)"),
        (7.1, "If collector and analyst collude, there is no protection (ε₀ = 7.1)"),
        (430.96, "If collector and analyst collude, there is no protection (ε₀ = 431)"),
    ],
)
def test_what_remains_is_said_in_words(local_epsilon: float, said: str) -> None:
    """A number alone is no statement, and a large ε₀ is no protection."""
    assert if_they_collude(local_epsilon) == said


@pytest.mark.parametrize(
    ("word", "sure"), [("real", 0.732), ("only weak", 0.953), ("hardly any", 0.9991)]
)
def test_the_words_follow_what_an_attacker_may_be_sure_of(word: str, sure: float) -> None:
    """From even odds, e^ε₀ makes somebody this sure; there the next weaker word begins."""
    odds = math.log(sure / (1 - sure))
    assert protection(odds - 0.1).startswith(word)
    assert not protection(odds).startswith(word)
