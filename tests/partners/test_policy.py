"""Whose plans a mixer's service signs: a strict file, and limits that hold for every plan."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from docs.pages import ROOT
from krand.errors import InvalidInput
from krand.partners.identity import fingerprint
from krand.partners.policy import (
    Accept,
    AcceptPolicy,
    Decision,
    Limits,
    LimitsTable,
    PolicyTable,
    policy_in,
    read_policy,
)
from krand.promise import Policy
from krand.survey.about import About
from krand.survey.rules import SurveyErrors
from krand.survey.survey import Survey
from krand.survey.toml_file import TomlFile
from mixed_plans import party_of, survey_for, unproven_plan
from schedules import days

ONE, OTHER = "5a" * 32, "3b" * 32
LIMITS = """
[limits]
largest_epsilon = 2
largest_delta = 1e-5
fewest_mixers = 3
most_positions = 100
most_rounds = 2
most_messages = 100_000
latest_closing = 30
"""
TODAY, CLOSES = date(2027, 1, 1), date(2027, 1, 31)
ALL = policy_in(TomlFile("policy.toml", f'accept = "everybody"\n{LIMITS}')).limits


PAGE = (ROOT / "docs" / "reference" / "mixer-policy.md").read_text(encoding="utf-8")


def policy_of(text: str) -> AcceptPolicy:
    return policy_in(TomlFile("policy.toml", text))


def test_the_page_has_an_example_and_every_key() -> None:
    example = policy_of(PAGE.partition("```toml\n")[2].partition("```")[0])
    assert len(example.organisations) == 2
    for table in (PolicyTable, LimitsTable):
        for key in table.model_fields:
            assert f"\n| `{key}` |" in PAGE, key


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", ["accept"]),
        ('accept = "nobody"', ["accept"]),
        ('accept = "ask"\nacept = 1', ["acept"]),
        ('accept = "listed"', ["organisations"]),
        ('accept = "listed"\norganisations = ["ab", 5]', ["organisations[1]"]),
        ('accept = "listed"\norganisations = ["ab"]', ["organisations[0]"]),
        (f'accept = "ask"\norganisations = ["{ONE}"]', ["organisations"]),
        ('accept = "ask"\nlimits = 5', ["limits"]),
        (
            'accept = "ask"\n[limits]\nlargest_epsilon = 0\nmost_rounds = 1.5\nmore = 1',
            ["limits.largest_epsilon", "limits.most_rounds", "limits.more"],
        ),
    ],
)
def test_every_mistake_is_named_at_once(text: str, wrong: list[str]) -> None:
    with pytest.raises(SurveyErrors) as caught:
        policy_of(text)
    assert [problem.path for problem in caught.value.problems] == wrong


@pytest.mark.parametrize("missing", LimitsTable.model_fields)
def test_everybody_is_not_accepted_without_every_limit(missing: str) -> None:
    """An automatic signature would lend the mixer's name to any promise."""
    kept = [line for line in LIMITS.splitlines() if not line.startswith(missing)]
    with pytest.raises(SurveyErrors) as caught:
        policy_of("\n".join(['accept = "everybody"', *kept]))
    assert [problem.path for problem in caught.value.problems] == [f"limits.{missing}"]


def test_a_policy_answers_by_identity(tmp_path: Path) -> None:
    """An organisation is named by its identity or by its fingerprint, however that is written."""
    assert AcceptPolicy().decision(ONE) is Decision.WAITING
    assert policy_of(f'accept = "everybody"\n{LIMITS}').decision(ONE) is Decision.ACCEPTED
    shown = fingerprint(ONE)
    for name in (ONE, ONE.upper(), shown.digits, shown.words, f" {shown.words.title()}"):
        path = tmp_path / "policy.toml"
        path.write_text(f'accept = "listed"\norganisations = ["{name}"]')
        policy = read_policy(path)
        assert policy.accept is Accept.LISTED
        assert (policy.decision(ONE), policy.decision(OTHER)) == (
            Decision.ACCEPTED,
            Decision.REFUSED,
        )


def survey(rounds: int = 1, **changes: object) -> Survey:
    found = replace(survey_for(mixers=3, rounds=1), about=About(closes=CLOSES))
    if rounds > 1:
        schedule = days(rounds, CLOSES - timedelta(days=rounds - 1))
        found = replace(found, rounds=rounds, schedule=schedule)
    return replace(found, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"policy": Policy(epsilon=50, delta=1e-6, minimum_crowd=12)}, "epsilon"),
        ({"rounds": 3}, "rounds"),
        ({"about": About()}, "closes"),
        ({"about": About(closes=date(2027, 2, 1))}, "closes"),
        ({"about": About(closes=date(2026, 12, 31))}, "closes"),
        ({"trust": replace(survey_for(mixers=3).trust, mixers=2)}, "trust.mixers"),
    ],
)
def test_a_survey_outside_of_the_limits_is_refused(changed: dict[str, object], field: str) -> None:
    ALL.check_survey(survey(), TODAY)
    with pytest.raises(InvalidInput) as caught:
        ALL.check_survey(survey(**changed), TODAY)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("limit", "field"),
    [
        ({"largest_delta": 1e-7}, "delta"),
        ({"most_positions": 10}, "positions"),
        ({"most_messages": 10}, "messages"),
    ],
)
def test_a_plan_outside_of_the_limits_is_refused(limit: dict[str, float], field: str) -> None:
    plan = party_of(unproven_plan(survey())).plan
    ALL.check_plan(plan, TODAY)
    with pytest.raises(InvalidInput) as caught:
        replace(ALL, **limit).check_plan(plan, TODAY)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_without_limits_only_a_last_day_is_asked_for() -> None:
    Limits().check_survey(survey(rounds=9), TODAY)
    with pytest.raises(InvalidInput, match="closes: must be given"):
        Limits().check_survey(survey(about=About()), TODAY)
