"""People answer the form in a browser, and three mixers add the noise.

Four people. KRAND_LONG=1: 60 people.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from browser.forms import (
    EVERY_KIND,
    PEOPLE,
    by_keyboard,
    filled,
    press_by_keyboard,
    reported,
    sent,
    started,
)
from browser.visiting import DESKTOP, PHONE, Visit
from collecting import running
from components import require
from krand import make_plan, parse_survey, save_plan, tally_batches
from krand.batches.chain import read_chain, verify_chain
from krand.cli.main import krand
from krand.mixing.dummies import NULL
from krand.wire.plan_signatures import sign_plan, signature_bytes
from mixing.chains import Party, drawn_dummies, party_of, stores_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

require("starlette")
require("uvicorn")

CROWD = 60 if os.environ.get("KRAND_LONG") == "1" else 4
MIXERS = 3
MIXED = f"""
[trust]
noise = "mixers"
mixers = {MIXERS}

[[together]]
questions = ["bicycle", "way"]
"""


def mixed_party() -> Party:
    """Each kind of question, two of them together, with a noise that protects people."""
    text = EVERY_KIND.format(epsilon=4.0, crowd=CROWD, language="en") + MIXED
    return party_of(make_plan(parse_survey(text)))


def signed(party: Party, folder: Path) -> list[str]:
    """The plan and its signatures as files; the options that name the signatures."""
    save_plan(party.plan, folder / "plan.json")
    options = []
    for hop, identity in enumerate(party.identities, 1):
        path = folder / f"m{hop}.sig.json"
        path.write_bytes(signature_bytes(sign_plan(party.plan, identity)))
        options += ["--signature", str(path)]
    return options


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


def mixed(folder: Path, stores: tuple[Path, ...]) -> Path:
    """The batch after the last mixer: the first one releases, the others mix."""
    first = folder / "out-1"
    release = ["--spool", folder / "spool", "--mixer-store", stores[0], "--close", "-o", first]
    _run("release", "--plan", folder / "plan.json", *release)
    (batch,) = first.glob("*.parquet")
    for hop, store in enumerate(stores[1:], 2):
        out = folder / f"out-{hop}"
        own = ["--plan", folder / "plan.json", "--store", store, "--workers", 1, "-o", out]
        _run("mix", "run", batch, *own)
        (batch,) = out.glob("*.parquet")
    return batch


def _run(*arguments: Any) -> None:
    result = CliRunner().invoke(krand, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output


def test_results_are_what_browsers_sent_and_mixers_added(
    tmp_path: Path,
    visit: Callable[..., Visit],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To the last message: every count is that of people's positions and of the dummies."""
    party = mixed_party()
    stores = stores_of(party, tmp_path)
    options = [*signed(party, tmp_path), "--form", "--mixer-store", str(stores[0])]
    said: Counter[int] = Counter()
    plan, log = tmp_path / "plan.json", tmp_path / "log"
    with running(plan, tmp_path / "spool", log, options=options) as served:
        for number in range(CROWD):
            device = (DESKTOP, PHONE)[number % 2]
            begun = visit(served.url, device)
            said.update(answered(begun, f"{served.url}/", number))
            assert set(begun.requests) == _own(served.url, party.plan.hash)
            begun.page.context.close()
    with drawn_dummies(monkeypatch) as drawn:
        batch = mixed(tmp_path, stores)
    _check_counts(party, batch, said, drawn)


def _own(url: str, plan: str) -> set[str]:
    """All that a form asks for; with mixers their signatures, too."""
    files = ("", "form.js", "form.css", "plan.json", "signatures.json")
    asked = {f"{url}/v1/{plan}/{name}" for name in ("status", "submissions")}
    return {f"{url}/{name}" for name in files} | asked


def _check_counts(
    party: Party, batch: Path, said: Counter[int], drawn: Counter[tuple[int, int]]
) -> None:
    added: Counter[int] = Counter()
    for (_, position), count in drawn.items():
        added[position] += count
    tally = tally_batches(party.plan, [batch], party.analyst)
    assert (tally.people, tally.rejected) == (CROWD, {})
    places = range(party.plan.layout.positions)
    assert list(tally.counts) == [said[place] + added[place] for place in places]
    assert said.total() > 0
    assert added.total() - added[NULL] > 0
    links = read_chain(batch.with_suffix(".chain.json"))
    assert len(links) == MIXERS
    verify_chain(party.plan, links)
