"""What mixing costs: a mixer beside bare HPKE opening by the same library, in one run.

    python benchmarks/mixing.py               # writes benchmarks/mixing.md; about 15 minutes
    python benchmarks/mixing.py --quick       # a smoke run: to the terminal only
    KRAND_MIXED_MESSAGES=100000 python benchmarks/mixing.py    # not a million from end to end

Processor time where one core is meant, so that other programs disturb little.
"""

from __future__ import annotations

import hashlib
import json
import os
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
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from krand import (
    Analyst,
    Choice,
    Choices,
    Mixer,
    Plan,
    Policy,
    Survey,
    Trust,
    generate_private_key,
    make_plan,
    read_plan,
)
from krand.mixing.crew import AT_A_TIME
from krand.mixing.mixer import mix
from krand.wire.keys import generate_signing_key, public_hex
from krand.wire.layers import SUITE, LayerSealer, layer_info
from krand.wire.messages import Token
from running import conditions, progress, run_benchmark, spent, table, verdict

SHARE_GOAL = 0.85
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
    """A plan with one choice, and the opening keys of its mixers; the collector has none."""

    plan: Plan
    keys: tuple[X25519PrivateKey | None, ...]

    def mixed(self, place: int, came: int, batch: Path, output: Path, workers: int) -> int:
        """One step of the chain in this process; how many messages left."""
        key = self.keys[place - 1]
        raw = None if key is None else key.private_bytes_raw()
        done = mix(self.plan, 1, place, [came], batch, output, key=raw, workers=workers)
        return done.lanes[0].out


@cache
def chain_of(mixers: int) -> Chain:
    policy = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=100)
    trust = Trust(noise="mixers", mixers=mixers)
    question = Choice(name="asked", choices=Choices(OPTIONS))
    survey = Survey(id="benchmark", policy=policy, questions=(question,), trust=trust)
    keys = (None, *(generate_private_key() for _ in range(mixers - 1)))
    told = tuple(
        Mixer(
            name=f"mixer {place}",
            identity=public_hex(generate_signing_key()),
            url=f"https://mixer-{place}.example",
            keys=() if key is None else (public_hex(key),),
        )
        for place, key in enumerate(keys, 1)
    )
    key, identity = public_hex(generate_private_key()), public_hex(generate_signing_key())
    analyst = Analyst(key=key, identity=identity)
    return Chain(make_plan(survey).with_parties(told, analyst), keys)


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


def first_mixed(chain: Chain, messages: Rows, folder: Path) -> tuple[Path, int]:
    """What leaves the collector, and how many messages that are."""
    came, output = folder / "came", folder / "first"
    came.write_bytes(messages.tobytes())
    return output, chain.mixed(1, len(messages), came, output, 1)


def compared(
    bare: Callable[[], object], mixing: Callable[[], object], repeats: int
) -> tuple[float, float]:
    """Median processor seconds of both, taken in turns."""
    clock = time.process_time
    pairs = [(spent(bare, clock), spent(mixing, clock)) for _ in range(repeats)]
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
    """Mixing at place 2, everything included, beside opening alone."""
    chain = chain_of(mixers)
    batch, count = first_mixed(chain, people(chain, size.opened), folder)
    key, content = chain.keys[1], batch.read_bytes()
    assert key is not None
    length = len(content) // count
    rows = [content[at : at + length] for at in range(0, len(content), length)]
    info = layer_info(2, bytes.fromhex(chain.plan.hash), 1, 0)

    def bare() -> None:
        for row in rows:
            SUITE.decrypt(row, key, info)

    def mixing() -> object:
        return chain.mixed(2, count, batch, folder / "second", 1)

    first, second = compared(bare, mixing, size.repeats)
    name = f"mixing one batch, mixer 2 of {mixers}"
    progress(f"{name}: {count / second:,.0f} messages per second")
    return Compared(name, count / first, count / second, SHARE_GOAL)


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
        " library in a loop, on the same bytes. A mixer also reads, looks for repeats, seals"
        " dummies, shuffles, hashes and writes."
    )
    columns = ["one core", "bare, per second", "krand, per second", "krand ÷ bare", "goal"]
    return f"{about}\n\n{table(columns, rows)}"


def job(**asked: object) -> tuple[dict[str, Any], float]:
    """What a job of the worker says, and the most memory of it and its children, shared pages
    divided."""
    most, line = 0.0, json.dumps({"job": "mix", **asked}, default=str) + "\n"
    command = [sys.executable, "-m", "krand.site.job"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(line.encode())
        child.stdin.flush()  # it stays open: the job ends when its worker does
        while child.poll() is None:
            most = max(most, family_megabytes(child.pid))
            time.sleep(0.2)
        said = json.loads(child.stdout.read())
    if "output" not in said:
        raise SystemExit(f"failed: {said}")
    return said, most


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
    chain = chain_of(3)
    progress(f"sealing {size.whole:,} messages")
    batch, count, rows, whole, sealed = folder / "came", size.whole, [], 0.0, 0
    batch.write_bytes(people(chain, count).tobytes())
    plan = folder / "plan.json"
    plan.write_bytes(chain.plan.bytes)
    for place, key in enumerate(chain.keys, 1):
        work, private = folder / f"work-{place}", folder / f"{place}.key"
        work.mkdir()
        if key is not None:
            private.write_bytes(key.private_bytes_raw())
            sealed += count
        asked = {"plan": plan, "number": 1, "place": place, "came": [count], "batch": batch}
        start = time.perf_counter()
        said, peak = job(**asked, key=private, work=work)
        took = time.perf_counter() - start
        batch.unlink()
        batch, count, whole = work / "new", said["lanes"][0]["out"], whole + took
        with batch.open("rb") as stream:
            assert hashlib.file_digest(stream, "sha256").hexdigest() == said["output"]
        limit = f"{peak:,.0f} MB: {verdict(peak < MEGABYTES_GOAL)} (< 1 GB)"
        rows.append([f"mixer {place}", f"{took:.1f} s", limit])
        progress(f"mixer {place}: {took:.0f} s")
    rows.append([f"all of them, {sealed:,} layers opened", f"{whole:.1f} s", ""])
    about = (
        f"## {size.whole:,} messages from end to end\n\nFrom what a collector holds to what the"
        " analyst gets, by the jobs of three services with"
        f" {os.cpu_count()} processes each. Memory is the most that all processes had together,"
        f" without what they share.{fewer(size)}"
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
