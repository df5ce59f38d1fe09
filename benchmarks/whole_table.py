"""What `krand randomize` costs for a whole table: time and peak memory of the real command."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from krand import Choice, Number, PickAny, Survey, YesNo, make_plan, read_survey
from krand.survey.layout import layout_of
from running import progress, table

EXAMPLE = Path(__file__).parents[1] / "examples" / "browser.toml"
AT_A_TIME = 500_000


def answers(question: object, rows: int, random: np.random.Generator) -> Any:
    match question:
        case YesNo():
            return pa.array(random.random(rows) < 0.3, mask=random.random(rows) < 0.1)
        case Choice(choices=choices):
            return pa.array(np.array(list(choices))[random.integers(0, len(choices), rows)])
        case Number(edges=edges, integer=integer):
            numbers = random.uniform(edges[0], edges[-1], rows)
            return pa.array(np.floor(numbers) if integer else numbers)
        case PickAny(choices=choices, most_ones=most):
            ends = np.cumsum(random.integers(0, most + 1, rows), dtype=np.int32)
            picked = np.array(list(choices))[random.integers(0, len(choices), ends[-1])]
            return pa.ListArray.from_arrays(np.append(np.int32(0), ends), pa.array(picked))
    raise AssertionError(question)


def write_answers(survey: Survey, rows: int, path: Path) -> None:
    random, writer = np.random.default_rng(1), None
    for start in range(0, rows, AT_A_TIME):
        some = min(AT_A_TIME, rows - start)
        part = pa.table({q.name: answers(q, some, random) for q in survey.questions})
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    if writer is not None:
        writer.close()


def measured(command: list[str]) -> tuple[float, float]:
    """Seconds on the wall and the peak of resident memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, used.ru_maxrss / (1 if sys.platform == "darwin" else 1024)


def one(rows: int, place: Path) -> list[str]:
    survey = read_survey(EXAMPLE)
    bits = layout_of(survey).positions
    given, planned, made = (place / name for name in ("a.parquet", "plan.json", "r.parquet"))
    planned.write_bytes(make_plan(survey).bytes)
    # Elsewhere: a process is born with the peak of the one that started it.
    with get_context("spawn").Pool(1) as pool:
        pool.apply(write_answers, (survey, rows, given))
    command = [sys.executable, "-m", "krand", "randomize", str(given), "--plan", str(planned)]
    seconds, memory = measured([*command, "-o", str(made), "--again"])
    responses, size = pq.ParquetFile(made).metadata.num_rows, made.stat().st_size
    for path in (given, planned, made):
        path.unlink()
    return [
        f"bit, {bits} positions, {rows:,} people",
        f"{seconds:.1f} s",
        f"{rows / seconds:,.0f}",
        f"{memory:.0f} MB",
        f"{responses:,} positions",
        f"{size / 1e6:.2f} MB",
    ]


def table_section(quick: bool) -> str:
    """The section, measured from a small process: a child is born with its parent's peak."""
    progress("krand randomize")
    command = [sys.executable, __file__, *(["--quick"] if quick else [])]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def measured_section(quick: bool) -> str:
    """Peak memory must not depend on the number of rows."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for count in (1_000_000,) if quick else (1_000_000, 10_000_000):
            progress(f"krand randomize, {count:,} people")
            rows.append(one(count, Path(place)))
    columns = ["linkage", "time", "people per second", "peak memory", "output", "its size"]
    return (
        "## A whole table: `krand randomize`\n\n"
        "The example browser survey from Parquet to a file of responses, start-up"
        " included, by the clock on the wall; peak memory is that of the whole process.\n\n"
        + table(columns, rows)
    )


if __name__ == "__main__":
    print(measured_section("--quick" in sys.argv))
