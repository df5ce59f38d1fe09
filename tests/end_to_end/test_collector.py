"""The whole way over real HTTP: devices, a collector that runs, release, tally, estimate."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from collecting import KEY, Running, answers_of, exact_plan, quick_folder, released, running
from command_line import refused, told
from components import require
from effort import LONG
from krand.client.client import Client
from krand.client.ledger import Ledger
from krand.client.sending import send
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.plan import Plan
from krand.wire.keys import generate_signing_key, write_key_pair

pytestmark = pytest.mark.check

require("uvicorn")
require("starlette")

SIGNER = generate_signing_key()
THREADS = 8
PEOPLE, LINKED_PEOPLE = (2_000, 300) if LONG else (350, 150)


def prepared(at: Path, plan: Plan) -> Path:
    """A folder with the plan and everybody's keys."""
    (at / "plan.json").write_bytes(plan.bytes)
    write_key_pair(KEY, at / "key.pem", at / "key.pub.pem")
    write_key_pair(SIGNER, at / "collector.pem", at / "collector.pub.pem")
    return at


def take_part(plan: Plan, collector: Running, people: list[dict[str, object]]) -> Counter[bytes]:
    """Everybody on a device of their own, many at once; every message that was sent.

    Some are told nothing, and come again: the same bytes, counted once.
    """

    def one(number: int) -> tuple[bytes, ...]:
        client = Client(plan, Ledger(ledgers / str(number)), expected_hash=plan.hash)
        made = client.prepare(people[number])
        if number % 10 == 0:
            send(collector.url, plan.hash, 1, made)
        client.submit(collector.url, people[number])
        assert client.ledger.entries()[0].acknowledged
        return made.messages

    with quick_folder() as ledgers, ThreadPoolExecutor(THREADS) as threads:
        return Counter(m for own in threads.map(one, range(len(people))) for m in own)


RELEASE = "release --plan plan.json --spool spool --key collector.pem --close --yes -o out"
TALLY = (
    "tally out/batch-000001.parquet --plan plan.json --key key.pem"
    " --collector-key collector.pub.pem --workers 1 -o tally.json"
)


@pytest.mark.loop
@pytest.mark.parametrize(
    ("linkage", "copies", "people", "side"),
    [(Linkage.BIT, 1, PEOPLE, 45), (Linkage.RECORD, 2, LINKED_PEOPLE, 18)],
)
def test_every_payload_arrives_exactly_once(
    linkage: Linkage, copies: int, people: int, side: int, tmp_path: Path
) -> None:
    """Everybody answers something else: a count of two would be a replay, one of none a loss."""
    plan = exact_plan(people, linkage, copies, side)
    at = prepared(tmp_path, plan)
    answers = [answers_of(number, linkage, side) for number in range(people)]
    with running(at / "plan.json", at / "spool", at / "log") as collector:
        sent = take_part(plan, collector, answers[:-1])
        early = refused(RELEASE, at=at)
        assert early["field"] == "people", "one person is missing: nothing may be released"
        sent += take_part(plan, collector, answers[-1:])
        (batch,) = told(RELEASE, at=at)["released"]  # while the collector goes on
        with pytest.raises(InvalidInput, match="410 must not be closed"):
            take_part(plan, collector, answers[:1])
    assert (batch["people"], batch["messages"]) == (people, people * plan.messages)
    found = released(at / "out" / "batch-000001.parquet")
    assert Counter(found) == sent

    tally = told(TALLY, at=at)
    assert (tally["people"], tally["rejected"]) == (people, {})
    counts = np.array(json.loads((at / "tally.json").read_bytes())["counts"])
    assert Counter(counts[counts > 0].tolist()) == {copies: people}
    waiting = told("status --plan plan.json --spool spool --check", at=at)["batches"]
    assert [entry["state"] for entry in waiting] == ["released"]
