"""What notebooks show of krand's values: `html_of` turns each of them into a small table."""

from __future__ import annotations

from functools import singledispatch

from krand.accounting.frontier import Frontier
from krand.analysis.estimates.values import QuestionEstimate
from krand.analysis.results import Results
from krand.analysis.tally import Tally
from krand.notebook.html import pairs, table
from krand.notebook.promises import (
    FRONTIER_HEAD,
    frontier_rows,
    noise_plan_rows,
    policy_line,
    policy_rows,
    promise_rows,
)
from krand.notebook.results import question_table, results_rows, tally_rows
from krand.notebook.surveys import (
    PLAN_HEAD,
    SURVEY_HEAD,
    plan_note,
    plan_rows,
    survey_note,
    survey_rows,
)
from krand.promise import Assessment, NoisePlan, Policy
from krand.survey.plan import Plan
from krand.survey.survey import Survey
from krand.wording.surveys import survey_name

__all__ = ["html_of"]


@singledispatch
def html_of(value: object) -> str:
    """A value as HTML."""
    raise TypeError(f"there is no table for a {type(value).__name__}")


@html_of.register
def _policy(value: Policy) -> str:
    return pairs("Policy", policy_rows(value))


@html_of.register
def _assessment(value: Assessment) -> str:
    return pairs("Assessment", promise_rows(value.promise))


@html_of.register
def _noise_plan(value: NoisePlan) -> str:
    return pairs("Noise plan", noise_plan_rows(value))


@html_of.register
def _frontier(value: Frontier) -> str:
    note = f"{policy_line(value.policy)}; ★ no other one is better in both"
    return table("Frontier", FRONTIER_HEAD, frontier_rows(value), note, words=2)


@html_of.register
def _survey(value: Survey) -> str:
    title, note = f"Survey {survey_name(value)}", survey_note(value)
    return table(title, SURVEY_HEAD, survey_rows(value), note, words=2)


@html_of.register
def _plan(value: Plan) -> str:
    title, note = f"Plan of {survey_name(value.survey)}", plan_note(value)
    return table(title, PLAN_HEAD, plan_rows(value), note, words=2)


@html_of.register
def _tally(value: Tally) -> str:
    return pairs("Tally", tally_rows(value))


@html_of.register
def _question(value: QuestionEstimate) -> str:
    return question_table(value)


@html_of.register
def _results(value: Results) -> str:
    return pairs("Results", results_rows(value)) + "".join(map(question_table, value.questions))
