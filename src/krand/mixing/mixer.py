"""Mixing one batch: verify, drop repeats, open, add dummies, shuffle, record, write.

Only bytes decide what is refused: whether a layer opens under the mixer's key with exactly this
hop, plan, round and lane. What is inside is not looked at.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from krand.batches.batch import ENDING, by_lane, chain_beside, records_in, sha256_of_file
from krand.batches.chain import (
    LaneCounts,
    Link,
    SignedLink,
    chain_bytes,
    parse_chain,
    read_chain,
    verify_chain,
)
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
from krand.mixing.run import Rows, Run
from krand.mixing.store import Mixed, MixerStore
from krand.planning.promises import recompute_promise
from krand.survey.plan import Plan
from krand.survey.plan_check import check_round
from krand.wire.layers import LayerSealer
from krand.wire.messages import length_at
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
    place: int
    people: int
    links: tuple[SignedLink, ...]
    """Those before this mixer."""
    input: str
    """The SHA-256 of the file."""


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

    The chain of NAME.batch is NAME.chain.json beside it; it is verified first. `store` is the
    mixer's folder, `output` the folder for the mixed batch and its chain. The same batch again
    gives the same files.

    >>> from krand import make_plan, mix, parse_survey
    >>> from krand.testing import MIXED_SURVEY, FakeChain
    >>> chain = FakeChain(make_plan(parse_survey(MIXED_SURVEY)))
    >>> sent = chain.client().submit({"pet": "dog"})
    >>> batch = chain.collect("collected")          # krand release --close
    >>> files = mix(chain.plan, batch, chain.stores[1], "mixed")
    >>> files.link.place, files.link.people, files.link.total("repeats")
    (2, 1, 0)
    """
    held = None if anchor is None else Path(anchor)
    with MixerStore(Path(store), held) as opened:
        return mix_batch(opened, plan, Path(batch), Path(output), options)


def mix_batch(
    store: MixerStore, plan: Plan, batch: Path, output: Path, options: MixOptions | None = None
) -> MixedFiles:
    """Mix a batch of the mixer before; the same batch again gives the same files."""
    check_readable("batch", batch)
    links = read_chain(chain_beside(batch))
    place = _served(store, plan)
    verify_chain(plan, links)
    if len(links) != place - 1:
        rule = f"must have {place - 1} links: this is mixer {place} of the plan"
        hint = "mixers work in the order of the plan; the first one mixes submissions"
        raise InvalidInput("chain", rule, len(links), hint)
    last = links[-1].record
    digest = sha256_of_file(batch)
    if digest != last.output:
        rule = f"must be the file that link {last.place} of its chain vouches for"
        raise InvalidInput("batch", rule, str(batch), "it was changed, or belongs to another chain")
    task = _Task(
        plan=plan, round=last.round, place=place, people=last.people, links=links, input=digest
    )
    records = records_in(batch, last.counts, length_at(plan, place))
    return _published(store, _done(store, task, by_lane(records, last.counts), options), output)


def first_mix(
    store: MixerStore,
    plan: Plan,
    round_number: int,
    people: int,
    messages: Rows,
    options: MixOptions | None = None,
) -> None:
    """Mix what a collector received: the messages of so many people, lane after lane.

    They may be a map of a file. The same bytes again change nothing. What they became is recorded,
    and nobody sees it before `publish`.
    """
    if _served(store, plan) != 1:
        rule = "must be the first mixer of the plan, the collector"
        raise InvalidInput("store", rule, store.name, "other mixers mix batches of the one before")
    check_round(plan, round_number)
    counts = [people * lane.messages for lane in plan.lanes]
    shape = (sum(counts), length_at(plan, 1))
    if messages.dtype != np.uint8 or messages.shape != shape:
        rule = f"must be bytes of the shape {shape}: those of {people:,} people"
        raise InvalidInput("messages", rule, f"{messages.dtype} {messages.shape}")
    digest = hashlib.sha256(np.ascontiguousarray(messages).data).hexdigest()
    task = _Task(plan=plan, round=round_number, place=1, people=people, links=(), input=digest)
    _done(store, task, by_lane(messages, counts), options)


def publish(store: MixerStore, round_number: int, output: Path) -> MixedFiles:
    """Write the recorded batch of a round for others."""
    mixed = store.of_round(round_number)
    if mixed is None:
        raise InvalidInput("round", "must have been mixed", round_number)
    return _published(store, mixed, output)


def _served(store: MixerStore, plan: Plan) -> int:
    """The mixer's place in the plan that its store serves."""
    place = store.keys.hop_in(plan)
    if store.plan != plan.hash:
        recompute_promise(plan)
        store.bind(plan)
    return place


def _done(
    store: MixerStore,
    task: _Task,
    lanes: Sequence[Rows],
    options: MixOptions | None,
) -> Mixed:
    """What it became; it is mixed, unless that is done already."""
    if (known := store.mixed(task.input)) is None:
        _check_new(store, task)
        known = _mix(store, task, lanes, options or MixOptions())
    return known


def _check_new(store: MixerStore, task: _Task) -> None:
    """Refuse what must not be mixed now, or not again."""
    if store.of_round(task.round) is not None:
        rule = "must be the only batch of its round"
        hint = (
            "another one was mixed. With other noise, messages that are in both could be told apart"
        )
        raise InvalidInput("batch", rule, f"another batch of round {task.round}", hint)
    if store.is_closed(task.round):
        rule = "must be a round that is not closed yet"
        hint = "its key is erased: what was not mixed in time is lost"
        raise InvalidInput("round", rule, task.round, hint)


def _mix(store: MixerStore, task: _Task, lanes: Sequence[Rows], options: MixOptions) -> Mixed:
    """Write the output where nobody sees it, then record it with its input, in this order."""
    store.sweep()
    layer = Layer(plan=task.plan, round_number=task.round, hop=task.place, key=_key(store, task))
    staged = store.staged(task.input)
    with (
        Crew(layer, sum(map(len, lanes)), options.workers) as crew,
        complete_file("store", staged, replace=True) as stream,
    ):
        run = Run(
            plan=task.plan,
            lanes=lanes,
            crew=crew,
            length=LayerSealer(task.plan, task.round, after=task.place).length,
            scratch=store.folder,
            progress=options.progress,
        )
        for rows in run.mixed():
            stream.write(rows.tobytes())
        _check_refused(run.counts, options)
    link = Link(
        plan=task.plan.hash,
        round=task.round,
        place=task.place,
        people=task.people,
        lanes=tuple(run.counts),
        input=task.input if task.links else "",
        output=sha256_of_file(staged),
        previous=task.links[-1].sha256 if task.links else "",
    )
    chain = chain_bytes((*task.links, sign(link, store.keys.identity)))
    mixed = Mixed(input=task.input, round=task.round, output=link.output, chain=chain)
    store.record(mixed)
    return mixed


def _key(store: MixerStore, task: _Task) -> bytes | None:
    if task.place == 1:
        return None
    key = store.keys.opening.get(task.round)
    if key is None:
        raise InvalidInput("round", "must have a key in the store", task.round)
    return key.private_bytes_raw()


def _check_refused(counts: Sequence[LaneCounts], options: MixOptions) -> None:
    tried = sum(lane.came - lane.repeats for lane in counts)
    refused = sum(lane.refused for lane in counts)
    if tried and refused == tried:
        rule = "must open at least one message of the batch"
        hint = "is this the plan that devices used, and the mixer's own store?"
        raise InvalidInput("opening key", rule, f"{refused:,} of {tried:,} refused", hint)
    if refused > options.most_refused * tried:
        rule = f"must be at most {100 * options.most_refused:g} % of the messages"
        hint = "a mixer before this one may be broken; to mix all the same, allow a larger part"
        raise InvalidInput("refused", rule, f"{100 * refused / tried:.3g} %", hint)


def _published(store: MixerStore, mixed: Mixed, folder: Path) -> MixedFiles:
    """Write the recorded output for others; files that are there must be the same."""
    ensure_directory("output", folder)
    link = parse_chain(mixed.chain)[-1].record
    data = folder / f"round-{link.round}-{link.place}{ENDING}"
    chain = chain_beside(data)
    _place_data(store, mixed, data)
    _place_chain(mixed, chain)
    sync_folder(folder)
    store.mark_published(mixed)
    return MixedFiles(data=data, chain=chain, link=link)


def _place_data(store: MixerStore, mixed: Mixed, path: Path) -> None:
    if path.is_symlink():  # its target may change after the collector has forgotten the batch
        hint = "remove it: the batch must be written to this folder itself"
        raise Exists("output", "must not be a link", str(path), hint)
    if path.exists():
        if sha256_of_file(path) != mixed.output:
            raise _other_file(path)
        return
    staged = store.staged(mixed.input)
    if not staged.exists() or sha256_of_file(staged) != mixed.output:
        rule = "must not have been mixed before"
        hint = f"its output, SHA-256 {mixed.output}, left and is no longer kept"
        raise InvalidInput("batch", rule, f"round {mixed.round}", hint)
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
