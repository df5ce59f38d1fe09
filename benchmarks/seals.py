"""What post-quantum seals cost beside X25519: bytes, sealing, opening, a chain of three mixers.

python benchmarks/seals.py            # writes benchmarks/seals.md
python benchmarks/seals.py --quick    # a smoke run: to the terminal only
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from krand import make_plan, parse_survey, tally_batches
from krand.survey.plan import Plan
from krand.survey.seals import Seal
from krand.testing import FakeChain, simulated_people
from krand.wire.layers import LaneOpener, LayerSealer, plan_layer_info
from krand.wire.messages import ANALYST, Token, length_at
from krand.wire.submissions import format_of
from krand.wire.suites import OpeningKey, generate_key, hpke_key, suite_of
from running import conditions, progress, run_benchmark, spent, table

RESULTS = Path(__file__).with_suffix(".md")
QUESTIONS, MIXERS = 20, 3
SURVEY = f"""
id = "seals"
seal = "{{seal}}"

[policy]
epsilon = 1.0
delta = 1e-6

[trust]
noise = "mixers"
mixers = {MIXERS}
""" + "".join(
    f'\n[[question]]\nname = "q{number}"\ntype = "yes_no"\n' for number in range(QUESTIONS)
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One quantity with each seal."""

    name: str
    unit: str
    values: dict[Seal, float]

    def row(self) -> list[str]:
        plain, hybrid = self.values[Seal.X25519], self.values[Seal.MLKEM768_X25519]
        return [self.name, self.unit, f"{plain:,.0f}", f"{hybrid:,.0f}", f"{hybrid / plain:.2f}"]


def plan_of(seal: Seal) -> Plan:
    return make_plan(parse_survey(SURVEY.format(seal=seal.value)))


def in_turns(works: dict[Seal, Callable[[], object]], repeats: int) -> dict[Seal, float]:
    """The medians; both kinds take turns, so that neither has the quieter machine."""
    taken: dict[Seal, list[float]] = {seal: [] for seal in works}
    for _ in range(repeats):
        for seal, work in works.items():
            taken[seal].append(spent(work, time.process_time))
    return {seal: statistics.median(times) for seal, times in taken.items()}


def rates(name: str, count: int, works: dict[Seal, Callable[[], object]], repeats: int) -> Measured:
    found = {seal: count / taken for seal, taken in in_turns(works, repeats).items()}
    progress(f"{name}: {found}")
    return Measured(name, "per second", found)


def bare(count: int, repeats: int) -> list[Measured]:
    """The library alone: one seal, opened again."""
    keys = {seal: generate_key(seal) for seal in Seal}
    content = {seal: sealed_once(seal, key) for seal, key in keys.items()}

    def sealing(seal: Seal, key: OpeningKey) -> Callable[[], object]:
        return lambda: [sealed_once(seal, key) for _ in range(count)]

    def opening(seal: Seal, key: OpeningKey) -> Callable[[], object]:
        decrypt, own = suite_of(seal).decrypt, hpke_key(key)
        return lambda: [decrypt(content[seal], own, b"") for _ in range(count)]

    seals = {seal: sealing(seal, key) for seal, key in keys.items()}
    opens = {seal: opening(seal, key) for seal, key in keys.items()}
    return [
        rates("seals, the library alone", count, seals, repeats),
        rates("openings, the library alone", count, opens, repeats),
    ]


def sealed_once(seal: Seal, key: OpeningKey) -> bytes:
    return suite_of(seal).encrypt(bytes(6), hpke_key(key.public_key()), b"")


def devices(chains: dict[Seal, FakeChain], count: int, repeats: int) -> list[Measured]:
    """A device's messages, and the analyst's work on what comes out of the chain."""
    lanes = {seal: chain.plan.lanes[0] for seal, chain in chains.items()}

    def sealing(chain: FakeChain) -> Callable[[], object]:
        sealer, lane = LayerSealer(chain.plan, 1), chain.plan.lanes[0]
        return lambda: [sealer.seal(lane, Token(lane.offset)) for _ in range(count)]

    def opening(seal: Seal, chain: FakeChain) -> Callable[[], object]:
        opener, lane = LaneOpener(chain.key, chain.plan, 1), lanes[seal]
        info = plan_layer_info(chain.plan, ANALYST, 1, lane.number)
        content = bytes((seal.wire.version, 1)) + lane.offset.to_bytes(4)
        sealed = suite_of(seal).encrypt(content, hpke_key(chain.key.public_key()), info)
        return lambda: [opener.open(lane, sealed) for _ in range(count)]

    return [
        rates(
            f"messages of a device, {MIXERS} layers",
            count,
            {seal: sealing(chain) for seal, chain in chains.items()},
            repeats,
        ),
        rates(
            "messages opened by the analyst",
            count,
            {seal: opening(seal, chain) for seal, chain in chains.items()},
            repeats,
        ),
    ]


def from_end_to_end(people: int) -> Measured:
    """Everything in one process: devices, collector, two more mixers with dummies, tally."""
    taken = {}
    for seal in Seal:
        chain = FakeChain(plan_of(seal))
        taken[seal] = 1000 * spent(partial(whole_round, chain, people), time.process_time)
        progress(f"{people} people with {seal}: {taken[seal]:,.0f} ms")
    return Measured(f"{people:,} people, {MIXERS} mixers, tally", "ms", taken)


def whole_round(chain: FakeChain, people: int) -> None:
    for answers in simulated_people(chain.plan.survey, people, seed=1):
        chain.client().submit(chain.url, answers)
    with tempfile.TemporaryDirectory() as folder:
        tally = tally_batches(chain.plan, [chain.release(folder)], chain.key)
    assert tally.people == people


def sizes(chains: dict[Seal, FakeChain]) -> list[Measured]:
    """What follows from the plans."""
    plans = {seal: chain.plan for seal, chain in chains.items()}
    return [
        Measured(name, "bytes", {seal: size(plan) for seal, plan in plans.items()})
        for name, size in (
            ("a message for the analyst", lambda plan: length_at(plan, ANALYST)),
            (f"a message with {MIXERS} mixers", lambda plan: length_at(plan, 1)),
            (f"a submission, {QUESTIONS} questions", lambda plan: format_of(plan).length),
            ("the plan", lambda plan: len(plan.bytes)),
        )
    ]


def report(quick: bool) -> str:
    count, repeats, people = (50, 1, 3) if quick else (1_000, 5, 100)
    chains = {seal: FakeChain(plan_of(seal)) for seal in Seal}
    columns = ["", "", "X25519", "ML-KEM-768 and X25519", "ratio"]
    bytes_table = table(columns, [each.row() for each in sizes(chains)])
    speed = [*bare(count, repeats), *devices(chains, count, repeats), from_end_to_end(people)]
    speed_table = table(columns, [each.row() for each in speed])
    about = conditions(
        "python benchmarks/seals.py",
        quick,
        ("cryptography",),
        "Times are those of one processor, the kinds taking turns. Compare ratios, not times.",
    )
    return f"""# What post-quantum seals cost

<!-- Written by benchmarks/seals.py; do not edit. -->

{about}

## Bytes

A survey of {QUESTIONS} yes/no questions, {MIXERS} mixers, one round.

{bytes_table}

## Work

{speed_table}
"""


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, report)
