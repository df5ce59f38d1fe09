"""People answer the form in a browser, and three mixers add the noise.

Four people. `make long`: 60 people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from browser.forms import (
    PEOPLE,
    by_keyboard,
    every_kind_plan,
    filled,
    press,
    press_by_keyboard,
    reported,
    sent,
    started,
    verdict,
)
from browser.visiting import DESKTOP, PHONE, Visit
from collecting import running
from command_line import done
from components import require
from effort import LONG
from krand import tally_batches
from krand.batches.chain import read_chain, verify_chain
from krand.mixing.dummies import NULL
from krand.survey.plan import Plan
from krand.wire.plan_signatures import sign_plan, signature_bytes
from mixed_plans import Party, party_of
from mixing.chains import drawn_dummies, stores_of

require("starlette")
require("uvicorn")

CROWD = 60 if LONG else 4
MIXERS = 3
TOGETHER = ["bicycle", "way"]

pytestmark = pytest.mark.check


def mixed_party(crowd: int) -> Party:
    """Each kind of question, two of them together, with a noise that protects people."""
    trust = {"noise": "mixers", "mixers": MIXERS}
    return party_of(every_kind_plan(4.0, crowd, trust=trust, together=TOGETHER))


@contextmanager
def counted_in_the_end(
    party: Party, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Counter[int]]]:
    """The form's address, and where to note the positions that pages say they send."""
    stores = stores_of(party, folder)
    options = [*_signed(party, folder), "--form", "--mixer-store", str(stores[0])]
    said: Counter[int] = Counter()
    files = (folder / "plan.json", folder / "spool", folder / "log")
    with running(*files, options=options) as served:
        yield served.url, said
    with drawn_dummies(monkeypatch) as drawn:
        batch = _mixed(folder, stores)
    _check_counts(party, batch, said, drawn)


def _signed(party: Party, folder: Path) -> list[str]:
    """The plan and its signatures as files; the options that name the signatures."""
    party.plan.save(folder / "plan.json")
    options = []
    for hop, identity in enumerate(party.identities, 1):
        path = folder / f"m{hop}.sig.json"
        path.write_bytes(signature_bytes(sign_plan(party.plan, identity)))
        options += ["--signature", str(path)]
    return options


def _mixed(folder: Path, stores: tuple[Path, ...]) -> Path:
    """The batch after the last mixer: the first one releases, the others mix."""
    plan = f"--plan {folder}/plan.json"
    close = f"--spool {folder}/spool --mixer-store {stores[0]} --close --yes"
    done("release", plan, close, f"-o {folder}/out-1")
    (batch,) = (folder / "out-1").glob("*.parquet")
    for hop, store in enumerate(stores[1:], 2):
        done("mix run", batch, plan, f"--store {store} --workers 1 -o {folder}/out-{hop}")
        (batch,) = (folder / f"out-{hop}").glob("*.parquet")
    return batch


def _check_counts(
    party: Party, batch: Path, said: Counter[int], drawn: Counter[tuple[int, int]]
) -> None:
    """Every count after the last mixer is that of people's positions and of the dummies."""
    added: Counter[int] = Counter()
    for (_, position), count in drawn.items():
        added[position] += count
    tally = tally_batches(party.plan, [batch], party.analyst)
    assert (tally.people, tally.rejected) == (party.plan.promise.crowd, {})
    places = range(party.plan.layout.positions)
    assert list(tally.counts) == [said[place] + added[place] for place in places]
    assert said.total() > 0
    assert added.total() - added[NULL] > 0
    links = read_chain(batch.with_suffix(".chain.json"))
    assert len(links) == MIXERS
    verify_chain(party.plan, links)


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
