"""What counting, opening and estimating cost: krand, its peers and the limit, in one run.

    python benchmarks/analyzer.py            # writes benchmarks/analyzer.md
    python benchmarks/analyzer.py --quick    # a smoke run: to the terminal only

Run it where krand, DuckDB, Polars and PySpark (and Java) are installed:
pip install -e '.[peers,spark]'. What cannot be imported is listed, and left out.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from counting_speed import counting_sections
from krand.analysis.engines import Options, tally_source
from krand.analysis.engines.partition import Work
from krand.analysis.engines.source import Source, open_responses
from krand.analysis.estimates.questions import estimate_questions
from krand.analysis.tally import Tally, empty_tally
from krand.batches.provenance import Provenance
from krand.batches.responses import ResponsesHeader, ResponsesWriter
from krand.batches.sealed import write_sealed
from krand.planning.making import make_plan
from krand.promise import Linkage, Policy
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice
from krand.survey.reading import read_survey
from krand.survey.survey import Survey
from krand.wire.keys import generate_private_key
from krand.wire.layers import LayerSealer
from krand.wire.messages import Token
from running import conditions, progress, run_benchmark, spent, table, verdict

RESULTS = Path(__file__).with_suffix(".md")
EXAMPLE = Path(__file__).parents[1] / "examples" / "browser.toml"
SCALING_GOAL, ESTIMATE_GOAL = 1.9, 1.0
PACKAGES = ("numpy", "cryptography", "pyarrow", "duckdb", "polars", "pyspark")


ID = "5e" * 16


def sealed_source(plan: Plan, messages: int, place: Path) -> tuple[Source, Work]:
    """A batch of sealed tokens; sealing different ones would take as long as opening them."""
    key = generate_private_key()
    plan = plan.sealed_for(key.public_key())
    sealer, lane = LayerSealer(plan, 1), plan.lanes[0]
    some = [sealer.seal(lane, Token(lane.offset + n % lane.positions)) for n in range(2_000)]
    rows = np.frombuffer(b"".join(some), np.uint8).reshape(-1, sealer.length)

    def chunks() -> Iterator[tuple[int, NDArray[np.uint8]]]:
        for _ in range(messages // len(rows)):
            yield lane.number, rows

    path = place / "batch.parquet"
    with path.open("wb") as stream:
        count = write_sealed(stream, sealer.length, ID, chunks())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    people, where = plan.promise.crowd, Provenance.DEVICES
    source = Source(
        uri=str(path),
        sealed=True,
        round=1,
        people=people,
        rows=count,
        sha256=digest,
        id=ID,
        provenance=where,
    )
    return source, Work(plan=plan, round=1, key=key.private_bytes_raw())


def opening_rate(plan: Plan, workers: int, quick: bool, place: Path) -> float:
    """Messages per second; what starting processes costs is taken away by measuring two sizes."""
    few, many = (10_000, 20_000) if quick else (40_000, 120_000)
    times = {}
    for size in (few, many):
        source, work = sealed_source(plan, size, place)
        runs = [
            spent(lambda s=source, w=work: tally_source(s, w, options=Options(workers)))
            for _ in range(1 if quick else 3)
        ]
        times[size] = statistics.median(runs)
        progress(f"opening {size:,} messages by {workers}: {times[size]:.2f} s")
    return (many - few) / (times[many] - times[few])


def opening_section(plan: Plan, quick: bool, place: Path) -> str:
    """Messages opened per second, by one process and by two."""
    one, two = (opening_rate(plan, workers, quick, place) for workers in (1, 2))
    rows = [
        ["one process", f"{one:,.0f}", "1", ""],
        ["two processes", f"{two:,.0f}", f"{two / one:.2f}", verdict(two / one >= SCALING_GOAL)],
    ]
    text = table(["opening", "messages per second", "÷ one", f"goal: ≥ {SCALING_GOAL}"], rows)
    return (
        "## Opening sealed messages\n\n"
        "HPKE with X25519 and AES-128-GCM, 54 bytes a message; the time to start processes is taken"
        f" away by measuring two sizes.\n\n{text}"
    )


def reports_source(plan: Plan, tokens: int, place: Path) -> tuple[Source, Work]:
    header = ResponsesHeader(
        plan=plan.hash,
        round=1,
        people=plan.promise.crowd,
        linkage=Linkage.BIT,
        positions=plan.layout.positions,
        run=ID,
    )
    random, path = np.random.default_rng(1), place / "responses.parquet"
    with path.open("wb") as stream, ResponsesWriter(stream, header) as writer:
        for start in range(0, tokens, 2**20):
            size = min(2**20, tokens - start)
            writer.write(random.integers(0, plan.layout.positions, size, np.int32))
    return open_responses(str(path), plan), Work(plan=plan, round=1)


def engine_section(plan: Plan, quick: bool, place: Path) -> str:
    """The same file here and on Spark; a second run inside a running cluster has no start-up."""
    tokens = 100_000 if quick else 10_000_000
    source, work = reports_source(plan, tokens, place)
    expected = tally_source(source, work)
    local = statistics.median([spent(lambda: tally_source(source, work)) for _ in range(5)])
    rows = [["local, one process", "", f"{local:.2f} s", "1", "identical"]]
    if importlib.util.find_spec("pyspark") is None:
        rows.append(["spark", "", "", "", "left out: no pyspark"])
    else:
        progress("engine spark")
        cold, warm, found = by_spark(source, work)
        told = "identical" if all(t.same_as(expected) for t in found) else "**different**"
        costs = [f"{cold - warm:.1f} s", f"{warm:.2f} s", f"{warm / local:.1f}"]
        rows.append(["spark, 2 workers here", *costs, told])
    text = table(["engine", "start-up", "counting", "÷ local", "tally"], rows)
    note = (
        "Counting never needs a cluster; opening sealed messages may: ten million take half an hour"
        " on one core."
    )
    return f"## Engines\n\n{tokens:,} tokens that are not sealed, in Parquet.\n\n{text}\n\n{note}"


def by_spark(source: Source, work: Work) -> tuple[float, float, list[Tally]]:
    from krand.analysis.engines.spark import _session

    found: list[Tally] = []

    def run() -> None:
        found.append(tally_source(source, work, "spark", Options(2)))

    start = time.perf_counter()
    session, _ = _session("local[2]")
    session.sparkContext.setLogLevel("ERROR")
    run()
    cold = time.perf_counter() - start
    warm = statistics.median([spent(run) for _ in range(3)])
    session.stop()
    return cold, warm, found


def estimate_section(quick: bool) -> str:
    """A question with 1,000 items, where the exact law is inverted and where it is normal."""
    rows = []
    for people, law in ((50_000, "exact"), (10_000_000, "normal")):
        asked = Choice(name="item", choices=Choices([f"item {n}" for n in range(1_000)]))
        epsilon = 2.0 if law == "exact" else 0.1
        plan = make_plan(
            Survey(
                id="items",
                policy=Policy(epsilon=epsilon, minimum_crowd=people, delta=1e-6),
                questions=(asked,),
            )
        )
        random = np.random.default_rng(1)
        true = np.sort(random.multinomial(people, random.dirichlet(np.full(1_000, 0.2))))
        noise = plan.blocks[0].noise
        counts = random.binomial(true, 1 - noise) + random.binomial(people - true, noise)
        empty = empty_tally(plan.hash, Linkage.BIT, 1_000)
        tally = replace(empty, people=people, crowd=people, responses=people, counts=counts)
        used = {row.method.value for row in estimate_questions(plan, tally)[0].rows}
        repeats = 1 if quick else 5
        times = [spent(lambda p=plan, t=tally: estimate_questions(p, t)) for _ in range(repeats)]
        time_ = statistics.median(times)
        kinds = ", ".join(sorted(used))
        rows.append(
            [f"{people:,} people, {kinds}", f"{time_:.3f} s", verdict(time_ < ESTIMATE_GOAL)]
        )
    text = table(["1,000 items", "time", f"goal: < {ESTIMATE_GOAL:g} s"], rows)
    return f"## Estimating\n\nCounts, shares, pointwise and simultaneous intervals.\n\n{text}"


def report(quick: bool) -> str:
    about = conditions(
        "python benchmarks/analyzer.py",
        quick,
        ("krand", *PACKAGES),
        "Times are by the clock on the wall. Compare ratios, not times.",
    )
    sections = [counting_sections(quick)]
    plan = make_plan(read_survey(EXAMPLE))
    with tempfile.TemporaryDirectory() as folder:
        sections.append(opening_section(plan, quick, Path(folder)))
        sections.append(engine_section(plan, quick, Path(folder)))
    sections.append(estimate_section(quick))
    note = "<!-- Written by benchmarks/analyzer.py; do not edit. -->"
    head = ["# What counting, opening and estimating cost", note, about]
    return "\n\n".join([*head, *sections]) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    run_benchmark(__doc__, RESULTS, report)
