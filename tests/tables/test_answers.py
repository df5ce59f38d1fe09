"""Tables of answers: Parquet, CSV and Arrow tell the same people the same thing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from krand.errors import InvalidInput
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.questions import Choice, Number, PickAny, Words, YesNo
from krand.survey.survey import Together
from krand.tables import answers as reading
from krand.tables.answers import answers_in, open_answers
from krand.tables.columns import encode_columns
from survey.drawing import layout_for
from tables.rows import rows_of

LAYOUT = layout_for(
    YesNo(name="smokes"),
    Choice(name="colour", choices=Choices(["red", "green; or so", "blue"])),
    PickAny(name="pets", choices=Choices(["cat", "dog", "emu"]), at_most=2),
    Number(name="age", edges=(0, 18, 65), open_above=True),
    Words(name="tag", size=64, hashes=2),
    Words(name="tags", size=64, hashes=2, at_most=2),
    YesNo(name="vpn"),
    Number(name="tabs", edges=(0, 5, 10)),
    together=(Together(("vpn", "tabs")),),
)
PEOPLE: list[dict[str, object]] = [
    {"smokes": True, "colour": "red", "pets": ["cat", "emu"], "age": 17.5, "tag": "Jazz; Rock"},
    {"smokes": False, "age": 18, "tags": ["x", "y"], "vpn": True, "tabs": 4},
    {"pets": [], "tabs": 5.25, "colour": "green; or so"},
    {},
    {"vpn": False, "tags": ["X ", "x"], "age": 64.999, "smokes": True},
]
CSV = """tabs,smokes,colour,pets,age,tag,tags,vpn,remark
,true,red,cat;emu,17.5,Jazz; Rock,,,"two
lines"
4,no,,,18,,x; y,yes,
5.25,,green; or so,,,,,,
,,,,,,,,
,TRUE,,,64.999,,X ;x,False,
"""


def table() -> pa.Table:
    types = {
        "smokes": pa.bool_(),
        "colour": pa.dictionary(pa.int8(), pa.string()),
        "pets": pa.list_(pa.string()),
        "age": pa.float64(),
        "tag": pa.large_string(),
        "tags": pa.large_list(pa.string()),
        "vpn": pa.bool_(),
        "tabs": pa.float32(),
    }
    columns = {
        name: pa.array([person.get(name) for person in PEOPLE], kind)
        for name, kind in types.items()
    }
    return pa.table(columns)


NUMBER = layout_for(Number(name="n", edges=(0, 10, 20)))
SMOKES = layout_for(YesNo(name="smokes"))
found = partial(rows_of, layout=LAYOUT)
EXPECTED = [encode(LAYOUT, person) for person in PEOPLE]


def test_parquet(tmp_path: Path) -> None:
    """A Parquet file sets what each person's own device would have set."""
    pq.write_table(table().append_column("id", pa.array(range(5))), tmp_path / "a.parquet")
    answers = open_answers(tmp_path / "a.parquet", LAYOUT)
    assert (answers.rows, answers.ignored) == (5, ("id",))
    assert found(answers) == EXPECTED


def test_csv(tmp_path: Path) -> None:
    """A text file too: lists by separator, empty fields are silence, columns in any order."""
    (tmp_path / "a.csv").write_text(CSV, encoding="utf-8")
    answers = open_answers(tmp_path / "a.csv", LAYOUT)
    assert (answers.rows, answers.ignored) == (None, ("remark",))
    assert found(answers) == EXPECTED
    (tmp_path / "b.csv").write_text(CSV.replace("cat;emu", "cat | emu"), encoding="utf-8")
    piped = open_answers(tmp_path / "b.csv", LAYOUT, separator="|")
    assert found(piped)[0] == EXPECTED[0]


@pytest.mark.parametrize("chunk", [1, 2, 3, 2**16])
def test_arrow_in_python(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, readers and whatever exports a stream, in chunks of any size."""

    class Frame:
        """A data frame of another library."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return table().__arrow_c_stream__(requested_schema)

    monkeypatch.setattr(reading, "CHUNK", chunk)
    assert found(answers_in(table(), LAYOUT)) == EXPECTED
    assert found(answers_in(table().to_reader(), LAYOUT)) == EXPECTED
    assert found(answers_in(Frame(), LAYOUT)) == EXPECTED
    with pytest.raises(InvalidInput, match="Arrow table"):
        answers_in([1, 2], LAYOUT)


def test_slices_and_other_types() -> None:
    """Arrays that begin in the middle of their memory, and whole numbers of any width."""
    big = pa.concat_tables([table(), table()]).combine_chunks()
    assert found(answers_in(big.slice(4, 3), LAYOUT)) == [EXPECTED[4], *EXPECTED[:2]]
    for kind in (pa.int8(), pa.uint64(), pa.float16(), pa.float32()):
        column = pa.array(np.array([3, 12]), kind) if kind != pa.float16() else None
        column = pa.array(np.array([3, 12], np.float16)) if column is None else column
        assert rows_of(answers_in(pa.table({"n": column}), NUMBER), NUMBER) == [(0,), (1,)]
    empty = pa.table({"n": pa.nulls(2)})
    assert rows_of(answers_in(empty, NUMBER), NUMBER) == [(), ()]


def test_a_question_without_a_column_is_refused() -> None:
    """A misspelt column must not turn everybody silent."""
    with pytest.raises(InvalidInput, match=r"missing: smokes.*is 'smoke' meant to be smokes"):
        answers_in(table().rename_columns(["smoke", *table().column_names[1:]]), LAYOUT)
    twice = table().append_column("age", table().column("age"))
    with pytest.raises(InvalidInput, match="several for age"):
        answers_in(twice, LAYOUT)


def test_single_column_text(tmp_path: Path) -> None:
    """In a file of one column an empty line is a person who said nothing."""
    (tmp_path / "a.csv").write_text("smokes\nyes\n\nyes\n", encoding="utf-8")
    assert rows_of(open_answers(tmp_path / "a.csv", SMOKES), SMOKES) == [(0,), (), (0,)]


def test_numbers_in_text(tmp_path: Path) -> None:
    """A field that is no number is a wrong answer; those around it are still read."""
    (tmp_path / "a.csv").write_text("n,x\n3,\nten,\n,\n1_2,\n1.5e1,\n", encoding="utf-8")
    (chunk,) = open_answers(tmp_path / "a.csv", NUMBER).chunks
    encoded = encode_columns(NUMBER, chunk.columns)
    assert list(encoded.bad) == [1, 3]
    assert [m.error.value for m in encoded.mistakes] == ["ten", "1_2"]
    assert list(zip(encoded.rows, encoded.positions, strict=True)) == [(0, 0), (4, 1)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"", "ends in .parquet or .csv.*save the table as CSV in UTF-8"),
        ("a.parquet", b"not Parquet", "must be a table"),
        ("absent.parquet", None, "no such file"),
        ("absent.csv", None, "no such file"),
        ("empty.csv", b"", "must be a table"),
        ("a.csv", b"n\n\xff\xfe\n", "UTF-8, but line 2 is not.*save the table as CSV"),
    ],
)
def test_files_that_do_not_do(
    name: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    """The error names the file and the reason."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        rows_of(open_answers(tmp_path / name, NUMBER), NUMBER)


def test_torn_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row with too few or too many fields stops the reading, or is left out with its number."""
    monkeypatch.setattr(reading, "CSV_BLOCK", 4096)
    lines = ["yes,1"] * 5_000
    lines[1_000], lines[4_000] = "yes", "yes,1,2"
    (tmp_path / "a.csv").write_text("smokes,x\n" + "\n".join(lines), encoding="utf-8")
    answers = open_answers(tmp_path / "a.csv", SMOKES, skip_torn=True)
    assert len(rows_of(answers, SMOKES)) == 4_998
    assert [torn.row for torn in answers.torn] == [1_001, 4_001]
    with pytest.raises(InvalidInput, match=r"row 1,001: must have 2 fields, found '1 fields'"):
        rows_of(open_answers(tmp_path / "a.csv", SMOKES), SMOKES)
