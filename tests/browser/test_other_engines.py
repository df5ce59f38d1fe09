"""Firefox and WebKitGTK: the form is answered, the vectors hold, a ledger keeps its submission.

Only in `make long`, and only in those engines that are installed: Debian has
them as firefox-esr, and as webkit2gtk-driver with xvfb.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from browser.engines import ENGINES, Engine, require_engine, running_engine
from browser.forms import KEYS, PEOPLE
from browser.mixed_forms import counted_in_the_end, mixed_party
from components import require
from js_client import test_vectors as vectors
from js_client.chromium import running_origin
from js_client.conftest import internals as internals
from js_client.javascript import FOLDER, STATIC
from js_client.test_in_browser import ANSWERS, OTHER_ANSWERS, PREPARE, RESUME, STORED, SUBMIT
from krand.survey.encoding import encode
from krand.testing import FakeCollector, small_plan

pytestmark = pytest.mark.long
require("starlette")
require("uvicorn")

CHECKS = (
    vectors.test_cases_give_what_they_state,
    vectors.test_refused_answers_name_the_question,
    vectors.test_the_client_prepares_the_submission_of_a_case,
    vectors.test_the_given_ephemeral_keys_make_the_given_seals,
)
CLICKING = PEOPLE[1]
SAID: tuple[dict[str, Any], ...] = (
    {
        "bicycle": True,
        "way": "by bicycle",
        "city": "Köln 1",
        "shops": ["baker"],
        "rent": 7,
        "mood": 1,
        "wish": "p",
    },
    {
        "bicycle": False,
        "way": "by car",
        "city": "Ulm 10",
        "shops": ["books", "shoes"],
        "rent": 99,
        "mood": 5,
        "wish": "A library",
    },
)
"""What the two people answer: one has a keyboard alone, the other one clicks."""
DRAWS = 2_000
TIMES_SUPPORTED = """async (draws) => {
  const { supported } = await import("/krand.js");
  let times = 0;
  for (let draw = 0; draw < draws; draw++) times += await supported();
  return times;
}"""
REPORTED = """() => [...document.querySelectorAll(".reported li:is(.kept, .added)")]
    .map((each) => Number(each.dataset.position))"""


@pytest.fixture(scope="module", params=ENGINES)
def name(request: pytest.FixtureRequest) -> str:
    """That of an engine which is installed."""
    given: str = request.param
    require_engine(given)
    return given


@pytest.fixture(scope="module")
def engine(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A browser for all tests that leave nothing in its profile."""
    with running_engine(name, tmp_path_factory.mktemp(name) / "profile") as engine:
        yield engine


@pytest.fixture
def ask(engine: Engine, internals: Path) -> Iterator[vectors.Ask]:
    """Puts questions to the client in the engine; takes the place of node and chromium."""
    scripts = {path.name: path.read_bytes() for path in (internals, FOLDER / "test" / "cases.mjs")}
    with running_origin(scripts) as origin:
        engine.open(origin.url)
        in_page = (
            f"async (questions) => JSON.parse(await ({vectors.IN_PAGE})(JSON.stringify(questions)))"
        )
        yield lambda questions: engine.run(in_page, questions)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("test_"))
def test_vectors_hold(check: Callable[[vectors.Ask], None], ask: vectors.Ask) -> None:
    check(ask)


def test_people_answer_the_form_and_are_counted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What arrives is what the browser said that it sends, and that is what people answered."""
    party = mixed_party(len(SAID))
    with counted_in_the_end(party, tmp_path, monkeypatch) as (url, said):
        for number, (answer, answers) in enumerate(zip((_by_keys, _by_clicks), SAID, strict=True)):
            with running_engine(name, tmp_path / f"person-{number}") as engine:
                positions = answer(engine, f"{url}/")
            assert sorted(positions) == sorted(encode(party.plan.layout, answers))
            said.update(positions)


def _by_keys(engine: Engine, url: str) -> list[int]:
    """A person who has a keyboard alone; the positions that the page says it sends."""
    engine.open(url)
    engine.wait_for("Start")
    for number, keys in enumerate(KEYS, 1):
        engine.press(*keys.split())
        engine.wait_for(f"Question {number} of 7" if number < len(KEYS) else "Check your answers")
    _press_button(engine, "Show me what is sent")
    engine.wait_for("The sealed bytes")
    positions: list[int] = engine.run(REPORTED)
    _press_button(engine, "Send my answers")
    engine.wait_for("The signature is valid.")
    return positions


def _press_button(engine: Engine, label: str) -> None:
    while engine.run("() => document.activeElement.textContent") != label:
        engine.press("Tab")
    engine.press("Enter")


def _by_clicks(engine: Engine, url: str) -> list[int]:
    """A person who clicks, and types what cannot be clicked."""
    engine.open(url)
    engine.click("button", "Start")
    for label in (CLICKING["bicycle"], CLICKING["way"]):
        engine.click("label", label)
        engine.click("button", "Next")
    _type(engine, CLICKING["city"])
    engine.click(".found li", CLICKING["city"])
    engine.click("button", "Next")
    for shop in CLICKING["shops"]:
        engine.click("label", shop)
    engine.click("button", "Next")
    _type(engine, CLICKING["rent"])
    engine.click("button", "Next")
    engine.click("label", "5: very much")
    engine.click("button", "Next")
    _type(engine, CLICKING["wish"])
    engine.click("button", "Next")
    engine.click("button", "Show me what is sent")
    engine.wait_for("The sealed bytes")
    positions: list[int] = engine.run(REPORTED)
    engine.click("button", "Send my answers")
    engine.wait_for("The signature is valid.")
    return positions


def _type(engine: Engine, text: str) -> None:
    engine.click("input[type=text]")
    engine.press(*text)


def test_a_browser_can_always_take_part(engine: Engine) -> None:
    """WebKitGTK refuses one key in 256 that it draws; the client draws another one."""
    with running_origin({"krand.js": (STATIC / "krand.js").read_bytes()}) as origin:
        engine.open(origin.url)
        assert engine.run(TIMES_SUPPORTED, DRAWS) == DRAWS


def test_the_client_sends_once_and_the_same_bytes(name: str, tmp_path: Path) -> None:
    """Under a strict policy: kept before it is sent, the same after a reload, then erased."""
    collector = FakeCollector(small_plan().sealed_for(X25519PrivateKey.generate().public_key()))
    plan = collector.plan.hash
    scripts = {"krand.js": (STATIC / "krand.js").read_bytes()}
    with (
        running_origin(scripts, collector) as origin,
        running_engine(name, tmp_path / "profile") as engine,
    ):
        engine.open(origin.url)
        assert engine.run("async () => (await import('/krand.js')).supported()") is True
        body, was_kept = engine.run(PREPARE, [plan, ANSWERS])
        engine.open(origin.url)
        again, kept_again = engine.run(PREPARE, [plan, OTHER_ANSWERS])
        assert (was_kept, kept_again, again) == (False, True, body)
        assert engine.run(RESUME, [plan])["status"] == "accepted"
        assert engine.run(SUBMIT, [plan, OTHER_ANSWERS])["status"] == "already-submitted"
        assert engine.run(STORED) == [{"plan": plan, "round": 1, "body": None}]
    assert origin.bodies == [bytes(body)]
    assert collector.people == 1
