"""What a chain of mixers leaves to be found: counts, words, tables of questions, differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from command_line import told
from krand import make_results, tally_batches
from krand.analysis.results import Results, ResultsOptions
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.survey.choices import Choices
from krand.survey.questions import Choice, Question, Words, YesNo
from krand.survey.survey import Survey, Together, Trust
from krand.testing import FakeChain

CANDIDATES = ["jazz", "rock", "folk", "soul", "polka"]
SMOKES, PET = YesNo(name="smokes"), Choice(name="pet", choices=Choices(("cat", "dog")))


def chain_for(*questions: Question, together: bool = False) -> FakeChain:
    """Two mixers, and little noise, so that few people are enough."""
    survey = Survey(
        id="mixed",
        policy=Policy(epsilon=8.0, delta=1e-4, minimum_crowd=60),
        questions=questions,
        together=(Together(("smokes", "pet")),) if together else (),
        trust=Trust(noise="mixers", mixers=2),
    )
    return FakeChain(make_plan(survey))


def results_from(
    chain: FakeChain, people: Iterable[Mapping[str, Any]], folder: Path, **words: list[str]
) -> Results:
    """What the analyst finds after everybody has answered."""
    for answers in people:
        chain.client().submit(chain.url, answers)
    batch = chain.release(folder)
    tally = tally_batches(chain.plan, [batch], chain.key)
    return make_results(chain.plan, tally, ResultsOptions(candidates=words))


@pytest.mark.check
@pytest.mark.parametrize(
    ("at_most", "said"), [(1, ["jazz"]), (3, ["jazz", "rock", "folk"])], ids=["one", "three"]
)
def test_words_that_were_said_are_found(at_most: int, said: list[str], tmp_path: Path) -> None:
    """Each hash function has a lane. Words that nobody said may be found, but count nobody."""
    chain = chain_for(Words(name="tag", size=128, hashes=2, at_most=at_most))
    assert [lane.messages for lane in chain.plan.lanes] == [at_most, at_most]
    answers = said[0] if at_most == 1 else said
    people = [{"tag": answers}] * 60 + [{}] * 20
    results = results_from(chain, people, tmp_path / "out", tag=CANDIDATES)
    (words,) = results.words
    assert {row.word for row in words.found} >= set(said)
    for row in words.rows:
        assert row.standard_error is not None
        true = 60 if row.word in said else 0
        assert abs(row.unclipped - true) < 8 * row.standard_error < 30


@pytest.mark.check
def test_questions_are_seen_together(tmp_path: Path) -> None:
    """A table of two questions, with the noise of dummies in each of its cells."""
    chain = chain_for(SMOKES, PET, together=True)
    people = [{"smokes": True, "pet": "cat"}] * 50 + [{"smokes": False, "pet": "dog"}] * 30
    results = results_from(chain, people, tmp_path / "out")
    (joint,) = results.joint
    table = joint.table
    cells = {
        (smokes, pet): table.counts[row, column]
        for row, smokes in enumerate(table.labels[0])
        for column, pet in enumerate(table.labels[1])
    }
    error = float(table.standard_errors.max())
    assert 0 < error < 15
    for labels, true in ((("yes", "cat"), 50), (("no", "dog"), 30), (("yes", "dog"), 0)):
        assert abs(cells[labels] - true) < 8 * error
    assert joint.given
    assert joint.independence is not None
    assert joint.independence.p_value < 0.01


@pytest.mark.check
def test_two_surveys_are_compared(tmp_path: Path) -> None:
    """By krand compare, from their files; z is that of the dummies, above the normal one."""
    found = []
    for name, cats in (("spring", 20), ("autumn", 60)):
        people = [{"pet": "cat"}] * cats + [{"pet": "dog"}] * (80 - cats)
        results = results_from(chain_for(PET), people, tmp_path / name)
        results.save(tmp_path / f"{name}.json")
        found.append(tmp_path / f"{name}.json")
    rows = {row["label"]: row for row in told("compare", *found)["questions"]["pet"]}
    cat = rows["cat"]
    assert abs(cat["difference"] - 0.5) < 8 * cat["standard_error"]
    assert cat["standard_error"] < 0.05
    assert cat["interval"]["low"] > 0
    assert rows["dog"]["interval"]["high"] < 0
    width = cat["interval"]["high"] - cat["interval"]["low"]
    assert width > 2 * 1.96 * cat["standard_error"]
