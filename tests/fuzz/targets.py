"""The parsers that read strangers' bytes: what they must do with any bytes at all.

A target takes some bytes and returns what was understood, as JSON, or None if krand refused them.
Any other exception is a finding, and so is whatever is accepted and does not come back.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import krand

# A batch and a chain are parsed after their hash was compared with what somebody signed; whoever
# signs chooses the bytes. Through files and commands every changed byte would end at the hash.
from krand.batches import batch as batches
from krand.batches import chain as chains
from krand.testing import UnsafeMemoryLedger
from krand.wire.messages import MessageFormat, RejectedMessage
from krand.wire.submissions import Refused, SubmissionFormat, submission_bytes
from lanes import lanes_of
from reference import channel, message
from reference.message import Refused as RefusedByReference
from vectors import CASES, LANE, VECTORS, lane_like

FOLDER = Path(__file__).parent
LANES = [{name: lane[name] for name in LANE} for lane in VECTORS["lanes"]]
SENT = ("block", "offset", "positions", "messages")
Target = Callable[[bytes], Any]
BATCH_LENGTH = 54


def submission(content: bytes) -> Any:
    """A body, as a collector of any plan reads it; the reference agrees about the reason."""
    given = VECTORS["submissions"]
    form = SubmissionFormat(given["round"], given["message_length"], given["messages"])
    try:
        found = form.read(content)
        assert submission_bytes(form.round, found.id, (found.messages,)) == content
        told: Any = [found.id.hex(), found.messages.hex()]
    except Refused as refusal:
        told = str(refusal.reason)
    try:
        name, messages = message.read_submission(
            content, form.round, form.message_length, form.messages
        )
        expected: Any = [name.hex(), messages.hex()]
    except RefusedByReference as refusal:
        expected = refusal.reason
    assert told == expected, f"{told} instead of {expected}"
    return told if isinstance(told, list) else None


def opened_message(content: bytes) -> Any:
    """What is inside of a message of any lane; the reference agrees about payload and reason."""
    found = None
    for lane in LANES:
        form = MessageFormat(lane_like(**lane))
        try:
            payload = form.decode(content)
            assert form.encode(payload) == content, "there is a second way to write a payload"
            told: Any = getattr(payload, "position", getattr(payload, "packed", None))
            found = str(told)
        except RejectedMessage as refusal:
            told = f"refused: {refusal.reason}"
        try:
            expected: Any = message.read_plaintext(channel.Lane(**lane), content)
        except RefusedByReference as refusal:
            expected = f"refused: {refusal.reason}"
        assert told == expected, f"{told!r} instead of {expected!r} in lane {lane['number']}"
    return found


def batch(content: bytes) -> Any:
    """Records of one length, lane after lane: all or none, by the size of the file alone."""
    file = Path(_scratch().name) / f"batch-{os.getpid()}"
    file.write_bytes(content)
    counts = (1, 0, 2)
    try:
        found = batches.by_lane(batches.records_in(file, counts, BATCH_LENGTH), counts)
    except krand.InvalidInput:
        assert len(content) != sum(counts) * BATCH_LENGTH, "records of the right size"
        return None
    assert b"".join(each.tobytes() for each in found) == content, "other messages"
    return [int(batches.repeated(batches.digests_of(each)).sum()) for each in found]


def chain(content: bytes) -> Any:
    """The links of a batch: what was understood can be written and read again."""
    try:
        links = chains.parse_chain(content)
        assert chains.parse_chain(chains.chain_bytes(links)) == links, "other links"
        with suppress(krand.InvalidInput):
            chains.verify_chain(_mixed_plan(), links)
            return [link.record.total("out") for link in links]
    except krand.InvalidInput:
        pass
    return None


@cache
def _mixed_plan() -> krand.Plan:
    """Of the chains in the corpus."""
    return plan_in((FOLDER / "corpus" / "plan" / "mixed.json").read_bytes())


def plan(content: bytes) -> Any:
    """A plan file, as a device takes it: unchanged to the last byte, with everybody's keys."""
    found = None
    try:
        found = plan_in(content)
        krand.Client(found, UnsafeMemoryLedger(), expected_hash=found.hash)
    except krand.KrandError as refusal:
        if not str(refusal).startswith("signature of mixer 1"):  # which would come beside the plan
            return None
    assert found is not None
    assert found.bytes == content, "accepted, but written in another way"
    lanes = [{name: getattr(lane, name) for name in SENT} for lane in found.lanes]
    names = ("name", "offset", "positions", "most_ones")
    blocks = [{name: getattr(block, name) for name in names} for block in found.layout.blocks]
    rooms = None if found.laws else [lane.messages for lane in found.lanes]
    expected = list(lanes_of(found.survey, blocks, rooms))
    assert lanes == expected, f"{lanes} instead of {expected}"
    return {
        "hash": found.hash,
        "positions": found.layout.positions,
        "messages": found.messages,
        "lanes": [list(lane.values()) for lane in lanes],
    }


def plan_in(content: bytes) -> krand.Plan:
    """The plan in these bytes, by way of a file: that is how devices get it."""
    file = Path(_scratch().name) / f"plan-{os.getpid()}.json"
    file.write_bytes(content)
    return krand.read_plan(file)


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    """In memory, where there is such a place; removed when this process ends."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.TemporaryDirectory(dir=memory, prefix="krand-fuzz-")


TARGETS: dict[str, Target] = {
    "submission": submission,
    "message": opened_message,
    "batch": batch,
    "chain": chain,
    "plan": plan,
}


def corpus(name: str) -> list[bytes]:
    """The inputs that are committed: those of the test vectors, and the files in corpus/."""
    found = [each.read_bytes() for each in sorted((FOLDER / "corpus" / name).iterdir())]
    if name == "submission":
        found += [bytes.fromhex(each["body"]) for each in VECTORS["submissions"]["bodies"]]
    if name == "message":
        told = [*VECTORS["accepted"][:16], *VECTORS["rejected"]]
        found += [bytes.fromhex(each["plaintext"]) for each in told if each["plaintext"]]
    if name == "plan":
        plans = {case["plan"].encode(): None for case in VECTORS["cases"]}
        found += plans
        for each in VECTORS["wrong_plans"]:
            text = CASES[each["case"]]["plan"]
            found.append(text.replace(each["old"], each["new"]).encode())
    return found
