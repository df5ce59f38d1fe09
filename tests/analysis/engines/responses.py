"""Reports of known content, sealed and not, for every engine to count."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from krand.analysis.engines.partition import Work
from krand.analysis.engines.source import Source, open_batch, open_responses
from krand.analysis.tally import Bits
from krand.analysis.tallying import batches_in
from krand.batches.chain import Manifest, manifest_bytes, parse_manifest
from krand.batches.responses import ResponsesHeader, ResponsesWriter
from krand.batches.sealed import write_sealed
from krand.mixing.dummies import NULL
from krand.mixing.mixer import MixOptions, first_mix, mix_batch
from krand.mixing.store import MixerStore
from krand.promise import Linkage, Policy
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, PickAny
from krand.survey.survey import Survey
from krand.wire.keys import generate_private_key, generate_signing_key
from krand.wire.layers import LayerSealer
from krand.wire.messages import Null, Token, Vector
from mixing.chains import counted, mixed_plan_for, random_answers, sealed_people, stores_of
from plans import true_plan

KEY, SIGNER = generate_private_key(), generate_signing_key()
PEOPLE, REFUSED, REPEATED = 152, 20, 30
ALONE = MixOptions(workers=1)
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
    nulls: list[int] | None
    """Of every lane, if there are messages."""
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
    return Case(plan, open_responses(str(path), plan), work_for(plan, False), content, None, {})


def sealed(plan: Plan, path: Path, seed: int = 1) -> Case:
    """A batch of sealed messages: some are nulls, some cannot be opened, some are copies.

    Its manifest is beside it.
    """
    own, stranger = LayerSealer(plan, 1), LayerSealer(replace(plan, overflow=1e-9), 1)
    lanes, contents, nulls = [], [], []
    for lane in plan.lanes:
        empty = 0 if lane.records else 20 + lane.number
        extra = REFUSED + REPEATED if lane.number == 0 else 0
        content = content_for(plan, PEOPLE * lane.messages - empty - extra, seed)
        if not lane.records:
            content = lane.offset + content % lane.positions
        good = [Vector(row.tobytes()) if lane.records else Token(int(row)) for row in content]
        messages = [own.seal(lane, payload) for payload in good + [Null()] * empty]
        if extra:
            messages += [stranger.seal(lane, good[0]) for _ in range(REFUSED)]
            messages += messages[:20] + messages[:5] + messages[-5:]
        lanes.append((lane.number, shuffled(messages, seed)))
        contents.append(content)
        nulls.append(empty)
    with path.open("wb") as stream:
        count = write_sealed(stream, own.length, run_of(seed), lanes)
    vouched = signed(plan, path, count, seed=seed)
    path.with_suffix(".manifest.json").write_bytes(manifest_bytes(vouched, SIGNER))
    source = open_batch(str(path), plan, vouched)
    rejected = {"not_sealed_for_this_key_or_plan": REFUSED, "repeated": REPEATED}
    content = np.concatenate(contents)
    return Case(plan, source, work_for(plan, True), content, nulls, rejected)


def mixed(path: Path, seed: int = 1) -> Case:
    """A batch of ten people that has passed two mixers; the chain is beside it.

    Its content and nulls are what another program finds in it.
    """
    party = mixed_plan_for(mixers=2)
    stores, people = stores_of(party, path.parent), random_answers(10, seed)
    with MixerStore(stores[0]) as store:
        rows, out = sealed_people(party.plan, people), path.parent / "first"
        files = first_mix(store, party.plan, 1, run_of(seed), rows, out, ALONE)
    with MixerStore(stores[1]) as store:
        out = path.parent / "second"
        files = mix_batch(store, party.plan, files.data, files.chain, out, ALONE)
    shutil.copy(files.data, path)
    shutil.copy(files.chain, path.with_suffix(".chain.json"))
    found = counted(party, files)
    nulls = [found.pop((lane.number, NULL), 0) for lane in party.plan.lanes]
    content = np.array([position for (_, position), n in found.items() for _ in range(n)])
    (source,) = batches_in(party.plan, [path])
    work = Work(plan=party.plan, round=1, key=party.analyst.private_bytes_raw())
    return Case(party.plan, source, work, content, nulls, {})


def shuffled(messages: list[bytes], seed: int) -> NDArray[np.uint8]:
    """Messages in random order, a row each."""
    rows = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
    return rows[np.random.default_rng(seed).permutation(len(rows))]


def signed(plan: Plan, path: Path, messages: int, people: int = PEOPLE, seed: int = 1) -> Manifest:
    """The manifest of a batch, signed and read again."""
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
