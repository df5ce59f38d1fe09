"""What a person who lies can do: as much as the plan says before anybody is asked, and no more."""

from __future__ import annotations

import hashlib
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from krand import make_results, tally_batches
from krand.analysis.results import Results
from krand.batches.chain import Manifest, manifest_bytes
from krand.batches.sealed import write_sealed
from krand.client.randomizer import message_lanes
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.testing import FakeCollector, small_plan, small_survey, unsafe_exact_plan
from krand.wire.keys import generate_private_key, generate_signing_key
from krand.wire.layers import LayerSealer
from krand.wire.messages import Null, Payload, Token, length_at
from krand.wire.submissions import HEAD_LENGTH, submission_bytes

KEY, SIGNER = generate_private_key(), generate_signing_key()
POSITION = 1  # an option of a choice, whose lane has room for flips
"""What the liar wants to be counted."""
BATCH = "ab" * 16


@pytest.fixture(scope="module")
def plan() -> Plan:
    return unsafe_exact_plan(small_survey()).sealed_for(KEY.public_key())


def body(plan: Plan, number: int, payloads: list[Payload]) -> bytes:
    """A submission with this inside, made by somebody who does not use our client."""
    sealer = LayerSealer(plan, 1)
    lanes = cycle(message_lanes(plan))
    sealed = tuple(sealer.seal(*each) for each in zip(lanes, payloads, strict=False))
    return submission_bytes(1, number.to_bytes(16), sealed)


def liar(plan: Plan) -> list[Payload]:
    """As many tokens of one position as its lane has messages, and nothing else."""
    lanes = message_lanes(plan)
    return [Token(POSITION) if lane.holds(POSITION) else Null() for lane in lanes]


def silent(plan: Plan, people: int) -> list[list[Payload]]:
    return [[Null()] * plan.messages for _ in range(people)]


@pytest.mark.parametrize("times", [2, 4])
def test_a_collector_refuses_a_larger_submission(plan: Plan, times: int) -> None:
    """Nobody gets more messages into a batch than everybody else."""
    collector = FakeCollector(plan)
    url = f"{collector.url}/v1/{plan.hash}/submissions"
    lies = liar(plan)
    assert collector.post(url, body(plan, 1, lies)).status == 202
    assert collector.post(url, body(plan, 2, lies * times)).status == 422
    assert collector.people == 1
    assert len(collector.messages()) == plan.messages


def counted(plan: Plan, everybody: list[list[Payload]], folder: Path) -> Results:
    """What becomes of these submissions, had a collector taken in all of them."""
    length = length_at(plan, 1)
    sent: dict[int, bytes] = {lane.number: b"" for lane in plan.lanes}
    for own in everybody:
        content = body(plan, 0, own)[HEAD_LENGTH:]
        for place, lane in zip(range(0, len(content), length), cycle(message_lanes(plan))):
            sent[lane.number] += content[place : place + length]
    rows = ((n, np.frombuffer(own, np.uint8).reshape(-1, length)) for n, own in sent.items())
    with (folder / "b.parquet").open("wb") as stream:
        count = write_sealed(stream, length, BATCH, rows)
    digest = hashlib.sha256((folder / "b.parquet").read_bytes()).hexdigest()
    manifest = manifest_bytes(
        Manifest(
            plan=plan.hash,
            round=1,
            submissions=len(everybody),
            messages=count,
            batch_sha256=digest,
            batch_id=BATCH,
        ),
        SIGNER,
    )
    (folder / "b.manifest.json").write_bytes(manifest)
    tally = tally_batches(plan, [folder / "b.parquet"], KEY, SIGNER.public_key())
    return make_results(plan, tally)


def test_a_tally_refuses_messages_of_a_larger_submission(plan: Plan, tmp_path: Path) -> None:
    """Whoever collected them: four times as many of one person would move a count fourfold."""
    everybody = silent(plan, plan.survey.policy.minimum_crowd)
    everybody[0] = liar(plan) * 4
    with pytest.raises(InvalidInput, match=r"messages of each of 100 people"):
        counted(plan, everybody, tmp_path)


def test_a_liar_moves_a_count_by_what_the_plan_says(tmp_path: Path) -> None:
    """All messages with one position, among people who say nothing; with the noise of a plan."""
    plan = small_plan().sealed_for(KEY.public_key())
    people = plan.survey.policy.minimum_crowd
    silence = silent(plan, people)
    lies = [liar(plan), *silence[1:]]
    counts = []
    for name, everybody in (("honest", silence), ("lying", lies)):
        (tmp_path / name).mkdir()
        results = counted(plan, everybody, tmp_path / name)
        counts.append(results.questions[1].rows[0].count)
    said = plan.blocks[1].shift
    assert counts[1] - counts[0] == pytest.approx(said.too_high, rel=2e-5)
    assert tuple(shift.rounded() for shift in results.shifts) == tuple(
        block.shift for block in plan.blocks
    )
    assert said.too_high == pytest.approx(
        plan.blocks[1].room / (1 - 2 * plan.blocks[1].noise), rel=2e-5
    )
