"""A mechanism from outside goes all the way: plan, lanes, mixing, tally, results, report."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

import krand.analysis.mechanisms as analysis
import krand.planning.mechanisms as planning
import krand.wording.mechanisms as wording
from enumerated_crowds import dummies_delta
from krand import (
    make_plan,
    make_results,
    parse_survey,
    read_plan,
    tally_batches,
)
from krand.analysis.checks import State
from krand.analysis.verification.files import verify_files
from krand.analysis.verification.plans import plan_checks
from krand.errors import InvalidInput
from krand.planning.checking import check_promise
from krand.report.page import report_page
from krand.survey.mechanisms.mixers import Mixers
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey as read_text
from krand.testing import FakeChain, simulated_people
from krand.wording.plans import promise_sentence, survey_table
from mechanisms.laplace import LAPLACE, laplace_known
from report.page_reader import spaced
from survey_texts import question_text, survey_text

SMOKES = question_text("smokes", "yes_no")
SURVEY = survey_text(
    "pets",
    SMOKES,
    question_text("pet", "choice", choices=["cat", "dog", "none"]),
    trust={"noise": "laplace", "mixers": 2},
    epsilon=2.0,
    delta=1e-4,
)
PEOPLE = 60


@pytest.fixture(scope="module", autouse=True)
def known() -> Iterator[None]:
    with laplace_known():
        yield


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(parse_survey(SURVEY))


@pytest.mark.parametrize("room", [planning, analysis, wording], ids=lambda room: room.__name__)
def test_a_missing_part_is_named_with_its_room(room: ModuleType) -> None:
    """Code, room and remedy, instead of a KeyError."""

    class Half(Mixers):
        code = "half"

    ask = getattr(room, "part_of", None) or room.words_of
    with pytest.raises(InvalidInput, match="half") as refused:
        ask(Half())
    assert room.__name__ in refused.value.rule
    assert refused.value.hint == f"call register of {room.__name__} with it"


def test_delta_is_that_of_every_outcome() -> None:
    """One choice, of which an answer changes two positions: enumerated, and never below."""
    made = make_plan(parse_survey(SURVEY.replace(SMOKES, "")))
    (law,) = made.mixing.laws
    exact = float(dummies_delta([law, law], (1, 1), Fraction(math.exp(2.0))))
    assert exact <= made.promise.delta <= 1e-4
    assert made.promise.delta == pytest.approx(exact, rel=1e-3)  # a plan has four digits


def test_the_plan_is_read_and_checked_like_any_other(plan: Plan, tmp_path: Path) -> None:
    """Its law is that of a discrete Laplace; the promise is recomputed from it."""
    (law,) = plan.mixing.laws
    ratios = {round(a / b, 6) for a, b in pairwise(law.half[1:])}
    assert len(ratios) == 1
    plan.save(tmp_path / "plan.json")
    again = read_plan(tmp_path / "plan.json")
    assert again == plan
    assert again.mechanism is LAPLACE
    check_promise(again)
    found = plan_checks(json.loads(plan.bytes), "plan.json")
    assert [check.name for check in found.checks if not check.holds] == []


def test_lanes_are_those_of_mixers(plan: Plan) -> None:
    """One message for each question."""
    assert [lane.messages for lane in plan.lanes] == [1, 1]


@pytest.mark.check
def test_answers_go_through_the_chain_and_come_out_counted(plan: Plan, tmp_path: Path) -> None:
    """Mixed by two mixers, tallied, estimated and verified, within five standard errors."""
    chain = FakeChain(plan)
    people = list(simulated_people(plan.survey, PEOPLE, seed=1))
    for answers in people:
        chain.client().submit(chain.url, answers)
    batch = chain.release(tmp_path / "batches")
    tally = tally_batches(chain.plan, [batch], chain.key)
    results = make_results(chain.plan, tally)
    pets = next(question for question in results.questions if question.name == "pet")
    for row in pets.rows:
        true = sum(answers.get("pet") == row.label for answers in people)
        assert abs(row.count - true) < 5 * row.standard_error
    results.save(tmp_path / "results.json")
    chain.plan.save(tmp_path / "plan.json")
    for found in verify_files([tmp_path / "plan.json", tmp_path / "results.json"]):
        assert [check.says for check in found.checks if check.state is State.FAILED] == []
    for language, said in (
        ("en", "Noise added by 2 mixers"),
        ("de", "Rauschen von 2 Mischern hinzugefügt"),
    ):
        assert f"{said} (Laplace)" in spaced(report_page(results, language=language))


def test_the_plan_is_told_in_the_words_of_the_mechanism(plan: Plan) -> None:
    """The promise, and how many dummies a mixer adds."""
    assert promise_sentence(plan).startswith("If at least one of the 2 mixers is honest")
    assert list(survey_table(plan).columns[-1].cells) == [f"{plan.mixing.laws[0].mean:,}"] * 2


def test_nobody_else_knows_it() -> None:
    """A survey that names a mechanism which is not registered is refused by name."""
    with pytest.raises(InvalidInput, match='must be one of "devices", "mixers", "both", "laplace"'):
        read_text(SURVEY.replace("laplace", "gauss"))
