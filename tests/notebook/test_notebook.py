"""Values show themselves in notebooks: small tables, escaped, with the right numbers."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from analysis.simulated_surveys import tally_of
from krand import Policy, ResponseFormat, plan_noise, showing
from krand.analysis.results import Results, make_results
from krand.analysis.tally import empty_tally
from krand.notebook import html as tables
from krand.planning.making import make_plan
from krand.promise import NoisePlan
from krand.survey.questions import Number, YesNo
from krand.survey.survey import Survey
from krand.wording.promises import assumption_texts, method_text
from notebook.estimates import answer, question
from sealed_tallies import in_lanes

POLICY = Policy(epsilon=1.0, delta=1e-3, minimum_crowd=20_000, colluding=7, max_local_epsilon=90.0)
SURVEY = Survey(
    id="family",
    policy=POLICY,
    questions=(Number(name="children", edges=(0, 1, 3)), YesNo(name="dog")),
)


class Cells(HTMLParser):
    """The text of every cell; checks that each element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []
        self.other = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        else:
            self.other += data


def shown(value: Any) -> Cells:
    return Cells(value._repr_html_())


@pytest.fixture(scope="module")
def plan() -> NoisePlan:
    return plan_noise(POLICY, ResponseFormat(2))


@pytest.fixture(scope="module")
def results() -> Results:
    plan = make_plan(SURVEY)
    ones = np.array([9_000, 5_000, 700])
    tally = tally_of(plan, POLICY.minimum_crowd, ones, rejected={"<unreadable>": 3})
    return make_results(plan, in_lanes(plan, tally))


def test_markup_in_a_value_is_text() -> None:
    """Names and answers cannot bring elements of their own into a notebook."""
    bad = "<script>alert('&')</script>"
    found = shown(question(answer(bad, 0.4), answer("plain", 0.1), name=bad))
    assert "script" not in found.tags
    assert found.rows[1][0] == bad
    assert bad in found.other
    assert Cells(tables.pairs(bad, [(bad, bad)], note=bad)).rows == [[bad, bad]]
    assert "script" not in Cells(tables.table(bad, [bad], [[bad]], note=bad)).tags


def test_a_noise_plan_shows_what_it_found(plan: NoisePlan) -> None:
    """Noise, precision, promise and what was asked for."""
    rows = dict(shown(plan).rows)
    assert rows["noise"] == f"q = {showing.number(plan.noise, 6)}"
    assert showing.number(plan.precision.half_width_95, 3) in rows["a count"]
    assert rows["asked for"] == (
        "ε = 1, δ = 0.001, 20,000 people, 7 of them colluding, ε₀ at most 90"
    )
    assert rows["responses"] == "2 bits, each alone"
    assert f"δ ≤ {showing.at_most(plan.promise.delta)}" in rows["promise"]


def test_what_is_proven_is_rounded_up(plan: NoisePlan) -> None:
    """A promise never looks better than it is."""
    promise = dataclasses.replace(plan.promise, delta=1.00001e-6)
    rows = shown(promise).rows
    assert "δ ≤ 1.001×10⁻⁶" in rows[0][1]


def test_a_promise_shows_what_it_rests_on(plan: NoisePlan) -> None:
    """Every assumption is there, and how it is known."""
    rows = shown(plan.promise).rows
    listed = [text for name, text in rows if name == "assumption"]
    assert listed == list(assumption_texts(plan.promise))
    assert ["how we know", f"proven: {method_text(plan.promise.method)}"] in rows


def test_a_policy_shows_the_promise() -> None:
    """With η in place of δ as well."""
    assert ["promise", "ε = 1, δ = 0.001"] in shown(POLICY).rows
    assert ["promise", "ε = 2, η = 0.01"] in shown(
        Policy(epsilon=2.0, minimum_crowd=1000, eta=0.01)
    ).rows


def test_a_survey_and_its_plan_show_their_questions(results: Results) -> None:
    """A row for each question and each block, and the plan's name."""
    assert [row[0] for row in shown(SURVEY).rows] == ["question", "children", "dog"]
    found = shown(results.plan)
    assert [row[0] for row in found.rows] == ["block", "children", "dog"]
    assert found.rows[1][3] == showing.number(results.plan.blocks[0].noise)
    assert results.plan.hash[:16] in found.other


def test_long_surveys_are_cut() -> None:
    """The first twenty questions, and how many there are."""
    questions = tuple(YesNo(name=f"q{i}") for i in range(30))
    found = shown(Survey(id="long", policy=POLICY, questions=questions))
    assert len(found.rows) == 21
    assert "the first 20 of 30 questions" in found.other


def test_a_tally_shows_people_and_what_was_refused() -> None:
    """Whole numbers with commas; reasons are escaped."""
    values = {"people": 9_000, "crowd": 5_000, "counts": np.array([4_000, 1_000])}
    nothing = empty_tally("a" * 64, SURVEY.linkage, 2)
    rows = shown(dataclasses.replace(nothing, **values, rejected={"<unreadable>": 3})).rows
    assert ["people", "9,000, the smallest batch 5,000"] in rows
    assert ["set bits", "5,000"] in rows
    assert ["refused", "3 <unreadable>"] in rows


def test_results_show_their_promise_and_every_question(results: Results) -> None:
    """One table about the crowd, then one for each question with the estimates."""
    rows = shown(results).rows
    assert ["refused", "3 <unreadable>"] in rows
    promised = next(row[1] for row in rows if row[0] == "promise")
    assert f"δ ≤ {showing.at_most(results.promise.delta)}" in promised
    for asked in results.questions:
        for answered in asked.rows:
            assert [answered.label, f"{answered.consistent:,.0f}"] in [row[:2] for row in rows]


def test_of_many_answers_the_most_frequent_are_shown() -> None:
    """Twenty of fifty, largest first, then those who gave none."""
    rows = [answer(f"answer {i}", (i * 7 % 50) / 1000) for i in range(50)]
    found = shown(question(*rows, confidence=0.9, unanswered=answer("unanswered", 0.03)))
    assert [row[1] for row in found.rows[1:21]] == [f"{n}" for n in range(49, 29, -1)]
    assert found.rows[21][0] == "unanswered"
    assert found.rows[0][2] == "at 90 %"
    assert "the 20 most frequent of 50 answers" in found.other


def test_values_are_as_equal_and_as_small_as_before(plan: NoisePlan) -> None:
    """Showing changes neither equality nor hashes, and adds no attributes."""
    twin = dataclasses.replace(plan)
    assert twin == plan
    assert hash(twin) == hash(plan)
    for value in (plan, plan.promise, plan.policy, SURVEY):
        assert not hasattr(value, "__dict__")


def test_values_are_one_short_line_on_a_console(results: Results, plan: NoisePlan) -> None:
    """The type and what matters most; a crowd or a survey of any size makes it no longer."""
    questions = tuple(YesNo(name=f"q{i}") for i in range(500))
    long = Survey(id="l" * 60, policy=POLICY, questions=questions)
    values = [
        results,
        results.plan,
        results.questions[0],
        plan,
        plan.promise,
        SURVEY,
        long,
    ]
    for value in (*values, POLICY):
        assert repr(value).strip("<").startswith(type(value).__name__)
        assert len(repr(value)) <= 100
        assert "\n" not in repr(value)
    assert f"{results.people:,} people" in repr(results)
    assert results.plan.hash[:16] in repr(results.plan)
    assert "500 questions" in repr(long)


def test_what_a_console_shows_of_a_policy_can_be_typed_again() -> None:
    """Only what differs from the defaults, as Python takes it."""
    for policy in (POLICY, Policy(epsilon=2, eta=0.01, minimum_crowd=99, colluding=3)):
        assert eval(repr(policy), {"Policy": Policy}) == policy
    assert repr(Policy(epsilon=2, eta=0.01, minimum_crowd=99)) == (
        "Policy(epsilon=2, minimum_crowd=99, eta=0.01)"
    )
