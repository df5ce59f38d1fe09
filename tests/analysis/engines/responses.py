"""Reports of known content, sealed and not, for every engine to count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from krand.analysis.engines.partition import Work
from krand.analysis.engines.source import Source, open_batch, open_responses
from krand.analysis.tally import Bits
from krand.batches.manifest import Manifest, manifest_bytes, parse_manifest
from krand.batches.responses import ResponsesHeader, ResponsesWriter
from krand.batches.sealed import write_batch
from krand.client.randomizer import message_format
from krand.promise import Linkage, Policy
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, PickAny
from krand.survey.survey import Survey
from krand.wire.keys import generate_private_key, generate_signing_key
from krand.wire.messages import Null, Token, Vector
from krand.wire.sealing import Sealer
from plans import true_plan

KEY, SIGNER = generate_private_key(), generate_signing_key()
PEOPLE, REFUSED, REPEATED = 152, 20, 30
JOINT: tuple[Bits, ...] = ((0, 3), (2, 9, 17))


def plan_for(linkage: Linkage, choices: int, copies: int = 1) -> Plan:
    """A survey of `choices` + 3 positions; its ε is so large that its promise is true."""
    asked = (
        Choice(name="c", choices=Choices([f"c{n}" for n in range(choices)])),
        PickAny(name="p", choices=Choices(["x", "y", "z"])),
    )
    policy = Policy(epsilon=100.0, minimum_crowd=PEOPLE, delta=1e-6)
    survey = Survey(id="s", policy=policy, questions=asked, linkage=linkage, copies=copies)
    return true_plan(survey, (2**20, 2**20)).sealed_for(KEY.public_key())


BIT = plan_for(Linkage.BIT, 50)
SHORT = plan_for(Linkage.RECORD, 9, copies=2)
LONG = plan_for(Linkage.RECORD, 30)
PLANS = {"bit": BIT, "short record": SHORT, "long record": LONG}


@dataclass(frozen=True)
class Case:
    """A file, and what is in it."""

    plan: Plan
    source: Source
    work: Work
    content: NDArray[np.int64] | NDArray[np.uint8]
    nulls: int
    rejected: dict[str, int]


def run_of(seed: int) -> str:
    """The id of a batch or run, another one for every seed."""
    return f"{seed:032x}"


def content_for(plan: Plan, rows: int, seed: int) -> NDArray[np.int64] | NDArray[np.uint8]:
    random, positions = np.random.default_rng(seed), plan.layout.positions
    if plan.survey.linkage is Linkage.BIT:
        return random.integers(0, positions, rows)
    return np.packbits(random.random((rows, positions)) < 0.3, axis=1)


def work_for(plan: Plan, sealed: bool) -> Work:
    joint = JOINT if plan is LONG else ()
    key = KEY.private_bytes_raw() if sealed else None
    return Work(plan=plan, round=1, joint=joint, key=key)


def unsealed(plan: Plan, path: Path, seed: int = 1, chunks: int = 7) -> Case:
    """A file of responses in several row groups."""
    record = plan.survey.linkage is Linkage.RECORD
    rows = PEOPLE * plan.survey.copies if record else 5_000
    content = content_for(plan, rows, seed)
    header = ResponsesHeader(
        plan=plan.hash,
        round=1,
        people=PEOPLE,
        linkage=plan.survey.linkage,
        positions=plan.layout.positions,
        run=run_of(seed),
    )
    with path.open("wb") as stream, ResponsesWriter(stream, header) as writer:
        for part in np.array_split(content, chunks):
            writer.write(part if record else part.astype(np.int32))
    return Case(plan, open_responses(str(path), plan), work_for(plan, False), content, 0, {})


def sealed(plan: Plan, path: Path, seed: int = 1) -> Case:
    """A batch of sealed messages: some are nulls, some cannot be opened, some are copies."""
    form = message_format(plan)
    sealer = Sealer(KEY.public_key(), form, bytes.fromhex(plan.hash))
    other = Sealer(KEY.public_key(), form, bytes(32))
    record = plan.survey.linkage is Linkage.RECORD
    nulls = [] if record else [Null()] * 40
    rest = PEOPLE * plan.messages - len(nulls) - REFUSED - REPEATED
    content = content_for(plan, rest, seed)
    good = [Vector(row.tobytes()) if record else Token(int(row)) for row in content]
    messages = [sealer.seal(payload) for payload in good + nulls]
    messages += [other.seal(good[0]) for _ in range(REFUSED)]
    messages += messages[:20] + messages[:5] + messages[-5:]
    order = np.random.default_rng(seed).permutation(len(messages))
    rows = np.frombuffer(b"".join(messages), np.uint8).reshape(-1, form.sealed_length)[order]
    with path.open("wb") as stream:
        count = write_batch(stream, form.sealed_length, run_of(seed), iter(np.array_split(rows, 5)))
    source = open_batch(str(path), plan, signed(plan, path, count, seed=seed))
    rejected = {"not_sealed_for_this_key_or_plan": REFUSED, "repeated": REPEATED}
    return Case(plan, source, work_for(plan, True), content, len(nulls), rejected)


def signed(plan: Plan, path: Path, messages: int, people: int = PEOPLE, seed: int = 1) -> Manifest:
    """The manifest of a batch, signed and read again."""
    import hashlib

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    made = Manifest(
        plan=plan.hash,
        round=1,
        submissions=people,
        messages=messages,
        batch_sha256=digest,
        batch_id=run_of(seed),
    )
    return parse_manifest(manifest_bytes(made, SIGNER), SIGNER.public_key())
