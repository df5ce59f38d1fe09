"""The first page: a form becomes a survey, and what is shown is the plan of that survey."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from components import require
from krand import make_plan, parse_survey, read_results
from krand.errors import InvalidInput, KrandError
from krand.planning.coalitions import coalitions_of
from krand.planning.expected import as_expected
from krand.planning.making import quick_plan
from krand.showing import unbroken
from krand.survey import mechanisms
from krand.survey.plan import Plan
from krand.survey.survey import Trust
from krand.testing import small_survey
from krand.web import numbers
from krand.web.advice import advice_on, worst_margin
from krand.web.numbers import people_at_most, percent_at_most
from krand.web.plan_parts import quick_part
from krand.web.preview import _estimates, preview_of
from krand.web.survey_form import MOST_QUESTIONS, PRESETS, SurveyForm, survey_form_from
from krand.web.tasks import TASKS
from krand.wording.coalitions import coalition_text, remains_text
from krand.wording.phrases import dishonest_can, people
from krand.wording.plans import promise_sentence, promised_guess
from web.reading import text_of, value_of

if TYPE_CHECKING:
    from starlette.testclient import TestClient

SMALL = {"people": "500", "questions": "Do you smoke?"}
"""A survey that is planned in a moment."""


def rows_of(page: str, table: str) -> list[list[str]]:
    """The cells of a table's body."""
    found = re.search(rf'<table id="{table}">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    rows = re.findall(r"<tr.*?</tr>", found[1], re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    texts = [[html.unescape(re.sub(r"<[^>]*>", "", c)) for c in row] for row in cells]
    return [[" ".join(text.split()) for text in row] for row in texts]


@pytest.mark.check
def test_the_page_shows_the_plan_of_its_survey(planner: TestClient) -> None:
    """Margin of error, crowd, promise, dishonest people, coalitions: all of them are the API's."""
    plan = make_plan(survey_form_from({}).survey())
    page = planner.get("/").text
    worst = max((b.precision for b in plan.blocks), key=lambda known: known.half_width_95)
    assert value_of(page, "half-width-value") == worst.half_width_95
    assert text_of(page, "half-width-value") == people(worst)
    assert value_of(page, "needed-value") == plan.survey.policy.minimum_crowd == 480
    assert text_of(page, "promise-sentence") == promise_sentence(plan)
    guess = text_of(page, "guess")
    assert guess == promised_guess(plan)
    assert not re.search("[εδη]", guess)
    assert page.index('id="guess"') < page.index('id="half-width-value"')
    assert (
        '<summary id="promise-details">Details</summary>'
        in page[page.index('id="guess"') : page.index("promise-sentence")]
    )
    assert text_of(page, "dishonest") == dishonest_can([block.shift for block in plan.blocks])
    assert text_of(page, "plan-hash") == plan.hash
    shown = [row[0] for row in rows_of(page, "precision")]
    assert shown == [question.text for question in plan.survey.questions]
    expected = [[coalition_text(row, plan), remains_text(row, plan)] for row in coalitions_of(plan)]
    assert rows_of(page, "coalitions") == expected
    assert "Nobody has answered" in text_of(page, "preview-note")


@pytest.mark.check
def test_parts_are_those_of_the_page_and_name_their_request(planner: TestClient) -> None:
    """Whoever exchanges parts can check to which values each of them belongs."""
    query, page = survey_form_from(SMALL).query(), planner.get("/", params=SMALL).text
    for part in ("first", "more"):
        answer = planner.get(f"/part/{part}", params=SMALL)
        assert answer.headers["x-state"] == "planned"
        assert answer.text in page
        assert f'data-request="{html.escape(query)}"' in answer.text
    other = planner.get("/part/first", params={**SMALL, "people": "501"})
    assert f'data-request="{html.escape(query)}"' not in other.text


@pytest.mark.check
def test_the_quick_part_is_the_quick_plan_rounded_up(planner: TestClient) -> None:
    """Its words say that the numbers are bounds, and no bound is rounded down."""
    survey = survey_form_from({}).survey()
    quick = quick_plan(survey)
    assert quick is not None
    answer = planner.get("/part/first_quick")
    assert answer.headers["x-state"] == "quick"
    widths = [
        float(value) for value in re.findall(r'<td class="n" data-value="([^"]*)"', answer.text)
    ]
    assert widths == [block.precision.half_width_95 for block in quick.blocks]
    assert unbroken(f"at most {people_at_most(max(widths))}") in answer.text
    assert "refining" in answer.text


@pytest.mark.parametrize("half", [0.123, 1.01, 9.99, 10.001, 28.0, 1234.4])
def test_bounds_are_rounded_up(half: float) -> None:
    """To two digits, or to whole people."""
    shown = float(people_at_most(half).split()[1].replace(",", ""))
    assert half <= shown <= max(1.1 * half, half + 1)
    assert half <= float(percent_at_most(half).split()[0].replace(",", "")) <= 1.1 * half


def test_what_cannot_be_proven_at_once_is_not_shown() -> None:
    """The search decides whether it is possible at all."""
    form = survey_form_from({**SMALL, "people": "20", "epsilon": "0.1"})
    assert quick_part(form.survey()) is None
    answer = TASKS["first_quick"](form=dict(form.texts))
    assert (answer["state"], answer["html"]) == ("unknown", "")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_a_quick_plan(name: str) -> None:
    """With a useful precision."""
    quick = quick_plan(survey_form_from({"preset": name}).survey())
    assert quick is not None
    assert all(block.precision.readable for block in quick.blocks)


@pytest.mark.parametrize(
    ("line", "text", "choices"),
    [
        ("Do you smoke?", "Do you smoke?", None),
        ("Do you smoke", "Do you smoke", None),
        ("Which pet? cat, dog ,, fish", "Which pet?", ["cat", "dog", "fish"]),
        ("Pet: cat, dog", "Pet", ["cat", "dog"]),
        ('Say "no"? \\, ü', 'Say "no"?', ["\\", "ü"]),
        ("42? yes, no", "42?", ["yes", "no"]),
    ],
)
def test_a_line_is_a_question(line: str, text: str, choices: list[str] | None) -> None:
    """Behind its question mark or colon are its choices."""
    (question,) = survey_form_from({**SMALL, "questions": line}).survey().questions
    assert question.text == text
    assert (list(getattr(question, "choices", ())) or None) == choices


def test_the_form_becomes_a_survey() -> None:
    """Crowd, promise and trust as they were filled in; names are different."""
    survey = survey_form_from(
        {
            **{"people": "1k", "rate": "33.3", "topic": "Pets & people", "epsilon": "3/2"},
            **{"delta": "1e-4", "noise": "both", "mixers": "2", "questions": "A?\n\nA?\n  B?"},
        }
    ).survey()
    assert (survey.id, survey.title) == ("pets-people", "Pets & people")
    assert (survey.policy.minimum_crowd, survey.policy.epsilon) == (333, 1.5)
    assert survey.policy.delta == 1e-4
    assert survey.trust == Trust(noise=mechanisms.BOTH, mixers=2)
    assert len({question.name for question in survey.questions}) == 3


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"people": "many"}, "people"),
        ({"people": "1"}, "people"),
        ({"people": "3", "rate": "20"}, "people"),
        ({"people": "9" * 39}, "people"),
        ({"rate": "0"}, "rate"),
        ({"rate": "101"}, "rate"),
        ({"epsilon": "0"}, "epsilon"),
        ({"epsilon": ""}, "epsilon"),
        ({"delta": "1.5"}, "delta"),
        ({"noise": "nobody"}, "noise"),
        ({"noise": "mixers", "mixers": "9"}, "mixers"),
        ({"topic": " "}, "topic"),
        ({"topic": "a\u202eb"}, "topic"),
        ({"topic": "a" * 101}, "topic"),
        ({"questions": "\n"}, "questions"),
        ({"questions": f"{'a' * 2000}?"}, "questions"),
        ({"questions": "Which? one"}, "questions"),
        ({"questions": "Which? one, one"}, "questions"),
        ({"questions": "A?\n" * (MOST_QUESTIONS + 1)}, "questions"),
    ],
)
def test_a_value_that_breaks_a_rule_is_named(query: dict[str, str], field: str) -> None:
    """By the name that its field has on the page."""
    with pytest.raises(InvalidInput) as refused:
        survey_form_from({**SMALL, **query}).survey()
    assert refused.value.field == field
    answer = TASKS["first_quick"](form=dict(survey_form_from({**SMALL, **query}).texts))
    assert (answer["state"], answer["field"]) == ("invalid", field)


@pytest.mark.check
def test_the_page_marks_an_invalid_field(planner: TestClient) -> None:
    """With status 422, and without advice."""
    page = planner.get("/", params={**SMALL, "rate": "<b>"})
    assert page.status_code == 422
    assert re.search(r'id="rate"[^>]*aria-invalid="true"', page.text)
    assert "<b>" not in page.text.partition("<main")[2].replace("</b>", "").replace("<b id", "")


@pytest.mark.check
def test_files_are_those_of_the_command_line(planner: TestClient) -> None:
    """The survey that is saved gives the plan that is saved."""
    survey = planner.get("/planned/survey.toml", params=SMALL)
    assert 'filename="survey.toml"' in survey.headers["content-disposition"]
    plan = planner.get("/planned/plan.json", params=SMALL)
    assert plan.content == make_plan(parse_survey(survey.text)).bytes
    page = planner.get("/survey", params=SMALL).text
    assert html.escape(survey.text.strip(), quote=False).splitlines()[-1] in html.unescape(page)


@pytest.mark.check
def test_the_script_runs_the_survey(planner: TestClient, tmp_path: Path) -> None:
    """On simulated people if no table is given; the report is there at its end."""
    script = planner.get("/planned/run_survey.py", params=SMALL)
    (tmp_path / "run_survey.py").write_text(script.text, encoding="utf-8")
    home = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "run_survey.py"]
    done = subprocess.run(command, cwd=tmp_path, env=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    plan = make_plan(survey_form_from(SMALL).survey())
    assert (tmp_path / "plan.json").read_bytes() == plan.bytes
    assert read_results(tmp_path / "results.json").plan.hash == plan.hash
    assert (tmp_path / "report.html").is_file()


def test_the_notebook_has_the_steps_of_the_script(planner: TestClient) -> None:
    """Every line of code but those for arguments, and it is a valid notebook."""
    script = planner.get("/planned/run_survey.py", params=SMALL).text
    notebook = planner.get("/planned/run_survey.ipynb", params=SMALL).json()
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    code = "\n".join(cells)
    compile(code, "notebook", "exec")
    for line in script.partition("from krand")[2].splitlines()[1:]:
        assert line.startswith(("#", "ANSWERS = sys")) or line in code
    require("nbformat").validate(notebook)


def test_a_table_needs_devices_noise(planner: TestClient) -> None:
    """Mixers add theirs to sealed messages; the page says what to do."""
    refused = planner.get("/planned/run_survey.py", params={**SMALL, "noise": "mixers"})
    assert refused.status_code == 422
    assert "must be the devices" in html.unescape(refused.text)


def test_a_survey_that_is_not_possible_can_be_saved_but_not_its_plan(planner: TestClient) -> None:
    """The file can be edited; a plan of it does not exist."""
    hopeless = {**SMALL, "people": "20", "epsilon": "0.1"}
    assert planner.get("/planned/survey.toml", params=hopeless).status_code == 200
    refused = planner.get("/planned/plan.json", params=hopeless)
    assert "content-disposition" not in refused.headers
    assert "Nothing was saved" in refused.text
    wrong = planner.get("/planned/survey.toml", params={**SMALL, "people": "no"})
    assert wrong.status_code == 422


@pytest.mark.check
def test_advice_is_what_the_changed_form_would_give() -> None:
    """Every row is the plan that following its link shows."""
    form = survey_form_from({**SMALL, "questions": "A?\nB? x, y, z"})
    rows = advice_on(form)
    assert len(rows) >= 6
    shares = [row.percent for row in rows if row.percent is not None]
    assert shares == sorted(shares)
    for row in rows[:2]:
        if row.fields:
            plan = make_plan(SurveyForm({**form.texts, **row.fields}).survey())
            assert row.becomes == worst_margin(as_expected(plan))
    assert {"counts": "both"} in [row.fields for row in rows]
    assert [row.fields for row in rows].count({}) == 1  # weights are for a survey file


def test_advice_on_a_hopeless_survey_names_one_that_is_useful() -> None:
    """More people, or less protection; what does not help is said too."""
    rows = advice_on(survey_form_from({**SMALL, "people": "40", "epsilon": "0.2"}))
    useful = [row for row in rows if row.percent is not None and row.percent <= 15]
    assert any("people" in row.fields for row in useful)
    assert any("epsilon" in row.fields for row in useful)
    assert any(row.becomes == "hardly more than noise" for row in rows)


@pytest.mark.parametrize("noise", mechanisms.mechanisms())
def test_a_preview_has_the_noise_of_its_plan(noise: mechanisms.Mechanism) -> None:
    """Estimates scatter around the invented truth as the plan says."""
    survey = survey_form_from({**SMALL, "noise": str(noise), "mixers": "2"}).survey()
    plan, random = make_plan(survey), np.random.default_rng(7)
    crowd, truth = survey.expected, 100
    estimates = _estimates(plan, plan.blocks[0], np.full(4000, truth), random)
    sigma = plan.blocks[0].precision.sigma
    assert abs(float(estimates.mean()) - truth) < 5 * sigma / np.sqrt(4000)
    assert 0.93 < float(estimates.std()) / sigma < 1.07
    (preview,) = preview_of(plan, {survey.questions[0].name: ("yes",)})
    assert preview == preview_of(plan, {survey.questions[0].name: ("yes",)})[0]
    assert preview.bars[0].low <= preview.bars[0].length <= preview.bars[0].high
    assert crowd == 300


def test_a_figure_that_fails_does_not_hurt_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are two tasks."""

    def broken(_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(numbers, "_density", broken)
    query = {"crowd": "10k", "bits": "1", "epsilon": "1"}
    assert TASKS["density"](query=query)["state"] == "failed"
    assert TASKS["numbers"](query=query)["state"] == "planned"


def test_planning_without_suggestions_refuses_for_the_same_reason() -> None:
    """Only the requests that could be met instead are left out."""
    policy = replace(small_survey().policy, epsilon=0.01, minimum_crowd=50, colluding=1)
    survey = replace(small_survey(), policy=policy)
    reasons: list[Plan | str] = []
    for suggestions in (True, False):
        with pytest.raises(KrandError) as refused:
            make_plan(survey, suggestions)
        reasons.append(str(refused.value).partition("; ")[0].partition("\n")[0][:60])
    assert reasons[0] == reasons[1]
