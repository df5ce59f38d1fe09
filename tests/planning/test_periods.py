"""What it costs to ask again: one promise for several rounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from analysis.simulated_years import yearly_plan
from krand.planning.making import make_plan
from krand.planning.periods import period_options
from krand.survey.questions import YesNo
from krand.survey.schedule import Schedule
from krand.web.plan_parts import more_part
from krand.wording.phrases import at_most, between

QUESTION = YesNo(name="crash")


def test_a_year_of_one_question() -> None:
    """What docs/howto/choose-a-promise.md states; each row is the plan of so many rounds."""
    options = period_options(yearly_plan([QUESTION]))
    assert [option.rounds for option in options] == [1, 4, 12, 52]
    found = [option.sigma for option in options]
    assert found == pytest.approx([1.357, 5.642, 14.07, 30.40], abs=0.005)
    assert [option.promises for option in options] == [52, 13, 5, 1]
    assert [option.epsilon for option in options] == pytest.approx([52, 13, 5, 1])
    assert [option.rounds for option in options if option.chosen] == [52]


def test_one_round_has_no_choice() -> None:
    assert period_options(yearly_plan([QUESTION], 1)) == ()


def test_the_period_of_a_schedule_is_the_chosen_one() -> None:
    """A quarter of weeks is 13 rounds."""
    survey = yearly_plan([QUESTION], 1).survey
    schedule = Schedule(every="week", starts=date(2027, 1, 4), promise="quarter")
    options = period_options(make_plan(replace(survey, rounds=26, schedule=schedule)))
    assert [(option.rounds, option.promises) for option in options if option.chosen] == [(13, 2)]
    assert [option.rounds for option in options] == [1, 4, 12, 13, 26]


def test_the_planners_page_shows_the_same_table() -> None:
    """The numbers of krand plan --explain; nothing where people are asked once."""
    plan = yearly_plan([QUESTION])
    page = more_part(plan)
    for option in period_options(plan):
        name = f"{option.rounds} (this plan)" if option.chosen else f"{option.rounds}"
        cells = (f"{option.promises}", at_most(option.epsilon))
        row = f'<th scope="row">{name}</th><td class="n">{between(option.best, option.worst)}</td>'
        assert row + "".join(f'<td class="n">{cell}</td>' for cell in cells) in page
    assert page.count('<th scope="row">') >= 4
    assert 'id="periods"' not in more_part(yearly_plan([QUESTION], 1))
