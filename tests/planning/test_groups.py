"""What results by group are worth: compared with drawn noise, and with plans of changed surveys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from krand.planning.groups import ByGroup, results_by_group
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Scale
from krand.survey.survey import Survey, Together, Trust
from krand.wording.plans import group_sentences

DEPARTMENT = Choice(name="department", choices=Choices("abcdefghij"))


def staff(questions: int, expected: int | None = 400, epsilon: float = 1.0) -> Plan:
    """Five-point questions by department, of which there are ten, with one mixer."""
    asked = [Scale(name=f"q{number}", lowest=1, highest=5) for number in range(questions)]
    return make_plan(
        Survey(
            id="staff",
            policy=Policy(epsilon=epsilon, delta=1e-5, minimum_crowd=2, colluding=0),
            questions=(DEPARTMENT, *asked),
            together=tuple(Together(("department", each.name)) for each in asked),
            trust=Trust(noise="mixers"),
            expected=expected,
        )
    )


def by_department(plan: Plan) -> ByGroup:
    (found,) = results_by_group(plan)
    return found


@pytest.mark.check
def test_twenty_questions_by_department_say_nothing_and_three_little() -> None:
    """The mean of a department of 40 is known to ± 3.65; the offers are plans of their own."""
    found = by_department(staff(20))
    assert (found.question, found.groups, found.smallest) == ("department", 10, 40)
    assert found.mean_half_width == pytest.approx(3.65, rel=0.01)
    assert not found.readable
    assert found.share == pytest.approx(found.half_width / 40)
    fewer, larger = found.offers
    three = by_department(staff(3))
    assert (fewer.left_out, fewer.half_width) == (17, pytest.approx(three.half_width))
    assert three.mean_half_width == pytest.approx(1.27, rel=0.01)
    assert (larger.epsilon, larger.half_width) == (
        4.0,
        pytest.approx(by_department(staff(20, epsilon=4.0)).half_width),
    )
    assert by_department(staff(3, epsilon=4.0)).mean_half_width == pytest.approx(0.32, rel=0.02)
    (said,) = group_sentences([found])
    assert "The smallest group has at most 40" in said
    assert "larger groups; asking only 3 of these 20 questions" in said


def test_the_margin_of_a_mean_is_that_of_drawn_noise() -> None:
    """Dummies drawn by the plan's own law, in the five cells of a department of 40."""
    plan = staff(3)
    (law,) = {plan.law_of(lane) for lane in plan.lanes}
    weights = np.array(law.weights, dtype=np.float64)
    chance = np.random.default_rng(1)
    noise = chance.choice(len(weights), (20_000, 5), p=weights / weights.sum()) - law.mean
    means = noise @ np.arange(-2, 3) / 40
    found = by_department(plan).mean_half_width
    assert found == pytest.approx(float(np.quantile(np.abs(means), 0.95)), rel=0.05)


def test_groups_are_read_where_they_are_large_enough() -> None:
    """`needed` people in each group are enough, and nothing else is offered then."""
    needed = by_department(staff(3)).needed
    enough = by_department(staff(3, expected=10 * needed))
    assert (enough.readable, enough.offers) == (True, ())
    assert not by_department(staff(3, expected=9 * needed)).readable


def test_nothing_is_said_of_the_smallest_group_where_nobody_knows_how_many_come() -> None:
    found = by_department(staff(3, expected=None))
    assert (found.smallest, found.share, found.mean_half_width, found.offers) == (
        None,
        None,
        None,
        (),
    )
    assert f"at least {found.needed:,} people" in group_sentences([found])[0]


def test_a_table_of_three_questions_adds_up_cells() -> None:
    """A count by department sums over the answers to the third question, and over no answer."""
    plan = staff(2)
    table = replace(plan.survey, together=(Together(("department", "q0", "q1")),))
    (planned,) = make_plan(table).blocks
    found = by_department(make_plan(table))
    assert found.asked == ("q0", "q1")
    assert found.half_width == pytest.approx(6**0.5 * planned.precision.half_width_95)
