"""The map of trust: whoever colludes is marked, and the sign on you is what the numbers say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from krand.planning.coalitions import Coalition, Remainder, Remains, coalitions_of
from krand.report.page import report_page
from krand.report.trust_map import Left, colluding_mixers, left_of, trust_picture
from krand.web.plan_parts import more_part
from report.examples import Example, bit_example, both_example, mixed_example, refused_example
from report.variants import results_of


@pytest.mark.parametrize("example", [bit_example, refused_example, mixed_example, both_example])
def test_every_coalition_has_a_picture_with_as_many_who_collude(
    example: Callable[[], Example],
) -> None:
    """Mixers and people as in the results' own row; the analyst unless the row has no analyst."""
    results = example().results
    page = report_page(results)
    for row in results.coalitions:
        drawn = str(trust_picture(row, results.plan))
        assert drawn in page
        dots = len(re.findall(r'<circle class="with"', drawn))
        analyst = row.coalition is not Coalition.PAGE_HOST
        assert dots == row.mixers + 3 * (row.people > 0) + analyst
        assert f'class="you {left_of(row, results.plan)}"' in drawn
        assert ("<rect" in drawn) == (row.coalition is Coalition.PAGE_HOST)


def test_the_console_draws_the_map_of_a_plan() -> None:
    """Every coalition of the survey as it is planned, with the same words as in its report."""
    plan = mixed_example().results.plan
    page = more_part(plan)
    for row in coalitions_of(plan):
        assert str(trust_picture(row, plan)) in page
        assert f'<li class="{left_of(row, plan)}">' in page
    assert page.count('<li class="') == len(coalitions_of(plan))


def test_what_is_left_follows_the_numbers() -> None:
    """The whole promise needs both ε and δ; the noise of one device is little or nothing."""
    plan = bit_example().results.plan
    policy = plan.survey.policy
    assert policy.delta is not None
    row = Remainder(
        coalition=Coalition.ANALYST,
        people=0,
        mixers=0,
        remains=Remains.PROMISE,
        epsilon=policy.epsilon,
        delta=policy.delta,
        eta=1.0,
    )
    cases = [
        (row, Left.WHOLE),
        (replace(row, delta=2 * policy.delta), Left.WEAKER),
        (replace(row, epsilon=2 * policy.epsilon), Left.WEAKER),
        (replace(row, delta=None), Left.WEAKER),
        (replace(row, remains=Remains.LOCAL, epsilon=6.9), Left.WEAKER),
        (replace(row, remains=Remains.LOCAL, epsilon=7.1), Left.NOTHING),
        (replace(row, remains=Remains.NOTHING, epsilon=None), Left.NOTHING),
    ]
    assert [left_of(each, plan) for each, _ in cases] == [left for _, left in cases]


def test_the_analysts_own_mixers_are_always_marked() -> None:
    """And of several others one party stays honest, which is not the analyst's."""
    plan = mixed_example().results.plan
    trust = replace(plan.survey.trust, analyst_runs=(2,))
    plan = replace(plan, survey=replace(plan.survey, trust=trust))
    found = {row.coalition: colluding_mixers(row, plan) for row in coalitions_of(plan)}
    assert found[Coalition.ANALYST] == {2}
    assert found[Coalition.OTHER_MIXERS] == {1, 2}
    assert found[Coalition.ALL_MIXERS] == {1, 2, 3}


def test_a_data_holders_table_has_no_map() -> None:
    assert 'class="trust"' not in report_page(results_of("bits, of a table, signed"))
