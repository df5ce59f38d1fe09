"""The corpus is understood as it was, and a parser that fails is noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fuzz.mutator import Mutator
from fuzz.run import Outcome, judged, replay
from fuzz.targets import TARGETS, corpus

ACCEPTED = {"submission": 1, "message": 20, "batch": 1, "chain": 1, "plan": 17}


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_is_understood(target: str) -> None:
    """What was right is still accepted; what was a finding once is refused, or comes back."""
    outcome = replay(target)
    assert outcome.findings == {}
    assert outcome.accepted == ACCEPTED[target], str(outcome)
    assert outcome.executions == len(corpus(target)) > outcome.accepted * (target != "chain")


def broken(content: bytes) -> bytes:
    return content[content.index(b"{") :]


def loose(content: bytes) -> bytes:
    assert content == content.strip(), "another value comes back"
    return content


@pytest.mark.parametrize("parser", [broken, loose])
def test_a_parser_that_fails_is_found(
    monkeypatch: pytest.MonkeyPatch, parser: Callable[[bytes], bytes]
) -> None:
    """Within some hundred inputs; each problem once, with an input that shows it."""
    monkeypatch.setitem(TARGETS, "broken", parser)
    mutator, outcome = Mutator([b'{"a": 1, "b": [2, 3]} ', b"{} "], 1), Outcome("broken")
    for _ in range(300):
        judged("broken", mutator.next(), outcome)
    (problem,) = outcome.findings
    assert parser.__name__ in problem
    assert (outcome.executions, 0 < outcome.accepted < 300) == (300, True)
    with pytest.raises((ValueError, AssertionError)):
        parser(outcome.findings[problem])


def test_mutations_follow_from_the_seed() -> None:
    """A finding can be made again."""
    first, again, other = (Mutator(corpus("plan"), seed) for seed in (1, 1, 2))
    made = [first.next() for _ in range(20)]
    assert made == [again.next() for _ in range(20)]
    assert made != [other.next() for _ in range(20)]
