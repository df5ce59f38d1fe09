"""The values keep the rules of the file: a broken survey cannot be built in Python either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest

from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.choices import Choices
from krand.survey.questions import Number, PickAny, Words, YesNo
from krand.survey.survey import Survey, Together
from survey.drawing import POLICY

A, B = YesNo(name="a"), YesNo(name="b")
BROKEN: list[tuple[Callable[[], object], str]] = [
    (lambda: YesNo(name="a b"), "name"),
    (lambda: YesNo(name="a", weight=0), "a.weight"),
    (lambda: YesNo(name="a", weight=True), "a.weight"),
    (lambda: YesNo(name="a", text="x" * 10_001), "a.text"),
    (lambda: Number(name="n", edges=(1, 0)), "n.edges[1]"),
    (lambda: Number(name="n", edges=(1, 2.5), integer=True), "n.edges[1]"),
    (lambda: PickAny(name="p", choices=Choices("ab"), at_most=3), "p.at_most"),
    (lambda: Words(name="w", size=1, hashes=1), "w.positions"),
    (lambda: Words(name="w", size=8, hashes=0), "w.hashes"),
    (lambda: Words(name="w", size=8, hashes=9), "w.hashes"),
    (lambda: Words(name="w", size=8, hashes=1, at_most=0), "w.at_most"),
    (lambda: Together(("a",)), "together.questions"),
    (lambda: Together(("a", "b"), weight=-1), "together.weight"),
    (lambda: Survey(id="s s", policy=POLICY, questions=(A,)), "id"),
    (lambda: Survey(id="s", policy=POLICY, questions=()), "question"),
    (lambda: Survey(id="s", policy=POLICY, questions=(A, A)), "question[1].name"),
    (lambda: Survey(id="s", policy=POLICY, questions=(A,), copies=0), "copies"),
    (lambda: Survey(id="s", policy=POLICY, questions=(A,), copies=2), "copies"),
    (lambda: Survey(id="s", policy=POLICY, questions=(A,), rounds=True), "rounds"),
    (
        lambda: Survey(id="s", policy=POLICY, questions=(A,), together=(Together(("a", "b")),)),
        "together[0].questions[1]",
    ),
    (
        lambda: Survey(
            id="s",
            policy=POLICY,
            questions=(A, B),
            together=(Together(("a", "b")),),
            linkage=Linkage.RECORD,
        ),
        "together[0]",
    ),
    (
        lambda: Survey(id="s", policy=POLICY, questions=(A, Words(name="w", size=10**6, hashes=1))),
        "question[1]",
    ),
]


@pytest.mark.parametrize(("build", "field"), BROKEN)
def test_broken_values_cannot_be_built(build: Callable[[], object], field: str) -> None:
    """The first broken rule is an error that names the field."""
    with pytest.raises(InvalidInput) as caught:
        build()
    assert caught.value.field == field


def test_values_are_frozen_and_hashable() -> None:
    """A survey can be a key, and nobody can change it afterwards."""
    survey = Survey(id="s", policy=POLICY, questions=(A, B), together=(Together(("a", "b")),))
    assert {survey: 1}[
        Survey(id="s", policy=POLICY, questions=(A, B), together=(Together(("a", "b")),))
    ] == 1
    with pytest.raises(FrozenInstanceError):
        survey.id = "t"  # type: ignore[misc]
