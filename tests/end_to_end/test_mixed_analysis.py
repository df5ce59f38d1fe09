"""What a chain of mixers leaves to be found: counts, words, tables of questions, differences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from command_line import told
from krand import make_results, parse_survey, tally_batches
from krand.analysis.results import Results, ResultsOptions
from krand.analysis.tally_checks import tally_checks
from krand.analysis.verification.results import results_checks
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.limits import CrowdTooSmall
from krand.survey.plan_file import parse_plan
from krand.survey.questions import Choice, Question, Words, YesNo
from krand.survey.survey import Survey, Together, Trust
from krand.testing import FakeChain
from survey_texts import question_text, survey_text

CANDIDATES = ["jazz", "rock", "folk", "soul", "polka"]
BOTH = survey_text(
    "both",
    question_text("smokes", "yes_no"),
    question_text("pet", "choice", choices=["cat", "dog", "none"]),
    epsilon=8,
    delta=0.001,
    minimum_crowd=60,
    trust={"noise": "both", "mixers": 2},
)
SMOKES, PET = YesNo(name="smokes"), Choice(name="pet", choices=Choices(("cat", "dog")))


def chain_for(
    *questions: Question, noise: mechanisms.Mechanism = mechanisms.MIXERS, together: bool = False
) -> FakeChain:
    """Two mixers, and little noise, so that few people are enough."""
    survey = Survey(
        id="mixed",
        policy=Policy(epsilon=8.0, delta=1e-4, minimum_crowd=60),
        questions=questions,
        together=(Together(("smokes", "pet")),) if together else (),
        trust=Trust(noise=noise, mixers=2),
    )
    return FakeChain(make_plan(survey))


@pytest.mark.parametrize("people", [20, 80])
def test_a_survey_with_both_is_collected_mixed_and_estimated(people: int, tmp_path: Path) -> None:
    """Two mixers sign and mix; below the crowd that flips need nothing is released."""
    chain = FakeChain(make_plan(parse_survey(BOTH)))
    plan = parse_plan(chain.plan.bytes)
    for number in range(people):
        chain.client().submit(chain.url, {"smokes": number % 2 == 0, "pet": "dog"})
    if people < 60:
        with pytest.raises(CrowdTooSmall):
            chain.collect(tmp_path / "out")
        return
    tally = tally_batches(plan, [chain.release(tmp_path / "out")], chain.key)
    assert [entry.says for entry in tally_checks(plan, tally) if entry.state == "failed"] == []
    results = make_results(plan, tally)
    assert (results.people, results.kept) == (people, True)
    assert results.flips is not None
    smokes, pet = results.questions
    assert abs(smokes.rows[0].count - people / 2) < 6 * smokes.rows[0].standard_error
    assert abs(pet.rows[1].count - people) < 6 * pet.rows[1].standard_error
    values = json.loads(json.dumps(results.values()))
    checks, _ = results_checks(values, "results.json", plan)
    assert [entry.says for entry in checks if entry.state == "failed"] == []


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
@pytest.mark.parametrize("noise", [mechanisms.MIXERS, mechanisms.BOTH])
def test_questions_are_seen_together(noise: mechanisms.Mechanism, tmp_path: Path) -> None:
    """A table of two questions, with the noise of dummies in each of its cells."""
    chain = chain_for(SMOKES, PET, noise=noise, together=True)
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
@pytest.mark.parametrize("noise", [mechanisms.MIXERS, mechanisms.BOTH])
def test_two_surveys_are_compared(noise: mechanisms.Mechanism, tmp_path: Path) -> None:
    """By krand compare, from their files; z is that of the dummies, above the normal one."""
    found = []
    for name, cats in (("spring", 20), ("autumn", 60)):
        people = [{"pet": "cat"}] * cats + [{"pet": "dog"}] * (80 - cats)
        results = results_from(chain_for(PET, noise=noise), people, tmp_path / name)
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
