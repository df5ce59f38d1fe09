"""Tables as other programs write them: read alike, or refused with a remedy; never misread.

What a row means is what the person's own device would have sent: without noise, the records in the
file of responses are compared, whoever made them.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import krand
from command_line import done, refused
from components import require
from draws import survey_of
from krand.testing import FakeChain, unsafe_exact_plan

QUESTIONS = (
    krand.YesNo(name="smokes"),
    krand.Choice(name="grade", choices=krand.Choices(["1", "2", "3"])),
    krand.PickAny(name="floors", choices=krand.Choices(["1", "2", "cellar"]), at_most=2),
    krand.Number(name="age", edges=(0, 18, 65), open="above"),
    krand.Words(name="tag", size=64, hashes=2),
)
PEOPLE: list[dict[str, Any]] = [
    {"smokes": True, "grade": "1", "floors": ["1", "2"], "age": 17.5, "tag": "7"},
    {"smokes": False, "grade": "3", "floors": ["2"], "age": 18, "tag": "é"},
    {},
    {"grade": "2", "age": 70},
]
SAVE = "save the table as CSV"


def exact_plan(*questions: Any, linked: bool = True) -> krand.Plan:
    """Two people are enough, and nothing is flipped."""
    linkage = krand.Linkage.RECORD if linked else krand.Linkage.BIT
    return unsafe_exact_plan(survey_of(*questions, linkage=linkage))


@cache
def plan() -> krand.Plan:
    return exact_plan(*QUESTIONS)


def records(made: krand.Plan, answers: Any, folder: Path, **options: Any) -> list[bytes]:
    """What the rows of a table become, sorted: their order is left to chance."""
    output = folder / "responses.parquet"
    krand.randomize_table(made, answers, output, again=True, overwrite=True, **options)
    return sorted(pq.read_table(output)["vector"].to_pylist())


def on_devices(made: krand.Plan, people: list[dict[str, Any]], folder: Path) -> np.ndarray:
    """How many of these people set each position, each on a device of their own."""
    chain = FakeChain(made)
    for answers in people:
        chain.client().submit(answers)
    batch = chain.release(folder / "batch")
    return krand.tally_batches(chain.plan, [batch], chain.key).counts


def table(**columns: Any) -> pa.Table:
    """The four people; columns that are given take the place of theirs."""
    types = [pa.bool_(), pa.string(), pa.list_(pa.string()), pa.float64(), pa.string()]
    own = {
        question.name: pa.array([person.get(question.name) for person in PEOPLE], kind)
        for question, kind in zip(QUESTIONS, types, strict=True)
    }
    return pa.table({**own, **columns})


@cache
def expected() -> list[bytes]:
    """The records of the four people."""
    with TemporaryDirectory() as folder:
        return records(plan(), table(), Path(folder))


def test_a_table_says_what_devices_say(tmp_path: Path) -> None:
    """The same positions are set as often, by lists, numbers, words and groups, and by silence."""
    for linked in (True, False):
        made = exact_plan(*QUESTIONS, linked=linked)
        krand.randomize_table(made, table(), tmp_path / f"{linked}.parquet")
        counts = krand.tally_responses(made, [tmp_path / f"{linked}.parquet"]).counts
        assert counts.tolist() == on_devices(made, PEOPLE, tmp_path / str(linked)).tolist()
    assert counts[:10].tolist() == [1, 1, 1, 1, 1, 2, 0, 1, 1, 1]


TEXT = """smokes,grade,floors,age,tag
{yes},1,1;2,17.5,7
{no},3,2,18,é
,,,,
,2,,70,
"""


def read(content: str | bytes, folder: Path, **options: Any) -> list[bytes]:
    """What a text file of this content sets."""
    raw = content.encode() if isinstance(content, str) else content
    (folder / "a.csv").write_bytes(raw)
    return records(plan(), folder / "a.csv", folder, **options)


@pytest.mark.parametrize(
    ("yes", "no"), [("1", "0"), ("Yes", "No"), ("TRUE", "False"), ("1.0", "0.0"), (" yes ", "no")]
)
def test_yes_and_no_as_programs_write_them(yes: str, no: str, tmp_path: Path) -> None:
    assert read(TEXT.format(yes=yes, no=no), tmp_path) == expected()


PLAIN = TEXT.format(yes="yes", no="no")
WRITTEN: dict[str, str | bytes] = {
    "with a mark, as Excel writes UTF-8": PLAIN.encode("utf-8-sig"),
    "lines of Windows": PLAIN.replace("\n", "\r\n"),
    "lines of an old Mac": PLAIN.replace("\n", "\r"),
    "no last line end": PLAIN.rstrip("\n"),
    "everything quoted": "\n".join(
        ",".join(f'"{field}"' for field in line.split(",")) for line in PLAIN.splitlines()
    ),
    "numbers that lost their kind": (
        PLAIN.replace(",1,", ",1.0,").replace(",3,", ",3.0,").replace(",2,", ",2.0,")
    ),
    "NaN where nothing is": PLAIN.replace("\n,,,,\n", "\nNaN,nan,NaN,NaN,\n"),
    "NA as R writes": PLAIN.replace("\n,,,,\n", "\nNA,NA,NA,NA,\n"),
    "spaces": PLAIN.replace(",17.5", ", 17.5").replace(",1,", ", 1 ,"),
    "columns in another order, and one more": "\n".join(
        ",".join([*line.split(",")[::-1], '"two\nlines"']) for line in PLAIN.splitlines()
    ).replace('"two\nlines"', "remark", 1),
    "a list with another separator": PLAIN.replace("1;2", "1 | 2"),
}


@pytest.mark.parametrize("way", WRITTEN)
def test_text_files_of_other_programs(way: str, tmp_path: Path) -> None:
    options = {"separator": "|"} if "separator" in way else {}
    assert read(WRITTEN[way], tmp_path, **options) == expected()


HINTS: list[tuple[str | bytes, str]] = [
    (PLAIN.replace(",", ";"), SAVE),
    (PLAIN.replace(",", "\t"), SAVE),
    ("sep=;\n" + PLAIN.replace(",", ";"), SAVE),
    (PLAIN.encode("cp1252"), f"line 3 is not.*{SAVE}"),
    (PLAIN.encode("utf-16"), f"line 1 is not.*{SAVE}"),
    (PLAIN.encode("utf-16-le"), f"line 3 is not.*{SAVE}"),
    ("smokes\nyes\n".encode("utf-16-le"), f"not binary data.*{SAVE}"),
    (b"PK\x03\x04\x00\xff" + PLAIN.encode(), f"line 1 is not.*{SAVE}"),
    (PLAIN.replace(",2,,70,", ',2,,70,"x'), "must close every quotation mark"),
    (PLAIN.replace(",2,,70,", ',2,"1,70,'), "row 4: must have 5 fields"),
    (PLAIN.replace(",2,,70,", ",2,,70"), "row 4: must have 5 fields, found '4 fields'"),
    (PLAIN.replace("17.5", '"17,5"'), "decimals with a point"),
    (PLAIN.replace("17.5", "1_7"), "must be a number"),
    (PLAIN.replace(",3,", ",01,"), "must be one of its choices, found '01'"),
    (PLAIN.replace(",3,", ",1.5,"), "must be one of its choices"),
    (
        PLAIN.replace("smokes,grade,floors", "Smokes,grades,x"),
        r"missing: smokes, grade, floors.*'Smokes' meant to be smokes\?; is 'grades' meant",
    ),
    (PLAIN.replace("smokes,", "smokes,smokes,", 1), "several for smokes"),
    (b"", "must be a table"),
]


@pytest.mark.parametrize(("content", "message"), HINTS, ids=range(len(HINTS)))
def test_what_cannot_be_read_is_refused_with_a_remedy(
    content: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(krand.InvalidInput, match=message):
        read(content, tmp_path)
    assert not (tmp_path / "responses.parquet").exists()


def test_an_unclosed_quotation_mark_in_a_column_that_is_left_out_loses_nobody(
    tmp_path: Path,
) -> None:
    lines = PLAIN.splitlines()
    rows = [lines[0] + ",remark", lines[1] + ',"x', *(line + ",y" for line in lines[2:])]
    with pytest.raises(krand.InvalidInput, match="row 1, which continues to the end"):
        read("\n".join(rows) + "\n", tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"", f"ends in .parquet or .csv.*{SAVE}"),
        ("a.parquet", b"not Parquet", "must be a table"),
        ("absent.parquet", None, "no such file"),
        ("absent.csv", None, "no such file"),
    ],
)
def test_files_that_do_not_do(
    name: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    """The error names the file and the reason."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(krand.InvalidInput, match=message):
        records(plan(), tmp_path / name, tmp_path)


def test_people_whom_a_file_claims_and_does_not_have_are_missed(tmp_path: Path) -> None:
    """Arrow reads what is there and says nothing."""
    pq.write_table(table(), tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    claimed = content[footer:].replace(b"\x16\x08", b"\x16\x0a")  # 4 and 5, as Thrift writes them
    assert claimed != content[footer:]
    (tmp_path / "a.parquet").write_bytes(content[:footer] + claimed)
    with pytest.raises(krand.InvalidInput, match="it states 5 rows, but has 4"):
        records(plan(), tmp_path / "a.parquet", tmp_path)


COLUMNS: dict[str, list[pa.Array]] = {
    "smokes": [
        pa.array([1, 0, None, None], pa.int8()),
        pa.array([1.0, 0.0, float("nan"), None]),
        pa.array(["Yes", "NO", "", None]),
        pa.array(["1", "0", "NaN", None], pa.large_string()),
        pa.array([Decimal("1.00"), Decimal("0.00"), None, None]),
        pa.array(["yes", "no", None, None]).dictionary_encode(),
        pa.array([b"yes", b"no", None, None]),
    ],
    "grade": [
        pa.array([1, 3, None, 2], pa.uint16()),
        pa.array([1.0, 3.0, float("nan"), 2.0]),
        pa.array(["1.0", "3.0", "nan", "2.0"]),
        pa.array([1, 3, None, 2]).dictionary_encode(),
        pa.array([Decimal("1.0"), Decimal("3.0"), None, Decimal("2.0")]),
        pa.array(["1", "3", None, "2"], pa.string_view()),
        pa.DictionaryArray.from_arrays(
            pa.array([0, 1, None, 2], pa.uint32()), pa.array(["1", "3", "2"], pa.large_string())
        ),
        pa.RunEndEncodedArray.from_arrays([1, 2, 3, 4], pa.array(["1", "3", None, "2"])),
    ],
    "floors": [
        pa.array([[1, 2], [2], [], None], pa.large_list(pa.int64())),
        pa.array([[1.0, 2.0], [2.0, None], None, None]),
        pa.array(["1;2", "2", "", None]),
        pa.array(["1; 2.0", "2.0", None, " "], pa.large_string()),
        pa.array([["1", "2"], ["2"], None, None], pa.list_(pa.string_view())),
        pa.array([["2", "1", "1"], ["2", "2"], None, None]),
    ],
    "age": [
        pa.array([17.5, 18, float("nan"), 70], pa.float32()),
        pa.array(np.array([17.5, 18, np.nan, 70], np.float16)),
        pa.array(["17.5", "18", "", "7e1"]),
        pa.array([" 17.5", "18.0", "NaN", "70"], pa.large_string()),
        pa.array([Decimal("17.5"), Decimal("18.0"), None, Decimal("70.0")]),
        pa.array([17, 18, None, 70], pa.int64()),
        pa.array([17.5, 18, None, 70]).dictionary_encode(),
    ],
    "tag": [pa.array(["7", "é", "", None], pa.large_string())],
}
CASES = [(name, place) for name, columns in COLUMNS.items() for place in range(len(columns))]


@pytest.mark.parametrize(("name", "place"), CASES)
def test_types_of_columns(name: str, place: int, tmp_path: Path) -> None:
    """Whatever type a column has, it says the same; also in a Parquet file, where it has it."""
    given = table(**{name: COLUMNS[name][place]})
    assert records(plan(), given, tmp_path) == expected()
    try:
        pq.write_table(given, tmp_path / "a.parquet")
    except pa.ArrowNotImplementedError:
        return
    assert records(plan(), tmp_path / "a.parquet", tmp_path) == expected()


class Frame:
    """A data frame of another library."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return table().__arrow_c_stream__(requested_schema)


def test_whatever_is_arrow_in_python(tmp_path: Path) -> None:
    """Tables, readers, frames, slices that begin in the middle; nothing else."""
    big = pa.concat_tables([table(), table()]).combine_chunks()
    for given in (table().to_reader(1), Frame(), big.slice(4), big.slice(2, 4)):
        assert records(plan(), given, tmp_path) == expected()
    pandas = require("pandas")
    frame = pandas.DataFrame(
        {
            "smokes": pandas.array([True, False, None, None], dtype="boolean"),
            "grade": [1, 3, None, 2],  # becomes 1.0, 3.0, NaN, 2.0
            "floors": ["1;2", "2", None, None],
            "age": pandas.array(["17.5", "18", None, "70"], dtype="string"),
            "tag": pandas.Categorical(["7", "é", None, None]),
        },
        index=[9, 8, 7, 6],
    )
    frame.to_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    for given in (frame, tmp_path / "a.csv", tmp_path / "a.parquet"):
        assert records(plan(), given, tmp_path) == expected()
    with pytest.raises(krand.InvalidInput, match="must be a table"):
        records(plan(), frame.assign(grade=["1", 2, None, 3.0]), tmp_path)
    with pytest.raises(krand.InvalidInput, match="Arrow table"):
        records(plan(), [1, 2], tmp_path)


def test_in_a_file_of_one_column_an_empty_line_is_a_person(tmp_path: Path) -> None:
    """Who said nothing, and is counted."""
    (tmp_path / "a.csv").write_text("smokes\nyes\n\nyes\n", encoding="utf-8")
    made = exact_plan(krand.YesNo(name="smokes"))
    assert records(made, tmp_path / "a.csv", tmp_path) == [b"\0", b"\x80", b"\x80"]


WRONG: list[tuple[str, pa.Array, str]] = [
    ("smokes", pa.array([2] * 4), "yes or no"),
    ("smokes", pa.array([0.5] * 4), "yes or no"),
    ("smokes", pa.array([{"a": 1}] * 4), "texts, numbers or truth values"),
    ("grade", pa.array([True] * 4), "one of its choices"),
    ("grade", pa.array(["one"] * 4), "one of its choices"),
    ("grade", pa.array([["1"]] * 4), "one answer in each row"),
    ("floors", pa.array([4] * 4), "one of its choices"),
    ("floors", pa.array(["1|2"] * 4), "one of its choices"),
    ("floors", pa.array([["1", "2", "cellar"]] * 4), "must be at most 2"),
    ("age", pa.array([True] * 4), "must be a number"),
    ("age", pa.array(["old"] * 4), "must be a number"),
    ("age", pa.array([0] * 4, pa.timestamp("s")), "must be a number"),
    ("age", pa.array([b"\xff"] * 4), "texts, numbers or truth values"),
]


@pytest.mark.parametrize(("name", "column", "message"), WRONG, ids=range(len(WRONG)))
def test_columns_that_do_not_fit(name: str, column: pa.Array, message: str, tmp_path: Path) -> None:
    with pytest.raises(krand.InvalidInput, match=message):
        records(plan(), table(**{name: column}), tmp_path)


@pytest.mark.parametrize(
    ("choices", "column", "level"),
    [
        (["1", "1.0"], pa.array([1.0] * 2), None),  # which of the two?
        (["1", "1.0"], pa.array([1] * 2), 0),
        (["1", "1.0"], pa.array(["1.0"] * 2), 1),
        (["01", "02"], pa.array([1] * 2), None),
        (["NA", "DE"], pa.array(["NA"] * 2), 0),  # Namibia
        (["na", "de"], pa.array(["NA"] * 2), None),
        (["0.5", "1.5"], pa.array([0.5] * 2), 0),
        (["1.0", "2.0"], pa.array([2.0] * 2), 1),
    ],
)
def test_numbers_and_labels_are_never_guessed(
    choices: list[str], column: pa.Array, level: int | None, tmp_path: Path
) -> None:
    made = exact_plan(krand.Choice(name="c", choices=krand.Choices(choices)))
    if level is None:
        with pytest.raises(krand.BadRows):
            records(made, pa.table({"c": column}), tmp_path)
    else:
        assert records(made, pa.table({"c": column}), tmp_path) == [bytes([128 >> level])] * 2


def test_a_separator_inside_a_choice_is_refused(tmp_path: Path) -> None:
    """x;y could be one choice or two."""
    made = exact_plan(krand.PickAny(name="p", choices=krand.Choices(["x", "y", "x;y"])))
    with pytest.raises(krand.InvalidInput, match="such as 'x;y'"):
        records(made, pa.table({"p": ["x;y", "x"]}), tmp_path)
    assert records(made, pa.table({"p": [["x;y"]] * 2}), tmp_path) == [b"\x20"] * 2
    given = pa.table({"p": ["x;y|x"] * 2})
    assert records(made, given, tmp_path, separator="|") == [b"\xa0"] * 2


SMALL = """id = "habits"
[policy]
epsilon = 2
delta = 0.01
minimum_crowd = 100
[trust]
noise = "devices"
[[question]]
name = "smokes"
type = "yes_no"
[[question]]
name = "pets"
type = "pick_any"
choices_file = "pets.txt"
at_most = 1
"""


def test_the_command_tells_who_is_silent(tmp_path: Path) -> None:
    """Choices may be lines of a file; there are no more answers than choices."""
    (tmp_path / "survey.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "pets.txt").write_text("Kätzchen\nemu\n", encoding="utf-8")
    done("plan survey.toml -o plan.json", at=tmp_path)
    rows = "Yes,Kätzchen\n" * 90 + "0,NaN\n" * 10
    (tmp_path / "a.csv").write_text("smokes,pets\n" + rows, encoding="utf-8")
    said = done("randomize a.csv --plan plan.json -o r.parquet", at=tmp_path)
    assert "No answer (empty or NaN): pets 10." in said.output
    more = SMALL.replace("at_most = 1", "at_most = 3")
    (tmp_path / "survey.toml").write_text(more, encoding="utf-8")
    error = refused("plan survey.toml", at=tmp_path)
    assert "at most the number of choices, 2" in error["message"]
