"""Collectors take what the JavaScript client sends from node, and count it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from client.vector_plans import known_key, known_plan
from collecting import quick_folder, serving
from components import require
from js_client.chromium import running_origin
from js_client.javascript import asked
from krand import make_plan, parse_survey, tally_batches
from krand.collector.opening import open_spool, read_batches
from krand.collector.settings import Settings, receipt_of
from krand.survey.encoding import encode
from krand.testing import MIXED_SURVEY, FakeChain, FakeCollector, small_plan, small_survey
from krand.wire.keys import generate_signing_key
from krand.wire.layers import LaneOpener
from krand.wire.messages import Token
from krand.wire.plan_signatures import signature_values
from krand.wire.receipts import check_receipt
from mixing.chains import drawn_dummies

pytestmark = pytest.mark.usefixtures("internals")
PLAN = known_plan(small_survey(), numerators=(1, 1), rooms=(1, 3))
"""One bit in four billion is flipped: counts are exact."""
PEOPLE: tuple[dict[str, object], ...] = (
    {"smokes": True, "pet": "dog"},
    {"smokes": False, "pet": "dog"},
    {"pet": "cat"},
    {},
)


def test_answers_from_node_are_counted() -> None:
    """Every message opens, and the tokens are the positions of all people's answers."""
    collector = FakeCollector(PLAN)
    with running_origin({}, collector) as origin:
        told = asked(
            [
                {"ask": "submit", "url": origin.url, "hash": PLAN.hash, "answers": answers}
                for answers in PEOPLE
            ]
        )
    assert [receipt["status"] for receipt in told] == ["accepted"] * len(PEOPLE)
    assert (collector.people, collector.refused) == (len(PEOPLE), [])
    opener = LaneOpener(known_key(0), PLAN, 1)
    payloads = [opener.open(lane, sealed) for lane, sealed in collector.messages()]
    counts = Counter(each.position for each in payloads if isinstance(each, Token))
    assert counts == Counter(one for each in PEOPLE for one in encode(PLAN.layout, each))


@pytest.mark.check
def test_the_server_takes_answers_from_node_and_signs_receipts() -> None:
    """The collector that `krand serve` runs, with its plan and its signing key."""
    require("starlette")
    require("uvicorn")
    plan = small_plan().sealed_for(known_key(0).public_key())  # a collector wants a true promise
    key = generate_signing_key()
    settings = Settings(plan=plan, receipt=receipt_of(plan, 1, key))
    with quick_folder() as folder:
        with serving(open_spool(plan, folder), settings) as port:
            where = {"url": f"http://127.0.0.1:{port}", "hash": plan.hash}
            told = asked([{"ask": "submit", "answers": each, **where} for each in PEOPLE])
        assert sum(batch.people for batch in read_batches(plan, folder)) == len(PEOPLE)
    for receipt in told:
        assert receipt["status"] == "accepted"
        assert check_receipt(key.public_key(), receipt["receipt"], plan.hash, 1)


@pytest.mark.check
def test_three_mixers_pass_on_what_node_and_python_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last message: every count is that of people's positions and of the dummies."""
    text = MIXED_SURVEY.replace("mixers = 2", "mixers = 3")
    chain = FakeChain(make_plan(parse_survey(text)))
    plan, signatures = chain.plan, [signature_values(each) for each in chain.signatures]
    given = {"plan": plan.bytes.decode(), "hash": plan.hash, "signatures": signatures}
    made = asked([{"ask": "prepare", "answers": each, "round": 1, **given} for each in PEOPLE])
    for body in made:
        sent = bytes.fromhex(body["body"])
        reply = chain.collector.post(f"{chain.url}/v1/{plan.hash}/submissions", sent)
        assert reply.status == 202
    for answers in PEOPLE:
        chain.client().submit(chain.url, answers)
    with drawn_dummies(monkeypatch) as drawn:
        tally = tally_batches(plan, [chain.release(tmp_path)], chain.key)
    assert (tally.people, tally.rejected) == (2 * len(PEOPLE), {})
    expected = Counter(one for each in 2 * PEOPLE for one in encode(plan.layout, each))
    for (_, position), count in drawn.items():
        expected[position] += count
    assert list(tally.counts) == [expected[place] for place in range(plan.layout.positions)]
