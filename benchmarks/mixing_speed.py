"""A mixer's work on one core beside the bare library's: for mixing.py and check.py."""

from __future__ import annotations

import secrets
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from krand.mixing.crew import AT_A_TIME, Layer, Worker
from krand.mixing.keys import MixerKeys, generate_mixer_keys
from krand.mixing.mixer import (
    MixedFiles,
    MixOptions,
    first_mix,
    mix_batch,
    sign_checked_plan,
)
from krand.mixing.store import MixerStore, create_store
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.questions import Choice
from krand.survey.survey import Survey, Trust
from krand.wire.keys import generate_private_key
from krand.wire.layers import SUITE, LayerSealer, layer_info
from krand.wire.messages import Token
from running import progress, spent, table

SHARE_GOAL = 0.9
HEAD = "krand ÷ bare library, one core"
OPTIONS = tuple(f"option {number}" for number in range(10))

Rows = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is measured."""

    opened: int
    """Messages of a run that is compared with the bare library."""
    repeats: int
    shared: int
    """Messages of a run by one process and by two."""
    whole: int
    """Messages from end to end."""


SHORT = Size(opened=10_000, repeats=1, shared=0, whole=0)


@dataclass(frozen=True, slots=True)
class Chain:
    """A plan with one choice, and the keys of its mixers."""

    plan: Plan
    keys: tuple[MixerKeys, ...]

    @property
    def lane(self) -> Lane:
        return self.plan.lanes[0]

    def store(self, folder: Path, hop: int) -> Path:
        """A new one, which has signed the plan: a batch is mixed once."""
        place = folder / secrets.token_hex(8)
        create_store(place, f"mixer {hop}", self.keys[hop - 1])
        with MixerStore(place) as store:
            sign_checked_plan(store, self.plan)
        return place


@cache
def chain_of(mixers: int) -> Chain:
    policy = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=100)
    trust = Trust(noise=mechanisms.MIXERS, mixers=mixers)
    question = Choice(name="asked", choices=Choices(OPTIONS))
    survey = Survey(id="benchmark", policy=policy, questions=(question,), trust=trust)
    keys = tuple(generate_mixer_keys(int(hop > 1)) for hop in range(1, mixers + 1))
    mixers_told = tuple(own.described(f"mixer {hop}") for hop, own in enumerate(keys, 1))
    plan = make_plan(survey).sealed_for(generate_private_key().public_key())
    return Chain(plan.mixed_by(mixers_told), keys)


def sealed_messages(task: tuple[bytes, int]) -> bytes:
    """So many people's messages, one each."""
    content, count = task
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plan.json").write_bytes(content)
        plan = read_plan(Path(folder) / "plan.json")
    sealer, lane = LayerSealer(plan, 1), plan.lanes[0]
    return b"".join(sealer.seal(lane, Token(lane.offset + n % 10)) for n in range(count))


def people(chain: Chain, count: int) -> Rows:
    """What a collector has of them: people × 1 × bytes; sealed by all cores."""
    tasks = [
        (chain.plan.bytes, min(AT_A_TIME, count - start)) for start in range(0, count, AT_A_TIME)
    ]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        joined = b"".join(pool.map(sealed_messages, tasks))
    return np.frombuffer(joined, np.uint8).reshape(count, 1, -1)


def first_mixed(
    chain: Chain, messages: Rows, folder: Path, place: Path | None = None
) -> MixedFiles:
    with MixerStore(place or chain.store(folder, 1)) as store:
        return first_mix(store, chain.plan, 1, secrets.token_hex(16), messages, folder / "first")


def second_mixer(chain: Chain, files: MixedFiles, folder: Path, workers: int) -> Callable[[], None]:
    """A run that is ready to begin."""
    place, out = chain.store(folder, 2), folder / secrets.token_hex(8)

    def run() -> None:
        with MixerStore(place) as store:
            options = MixOptions(workers=workers)
            mix_batch(store, chain.plan, files.data, files.chain, out, options)

    return run


def compared(
    bare: Callable[[], object], prepare: Callable[[], Callable[[], object]], repeats: int
) -> tuple[float, float]:
    """Median processor seconds of both, taken in turns; preparing is not counted."""
    pairs = [
        (spent(bare, time.process_time), spent(prepare(), time.process_time))
        for _ in range(repeats)
    ]
    first, second = zip(*pairs, strict=True)
    return statistics.median(first), statistics.median(second)


@dataclass(frozen=True, slots=True)
class Compared:
    """Messages per second and core."""

    name: str
    bare: float
    ours: float
    goal: float | None = None

    @property
    def share(self) -> float:
        return self.ours / self.bare


def opening(mixers: int, size: Size, folder: Path) -> Compared:
    """A whole run of mixer 2, everything included, beside opening alone."""
    chain = chain_of(mixers)
    files = first_mixed(chain, people(chain, size.opened), folder)
    count, key = files.link.messages_out, chain.keys[1].opening[1]
    rows = rows_of(files)
    info = layer_info(2, bytes.fromhex(chain.plan.hash), 1, 0)

    def bare() -> None:
        for row in rows:
            SUITE.decrypt(row, key, info)

    first, second = compared(bare, lambda: second_mixer(chain, files, folder, 1), size.repeats)
    name = f"mixing one batch, mixer 2 of {mixers}"
    progress(f"{name}: {count / second:,.0f} messages per second")
    return Compared(name, count / first, count / second, SHARE_GOAL)


def rows_of(files: MixedFiles) -> list[bytes]:
    return list(pq.read_table(files.data).column("message").to_pylist())


def sealing(after: int, mixers: int, size: Size) -> Compared:
    """Dummies beside as many bare seals, one for each layer."""
    chain = chain_of(mixers)
    hop_key = chain.keys[after - 1].opening.get(1)
    key = None if hop_key is None else hop_key.private_bytes_raw()
    worker = Worker(Layer(plan=chain.plan, round_number=1, hop=after, key=key))
    count = size.opened // 5
    places = np.arange(count, dtype=np.int64) % len(OPTIONS) + chain.lane.offset
    layers, public = mixers - after + 1, X25519PrivateKey.generate().public_key()
    info = layer_info(0, bytes.fromhex(chain.plan.hash), 1, 0)

    def bare() -> None:
        for _ in range(count):
            sealed = bytes(6)
            for _ in range(layers):
                sealed = SUITE.encrypt(sealed, public, info)

    first, second = compared(bare, lambda: lambda: worker.seal(0, places), size.repeats)
    name = f"sealing dummies, {layers} layer{'s' * (layers > 1)}"
    progress(f"{name}: {count / second:,.0f} per second")
    return Compared(name, count / first, count / second)


def measured(size: Size) -> list[Compared]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = [opening(mixers, size, folder) for mixers in (2, 3)]
    return [*found, sealing(2, 2, size), sealing(1, 2, size)]


def shares(found: list[Compared]) -> str:
    """The table that `make bench-check` makes again."""
    return table([HEAD, "share"], [[one.name, f"{one.share:.2f}"] for one in found])


def short_shares() -> str:
    return shares(measured(SHORT))
