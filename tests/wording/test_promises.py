"""The words behind the codes of a promise."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import pytest

from krand.errors import InvalidInput
from krand.promise import Assumption, Method, Policy
from krand.showing import at_most
from krand.survey.plan_file import parse_plan
from krand.testing import small_plan
from krand.wording.plan_texts import PLANS
from krand.wording.promises import (
    assumption_text,
    assumption_texts,
    if_they_collude,
    limit_of,
    method_text,
    promise,
    promise_symbols,
    protection,
)
from krand.wording.texts import ENGLISH


@pytest.mark.parametrize("method", Method)
def test_every_method_has_a_sentence_of_its_own(method: Method) -> None:
    """Two methods are never told in the same words, and none by its code."""
    said = method_text(method)
    assert " " in said
    assert [other for other in Method if method_text(other) == said] == [method]


@pytest.mark.parametrize("assumption", Assumption)
def test_every_assumption_has_a_sentence_of_its_own(assumption: Assumption) -> None:
    """Without a gap for a number that was not filled."""
    promise = small_plan().promise
    said = assumption_text(assumption, promise)
    assert " " in said
    assert "{" not in said
    assert [a for a in Assumption if assumption_text(a, promise) == said] == [assumption]


def test_the_numbers_are_those_of_the_promise() -> None:
    """The crowd without those who collude, who are named where there are some."""
    promise = replace(small_plan().promise, crowd=12_345, colluding=0)
    alone, *_ = assumption_texts(promise)
    assert alone == "at least 12,345 honest people respond in the same batch"
    beside, *_ = assumption_texts(replace(promise, colluding=45))
    assert "12,300 honest" in beside
    assert "45 more may work with the analyst" in beside


def test_no_words_are_in_a_plan() -> None:
    """A sentence can be corrected or translated without changing the hash of any plan."""
    own = ENGLISH.proofs
    for texts in (own.methods, own.assumptions):
        for text in (PLANS.how_known, *texts.values()):
            assert text.partition("{")[0].encode() not in small_plan().bytes
    codes = {small_plan().promise.method, *small_plan().promise.assumptions}
    assert all(code.encode() in small_plan().bytes for code in codes)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("method", "worst crowd for each bit"),
        ("assumptions", ["honest-crowd", "good luck"]),
    ],
)
def test_an_unknown_code_is_refused_by_name(field: str, value: object) -> None:
    """The plan's reader names the field, the value, and the codes that it knows."""
    values = json.loads(small_plan().bytes)
    values["promise"][field] = value
    with pytest.raises(InvalidInput) as refused:
        parse_plan(json.dumps(values).encode())
    found = value[-1] if isinstance(value, list) else value
    known = json.loads(small_plan().bytes)["promise"][field]
    known = known[0] if isinstance(known, list) else known
    named = rf"promise\.{field}(\[1\])?: should be one of .*{known}.*, found {found!r}"
    assert re.search(named, refused.value.hint)


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


@pytest.mark.parametrize(
    ("limits", "name", "symbols"),
    [
        ({"epsilon": 1, "delta": 1e-6}, "δ", "ε = 1, δ = 10⁻⁶"),
        ({"epsilon": 1, "eta": 0.003}, "η", "ε = 1, η = 0.003"),
        ({"epsilon": 1.0000001, "delta": 1.00001e-6}, "δ", "ε = 1.001, δ = 2×10⁻⁶"),
    ],
)
def test_a_promise_is_told_by_what_it_limits(
    limits: dict[str, float], name: str, symbols: str
) -> None:
    """δ or η, whichever the survey asks for; rounded up, so that 1.0000001 is not shown as 1.

    Of a promise it is its own value, never the survey's.
    """
    policy = Policy(minimum_crowd=1_000, **limits)
    own = replace(small_plan().promise, delta=1e-7, eta=2e-4)
    assert promise_symbols(policy.epsilon, limit_of(policy, policy)) == symbols
    assert f"{name} = {at_most(limit_of(policy, policy)[1])}" in promise(policy)
    assert limit_of(policy, own) == (name, {"δ": 1e-7, "η": 2e-4}[name])
