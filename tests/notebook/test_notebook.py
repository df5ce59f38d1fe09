"""Values show themselves in notebooks: small tables, escaped, with the right numbers."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import estimates
import krand
import world
from draws import survey_of
from golden import Golden
from krand.simulation import unsafe_simulated_tally
from krand.testing import unsafe_exact_plan

POLICY = krand.Policy(
    epsilon=1.0, delta=1e-3, minimum_crowd=20_000, colluding=7, max_local_epsilon=90.0
)


class Shown(HTMLParser):
    """The text of every cell, row by row; checks that each element is closed."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []
        self.feed(value._repr_html_())
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
            self.rows.append([data])

    @property
    def text(self) -> str:
        return "\n".join(" | ".join(row) for row in self.rows if row)


@pytest.mark.parametrize("name", ["branches", "copies", "kinds", "mixers"])
def test_a_study_shows_itself(name: str, golden: Golden) -> None:
    """Survey, plan, tally and results: every number once, and what the promise rests on."""
    results = world.results(name)
    values = world.survey(name), world.plan(name), world.tally(name), results, results.promise
    text = "\n\n".join(f"{value!r}\n{Shown(value).text}" for value in values)
    golden(f"notebook/{name}", text, {r"\b[0-9a-f]{16}…": "<sha256>…"})
    for value in (*values, results.questions[0], POLICY):
        assert repr(value).strip("<").startswith(type(value).__name__)
        assert len(repr(value)) <= 100
        assert "\n" not in repr(value)


def test_policies_and_plans_of_noise_show_themselves() -> None:
    """What was asked for, noise, precision and promise; and what can be typed again."""
    eta = krand.Policy(epsilon=2, eta=0.01, minimum_crowd=99)
    assert ["promise", "ε = 2, η = 0.01"] in Shown(eta).rows
    plan = krand.plan_noise(POLICY, krand.ResponseFormat(2))
    rows = dict(row for row in Shown(plan).rows if len(row) == 2)
    said = "ε = 1, δ = 0.001, 20,000 people, 7 of them colluding, ε₀ at most 90"
    assert (rows["asked for"], rows["responses"]) == (said, "2 bits, each alone")
    assert float(rows["noise"].removeprefix("q = ")) == pytest.approx(plan.noise, rel=1e-4)
    assert f"± {plan.precision.half_width_95:.3g} people at 95 %" in rows["a count"]
    assert repr(eta) == "Policy(epsilon=2, minimum_crowd=99, eta=0.01)"
    for policy in (POLICY, eta.changed(colluding=3)):
        assert eval(repr(policy), {"Policy": krand.Policy}) == policy
    assert hash(dataclasses.replace(plan)) == hash(plan)


def test_what_is_proven_is_rounded_up() -> None:
    """A promise never looks better than it is."""
    promise = dataclasses.replace(
        krand.promise_of(world.plan("kinds")), delta=1.00001e-6, epsilon=1.00001
    )
    row = Shown(promise).text
    assert "δ ≤ 1.001×10⁻⁶" in row
    assert "ε = 1.001" in row


def results_of(choices: list[str], counts: list[int], **more: Any) -> krand.Results:
    """A choice with these answers, given by so many people."""
    asked = krand.Choice(name="fruit", choices=krand.Choices(choices))
    people = [choice for choice, n in zip(choices, counts, strict=True) for _ in range(n)]
    plan = unsafe_exact_plan(survey_of(asked, **more))
    tally = unsafe_simulated_tally(plan, pa.table({"fruit": people}), seed=1)
    return krand.make_results(plan, tally)


def test_markup_in_a_value_is_text() -> None:
    """Titles and answers cannot bring elements of their own into a notebook."""
    bad = "<script>alert('&')</script>"
    results = results_of([bad, "plain"], [40, 10], title=bad)
    for value in (results, results.questions[0], results.plan, results.plan.survey):
        assert "script" not in Shown(value).tags
        assert bad in Shown(value).text or value is results.plan


def test_long_surveys_and_many_answers_are_cut() -> None:
    """The first twenty questions; the twenty most frequent answers, then those who gave none."""
    questions = tuple(krand.YesNo(name=f"q{i}") for i in range(30))
    survey = survey_of(*questions)
    shown = Shown(survey)
    assert "the first 20 of 30 questions" in shown.text
    assert sum(row[0].startswith("q") and row[0][1:].isdigit() for row in shown.rows) == 20
    assert "30 questions" in repr(survey)
    counts = [place * 7 % 50 + 1 for place in range(50)]
    results = results_of([f"answer {place}" for place in range(50)], counts)
    rows = [
        row for row in Shown(results.questions[0]).rows if row[0].startswith(("answer ", "unan"))
    ]
    assert [row[1] for row in rows[:20]] == [f"{n}" for n in range(50, 30, -1)]
    assert rows[20][0].startswith("unanswered")
    assert "the 20 most frequent of 50 answers" in Shown(results.questions[0]).text


def test_results_show_every_estimate() -> None:
    """The shown counts are those of the results."""
    results = world.results("weeks")
    rows = [row[:2] for row in Shown(results).rows]
    for question in results.questions:
        for label, seen in estimates.counts(results, question.name).items():
            assert [label, f"{seen.value:,.0f}"] in rows
    refused = dataclasses.replace(world.tally("weeks"), rejected={"<unreadable>": 3})
    assert ["refused", "3 <unreadable>"] in Shown(refused).rows
    assert ["set bits", f"{int(np.sum(refused.counts)):,}"] in Shown(refused).rows
