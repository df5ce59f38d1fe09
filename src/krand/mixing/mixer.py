"""Mixing one batch: verify, drop repeats, open, add dummies, shuffle, record, write.

Only bytes decide what is refused: whether a layer opens under the mixer's key with exactly this
hop, plan, round and lane. What is inside is not looked at.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from krand.batches.chain import (
    LaneCounts,
    Link,
    SignedLink,
    chain_bytes,
    parse_chain,
    read_chain,
    verify_chain,
)
from krand.batches.provenance import is_random_id
from krand.batches.sealed import SealedBatch, file_sha256, write_sealed
from krand.errors import InvalidInput
from krand.files import (
    Exists,
    check_readable,
    complete_file,
    ensure_directory,
    read_whole,
    sync_folder,
)
from krand.mixing.crew import Crew, Layer
from krand.mixing.run import Run, Source, Submissions, content_hash, digests_in, repeated
from krand.mixing.store import Mixed, MixerStore
from krand.planning.promises import recompute_promise
from krand.survey.plan import Plan
from krand.survey.plan_check import check_round
from krand.wire.layers import LayerSealer
from krand.wire.messages import Rejection, length_at
from krand.wire.plan_signatures import PlanSignature
from krand.wire.signed import sign

MOST_REFUSED = 0.1
"""A larger part of refused messages stops a run, until its operator allows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixOptions:
    """How to mix."""

    workers: int | None = None
    """Processes; by default one for each core."""
    most_refused: float = MOST_REFUSED
    """The largest part of messages that may be refused."""
    progress: Callable[[int], None] = lambda _: None
    """Told how many messages were opened or sealed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedFiles:
    """What was written for the next mixer, or for the analyst after the last one."""

    data: Path
    chain: Path
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A batch that is to be mixed."""

    plan: Plan
    round: int
    hop: int
    batch_id: str
    name: str
    """Of the input, in the store."""
    submissions: int
    links: tuple[SignedLink, ...]
    """Those before this mixer."""
    input_sha256: str


def check_plan(store: MixerStore, plan: Plan) -> int:
    """The mixer's place in the chain, if the plan names its keys and keeps its promise."""
    hop = store.keys.hop_in(plan)
    recompute_promise(plan)
    return hop


def sign_checked_plan(store: MixerStore, plan: Plan) -> PlanSignature:
    """The mixer's signature; from then on the store serves this plan alone."""
    check_plan(store, plan)
    return store.bind(plan)


def mix(
    plan: Plan,
    batch: str | Path,
    store: str | Path,
    output: str | Path,
    *,
    anchor: str | Path | None = None,
    options: MixOptions | None = None,
) -> MixedFiles:
    """Open this mixer's layer of a batch, drop repeats, add dummies, shuffle and sign.

    The chain of batch.parquet is batch.chain.json beside it; it is verified first. `store` is the
    mixer's folder, `output` the folder for the mixed batch and its chain. The same batch again
    gives the same files.

    >>> from krand import make_plan, mix, parse_survey
    >>> from krand.testing import MIXED_SURVEY, FakeChain
    >>> chain = FakeChain(make_plan(parse_survey(MIXED_SURVEY)))
    >>> sent = chain.client().submit({"pet": "dog"})
    >>> batch = chain.collect("collected")          # krand release --close
    >>> files = mix(chain.plan, batch, chain.stores[1], "mixed")
    >>> files.link.hop, files.link.submissions, files.link.repeats
    (2, 1, 0)
    """
    batch, held = Path(batch), None if anchor is None else Path(anchor)
    with MixerStore(Path(store), held) as opened:
        chain = batch.with_suffix(".chain.json")
        return mix_batch(opened, plan, batch, chain, Path(output), options)


def mix_batch(
    store: MixerStore,
    plan: Plan,
    batch: Path,
    chain: Path,
    output: Path,
    options: MixOptions | None = None,
) -> MixedFiles:
    """Mix a batch of the mixer before; the same batch again gives the same files."""
    options = options or MixOptions()
    check_readable("batch", batch)
    links = read_chain(chain)
    hop = _served(store, plan)
    verify_chain(plan, links)
    if len(links) != hop - 1:
        rule = f"must have {hop - 1} links: this is mixer {hop} of the plan"
        hint = "mixers work in the order of the plan; the first one mixes submissions"
        raise InvalidInput("chain", rule, len(links), hint)
    last = links[-1].record
    digest = file_sha256(batch)
    if digest != last.output_sha256:
        rule = f"must be the file that link {last.hop} of its chain vouches for"
        raise InvalidInput("batch", rule, str(batch), "it was changed, or belongs to another chain")
    task = _Task(
        plan=plan,
        round=last.round,
        hop=hop,
        batch_id=last.batch_id,
        name=digest,
        submissions=last.submissions,
        links=links,
        input_sha256=digest,
    )
    if (known := store.mixed(task.name)) is None:
        _check_new(store, task)
        length, lanes = length_at(plan, hop), len(plan.lanes)
        with SealedBatch(batch, length=length, batch_id=task.batch_id, lanes=lanes) as source:
            if source.counts != tuple(counts.messages_out for counts in last.lanes):
                rule = (
                    f"must hold as many messages in each lane as link {last.hop} of its chain says"
                )
                raise InvalidInput("batch", rule, source.name)
            known = _mix(store, task, source, options)
    return _published(store, known, output)


def first_mix(
    store: MixerStore,
    plan: Plan,
    round_number: int,
    batch_id: str,
    messages: NDArray[np.uint8],
    output: Path,
    options: MixOptions | None = None,
) -> MixedFiles:
    """Mix what a collector received: people × messages of a submission × bytes of a message.

    `messages` may be a memory map. Its first axis need not keep a person's messages together.
    """
    options = options or MixOptions()
    if _served(store, plan) != 1:
        rule = "must be the first mixer of the plan, the collector"
        raise InvalidInput("store", rule, store.name, "other mixers mix batches of the one before")
    check_round(plan, round_number)
    shape = (len(messages), plan.messages, length_at(plan, 1))
    if messages.dtype != np.uint8 or messages.shape != shape:
        rule = f"must be bytes of the shape people × {shape[1]} × {shape[2]}"
        raise InvalidInput("messages", rule, f"{messages.dtype} {messages.shape}")
    if not is_random_id(batch_id):
        raise InvalidInput("batch_id", "must be 32 hexadecimal digits", batch_id)
    task = _Task(
        plan=plan,
        round=round_number,
        hop=1,
        batch_id=batch_id,
        name=batch_id,
        submissions=len(messages),
        links=(),
        input_sha256="",
    )
    source = Submissions(plan, messages)
    if (known := store.mixed(batch_id)) is None:
        _check_new(store, task)
        known = _mix(store, task, source, options)
    elif content_hash(digests_in(source)) != known.content:
        rule = "must hold the submissions that were mixed under this id before"
        hint = "messages that are mixed twice, with other noise, could be told apart"
        raise InvalidInput("batch_id", rule, batch_id, hint)
    return _published(store, known, output)


def _served(store: MixerStore, plan: Plan) -> int:
    """The mixer's place in the plan that its store serves."""
    hop = store.keys.hop_in(plan)
    if store.plan != plan.hash:
        recompute_promise(plan)
        store.bind(plan)
    return hop


def _check_new(store: MixerStore, task: _Task) -> None:
    """Refuse what must not be mixed now, or not again."""
    if store.of_batch(task.batch_id) is not None:
        rule = "must not have been mixed before from another file"
        hint = "the mixer before this one passed it on twice, with other noise: ask its operator"
        raise InvalidInput("batch", rule, task.batch_id, hint)
    if store.of_round(task.round):
        rule = "must be the only batch of its round"
        raise InvalidInput("batch", rule, f"another batch of round {task.round}")
    if store.is_closed(task.round):
        rule = "must be a round that is not closed yet"
        hint = "its key is erased: what was not mixed in time is lost"
        raise InvalidInput("round", rule, task.round, hint)


def _mix(store: MixerStore, task: _Task, source: Source, options: MixOptions) -> Mixed:
    """Write the output where nobody sees it, then record it with its input, in this order."""
    store.sweep()
    digests = digests_in(source)
    again = repeated(digests)
    layer = Layer(plan=task.plan, round_number=task.round, hop=task.hop, key=_key(store, task))
    length = LayerSealer(task.plan, task.round, after=task.hop).length
    staged = store.staged(task.name)
    with (
        Crew(layer, len(digests), options.workers) as crew,
        complete_file("store", staged, replace=True) as stream,
    ):
        run = Run(
            plan=task.plan,
            source=source,
            digests=digests,
            again=again,
            crew=crew,
            length=length,
            scratch=store.folder,
            progress=options.progress,
        )
        write_sealed(stream, length, task.batch_id, run.lanes())
        _check_refused(run.counts, options)
    link = _link(store, task, run.counts, file_sha256(staged))
    links = (*task.links, sign(link, store.keys.identity))
    mixed = Mixed(
        input=task.name,
        content=content_hash(digests),
        round=task.round,
        batch_id=task.batch_id,
        output_sha256=link.output_sha256,
        chain=chain_bytes(links),
    )
    store.record(mixed)
    return mixed


def _key(store: MixerStore, task: _Task) -> bytes | None:
    if task.hop == 1:
        return None
    key = store.keys.opening.get(task.round)
    if key is None:
        raise InvalidInput("round", "must have a key in the store", task.round)
    return key.private_bytes_raw()


def _check_refused(counts: Sequence[LaneCounts], options: MixOptions) -> None:
    tried = sum(lane.messages_in - lane.repeats for lane in counts)
    refused = sum(lane.refused for lane in counts)
    if tried and refused == tried:
        rule = "must open at least one message of the batch"
        hint = "is this the plan that devices used, and the mixer's own store?"
        raise InvalidInput("opening key", rule, f"{refused:,} of {tried:,} refused", hint)
    if refused > options.most_refused * tried:
        rule = f"must be at most {100 * options.most_refused:g} % of the messages"
        hint = "a mixer before this one may be broken; to mix all the same, allow a larger part"
        raise InvalidInput("refused", rule, f"{100 * refused / tried:.3g} %", hint)


def _link(store: MixerStore, task: _Task, lanes: Sequence[LaneCounts], output: str) -> Link:
    refused = sum(lane.refused for lane in lanes)
    reason = Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN.value
    return Link(
        plan=task.plan.hash,
        round=task.round,
        hop=task.hop,
        mixer=store.keys.identity_hex,
        submissions=task.submissions,
        messages_in=sum(lane.messages_in for lane in lanes),
        repeats=sum(lane.repeats for lane in lanes),
        refused={reason: refused} if refused else {},
        dummies=sum(lane.dummies for lane in lanes),
        messages_out=sum(lane.messages_out for lane in lanes),
        lanes=tuple(lanes),
        input_sha256=task.input_sha256,
        output_sha256=output,
        batch_id=task.batch_id,
        previous=task.links[-1].sha256 if task.links else "",
    )


def _published(store: MixerStore, mixed: Mixed, folder: Path) -> MixedFiles:
    """Write the recorded output for others; files that are there must be the same."""
    ensure_directory("output", folder)
    link = parse_chain(mixed.chain)[-1].record
    name = f"batch-{mixed.batch_id}-{link.hop}"
    data, chain = folder / f"{name}.parquet", folder / f"{name}.chain.json"
    _place_data(store, mixed, data)
    _place_chain(mixed, chain)
    sync_folder(folder)
    store.mark_published(mixed)
    return MixedFiles(data=data, chain=chain, link=link)


def _place_data(store: MixerStore, mixed: Mixed, path: Path) -> None:
    if path.exists():
        if file_sha256(path) != mixed.output_sha256:
            raise _other_file(path)
        return
    staged = store.staged(mixed.input)
    if not staged.exists() or file_sha256(staged) != mixed.output_sha256:
        rule = "must not have been mixed before"
        hint = f"its output, SHA-256 {mixed.output_sha256}, left and is no longer kept"
        raise InvalidInput("batch", rule, mixed.batch_id, hint)
    with complete_file("output", path, replace=False) as stream, staged.open("rb") as kept:
        shutil.copyfileobj(kept, stream)


def _place_chain(mixed: Mixed, path: Path) -> None:
    if path.exists():
        if read_whole("output", path) != mixed.chain:
            raise _other_file(path)
        return
    with complete_file("output", path, replace=False) as stream:
        stream.write(mixed.chain)


def _other_file(path: Path) -> Exists:
    hint = "keep one output folder for each mixer"
    return Exists("output", "must not hold another batch of this name", str(path), hint)
