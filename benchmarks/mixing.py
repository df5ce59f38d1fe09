"""What mixing costs: a mixer beside bare HPKE opening by the same library, in one run.

    python benchmarks/mixing.py               # writes benchmarks/mixing.md; about 15 minutes
    python benchmarks/mixing.py --quick       # a smoke run: to the terminal only
    KRAND_MIXED_MESSAGES=100000 python benchmarks/mixing.py    # not a million from end to end

Processor time where one core is meant, so that other programs disturb little.
"""

from __future__ import annotations

import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from krand import (
    Choice,
    Choices,
    Plan,
    Policy,
    Survey,
    Trust,
    generate_private_key,
    make_plan,
    read_plan,
)
from krand.batches.chain import read_chain
from krand.mixing.crew import AT_A_TIME
from krand.mixing.keys import MixerKeys, generate_mixer_keys
from krand.mixing.mixer import (
    MixedFiles,
    MixOptions,
    first_mix,
    mix_batch,
    sign_checked_plan,
)
from krand.mixing.store import MixerStore, create_store
from krand.survey.lanes import Lane
from krand.wire.layers import SUITE, LayerSealer, layer_info
from krand.wire.messages import Token
from running import conditions, progress, run_benchmark, spent, table, verdict

SHARE_GOAL = 0.9
OPTIONS = tuple(f"option {number}" for number in range(10))

Rows = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is measured."""

    opened: int
    """Messages of a run that is compared with the bare library."""
    repeats: int
    whole: int
    """Messages from end to end."""


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
    trust = Trust(noise="mixers", mixers=mixers)
    question = Choice(name="asked", choices=Choices(OPTIONS))
    survey = Survey(id="benchmark", policy=policy, questions=(question,), trust=trust)
    keys = tuple(generate_mixer_keys(int(hop > 1)) for hop in range(1, mixers + 1))
    mixers_told = tuple(own.described(f"mixer {hop}") for hop, own in enumerate(keys, 1))
    key = generate_private_key().public_key()
    return Chain(make_plan(survey).with_parties(mixers_told, key), keys)


def sealed_messages(task: tuple[bytes, int]) -> bytes:
    """So many people's messages, one each."""
    content, count = task
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plan.json").write_bytes(content)
        plan = read_plan(Path(folder) / "plan.json")
    sealer, lane = LayerSealer(plan, 1), plan.lanes[0]
    return b"".join(sealer.seal(lane, Token(lane.offset + n % 10)) for n in range(count))


def people(chain: Chain, count: int) -> Rows:
    """What a collector has of them, a message each; sealed by all cores."""
    tasks = [
        (chain.plan.bytes, min(AT_A_TIME, count - start)) for start in range(0, count, AT_A_TIME)
    ]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        joined = b"".join(pool.map(sealed_messages, tasks))
    return np.frombuffer(joined, np.uint8).reshape(count, -1)


def first_mixed(
    chain: Chain, messages: Rows, folder: Path, place: Path | None = None
) -> MixedFiles:
    with MixerStore(place or chain.store(folder, 1)) as store:
        return first_mix(store, chain.plan, 1, len(messages), messages, folder / "first")


def second_mixer(chain: Chain, files: MixedFiles, folder: Path, workers: int) -> Callable[[], None]:
    """A run that is ready to begin."""
    place, out = chain.store(folder, 2), folder / secrets.token_hex(8)

    def run() -> None:
        with MixerStore(place) as store:
            options = MixOptions(workers=workers)
            mix_batch(store, chain.plan, files.data, out, options)

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
    count, key = files.link.total("out"), chain.keys[1].opening[1]
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
    length = files.data.stat().st_size // files.link.total("out")
    content = files.data.read_bytes()
    return [content[at : at + length] for at in range(0, len(content), length)]


def measured(size: Size) -> list[Compared]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [opening(mixers, size, folder) for mixers in (2, 3)]


RESULTS = Path(__file__).with_suffix(".md")
MEGABYTES_GOAL = 1000.0
MILLION = 10**6
WHOLE = int(os.environ.get("KRAND_MIXED_MESSAGES", MILLION))
"""Fewer where a million would take too long; the results say how many."""
FULL = Size(opened=40_000, repeats=3, whole=WHOLE)
QUICK = Size(opened=10_000, repeats=1, whole=20_000)


def speed_section(found: list[Compared]) -> str:
    rows = [
        [
            one.name,
            f"{one.bare:,.0f}",
            f"{one.ours:,.0f}",
            f"{one.share:.2f}",
            "" if one.goal is None else f"{verdict(one.share >= one.goal)} (≥ {one.goal})",
        ]
        for one in found
    ]
    about = (
        "## One core\n\nMessages per second of processor time, medians. *bare* is HPKE by the same"
        " library in a loop, on the same bytes. A mixer also verifies the chain, reads, hashes,"
        " looks for repeats, seals dummies, shuffles, writes and records."
    )
    columns = ["one core", "bare, per second", "krand, per second", "krand ÷ bare", "goal"]
    return f"{about}\n\n{table(columns, rows)}"


def peak_of_command(command: list[str]) -> float:
    """Run a command; the largest sum over it and its children, shared pages divided."""
    most = 0.0
    with subprocess.Popen(command) as child:
        while child.poll() is None:
            most = max(most, family_megabytes(child.pid))
            time.sleep(0.2)
    if child.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return most


def family_megabytes(parent: int) -> float:
    """Of a process and its children now, shared pages divided."""
    return sum(map(proportional_megabytes, family(parent)))


def family(parent: int) -> list[int]:
    try:
        told = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [parent, *(n for child in told.split() for n in family(int(child)))]


def proportional_megabytes(process: int) -> float:
    try:
        told = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in told.splitlines() if line.startswith("Pss:")) / 1e3


def whole_section(size: Size, folder: Path) -> str:
    """From what a collector holds to what the analyst gets."""
    chain = chain_of(2)
    progress(f"sealing {size.whole:,} messages")
    messages = people(chain, size.whole)
    plan = folder / "plan.json"
    plan.write_bytes(chain.plan.bytes)
    place, start = chain.store(folder, 1), time.perf_counter()
    files = first_mixed(chain, messages, folder, place)
    first = time.perf_counter() - start
    progress(f"first mixer: {first:.0f} s")
    store, out = chain.store(folder, 2), folder / "whole"
    words = ["mix", "run", files.data, "--plan", plan, "--store", store, "-o", out, "--quiet"]
    start = time.perf_counter()
    peak = peak_of_command([sys.executable, "-m", "krand", *map(str, words)])
    second = time.perf_counter() - start
    (chain_file,) = out.glob("*.chain.json")
    link = read_chain(chain_file)[-1].record
    assert link.people == size.whole
    assert link.total("out") > size.whole
    rows = [
        ["the collector: dummies, shuffle, record, write", f"{first:.1f} s", ""],
        [
            f"mixer 2, {os.cpu_count()} processes: krand mix run",
            f"{second:.1f} s",
            f"{peak:,.0f} MB: {verdict(peak < MEGABYTES_GOAL)} (< 1 GB)",
        ],
        ["both", f"{first + second:.1f} s", ""],
    ]
    about = (
        f"## {size.whole:,} messages from end to end\n\nFrom what a collector holds to what the"
        " analyst gets. Memory is the most that all processes had together, without what they"
        f" share.{fewer(size)}"
    )
    return f"{about}\n\n{table(['step', 'time', 'peak memory'], rows)}"


def fewer(size: Size) -> str:
    """Said where the run was shortened."""
    return "" if size.whole >= MILLION else " A million messages were not tried in this run."


def report(quick: bool) -> str:
    size = QUICK if quick else FULL
    about = conditions(
        "python benchmarks/mixing.py",
        quick,
        ("krand", "cryptography", "numpy", "pyarrow"),
        f"One choice of {len(OPTIONS)} options, ε = 1, δ = 10⁻⁶: one message a person.",
    )
    note = "<!-- Written by benchmarks/mixing.py; do not edit. -->"
    head = ["# What mixing costs", note, about]
    sections = [*head, speed_section(measured(size))]
    with tempfile.TemporaryDirectory() as name:
        sections.append(whole_section(size, Path(name)))
    return "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, (RESULTS, report))
