"""The map of trust to click: for everybody whom one can choose, it shows what Python states."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any

import pytest

from browser.conftest import browser as browser
from browser.conftest import chromium as chromium
from docs.pages import script
from js_client.javascript import FOLDER, STATIC
from krand import make_plan
from krand.planning.coalitions import Coalition, Remainder, Remains, coalitions_of
from krand.planning.mechanisms import part_of
from krand.report.trust_map import left_of
from krand.showing import typeset
from krand.survey.plan import Mixer, Plan
from krand.survey.reading import parse_survey
from krand.web.plan_parts import more_part
from krand.web.trust import trust_map
from krand.wording.coalitions import remains_text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LARGEST = 5_000
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SURVEY = """\
id = "example"
[policy]
epsilon = {epsilon}
delta = 1e-6
minimum_crowd = {crowd}
colluding = {colluding}
[trust]
noise = "{noise}"
mixers = {mixers}
[[question]]
name = "fair"
type = "yes_no"
"""
PLANS = [
    ("mixers", 1, True),
    ("mixers", 2, True),
    ("mixers", 3, True),
    ("mixers", 3, False),
    ("both", 2, True),
    ("devices", 1, True),
    ("devices", 1, False),
]
"""Noise, mixers, and whether the analyst is the collector, as everywhere in the console."""
LEFT = {
    "whole": "You keep the whole promise.",
    "weaker": "You keep a weaker promise.",
    "nothing": "Nothing protects your answers.",
}


def planned(noise: str, mixers: int, collects: bool) -> Plan:
    epsilon, crowd = (3, 2_000) if noise != "mixers" else (1, 40)
    values = {"epsilon": epsilon, "crowd": crowd, "colluding": 5, "noise": noise, "mixers": mixers}
    survey = parse_survey(SURVEY.format(**values))
    if collects:
        survey = replace(survey, trust=survey.trust.with_analyst_as_collector())
    return make_plan(survey, suggestions=False)


def stated(plan: Plan, people: int, honest: bool, host: bool) -> Remainder:
    """What remains by the mechanism itself, without the plan's table."""
    row = Remainder(coalition=Coalition.ANALYST, people=people, mixers=0, remains=Remains.NOTHING)
    if host:
        return row
    crowd, local = plan.promise.crowd, plan.promise.local_epsilon
    found = part_of(plan.mechanism).without(plan, crowd, people) if honest else None
    if found is None:
        known = local < float("inf")
        return replace(row, remains=Remains.LOCAL, epsilon=local) if known else row
    values = {"epsilon": found.epsilon, "delta": found.delta, "eta": found.eta}
    return replace(row, remains=Remains.PROMISE, **values)


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


def opened(page: Page, html: str) -> None:
    page.set_content(f"<!doctype html><html lang=en><body>{html}")
    page.add_script_tag(path=STATIC / "trust.js")


@pytest.mark.check
@pytest.mark.parametrize(("noise", "mixers", "collects"), PLANS)
def test_every_set_shows_what_python_states(
    page: Page, noise: str, mixers: int, collects: bool
) -> None:
    """In the console's part of a page; by keyboard."""
    plan = planned(noise, mixers, collects)
    opened(page, more_part(plan))
    assert not page.locator(".trust").is_visible()  # that is for print, and without scripts
    shown = page.locator("krand-trust")
    radios, buttons = shown.get_by_role("radio"), shown.get_by_role("button")
    names = [name for name in buttons.all_inner_texts() if name != "host of the form"]
    everybody = plan.promise.crowd - 1
    helping = [0, *(row.people for row in coalitions_of(plan) if row.coalition == "people")]
    helping += [everybody] if plan.other_parties else []
    assert radios.count() == (len(helping) if len(helping) > 1 else 0)
    assert len(names) == max(1, len(plan.other_parties))
    chosen = chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))
    for some, (at, people), host in product(list(chosen), enumerate(helping), (False, True)):
        if len(helping) > 1:
            radios.nth(at).press("Space")
        wanted = {*some, *(["host of the form"] if host else [])}
        for button in buttons.all():
            if (button.get_attribute("aria-pressed") == "true") != (button.inner_text() in wanted):
                button.press("Enter")
        row = stated(plan, people, len(some) < len(names), host)
        alone = not some and not people and not host
        if alone and coalitions_of(plan)[0].together:
            row = coalitions_of(plan)[0]
        verdict = shown.locator(".verdict").inner_text()
        assert shown.locator("figure").get_attribute("class") == left_of(row, plan)
        assert LEFT[left_of(row, plan)] in verdict
        assert verdict.endswith(f": {typeset(remains_text(row, plan))}.")
        own = shown.locator(".own.together").count()
        assert own == (shown.locator(".own").count() if plan.other_parties or some else 0)


def test_partners_have_their_names_and_one_of_two_places_is_one_party() -> None:
    plan = planned("mixers", 4, True)
    named = [Mixer(name=name, identity="0" * 64) for name in ("us", "union", "university", "union")]
    plan = replace(plan, mixing=replace(plan.mixing, mixers=tuple(named)))
    found = [(n["kind"], n["label"], n["name"]) for n in trust_map(plan)["nodes"]]
    assert found == [
        ("host", "host of the form", ""),
        ("own", "collector", ""),
        ("party", "mixer 2 + mixer 4", "union"),
        ("party", "mixer 3", "university"),
        ("own", "analyst", ""),
    ]


def test_the_documentation_shows_one_plan_of_each_noise(page: Page) -> None:
    """Choosing another noise begins anew."""
    opened(page, "<krand-trust></krand-trust>")
    for noise, place in (("devices", "collector"), ("mixers", "mixer 3"), ("both", "mixer 2")):
        page.get_by_role("radio", name=noise, exact=True).press("Space")
        assert page.get_by_role("button", pressed=True).count() == 0
        assert typeset("the analyst alone: ε = 1") in page.locator(".verdict").inner_text()
        page.get_by_role("button", name=place).press("Enter")
        left = "nothing" if noise == "devices" else "whole"
        assert page.locator("figure").get_attribute("class") == left


def test_the_script_is_small() -> None:
    assert len(gzip.compress((STATIC / "trust.js").read_bytes(), mtime=0)) <= LARGEST


@pytest.mark.check
def test_the_example_is_what_plans_say() -> None:
    """docs/write_trust_example.py brings it up to date."""
    made = script("write_trust_example.py")
    text = (FOLDER / "src" / "trust" / "example.ts").read_text(encoding="utf-8")
    kept: dict[str, Any] = json.loads(text.partition("= ")[2].rstrip(";\n"))
    found = json.loads(json.dumps(made.example()))
    told = [NUMBER.sub("", json.dumps(each)) for each in (kept, found)]
    assert told[0] == told[1]
    numbers = [[float(n) for n in NUMBER.findall(json.dumps(each))] for each in (kept, found)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-2)
