"""The values keep the rules of the file: a broken survey cannot be built in Python either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey import mechanisms
from krand.survey.about import About
from krand.survey.choices import Choices
from krand.survey.document import document_of, survey_of
from krand.survey.questions import Choice, Matrix, Number, PickAny, Scale, Words, YesNo
from krand.survey.reading import SurveyErrors, parse_survey
from krand.survey.survey import Survey, Together, Trust
from krand.testing import SMALL_SURVEY
from survey.drawing import POLICY, asking

A, B = YesNo(name="a"), YesNo(name="b")
M = Matrix(name="m", text="?")
PAIR = (Together(("a", "b")),)
RATING: dict[str, Any] = {"name": "q", "lowest": 1, "highest": 5}
CAPPED = replace(POLICY, max_local_epsilon=3.0)
BROKEN: list[tuple[Callable[[], object], str]] = [
    (lambda: YesNo(name="a b"), "name"),
    (lambda: YesNo(name="a", weight=0), "a.weight"),
    (lambda: YesNo(name="a", weight=True), "a.weight"),
    (lambda: YesNo(name="a", text="x" * 10_001), "a.text"),
    (lambda: YesNo(name="a", help="\u202e"), "a.help"),
    (lambda: YesNo(name="a", required=1), "a.required"),  # type: ignore[arg-type]
    (lambda: Choices(["a", "a"]), "choices[1]"),
    (lambda: Number(name="n", edges=(1, 0)), "n.edges[1]"),
    (lambda: Number(name="n", edges=(1, 2.5), integer=True), "n.edges[1]"),
    (lambda: Number(name="n", edges=(0, 1), unit="a\nb"), "n.unit"),
    (lambda: PickAny(name="p", choices=Choices("ab"), at_most=3), "p.at_most"),
    (lambda: Scale(**RATING | {"lowest": 6}), "q.highest"),
    (lambda: Scale(**RATING | {"highest": "5"}), "q.highest"),
    (lambda: Scale(**RATING | {"lowest": True}), "q.lowest"),
    (lambda: Scale(**RATING, labels=("a", "b", "c")), "q.labels"),
    (lambda: Scale(**RATING, labels=("a", "a")), "q.labels[1]"),
    (lambda: Scale(**RATING, box=3), "q.box"),
    (lambda: Words(name="w", size=1, hashes=1), "w.positions"),
    (lambda: Words(name="w", size=8, hashes=0), "w.hashes"),
    (lambda: Words(name="w", size=8, hashes=9), "w.hashes"),
    (lambda: Words(name="w", size=8, hashes=1, at_most=0), "w.at_most"),
    (lambda: Together(("a",)), "together.questions"),
    (lambda: Together(("a", "b"), weight=-1), "together.weight"),
    (lambda: About(title="a\nb"), "title"),
    (lambda: About(thanks="\u202e"), "thanks"),
    (lambda: About(language="german"), "language"),
    (lambda: About(closes=datetime(2026, 12, 24)), "closes"),
    (lambda: About(closes="2026-12-24"), "closes"),  # type: ignore[arg-type]
    (lambda: survey_of(document_of(asking(A)) | {"closes": "soon"}), "closes"),
    (lambda: Trust(noise=mechanisms.MIXERS, mixers=0), "trust.mixers"),
    (lambda: Trust(noise=mechanisms.MIXERS, mixers=9), "trust.mixers"),
    (lambda: asking(A, trust=Trust(mixers=2)), "trust.mixers"),
    (lambda: Trust(noise="both"), "noise"),
    (lambda: asking(A, trust=Trust(noise="mixers"), policy=CAPPED), "policy.max_local_epsilon"),
    (lambda: asking(A, id="s s"), "id"),
    (lambda: asking(), "question"),
    (lambda: asking(A, A), "question[1].name"),
    (lambda: YesNo(name="a", counts="no"), "a.counts"),
    (lambda: Number(name="n", edges=(0, 1), asked_as="range"), "n.asked_as"),
    (lambda: Number(name="n", edges=tuple(range(31)), asked_as="ranges"), "n.edges"),
    (lambda: Matrix(name="a b"), "matrix.name"),
    (lambda: Matrix(name="a", text="\u202e"), "matrix.text"),
    (lambda: asking(replace(A, matrix=M), B, YesNo(name="c", matrix=M)), "question[2]"),
    (lambda: asking(replace(A, matrix=M), Scale(**RATING, matrix=M)), "question[1]"),
    (lambda: asking(Words(name="w", size=8, hashes=1, matrix=M)), "question[0]"),
    (lambda: asking(A, copies=0), "copies"),
    (lambda: asking(A, copies=2), "copies"),
    (lambda: asking(A, rounds=True), "rounds"),
    (lambda: asking(A, rounds=3), "rounds"),
    (lambda: asking(A, invitations=1), "invitations"),
    (lambda: asking(A, together=PAIR), "together[0].questions[1]"),
    (lambda: asking(A, B, together=PAIR, linkage=Linkage.RECORD), "together[0]"),
    (lambda: asking(A, Words(name="w", size=10**6, hashes=1)), "question[1]"),
]


@pytest.mark.parametrize(("build", "field"), BROKEN)
def test_broken_values_cannot_be_built(build: Callable[[], object], field: str) -> None:
    """The first broken rule is an error that names the field."""
    with pytest.raises(InvalidInput) as caught:
        build()
    assert caught.value.field == field


def test_lists_will_do() -> None:
    """What a program writes as lists is the same survey."""
    asked = [
        Choice(name="c", choices=["x", "y"]),  # type: ignore[arg-type]
        PickAny(name="p", choices=["x", "y"]),  # type: ignore[arg-type]
        Number(name="n", edges=[0, 1, 2]),  # type: ignore[arg-type]
        Scale(**RATING, labels=["bad", "good"]),  # type: ignore[arg-type]
    ]
    survey = Survey(id="s", policy=POLICY, questions=asked, together=[Together(["c", "n"])])  # type: ignore[arg-type]
    assert survey_of(document_of(survey)) == survey
    assert {survey: 1}[replace(survey)] == 1


def test_a_dictionary_is_read_as_a_file_is() -> None:
    """Under the same rules, with all mistakes at once; tuples are lists."""
    survey = parse_survey(SMALL_SURVEY)
    values = document_of(survey)
    assert Survey.from_values(values) == survey
    assert Survey.from_values(values | {"question": tuple(values["question"])}) == survey
    wrong = values | {"titel": "x", "question": [{"name": "q", "type": "choice", "choices": ["a"]}]}
    with pytest.raises(SurveyErrors) as caught:
        Survey.from_values(wrong)
    assert {problem.path for problem in caught.value.problems} >= {"titel", "question[0].choices"}


def test_lists_of_choices_lie_in_a_folder(tmp_path: Path) -> None:
    """As beside a file."""
    (tmp_path / "items.txt").write_text("a\nb\n", encoding="utf-8")
    question = {"name": "q", "type": "choice", "choices_file": "items.txt"}
    values = document_of(asking(A)) | {"question": [question]}
    (found,) = Survey.from_values(values, tmp_path).questions
    assert found == Choice(name="q", choices=Choices("ab"))


def test_values_are_frozen_and_hashable() -> None:
    """A survey can be a key, and nobody can change it afterwards."""
    survey = asking(A, B, together=PAIR)
    assert {survey: 1}[asking(A, B, together=PAIR)] == 1
    with pytest.raises(FrozenInstanceError):
        survey.id = "t"  # type: ignore[misc]
