"""People answer the form in a browser, and three mixers add the noise.

Four people. `make long`: 60 people.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from browser.forms import (
    PEOPLE,
    by_keyboard,
    filled,
    press,
    press_by_keyboard,
    reported,
    sent,
    started,
    verdict,
)
from browser.mixed_forms import counted_in_the_end, mixed_party
from browser.visiting import DESKTOP, PHONE, Visit
from components import require
from effort import LONG
from krand.survey.plan import Plan

require("starlette")
require("uvicorn")

CROWD = 60 if LONG else 4

pytestmark = pytest.mark.check


def answered(begun: Visit, url: str, number: int) -> list[int]:
    """One person: every fourth has a keyboard alone; the positions that the page says it sends."""
    if number % 4 == 0:
        page = by_keyboard(begun.page, url)
        press_by_keyboard(page, "Show me what is sent")
        positions = reported(page)
        press_by_keyboard(page, "Send my answers")
        page.wait_for_selector("#said")
    else:
        page = filled(started(begun.page, url), PEOPLE[number % len(PEOPLE)])
        assert "draws the noise" not in page.inner_text("main")
        press(page, "Show me what is sent")
        positions = reported(page)
        assert "The noise is added on the way, as dummy messages." in page.inner_text(".shown")
        assert "which parts are noise" not in page.inner_text(".shown")
        sent(page)
    assert verdict(page).startswith("The signature is valid.")
    assert page.inner_text("#said") == (
        "Your answers have been sent, and the collector has acknowledged them."
    )
    return positions


@pytest.mark.loop
def test_results_are_what_browsers_sent_and_mixers_added(
    tmp_path: Path, visit: Callable[..., Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last message: every count is that of people's positions and of the dummies."""
    party = mixed_party(CROWD)
    with counted_in_the_end(party, tmp_path, monkeypatch) as (url, said):
        for number in range(CROWD):
            begun = visit(url, (DESKTOP, PHONE)[number % 2])
            said.update(answered(begun, f"{url}/", number))
            assert set(begun.requests) == _own(url, party.plan)
            begun.page.context.close()


def _own(url: str, plan: Plan) -> set[str]:
    """All that a form asks for; with mixers their signatures."""
    files = ["", "form.js", "form.css", "plan.json", "signatures.json"]
    asked = {f"{url}/v1/{plan.hash}/{name}" for name in ("status", "submissions")}
    return {f"{url}/{name}" for name in files} | asked
