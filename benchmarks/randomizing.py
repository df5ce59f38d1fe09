"""What flipping bits and counting cost: krand, other packages, naive numpy and the limit.

    python benchmarks/randomizing.py            # writes randomizing.md and counting.md
    python benchmarks/randomizing.py --quick    # a smoke run: to the terminal only

Run it where krand and the peers are installed: pure-ldp (which needs statsmodels but does
not say so), multi-freq-ldpy, opendp, diffprivlib (with scikit-learn below 1.7). A peer that cannot
be imported is listed with the reason, and its rows are left out.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counting import report as counted
from krand.randomness.flips import flip_packed
from krand.randomness.generator import SecureRandom
from running import conditions, progress, run_benchmark, spent, table, times
from whole_table import table_section

RESULTS = Path(__file__).with_suffix(".md")
GRID = 2**32
LENGTHS = (40, 1000)
NOISE = (0.002, 0.3)
PEERS = ("pure-ldp", "multi-freq-ldpy", "opendp", "diffprivlib")
KRAND = "krand"
NAIVE = ("naive numpy, one array", "naive numpy, in cache-sized chunks")
Run = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    repeats: int
    bits: int
    """Flipped by krand and numpy in one repeat; other packages get a share."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to flip bits; `prepare(length, noise, bits)` gives a run and the bits it flips."""

    name: str
    source: str
    prepare: Callable[[int, float, int], tuple[Run, int]]
    share: int = 1


FULL, QUICK = Size(7, 400_000_000), Size(1, 4_000_000)
"""In full the answers of ten million people to 40 positions."""


# --- measuring and writing -----------------------------------------------------------------------


def timed(work: Run, repeats: int) -> float:
    """Seconds, the median of some repeats after one that warms up."""
    work()
    return statistics.median(spent(work, time.process_time) for _ in range(repeats))


def rate(per_second: float) -> str:
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if per_second >= unit:
            return f"{per_second / unit:.3g} {name}"
    return f"{per_second:.3g}"


def how(size: Size, quick: bool, missing: list[str]) -> str:
    return conditions(
        "python benchmarks/randomizing.py",
        quick,
        ("krand", "numpy", "cryptography", *PEERS),
        f"Left out: {'; '.join(missing) or 'nothing'}.",
        "Everything runs on one core. Times of flips are of the processor, medians of"
        f" {size.repeats} repeats after one to "
        "warm up, the ways taking turns. Compare ratios, not times.",
    )


# --- the ways ------------------------------------------------------------------------------------


def by_krand(length: int, noise: float, bits: int) -> tuple[Run, int]:
    packed = np.zeros((bits // length, length // 8), np.uint8)
    numerator, random = round(noise * GRID), SecureRandom()
    return lambda: flip_packed(packed, numerator, random), 8 * packed.size


def naive(length: int, noise: float, bits: int) -> tuple[Run, int]:
    answers, rng = np.zeros((bits // length, length), bool), np.random.default_rng()
    return lambda: answers ^ (rng.random(answers.shape) < noise), answers.size


def naive_in_chunks(length: int, noise: float, bits: int) -> tuple[Run, int]:
    """The same, on pieces that stay in the cache."""
    answers, rng = np.zeros((2**14 // length, length), bool), np.random.default_rng()
    pieces = bits // answers.size

    def run() -> None:
        for _ in range(pieces):
            answers ^ (rng.random(answers.shape) < noise)

    return run, pieces * answers.size


def repeated(one: Run, length: int, bits: int) -> tuple[Run, int]:
    responses = max(1, bits // length)

    def run() -> None:
        for _ in range(responses):
            one()

    return run, responses * length


def by_pure_ldp(length: int, noise: float, bits: int) -> tuple[Run, int]:
    module: Any = importlib.import_module("pure_ldp.frequency_oracles.unary_encoding")
    client = module.UEClient(epsilon=2 * math.log((1 - noise) / noise), d=length)
    return repeated(lambda: client.privatise(1), length, bits)


def by_multi_freq_ldpy(length: int, noise: float, bits: int) -> tuple[Run, int]:
    module: Any = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.UE")
    epsilon = 2 * math.log((1 - noise) / noise)
    return repeated(lambda: module.UE_Client(1, length, epsilon, False), length, bits)


def by_opendp(length: int, noise: float, bits: int) -> tuple[Run, int]:
    dp: Any = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.bitvector_domain(max_weight=length), dp.discrete_distance()
    randomize = dp.m.make_randomized_response_bitvec(*space, f=2 * noise)
    report = bytes(length // 8)
    return repeated(lambda: randomize(report), length, bits)


def by_diffprivlib(length: int, noise: float, bits: int) -> tuple[Run, int]:
    module: Any = importlib.import_module("diffprivlib.mechanisms")
    bit = module.Binary(epsilon=math.log((1 - noise) / noise), value0="0", value1="1")
    return repeated(lambda: bit.randomise("0"), 1, bits)


WAYS = (
    Way(KRAND, "AES-256-CTR", by_krand),
    Way(NAIVE[0], "PCG64, not secure", naive, 10),
    Way(NAIVE[1], "PCG64, not secure", naive_in_chunks, 10),
    Way("multi-freq-ldpy, UE_Client", "Mersenne Twister, not secure", by_multi_freq_ldpy, 100),
    Way("pure-ldp, UEClient", "Mersenne Twister, not secure", by_pure_ldp, 1000),
    Way("opendp, randomized_response_bitvec", "secure", by_opendp, 5000),
    Way("diffprivlib, Binary", "secure", by_diffprivlib, 20_000),
)


def measure(
    ways: Sequence[Way], length: int, size: Size, clock: Clock = time.process_time
) -> dict[str, list[float]]:
    """Flips per second of every way at every noise level.

    The ways take turns, so that whatever else the machine does falls on all of them alike.
    """
    found: dict[str, list[float]] = {way.name: [] for way in ways}
    for noise in NOISE:
        progress(f"L = {length}, q = {noise:g}")
        prepared = [way.prepare(length, noise, size.bits // way.share) for way in ways]
        for run, _ in prepared:
            run()
        turns = [[spent(run, clock) for run, _ in prepared] for _ in range(size.repeats)]
        for way, (_, bits), seconds in zip(ways, prepared, zip(*turns, strict=True), strict=True):
            found[way.name].append(bits / statistics.median(seconds))
    return found


def usable() -> tuple[list[Way], list[str]]:
    """The ways that can be imported here, and why others cannot."""
    ways, missing = [], []
    for way in WAYS:
        try:
            way.prepare(40, 0.25, 40)
        except ImportError as error:
            missing.append(f"{way.name} ({error})")
        else:
            ways.append(way)
    return ways, missing


# --- sections ------------------------------------------------------------------------------------


def keystream(size: Size) -> float:
    """Bytes per second of the cipher alone."""
    random = SecureRandom()
    pieces = max(1, size.bits // 2**22)

    def run() -> None:
        for _ in range(pieces):
            random.bytes(2**17)

    return pieces * 2**17 / timed(run, size.repeats)


def entropy(noise: float) -> float:
    return -noise * math.log2(noise) - (1 - noise) * math.log2(1 - noise)


def speed_section(length: int, found: dict[str, list[float]], stream: float) -> str:
    sources = {way.name: way.source for way in WAYS}
    columns = [f"flips per second, L = {length}", "randomness"]
    columns += [f"q = {noise:g}" for noise in NOISE]
    rows = [[name, sources[name], *map(rate, speeds)] for name, speeds in found.items()]
    limit = [8 * stream / entropy(noise) for noise in NOISE]
    rows.append(["limit: keystream ÷ entropy", f"{stream / 1e9:.2f} GB/s", *map(rate, limit)])
    lines = []
    for name, speeds in [*found.items(), ("limit: keystream ÷ entropy", limit)]:
        if name == KRAND:
            continue
        pairs = zip(found[KRAND], speeds, strict=True)
        lines.append([name, *(times(a / b) for a, b in pairs)])
    heads = [f"krand is … times as fast, L = {length}", *(f"q = {noise:g}" for noise in NOISE)]
    return f"## Reports of {length} bits\n\n{table(columns, rows)}\n\n{table(heads, lines)}"


NOTES = (
    "Packed bits in, packed bits out for krand and opendp; the others work on one number per bit "
    "(or one string), which spares them the packing. pure-ldp, multi-freq-ldpy, opendp and "
    "diffprivlib are called once per report or bit, as their documentation shows. pure-ldp and "
    "multi-freq-ldpy encode one choice among L at the ε that flips with q. The limit is what the "
    "keystream's bits could decide at one bit of randomness per bit of entropy."
)


def report(size: Size, quick: bool) -> str:
    ways, missing = usable()
    head, stream = how(size, quick, missing), keystream(size)
    sections = [speed_section(length, measure(ways, length, size), stream) for length in LENGTHS]
    sections.append(table_section(quick))
    note = "<!-- Written by benchmarks/randomizing.py; do not edit. -->"
    return "\n\n".join(["# What flipping bits costs", note, head, *sections, NOTES]) + "\n"


if __name__ == "__main__":
    flips = RESULTS, lambda quick: report(QUICK if quick else FULL, quick)
    run_benchmark(__doc__, flips, (RESULTS.with_name("counting.md"), counted))
