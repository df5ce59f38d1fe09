"""The end-to-end vectors hold for the JavaScript client, in node and in chromium."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from browser.conftest import browser as browser
from browser.conftest import chromium as chromium
from browser.conftest import fonts as fonts
from client.test_vectors import usable_keys
from js_client.chromium import running_origin
from js_client.javascript import FOLDER, asked
from wire.test_independent_hpke import open_sealed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "client" / "vectors.json").read_text(encoding="utf-8")
)
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in VECTORS["cases"]}
STATED = ("true_positions", "reported_positions", "messages", "id", "submission_length")
Ask = Callable[[list[dict[str, Any]]], list[Any]]

IN_PAGE = """async (text) => {
  const krand = await import("/internals.js");
  const cases = await import("/cases.mjs");
  const told = [];
  for (const { ask, ...given } of JSON.parse(text)) told.push(await cases[ask](krand, given));
  return JSON.stringify(told);
}"""


@pytest.fixture(params=["node", "chromium"])
def ask(request: pytest.FixtureRequest, internals: Path) -> Iterator[Ask]:
    """Puts questions to the client, there."""
    if request.param == "node":
        yield asked
        return
    running: Browser = request.getfixturevalue("browser")
    files = (internals, FOLDER / "test" / "cases.mjs")
    scripts = {path.name: path.read_bytes() for path in files}
    with running_origin(scripts) as origin:
        page = running.new_page()
        page.goto(origin.url)
        # As text: JSON can say lone surrogates, which a browser's protocol cannot.
        yield lambda questions: json.loads(page.evaluate(IN_PAGE, json.dumps(questions)))
        page.close()


def test_cases_give_what_they_state(ask: Ask) -> None:
    """Positions, reported positions, plaintexts, infos, id, length; and all bytes are drawn."""
    told = ask([{"ask": "found", **case} for case in CASES.values()])
    for case, found in zip(CASES.values(), told, strict=True):
        assert found == {name: case[name] for name in STATED} | {"left": 0}, case["name"]


def test_answers_in_another_language_have_the_same_positions(ask: Ask) -> None:
    questions = [{**CASES[each["case"]], **each, "ask": "worded"} for each in VECTORS["worded"]]
    for each, found in zip(VECTORS["worded"], ask(questions), strict=True):
        assert found["positions"] == CASES[each["case"]]["true_positions"]
        assert found["own"] == CASES[each["case"]]["answers"]


@pytest.mark.check
def test_refused_answers_name_the_question(ask: Ask) -> None:
    refused = VECTORS["refused"]
    assert refused
    questions = [{**CASES[each["case"]], "answers": each["answers"]} for each in refused]
    told = ask([{"ask": "refusal", **question} for question in questions])
    for each, found in zip(refused, told, strict=True):
        assert found == {"code": "invalid-answer", "field": each["question"]}, each


@pytest.mark.check
def test_the_client_prepares_the_submission_of_a_case(ask: Ask) -> None:
    """While the platform's generator gives the bytes of the case; signatures are checked."""
    bodies = ask([{"ask": "prepared", **case} for case in CASES.values()])
    for case, body in zip(CASES.values(), map(bytes.fromhex, bodies), strict=True):
        assert len(body) == case["submission_length"]
        assert body[:19].hex() == f"01{case['round']:04x}{case['id']}"
        length = (len(body) - 19) // len(case["messages"])
        for place, message in enumerate(case["messages"]):
            sealed = body[19 + place * length :][:length]
            assert opened(case, message["infos"], sealed) == message["plaintext"]


def opened(case: dict[str, Any], infos: list[str], sealed: bytes) -> str:
    """The plaintext, layer after layer, by the HPKE that the tests wrote from the RFC."""
    for key, info in zip(reversed(usable_keys(case)), reversed(infos), strict=True):
        private = X25519PrivateKey.from_private_bytes(bytes.fromhex(key["private_key"]))
        sealed = open_sealed(sealed, private, bytes.fromhex(info))
    return sealed.hex()


def test_the_given_ephemeral_keys_make_the_given_seals(ask: Ask) -> None:
    """All layers of a message at once, byte for byte."""
    names = list(dict.fromkeys(seal["case"] for seal in VECTORS["sealed"]))
    seals = [[seal for seal in VECTORS["sealed"] if seal["case"] == name] for name in names]
    assert {len(layers) for layers in seals} >= {1, 3}
    told = ask([sealing(CASES[name], layers) for name, layers in zip(names, seals, strict=True)])
    assert told == [{"sealed": layers[-1]["sealed"], "left": 0} for layers in seals]


def sealing(case: dict[str, Any], layers: list[dict[str, Any]]) -> dict[str, Any]:
    message = case["messages"][layers[0]["message"]]
    return {
        "ask": "sealedWith",
        "plan": case["plan"],
        "hash": case["hash"],
        "round": case["round"],
        "lane": message["lane"],
        "plaintext": message["plaintext"],
        "ephemerals": [layer["ephemeral_private_key"] for layer in layers],
    }
