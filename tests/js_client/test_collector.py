"""Collectors take what the JavaScript client sends from node, and count it."""

from __future__ import annotations

from collections import Counter

import pytest

from client.vector_plans import known_key, known_plan
from collecting import quick_folder, serving
from components import require
from js_client.chromium import running_origin
from js_client.javascript import asked
from krand.collector.opening import open_spool, read_batches
from krand.collector.settings import Settings, receipt_of
from krand.survey.encoding import encode
from krand.testing import FakeCollector, small_plan, small_survey
from krand.wire.keys import generate_signing_key
from krand.wire.layers import LaneOpener
from krand.wire.messages import Token
from krand.wire.receipts import check_receipt

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
