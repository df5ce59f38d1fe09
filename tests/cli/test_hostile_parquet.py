"""Parquet files that are damaged, or made to do harm, as tables of answers and as responses.

Whatever is in them: refused with a sentence, or a file that is as good as any other.
"""

from __future__ import annotations

import random
import resource
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import krand
from command_line import run
from effort import EFFORT

PEOPLE = 420
MEGABYTES = 1_000
"""Far more than is needed, for a machine that is busy."""
SURVEY = """\
id = "habits"
policy = { epsilon = 20.0, delta = 0.01, minimum_crowd = 400 }
trust = { noise = "devices" }
[[question]]
name = "smokes"
type = "yes_no"
[[question]]
name = "pet"
type = "choice"
choices = ["cat", "dog", "fish"]
[[question]]
name = "sports"
type = "pick_any"
choices = ["run", "swim", "ski"]
[[question]]
name = "age"
type = "number"
edges = [0, 18, 40, 99]
"""
WAYS = (
    {"compression": "none"},
    {"compression": "snappy", "row_group_size": 100},
    {"compression": "zstd", "use_dictionary": False, "data_page_version": "2.0"},
)
"""Of writing a table."""
USES = ("randomize", "bit", "record")
"""Answers for `krand randomize`; responses of single bits and of records, to be counted."""


def good_table() -> pa.Table:
    """What people answer."""
    draw = random.Random(1)
    pets = pa.array(draw.choices(["cat", "dog", "fish"], k=PEOPLE)).dictionary_encode()
    sports = [draw.sample(["run", "swim", "ski"], draw.randrange(3)) for _ in range(PEOPLE)]
    ages = [draw.randrange(90) for _ in range(PEOPLE)]
    smokes = draw.choices(["yes", "no", None], k=PEOPLE)
    return pa.table({"smokes": smokes, "pet": pets, "sports": sports, "age": ages})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plans, tables and responses that are as they should be."""
    at = tmp_path_factory.mktemp("made")
    for number, way in enumerate(WAYS):
        pq.write_table(good_table(), at / f"answers{number}.parquet", **way)
    for linkage in ("bit", "record"):
        plan = krand.make_plan(krand.parse_survey(f'linkage = "{linkage}"\n{SURVEY}'))
        plan.save(at / f"{linkage}.json")
        krand.randomize_table(plan, good_table(), at / f"{linkage}.parquet", again=True)
    return at


@pytest.fixture
def place(made: Path, here: Path) -> Path:
    return shutil.copytree(made, here, dirs_exist_ok=True)


def sources(use: str) -> list[bytes]:
    """Files that are taken."""
    ways = [f"answers{number}" for number in range(len(WAYS))]
    names = ways if use == "randomize" else [use]
    return [Path(f"{name}.parquet").read_bytes() for name in names]


def is_taken(use: str) -> bool:
    """What becomes of hostile.parquet: taken, or refused by name; no bug, nothing half done."""
    if use != "randomize":
        try:
            krand.tally_responses(krand.read_plan(f"{use}.json"), ["hostile.parquet"])
        except krand.InvalidInput:
            return False
        return True
    Path("out.parquet").unlink(missing_ok=True)
    found = run("randomize hostile.parquet --plan bit.json -o out.parquet --again")
    assert found.exit_code in (0, 2), found.output
    assert found.exit_code == 0 or found.output.startswith("error: ")
    assert len(found.output) < 10_000
    assert Path("out.parquet").exists() == (found.exit_code == 0)
    return found.exit_code == 0


@contextmanager
def in_little_memory() -> Iterator[None]:
    """Counts the most memory that this process ever had, in whichever test."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // unit
    assert more < MEGABYTES, f"{more} MB"


def footer_of(content: bytes) -> int:
    """Where the description of the file begins."""
    return max(4, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))


def mutated(content: bytes, draw: random.Random) -> bytes:
    """Cut, flipped, spliced: anywhere, in the description, in the first page."""
    footer, changed = footer_of(content), bytearray(content)
    match draw.randrange(7):
        case 0:
            return content[: draw.randrange(len(content))]
        case 1:
            start = draw.randrange(len(content))
            return content[:start] + draw.randbytes(draw.randrange(64)) + content[start + 32 :]
        case 2:
            return content[: draw.randrange(len(content))] + content[draw.randrange(len(content)) :]
        case 3:  # ends of numbers, types and lengths of Thrift
            telling = [0x00, 0x01, 0x15, 0x19, 0x1C, 0x7F, 0x80, 0xFF]
            changed[draw.randrange(footer, len(content) - 8)] = draw.choice(telling)
        case where:
            first, last = {4: (footer, -8), 5: (4, 300)}.get(where, (0, None))
            places = range(len(content))[first:last]
            for _ in range(draw.randint(1, 6)):
                changed[draw.choice(places)] ^= 1 << draw.randrange(8)
    return bytes(changed)


def test_mutated_files_are_refused_or_as_good_as_any(place: Path) -> None:
    """Most are refused."""
    draw, seen = random.Random(EFFORT), Counter[bool]()
    with in_little_memory():
        for number in range(60 * EFFORT):
            use = USES[number % 3]
            Path("hostile.parquet").write_bytes(mutated(draw.choice(sources(use)), draw))
            seen[is_taken(use)] += 1
    assert seen[False] > seen[True], seen


def column_of(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, column)


def no_text(count: int) -> pa.Array:
    """Bytes that claim to be text."""
    offsets = np.arange(count + 1, dtype=np.int32) * 3
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"\xff\xfe\x80" * count)]
    return pa.StringArray.from_buffers(count, buffers[1], buffers[2])


def deep(depth: int) -> pa.Array:
    column = pa.array([1] * PEOPLE)
    for _ in range(depth):
        column = pa.StructArray.from_arrays([column], ["a"])
    return column


COLUMNS: dict[str, Callable[[], pa.Array]] = {
    "deep struct": lambda: deep(60),
    "list of lists": lambda: pa.array([[["run"]]] * PEOPLE),
    "map": lambda: pa.array([[("a", 1)]] * PEOPLE, pa.map_(pa.string(), pa.int64())),
    "list of structs": lambda: pa.array([[{"a": 1}]] * PEOPLE),
    "timestamps": lambda: pa.array([0] * PEOPLE, pa.timestamp("ns", "UTC")),
    "dates": lambda: pa.array([10**9] * PEOPLE, pa.int32()).view(pa.date32()),
    "durations": lambda: pa.array([2**62] * PEOPLE, pa.duration("ns")),
    "bytes": lambda: pa.array([b"\xff\xfe"] * PEOPLE),
    "no text": lambda: no_text(PEOPLE),
    "large numbers": lambda: pa.array([2**64 - 1] * PEOPLE, pa.uint64()),
    "no numbers": lambda: pa.array([float("inf"), float("-inf")] * (PEOPLE // 2)),
    "long text": lambda: pa.array(["x" * 10**4] * PEOPLE),
    "control characters": lambda: pa.array(["\x00\x1b[2J\u202e"] * PEOPLE),
}


@pytest.mark.parametrize("question", ["pet", "age"])
def test_columns_of_any_type_are_refused(place: Path, question: str) -> None:
    """A type that no question has, or values that no question takes."""
    for name, make in COLUMNS.items():
        pq.write_table(column_of(good_table(), question, make()), "hostile.parquet")
        assert not is_taken("randomize"), name


@pytest.mark.parametrize("name", ["bit", "record"])
def test_responses_of_another_shape_are_refused(place: Path, name: str) -> None:
    """The header is right, the columns are not."""
    good = pq.read_table(f"{name}.parquet")
    column, kind = good.column(0), good.schema.field(0)
    nothing = pa.array([None] * good.num_rows, kind.type)
    for number, table in enumerate(
        (
            pa.table({}),
            pa.table([column, column], [kind.name, kind.name]),
            pa.table([column, column], [kind.name, "more"]),
            pa.table([pa.array([2**40] * good.num_rows)], [kind.name]),
            pa.table([pa.array([[1]] * good.num_rows)], [kind.name]),
            pa.table([pa.array(["1"] * good.num_rows)], [kind.name]),
            pa.table([nothing], schema=pa.schema([pa.field(kind.name, kind.type)])),
            good.slice(0, 0) if name == "record" else pa.table({}),
        )
    ):
        changed = table.replace_schema_metadata(good.schema.metadata)
        pq.write_table(changed, "hostile.parquet")
        assert not is_taken(name), number


def test_tables_without_columns_or_with_several_of_a_name_are_refused(place: Path) -> None:
    """Or with names that nobody should see, or far too many."""
    table = good_table()
    for changed in (
        pa.table({}),
        table.append_column("age", table.column("age")),
        table.rename_columns(["smokes"] * 4),
        table.rename_columns(["", "\x00", "\u202e", "a" * 10**5]),
        pa.table({f"c{n}": [1] for n in range(3_000)}),
        table.slice(0, 0),
    ):
        pq.write_table(changed, "hostile.parquet")
        assert not is_taken("randomize"), changed.column_names[:4]


def varint(value: int) -> bytes:
    """As Thrift writes numbers."""
    value, found = 2 * value, bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


@pytest.mark.parametrize("use", USES)
def test_rows_that_are_not_there_are_missed(place: Path, use: str) -> None:
    """A billion rows in a file of some kilobytes: neither waited for nor made room for."""
    with in_little_memory():
        for content in sources(use)[::2]:
            Path("good.parquet").write_bytes(content)
            before, start = pq.read_metadata("good.parquet").num_rows, footer_of(content)
            for more in (1, 10**9, 2**62):
                rows = b"\x16" + varint(before + more)
                footer = content[start:-8].replace(b"\x16" + varint(before), rows)
                assert footer != content[start:-8]
                size = len(footer).to_bytes(4, "little")
                Path("hostile.parquet").write_bytes(content[:start] + footer + size + b"PAR1")
                assert not is_taken(use), more


def test_indices_out_of_range_are_refused(place: Path) -> None:
    """A dictionary of three words, and somebody who said the hundredth."""
    indices = pa.array([99] * PEOPLE, pa.int32())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["cat", "dog", "fish"]), safe=False)
    table = column_of(good_table(), "pet", column)
    with pytest.raises(krand.InvalidInput, match="pet: must be a column of"):
        krand.randomize_table(krand.read_plan("bit.json"), table, "out.parquet", again=True)


@pytest.mark.parametrize("compression", ["zstd", "gzip", "snappy"])
def test_small_files_that_become_large_are_refused(place: Path, compression: str) -> None:
    """Thirty megabytes of the same letter: refused, and not repeated in the error."""
    values = pa.array(["x" * (3 * 10**7), *["yes"] * (PEOPLE - 1)])
    options = {"compression": compression, "use_dictionary": False, "write_statistics": False}
    pq.write_table(column_of(good_table(), "smokes", values), "hostile.parquet", **options)
    assert Path("hostile.parquet").stat().st_size < 10**7
    with in_little_memory():
        assert not is_taken("randomize")
