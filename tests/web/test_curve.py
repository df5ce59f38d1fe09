"""The curve of a promise, and the form before any key exists."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from krand.planning.coalitions import coalitions_of
from krand.planning.making import make_plan
from krand.survey.reading import parse_survey
from krand.web.form.site import PREVIEW, preview_of
from krand.web.plan_parts import EPSILONS, curve_part, more_part
from krand.wording.promises import right_guess

SURVEY = """\
id = "team"
expected = 60

[policy]
epsilon = 0.8
delta = 1e-6

[trust]
noise = "mixers"
mixers = MIXERS

[[question]]
name = "fair"
type = "yes_no"

[[question]]
name = "mood"
type = "scale"
lowest = 1
highest = 5

[[together]]
questions = ["fair", "mood"]
"""


@pytest.mark.check
def test_every_point_is_a_plan() -> None:
    """The margin of its least precise question, and how often a guess is right."""
    survey = parse_survey(SURVEY.replace("MIXERS", "2"))
    html = curve_part(survey)
    found = re.findall(r'data-epsilon="([\d.]+)".*?(\d+) in 100.*?data-value="([^"]+)"', html)
    assert [float(epsilon) for epsilon, *_ in found] == sorted({*EPSILONS, 0.8})
    for epsilon, guess, margin in found:
        policy = replace(survey.policy, epsilon=float(epsilon))
        plan = make_plan(replace(survey, policy=policy))
        worst = max(plan.precision_of(name).half_width_95 for name in ("fair", "mood"))
        assert float(margin) == pytest.approx(worst)
        right = 100 * right_guess(float(epsilon), plan.promise.delta)
        assert right <= int(guess) < right + 1
    assert re.search(r'aria-current="true" data-epsilon="0.8"', html)


def test_who_could_work_together_is_a_table() -> None:
    """A row for every coalition of the plan, as its report has it."""
    plan = make_plan(parse_survey(SURVEY.replace("MIXERS", "3")))
    page = more_part(plan)
    assert page.count('<tr><th scope="row" class="label">') == len(coalitions_of(plan))
    assert "the whole promise" in page


@pytest.mark.parametrize("mixers", ["1", "3"])
def test_a_preview_has_keys_that_nobody_has(mixers: str) -> None:
    """New ones each time, for every mixer; the page says so, and may stand in our own frame."""
    plan = make_plan(parse_survey(SURVEY.replace("MIXERS", mixers)))
    first, second = preview_of(plan), preview_of(plan)
    keys = {json.loads(each["plan.json"].content)["analyst_key"] for each in (first, second)}
    assert len(keys) == 2
    shown = json.loads(first["plan.json"].content)["mixing"]["mixers"]
    assert len(shown) == int(mixers)
    page = first["index.html"]
    assert PREVIEW.encode() in page.content
    assert b'name="krand-preview"' in page.content
    policy = dict(page.headers)["Content-Security-Policy"]
    assert policy.endswith("frame-ancestors 'self'")
    assert "signatures.json" not in first
