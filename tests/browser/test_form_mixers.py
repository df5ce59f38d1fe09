"""People answer the form in a browser, and three mixers add the noise.

Four people. `make long`: 60 people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.forms import (
    PEOPLE,
    by_keyboard,
    filled,
    press_by_keyboard,
    reported,
    sent,
    started,
)
from browser.mixed_forms import check_counts, mixed, mixed_party, signed
from browser.visiting import DESKTOP, PHONE, Visit
from collecting import running
from components import require
from effort import LONG
from krand.survey.plan import Plan
from krand.survey.seals import Seal
from mixing.chains import drawn_dummies, stores_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

require("starlette")
require("uvicorn")

CROWD = 60 if LONG else 4


def answered(begun: Visit, url: str, number: int) -> list[int]:
    """One person: every fourth has a keyboard alone; the positions that the page says it sends."""
    if number % 4 == 0:
        page = by_keyboard(begun.page, url)
        press_by_keyboard(page, "Show me what is sent")
        positions = reported(page)
        press_by_keyboard(page, "Send my answers")
        page.wait_for_selector("#verdict")
    else:
        page = filled(started(begun.page, url), PEOPLE[number % len(PEOPLE)])
        page.get_by_role("button", name="Show me what is sent").click()
        positions = reported(page)
        sent(page)
    _has_a_receipt(page)
    return positions


def _has_a_receipt(page: Page) -> None:
    assert page.inner_text("#verdict").startswith("The signature is valid.")
    assert page.inner_text("#said") == "Your answers have been sent."


@pytest.mark.loop
@pytest.mark.parametrize("seal", ["x25519", "mlkem768-x25519"])
def test_results_are_what_browsers_sent_and_mixers_added(
    tmp_path: Path,
    visit: Callable[..., Visit],
    monkeypatch: pytest.MonkeyPatch,
    seal: str,
) -> None:
    """To the last message: every count is that of people's positions and of the dummies."""
    party = mixed_party(CROWD, seal)
    stores = stores_of(party, tmp_path)
    options = [*signed(party, tmp_path), "--form", "--mixer-store", str(stores[0])]
    said: Counter[int] = Counter()
    plan, log = tmp_path / "plan.json", tmp_path / "log"
    with running(plan, tmp_path / "spool", log, options=options) as served:
        for number in range(CROWD):
            device = (DESKTOP, PHONE)[number % 2]
            begun = visit(served.url, device)
            said.update(answered(begun, f"{served.url}/", number))
            assert set(begun.requests) == _own(served.url, party.plan)
            begun.page.context.close()
    with drawn_dummies(monkeypatch) as drawn:
        batch = mixed(tmp_path, stores)
    check_counts(party, batch, said, drawn)


def _own(url: str, plan: Plan) -> set[str]:
    """All that a form asks for; with mixers their signatures, with hybrid seals their script."""
    files = ["", "form.js", "form.css", "plan.json", "signatures.json"]
    if plan.survey.seal is Seal.MLKEM768_X25519:
        files.append("hybrid.js")
    asked = {f"{url}/v1/{plan.hash}/{name}" for name in ("status", "submissions")}
    return {f"{url}/{name}" for name in files} | asked
