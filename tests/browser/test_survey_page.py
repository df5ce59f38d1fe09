"""The planner's survey in a browser: load, edit, see, save; with a script and without."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.reading import settled
from browser.sites import SURVEY, Site
from browser.visiting import DESKTOP, PHONE, Device, Visit
from command_line import done
from krand import Plan, make_plan, parse_survey
from krand.accounting.baselines import rappor_sigma
from krand.accounting.curator import curator
from krand.planning.record import record_reports
from krand.promise import Z95
from krand.showing import unbroken
from krand.survey.reading import SurveyErrors
from krand.web.surveys import EXAMPLES, example
from krand.wire.messages import length_at
from krand.wording.phrases import at_most, number, people, percent
from krand.wording.plans import promise_sentence, promised_guess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.check

Begin = Callable[..., Visit]
MARGINS = """() => [...document.querySelectorAll("#questions tr[data-margin]")].map(row =>
    [row.dataset.margin, Number(row.querySelector("[data-value]").dataset.value)])"""
TABLE = """() => [...document.querySelectorAll("#questions tr[data-question]")].map(row => {
    const of = name => row.querySelector(`[data-${name}]`);
    const text = element => element.innerText.replace(/\\s+/g, " ").trim();
    return [row.dataset.question, text(row.querySelector("th")), of("positions").dataset.positions,
        text(of("value")), of("value").dataset.value, text(of("noise")), of("noise").dataset.noise];
})"""


@cache
def planned(text: str) -> Plan:
    """What the API plans."""
    return make_plan(parse_survey(text))


def agrees(page: Page, plan: Plan) -> None:
    """Every number that the page shows of a plan is the API's."""
    for row, planned in zip(page.evaluate(TABLE), plan.blocks, strict=True):
        block, noise, precision = planned.block, planned.noise, planned.precision
        name, asked, positions, width, exact_width, flips, exact_flips = row
        assert (name, int(positions)) == (block.name, block.positions)
        assert asked.startswith(" + ".join(block.question_names))
        assert block.kind.value.replace("_", " ") in asked
        each = f"{people(precision)} {percent(precision.half_width_percent)}"
        assert width == each + (" per cell" if len(block.question_names) > 1 else "")
        assert float(exact_width) == precision.half_width_95
        assert (flips, float(exact_flips)) == (number(noise), noise)
    margins = [[m.question, m.precision.half_width_95] for b in plan.blocks for m in b.margins]
    assert page.evaluate(MARGINS) == margins
    facts = {
        "crowd-value": f"{plan.promise.crowd:,}",
        "messages-value": f"{plan.messages:,} messages",
        "local-epsilon-value": f"ε₀ = {at_most(plan.promise.local_epsilon)}",
        "guess": promised_guess(plan),
        "promise-sentence": promise_sentence(plan),
        "plan-hash": plan.hash,
    }
    shown = {name: page.text_content(f"#{name}") for name in facts}
    assert shown == {name: unbroken(text) for name, text in facts.items()}
    policy = plan.survey.policy
    reports = replace(record_reports(plan.survey, plan.layout), copies=1)
    exact = {
        "bytes-value": plan.messages * length_at(plan, 1),
        "rappor-value": Z95 * rappor_sigma(policy, reports),
        "curator-value": Z95 * curator(policy, reports).sigma,
    }
    found = {name: float(page.get_attribute(f"#{name}", "data-value") or "") for name in exact}
    assert found == exact


def saved(page: Page, button: str) -> tuple[str, bytes]:
    """The file that a button gives."""
    with page.expect_download() as download:
        page.click(button)
    path = download.value.path()
    return download.value.suggested_filename, Path(path).read_bytes()


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A survey file as some editors write it: lines of Windows, a mark at the start."""
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SURVEY.replace("\n", "\r\n").encode())
    return path


def opened(site: Site, visit: Begin, *device: Device, script: bool = True) -> Page:
    """The survey page, on a survey that is planned in a moment."""
    begun = visit(site.url, *device, script=script)
    begun.page.goto(f"{site.url}survey?example=health")
    return begun.page


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=lambda device: device.name)
def test_a_file_is_loaded_edited_and_saved(
    site: Site, visit: Begin, mine: Path, device: Device
) -> None:
    """Choosing it is enough; an edit is planned by itself; what was not edited stays as it was."""
    page = opened(site, visit, device)
    with page.expect_navigation():
        page.set_input_files("#file", mine)
    assert page.input_value("#survey") == SURVEY
    agrees(page, planned(SURVEY))
    assert saved(page, "#save-survey") == ("survey.toml", mine.read_bytes())

    edited = SURVEY.replace('"cat", "dog"', '"cat", "dog", "fish"')
    page.fill("#survey", edited)
    settled(page)
    plan = planned(edited)
    agrees(page, plan)
    name, content = saved(page, "#save-survey")
    assert name == "survey.toml"
    assert content == mine.read_bytes().replace(b'"cat", "dog"', b'"cat", "dog", "fish"')
    assert saved(page, "#save-plan") == ("plan.json", plan.bytes)


def test_the_saved_plan_is_that_of_krand_plan(
    site: Site, visit: Begin, mine: Path, tmp_path: Path
) -> None:
    """Planned here or on the command line: the same bytes, whatever came between."""
    page = opened(site, visit)
    with page.expect_navigation():
        page.set_input_files("#file", mine)
    _, content = saved(page, "#save-survey")
    (tmp_path / "survey.toml").write_bytes(content)
    done("plan survey.toml -o plan.json", at=tmp_path)
    assert saved(page, "#save-plan")[1] == (tmp_path / "plan.json").read_bytes()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_one_click_away(site: Site, visit: Begin, name: str) -> None:
    """Its text, and its questions in the table; that its plan is the API's is tested elsewhere."""
    page = opened(site, visit)
    page.click(f"#example-{name}")
    assert page.input_value("#survey") == example(name).text
    asked = [question["name"] for question in tomllib.loads(example(name).text)["question"]]
    shown = " ".join(row[1] for row in page.evaluate(TABLE))
    assert [question for question in asked if question not in shown] == []


def test_a_mistake_is_shown_with_its_line(site: Site, visit: Begin) -> None:
    """In krand's words; the line is one click away; mended, the plan is back."""
    page = opened(site, visit)
    wrong = SURVEY.replace('type = "yes_no"', 'type = "maybe"').replace("0.001", "3.0")
    with pytest.raises(SurveyErrors) as refused:
        parse_survey(wrong)
    problems = refused.value.problems
    page.fill("#survey", wrong)
    settled(page)
    assert page.get_attribute("#result", "data-state") == "invalid"
    told = page.locator("#problems > li").all_inner_texts()
    assert len(told) == len(problems) == 2
    for text, problem in zip(told, problems, strict=True):
        assert text.startswith(f"line {problem.line}: {problem.path} {problem.rule}")
    for place, problem in enumerate(problems):
        page.locator("#problems a").nth(place).click()
        chosen = page.evaluate("window.getSelection().toString()")
        assert chosen == wrong.splitlines()[problem.line - 1]
        assert page.evaluate("document.activeElement.id") == "survey"
    page.fill("#survey", SURVEY)
    settled(page)
    agrees(page, planned(SURVEY))


def test_a_plan_that_cannot_be_made_is_not_saved(site: Site, visit: Begin) -> None:
    """The page that comes instead says why, and going back brings the text back."""
    begun = visit(site.url)
    begun.statuses.add(422)
    page = begun.page
    page.goto(f"{site.url}survey?example=health")
    wrong = SURVEY.replace("yes_no", "maybe")
    page.fill("#survey", wrong)
    settled(page)
    with page.expect_navigation():
        page.click("#save-plan")
    assert page.inner_text("h1") == "Nothing was saved"
    assert "line " in page.inner_text("#problems")


def test_without_a_script_buttons_load_plan_and_save(site: Site, visit: Begin, mine: Path) -> None:
    """The same survey, the same plan, the same bytes."""
    begun = visit(site.url, script=False)
    page = begun.page
    page.goto(f"{site.url}survey?example=health")
    page.set_input_files("#file", mine)
    page.click("#load-button")
    assert page.input_value("#survey") == SURVEY
    agrees(page, planned(SURVEY))
    edited = SURVEY.replace("2.0", "1.9")
    page.fill("#survey", edited)
    page.click("#plan-button")
    assert page.input_value("#survey") == edited
    plan = planned(edited)
    agrees(page, plan)
    assert saved(page, "#save-plan") == ("plan.json", plan.bytes)
    assert saved(page, "#save-survey")[1] == mine.read_bytes().replace(b"2.0", b"1.9")
    begun.fits()


def test_every_control_is_used_above(site: Site, visit: Begin) -> None:
    """A control that no test of this module knows would be one that nobody has tried."""
    names = opened(site, visit).eval_on_selector_all(
        "main :is(input:not([type=hidden]), select, textarea, button, p a)",
        "found => found.map(e => e.id)",
    )
    buttons = {"load-button", "plan-button", "save-survey", "save-plan"}
    assert set(names) == {"file", "survey", *buttons, *(f"example-{name}" for name in EXAMPLES)}
