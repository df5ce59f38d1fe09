"""Parquet files that are damaged, or made to do harm: `krand tally` and `krand randomize` refuse.

Whatever is in them: exit code 2 and a sentence, or a file that is as good as any other.
More of them: KRAND_LONG=1 KRAND_MUTATED_FILES=20000 pytest tests/cli/test_hostile_parquet.py -s
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import done, run
from krand import randomize_table
from krand.errors import InvalidInput
from krand.survey.plan_file import read_plan
from survey_texts import question_text, survey_text

MUTATED = int(os.environ.get("KRAND_MUTATED_FILES", "200"))
PEOPLE = 420
MEGABYTES = 1_000
"""Far more than is needed, for a machine that is busy."""
QUESTIONS = (
    question_text("smokes", "yes_no"),
    question_text("pet", "choice", choices=["cat", "dog", "fish"]),
    question_text("sports", "pick_any", choices=["run", "swim", "ski"]),
    question_text("age", "number", edges=[0, 18, 40, 99]),
)
POLICY = {"epsilon": 20.0, "delta": 0.01, "minimum_crowd": 400}
WAYS = (
    {"compression": "none"},
    {"compression": "snappy", "row_group_size": 100},
    {"compression": "zstd", "use_dictionary": False, "data_page_version": "2.0"},
)
"""Of writing a table."""
COMMANDS = {
    "randomize": "randomize {} --plan bit.json -o out.parquet --again",
    "tally": "tally {} --plan bit.json -o out.json",
    "tally of records": "tally {} --plan record.json -o out.json",
}


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
        text = survey_text("habits", *QUESTIONS, linkage=linkage, **POLICY)
        (at / f"{linkage}.toml").write_text(text, encoding="utf-8")
        done(f"plan {linkage}.toml -o {linkage}.json", at=at)
        files = f"--plan {linkage}.json -o {linkage}.parquet --again"
        done("randomize answers0.parquet", files, at=at)
    return at


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "place")
    monkeypatch.chdir(tmp_path / "place")
    return tmp_path / "place"


def sources(place: Path, command: str) -> list[bytes]:
    """Files that this command takes."""
    names = {"tally": ["bit"], "tally of records": ["record"]}
    found = names.get(command, [f"answers{number}" for number in range(len(WAYS))])
    return [(place / f"{name}.parquet").read_bytes() for name in found]


def outcome(place: Path, command: str) -> int:
    """What becomes of hostile.parquet: named, or taken; no bug."""
    for left in place.glob("out*"):
        left.unlink()
    found = run(COMMANDS[command].format("hostile.parquet"))
    assert found.exit_code in (0, 2), found.output
    assert found.exit_code == 0 or found.output.startswith("error: ")
    assert "Traceback" not in found.output
    assert len(found.output) < 10_000
    assert found.exit_code == 0 or not [*place.glob("out.parquet"), *place.glob("out.json")]
    return found.exit_code


def megabytes() -> int:
    """The most memory that this process ever had, in whichever test."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit


def footer_of(content: bytes) -> int:
    """Where the description of the file begins."""
    return max(4, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))


def cut_short(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def some_bits(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.randint(1, 8)):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def some_bits_of_the_footer(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        changed[draw.randrange(footer_of(content), len(content) - 8)] ^= 1 << draw.randrange(8)
    return bytes(changed)


def a_byte_that_means_something(content: bytes, draw: random.Random) -> bytes:
    """Ends of numbers, types and lengths of Thrift."""
    changed = bytearray(content)
    place = draw.randrange(footer_of(content), len(content) - 8)
    changed[place] = draw.choice([0x00, 0x01, 0x15, 0x19, 0x1C, 0x7F, 0x80, 0xFF])
    return bytes(changed)


def the_first_page(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.randint(1, 6)):
        changed[draw.randrange(4, min(300, len(changed)))] = draw.randrange(256)
    return bytes(changed)


def some_bytes_more_or_less(content: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(content))
    return content[:start] + draw.randbytes(draw.randrange(64)) + content[start + 32 :]


def two_files_in_one(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))] + content[draw.randrange(len(content)) :]


MUTATIONS = (
    cut_short,
    some_bits,
    some_bits_of_the_footer,
    a_byte_that_means_something,
    the_first_page,
    some_bytes_more_or_less,
    two_files_in_one,
)


@pytest.mark.check
@pytest.mark.loop
def test_mutated_files_are_refused_or_as_good_as_any(place: Path) -> None:
    draw, seen, peak = random.Random(MUTATED), Counter[str](), megabytes()
    for number in range(MUTATED):
        command = draw.choice([*COMMANDS])
        mutation = MUTATIONS[number % len(MUTATIONS)]
        content = mutation(draw.choice(sources(place, command)), draw)
        (place / "hostile.parquet").write_bytes(content)
        seen[f"{command}: {outcome(place, command)}"] += 1
    assert megabytes() - peak < MEGABYTES
    assert sum(count for name, count in seen.items() if name.endswith("2")) > MUTATED / 2
    print(f"\n{MUTATED} mutated files: {dict(seen)}, at most {megabytes()} MB")


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
    "struct": lambda: deep(1),
    "deep struct": lambda: deep(60),
    "list of lists": lambda: pa.array([[["run"]]] * PEOPLE),
    "map": lambda: pa.array([[("a", 1)]] * PEOPLE, pa.map_(pa.string(), pa.int64())),
    "list of structs": lambda: pa.array([[{"a": 1}]] * PEOPLE),
    "timestamps": lambda: pa.array([0] * PEOPLE, pa.timestamp("ns", "UTC")),
    "dates": lambda: pa.array([10**9] * PEOPLE, pa.int32()).view(pa.date32()),
    "durations": lambda: pa.array([2**62] * PEOPLE, pa.duration("ns")),
    "bytes": lambda: pa.array([b"\xff\xfe"] * PEOPLE),
    "bytes of one length": lambda: pa.array([b"\xff\xfe"] * PEOPLE, pa.binary(2)),
    "no text": lambda: no_text(PEOPLE),
    "large numbers": lambda: pa.array([2**64 - 1] * PEOPLE, pa.uint64()),
    "no numbers": lambda: pa.array([float("inf"), float("-inf")] * (PEOPLE // 2)),
    "decimals": lambda: pa.array([10**30] * PEOPLE, pa.decimal128(38, 2)),
    "half numbers": lambda: pa.array(np.full(PEOPLE, 7, np.float16)),
    "long text": lambda: pa.array(["x" * 10**5] * PEOPLE),
    "control characters": lambda: pa.array(["\x00\x1b[2J\u202e"] * PEOPLE),
}


@pytest.mark.check
@pytest.mark.parametrize("question", ["smokes", "pet", "sports", "age"])
def test_columns_of_any_type_are_refused(place: Path, question: str) -> None:
    """A type that no question has, or values that no question takes."""
    for name, make in COLUMNS.items():
        table = column_of(good_table(), question, make())
        pq.write_table(table, place / "hostile.parquet")
        known = (question, name) in {("age", "half numbers"), ("age", "decimals")}
        assert outcome(place, "randomize") == 2 or known, name
        assert outcome(place, "tally") == 2


def metadata_of(place: Path, name: str) -> dict[bytes, bytes]:
    return pq.read_schema(place / f"{name}.parquet").metadata


@pytest.mark.parametrize("name", ["bit", "record"])
def test_responses_of_another_shape_are_refused(place: Path, name: str) -> None:
    """The header is right, the columns are not."""
    command = "tally" if name == "bit" else "tally of records"
    good = pq.read_table(place / f"{name}.parquet")
    column, kind = good.column(0), good.schema.field(0)
    nullable = pa.schema([pa.field(kind.name, kind.type)])
    nothing = pa.array([None] * good.num_rows, kind.type)
    for table in (
        pa.table({}),
        pa.table([column, column], [kind.name, kind.name]),
        pa.table([column, column], [kind.name, "more"]),
        pa.table([pa.array([2**40] * good.num_rows)], [kind.name]),
        pa.table([pa.array([[1]] * good.num_rows)], [kind.name]),
        pa.table([pa.array(["1"] * good.num_rows)], [kind.name]),
        pa.table([nothing], schema=nullable),
        good.slice(0, 0),
    ):
        changed = table.replace_schema_metadata(metadata_of(place, name))
        pq.write_table(changed, place / "hostile.parquet")
        assert outcome(place, command) == 2 or (name == "bit" and table.schema == good.schema)


def test_tables_without_columns_or_with_several_of_a_name_are_refused(place: Path) -> None:
    table = good_table()
    for changed in (
        pa.table({}),
        table.append_column("age", table.column("age")),
        table.rename_columns(["smokes"] * 4),
        table.rename_columns(["", "\x00", "\u202e", "a" * 10**5]),
        pa.table({f"c{n}": [1] for n in range(3_000)}),
        table.slice(0, 0),
    ):
        pq.write_table(changed, place / "hostile.parquet")
        assert outcome(place, "randomize") == 2


def varint(value: int) -> bytes:
    """As Thrift writes numbers."""
    value, found = 2 * value, bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def declaring(content: bytes, before: int, rows: int) -> bytes:
    """The same file, which says that there are so many rows."""
    start = footer_of(content)
    footer = content[start:-8].replace(b"\x16" + varint(before), b"\x16" + varint(rows))
    assert footer != content[start:-8]
    return content[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize("more", [1, 10**6, 10**9, 2**62])
@pytest.mark.parametrize("command", COMMANDS)
def test_rows_that_are_not_there_are_missed(place: Path, command: str, more: int) -> None:
    """A billion rows in a file of some kilobytes: neither waited for nor made room for."""
    peak = megabytes()
    for content in sources(place, command)[::2]:
        (place / "good.parquet").write_bytes(content)
        before = pq.read_metadata(place / "good.parquet").num_rows
        (place / "hostile.parquet").write_bytes(declaring(content, before, before + more))
        assert outcome(place, command) == 2
    assert megabytes() - peak < MEGABYTES


@pytest.mark.loop
def test_indices_out_of_range_are_refused(place: Path) -> None:
    """A dictionary of three words, and somebody who said the hundredth."""
    indices = pa.array([99] * PEOPLE, pa.int32())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["cat", "dog", "fish"]), safe=False)
    content = (place / "answers0.parquet").read_bytes()
    good = pq.ParquetFile(place / "answers0.parquet").metadata.row_group(0).column(1)
    start = good.data_page_offset
    size = good.total_compressed_size - (start - good.dictionary_page_offset)
    for place_of_byte in range(start, start + size, max(1, 20_000 // MUTATED)):
        changed = bytearray(content)
        changed[place_of_byte] = 0xFF
        (place / "hostile.parquet").write_bytes(bytes(changed))
        outcome(place, "randomize")
    with pytest.raises(InvalidInput, match="pet: must be a column of"):  # Python has such tables
        randomize_table(
            read_plan(place / "bit.json"),
            column_of(good_table(), "pet", column),
            place / "out.parquet",
            again=True,
        )


@pytest.mark.check
@pytest.mark.parametrize("compression", ["zstd", "gzip", "snappy"])
def test_small_files_that_become_large_are_refused(place: Path, compression: str) -> None:
    """A hundred megabytes of the same letter: refused, and not repeated in the error."""
    before = megabytes()
    values = ["x" * 10**8, *["yes"] * (PEOPLE - 1)]
    table = column_of(good_table(), "smokes", pa.array(values))
    options = {"compression": compression, "use_dictionary": False, "write_statistics": False}
    pq.write_table(table, place / "hostile.parquet", **options)
    assert (place / "hostile.parquet").stat().st_size < 10**7
    assert outcome(place, "randomize") == 2
    assert megabytes() - before < MEGABYTES
