"""Every kind of question is whole: module, estimator, view, documentation, schema, simulation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from krand.analysis.estimates.questions import estimate_kind
from krand.report.languages import language_of, languages
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.questions import (
    KINDS,
    Choice,
    Kind,
    Matrix,
    Number,
    PickAny,
    Question,
    Scale,
    Words,
    YesNo,
    question_from,
    question_values,
)
from krand.survey.schema import survey_schema
from krand.testing import simulated_people
from survey.drawing import asking, every_answer

ROOT = Path(__file__).resolve().parents[2]
ONE_OF_EACH: dict[str, Question] = {
    "yes_no": YesNo(name="q"),
    "choice": Choice(name="q", choices=Choices(["a", "b"])),
    "pick_any": PickAny(name="q", choices=Choices(["a", "b"]), at_most=1),
    "number": Number(name="q", edges=(0, 1, 2)),
    "scale": Scale(name="q", lowest=1, highest=5, labels=("bad", "good")),
    "words": Words(name="q", size=8, hashes=2),
}
OTHERS = (
    YesNo(name="q", counts="both"),
    YesNo(name="q", matrix=Matrix(name="m", text="?")),
    Number(name="q", edges=(0, 1, 2), asked_as="ranges"),
)
"""With keys that say something else than their defaults."""
kinds = pytest.mark.parametrize("kind", sorted(KINDS))


def test_all_kinds_are_listed() -> None:
    """A name without a class, or a class without a name, is no kind."""
    assert set(KINDS) == {kind.value for kind in Kind} - {Kind.TOGETHER.value}
    assert set(ONE_OF_EACH) == set(KINDS)


@kinds
def test_a_kind_has_an_estimator_and_a_view(kind: str) -> None:
    """None of them falls through to what knows no kind."""
    assert estimate_kind.dispatch(KINDS[kind]) is not estimate_kind.dispatch(object)
    assert all(language_of(code).texts.questions.kinds[Kind(kind)] for code in languages())


@kinds
def test_a_kind_is_documented_and_in_the_schema(kind: str) -> None:
    """A section of its own that names every key; the schema has the same keys."""
    manual = (ROOT / "docs" / "reference" / "survey-file.md").read_text(encoding="utf-8")
    assert f"\n### {kind}\n" in manual
    assert f'`"{kind}"`' in manual
    section = manual.split(f"\n### {kind}\n")[1].split("\n## ")[0]
    assert f'type = "{kind}"' in section.split("\n### ")[0]
    schema = survey_schema()
    names = schema["properties"]["question"]["items"]["discriminator"]["mapping"]
    table = schema["$defs"][names[kind].rpartition("/")[2]]
    own = {key.name for key in KINDS[kind].keys}
    shared = {"name", "type", "text", "help", "required", "weight"}
    shared |= {"asked_if", "statements", "matrix"}
    assert set(table["properties"]) == shared | own


@pytest.mark.parametrize("question", [*ONE_OF_EACH.values(), *OTHERS], ids=repr)
def test_a_kind_survives_its_plan_and_is_answered(question: Question) -> None:
    """Plain data reads back as the same question; simulated people give answers that fit."""
    assert question_from(json.loads(json.dumps(question_values(question)))) == question
    survey = asking(question)
    layout = layout_of(survey)
    for answer in every_answer(question):
        assert len(encode(layout, {"q": answer})) <= question.most_ones
    found = [encode(layout, person) for person in simulated_people(survey, 200, seed=1)]
    assert len(set(found)) > 1


def test_a_plan_with_an_unknown_key_is_refused() -> None:
    """A key that nothing reads would change the hash and nothing else."""
    with pytest.raises(ValueError, match=r"question\.colour"):
        question_from({**question_values(YesNo(name="q")), "colour": "red"})


def test_numbers_without_a_shortcut_are_encoded_one_by_one() -> None:
    """A kind that does not say how to encode an array has it done for it."""
    choice = ONE_OF_EACH["choice"]
    assert isinstance(choice, Choice)
    assert choice.levels_of(np.array([1.0, 2.0])).tolist() == [-2, -2]
