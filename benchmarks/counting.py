"""What counting costs: krand, DuckDB, Polars, from files, each in its own process.

The second half of benchmarks/randomizing.py. DuckDB and Polars are left out, with the reason, where
they are not installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from krand import Linkage
from krand.analysis.counting import count_bits, count_positions
from krand.batches.responses import ResponsesHeader, ResponsesWriter, response_batches
from running import conditions, peak_megabytes, progress, table, verdict

KRAND = "krand"
LIMIT = "limit: reading the memory"
GOAL = 15
"""At most so many times the limit."""
MOST_MEGABYTES = 300
BITS = 40
CHUNK, FILE_CHUNK = 2**22, 2**20
"""Reports that krand is handed at a time, in memory and from a file."""

Counts = NDArray[np.int64]
Run = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: reports, and how often."""

    responses: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Case:
    """Reports of one kind; `positions` of tokens, None for records of 40 bits."""

    name: str
    positions: int | None = None

    def chunks(self, count: int) -> Iterator[NDArray[Any]]:
        """The same reports every time, a chunk after the other."""
        rng = np.random.default_rng(count)
        if self.positions:  # as `krand randomize` writes them: sorted
            counts = rng.multinomial(count, np.full(self.positions, 1 / self.positions))
            ends = np.cumsum(counts)
            for start in range(0, count, CHUNK):
                places = np.arange(start, min(start + CHUNK, count))
                yield np.searchsorted(ends, places, side="right").astype(np.int32)
            return
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start)
            yield rng.integers(0, 256, (size, BITS // 8), dtype=np.uint8)

    def count(self, chunks: Iterator[NDArray[Any]]) -> Counts:
        """krand's own way."""
        into = np.zeros(self.positions or BITS, np.int64)
        for chunk in chunks:
            if self.positions:
                count_positions(chunk, into)
            else:
                count_bits(chunk, BITS, into)
        return into


RECORDS = Case(f"records of {BITS} bits")
CASES = (
    Case("tokens, 40 positions, sorted as in files", 40),
    Case("tokens, 100,000 positions, sorted as in files", 100_000),
    RECORDS,
)
FULL, QUICK = Size(10**8, 3), Size(10**6, 1)


# --- the ways ------------------------------------------------------------------------------------


def pieces(responses: NDArray[Any], size: int = CHUNK) -> Iterator[NDArray[Any]]:
    return (responses[start : start + size] for start in range(0, len(responses), size))


def as_numbers(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """A record in one whole number, which is as packed as databases have it."""
    numbers = np.zeros(len(rows), np.int64)
    for column in rows.T:
        numbers <<= 8
        numbers |= column
    return numbers


def duckdb_query(case: Case, source: str) -> str:
    if case.positions:
        return f"select report, count(*) as reports from {source} group by report"
    sums = (f"sum((report >> {BITS - 1 - bit}) & 1)" for bit in range(BITS))
    return f"select {', '.join(sums)} from {source}"


def by_duckdb(case: Case, source: Any) -> Run:
    """A Parquet file on one thread."""
    connection = importlib.import_module("duckdb").connect()
    for setting in ("threads = 1", "enable_progress_bar = false"):
        connection.execute(f"set {setting}").fetchall()
    query = duckdb_query(case, f"read_parquet('{source}')")

    def run() -> Counts:
        found = connection.execute(query).fetchnumpy()
        if case.positions:
            return scattered(case, found["report"], found["reports"])
        return np.array([int(sums[0]) for sums in found.values()], np.int64)

    return run


def by_polars(case: Case, source: Any) -> Counts:
    pl = polars()
    frame = pl.scan_parquet(source)
    report = pl.col("report")
    if case.positions:
        found = frame.group_by(report).len().collect()
        return scattered(case, found["report"], found["len"])
    ones = [((report & 1 << BITS - 1 - bit) != 0).sum().alias(str(bit)) for bit in range(BITS)]
    return np.array(frame.select(ones).collect().row(0), np.int64)


def polars() -> Any:
    os.environ["POLARS_MAX_THREADS"] = "1"  # read when it is imported
    return importlib.import_module("polars")


def scattered(case: Case, places: Any, numbers: Any) -> Counts:
    counts = np.zeros(case.positions or 0, np.int64)
    counts[np.asarray(places)] = np.asarray(numbers)
    return counts


# --- from files, each in a process of its own ----------------------------------------------------


def write_files(case: Case, count: int, folder: Path) -> tuple[Path, Path]:
    """A reports file for krand, and for the others what they can read."""
    ours, theirs = folder / "responses.parquet", folder / "numbers.parquet"
    linkage = Linkage.BIT if case.positions else Linkage.RECORD
    header = ResponsesHeader(
        plan="0" * 64,
        round=1,
        people=count,
        linkage=linkage,
        positions=case.positions or BITS,
        run="5e" * 16,
    )
    kind = pa.int32() if case.positions else pa.int64()
    schema = pa.schema([pa.field("report", kind, nullable=False)])
    # Noise cannot be compressed, and sorted positions shrink to nothing: as krand writes them.
    options = {} if case.positions else {"compression": "none", "use_dictionary": False}
    with (
        ours.open("wb") as stream,
        ResponsesWriter(stream, header) as writer,
        pq.ParquetWriter(theirs, schema, **options) as other,
    ):
        for chunk in case.chunks(count):
            for part in pieces(chunk, FILE_CHUNK):
                writer.write(part)
                numbers = part if case.positions else as_numbers(part)
                other.write_table(pa.table([numbers], schema=schema))
    return ours, theirs


def in_own_process(name: str, case: Case, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", name, str(CASES.index(case)), str(path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(json.loads(told))


def measured_here(name: str, number: str, path: str) -> None:
    """What a process of its own does: count one file, and say what that took."""
    case = CASES[int(number)]
    if name == "Polars":
        polars()
    elif name == "DuckDB":
        importlib.import_module("duckdb")
    start, busy = time.perf_counter(), time.process_time()
    if name == "DuckDB":
        by_duckdb(case, path)()
    elif name == "Polars":
        by_polars(case, path)
    elif name == "reading alone":
        for _ in response_batches(path, FILE_CHUNK):
            pass
    else:
        case.count(response_batches(path, FILE_CHUNK))
    spent = {"wall": time.perf_counter() - start, "busy": time.process_time() - busy}
    print(json.dumps({**spent, "megabytes": peak_megabytes()}))


def file_section(size: Size, missing: Sequence[str]) -> str:
    """Counting a file from beginning to end: time and the most memory it took."""
    rows = []
    others = [name for name in ("DuckDB", "Polars") if name.lower() not in missing]
    for case in CASES:
        progress(f"a file of {size.responses:,} {case.name}")
        with tempfile.TemporaryDirectory() as folder:
            own, numbers = write_files(case, size.responses, Path(folder))
            paths = dict.fromkeys(("reading alone", KRAND), own) | dict.fromkeys(others, numbers)
            turns = [
                {name: in_own_process(name, case, path) for name, path in paths.items()}
                for _ in range(min(3, size.repeats))
            ]
        for name in paths:
            wall, busy, peak = (
                statistics.median(turn[name][what] for turn in turns)
                for what in ("wall", "busy", "megabytes")
            )
            met = verdict(peak <= MOST_MEGABYTES) if name == KRAND else ""
            rows.append([f"{case.name}; {name}", f"{wall:.2f}", f"{busy:.2f}", f"{peak:.0f}", met])
    columns = [f"a file of {size.responses:,}", "s", "s of processor", "MB at most"]
    columns.append(f"goal: ≤ {MOST_MEGABYTES} MB")
    return f"### {size.responses:,} reports from a file\n\n{table(columns, rows)}"


NOTES = (
    "DuckDB and Polars count records as one whole number each, 8 bytes in place of 5: neither can "
    "count the bits of packed bytes. Everything is in a process of its own on one thread, start-up "
    "not counted."
)


def report(quick: bool) -> str:
    about = conditions(
        "python benchmarks/randomizing.py",
        quick,
        ("krand", "numpy", "pyarrow", "duckdb", "polars"),
        "Times are by the clock on the wall. Compare ratios, not times.",
    )
    missing = [name for name in ("duckdb", "polars") if importlib.util.find_spec(name) is None]
    left_out = ", ".join(missing) or "nothing"
    return (
        "\n\n".join(
            [
                "# What counting costs",
                "<!-- Written by benchmarks/randomizing.py; do not edit. -->",
                about,
                f"## Counting unsealed reports\n\n{NOTES} Left out: {left_out}.",
                file_section(QUICK if quick else FULL, missing),
            ]
        )
        + "\n"
    )


if __name__ == "__main__":
    measured_here(*sys.argv[2:])
