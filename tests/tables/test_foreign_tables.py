"""Tables as other programs write them: read alike, or refused with a remedy; never misread."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from components import require
from krand.cli.main import krand
from krand.errors import InvalidInput
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.questions import Choice, Number, PickAny, Words, YesNo
from krand.tables.answers import SAVE, answers_in, open_answers
from krand.tables.columns import answered, encode_columns
from survey.drawing import layout_for
from survey_texts import question_text, survey_text
from tables.rows import rows_of

LAYOUT = layout_for(
    YesNo(name="smokes"),
    Choice(name="grade", choices=Choices(["1", "2", "3"])),
    PickAny(name="floors", choices=Choices(["1", "2", "cellar"])),
    Number(name="age", edges=(0, 18, 65), open_above=True),
    Words(name="tag", size=64, hashes=2),
)
PEOPLE: list[dict[str, object]] = [
    {"smokes": True, "grade": "1", "floors": ["1", "2"], "age": 17.5, "tag": "7"},
    {"smokes": False, "grade": "3", "floors": ["2"], "age": 18, "tag": "é"},
    {},
    {"grade": "2", "age": 70},
]
EXPECTED = [encode(LAYOUT, person) for person in PEOPLE]
found = partial(rows_of, layout=LAYOUT)


def read(content: str | bytes, folder: Path) -> list[tuple[int, ...]]:
    """What a text file of this content sets."""
    raw = content.encode() if isinstance(content, str) else content
    (folder / "a.csv").write_bytes(raw)
    return found(open_answers(folder / "a.csv", LAYOUT))


TEXT = """smokes,grade,floors,age,tag
{yes},1,1;2,17.5,7
{no},3,2,18,é
,,,,
,2,,70,
"""


@pytest.mark.parametrize(
    ("yes", "no"), [("1", "0"), ("Yes", "No"), ("TRUE", "False"), ("1.0", "0.0"), (" yes ", "no")]
)
def test_yes_and_no_are_understood_as_programs_write_them(
    yes: str, no: str, tmp_path: Path
) -> None:
    assert read(TEXT.format(yes=yes, no=no), tmp_path) == EXPECTED


WRITTEN: dict[str, Callable[[str], bytes]] = {
    "with a mark, as Excel writes UTF-8": lambda text: text.encode("utf-8-sig"),
    "lines of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "lines of an old Mac": lambda text: text.replace("\n", "\r").encode(),
    "no last line end": lambda text: text.rstrip("\n").replace(",70,", ",70,").encode(),
    "everything quoted": lambda text: "\n".join(
        ",".join(f'"{field}"' for field in line.split(",")) for line in text.splitlines()
    ).encode(),
    "numbers that lost their kind": lambda text: (
        text.replace(",1,", ",1.0,").replace(",3,", ",3.0,").replace(",2,", ",2.0,").encode()
    ),
    "NaN where nothing is": lambda text: text.replace("\n,,,,\n", "\nNaN,nan,NaN,NaN,\n").encode(),
    "NA as R writes": lambda text: text.replace("\n,,,,\n", "\nNA,NA,NA,NA,\n").encode(),
    "spaces": lambda text: text.replace(",17.5", ", 17.5").replace(",1,", ", 1 ,").encode(),
}


@pytest.mark.parametrize("way", WRITTEN)
def test_text_files_of_other_programs(way: str, tmp_path: Path) -> None:
    assert read(WRITTEN[way](TEXT.format(yes="yes", no="no")), tmp_path) == EXPECTED


HINTS: list[tuple[Callable[[str], bytes], str]] = [
    (lambda text: text.replace(",", ";").encode(), SAVE),
    (lambda text: text.replace(",", "\t").encode(), SAVE),
    (lambda text: ("sep=;\n" + text.replace(",", ";")).encode(), SAVE),
    (lambda text: text.encode("cp1252"), f"line 3 is not.*{SAVE}"),
    (lambda text: text.encode("utf-16"), f"line 1 is not.*{SAVE}"),
    (lambda text: text.encode("utf-16-le"), f"line 3 is not.*{SAVE}"),
    (lambda text: "smokes\nyes\n".encode("utf-16-le"), f"not binary data.*{SAVE}"),
    (lambda text: b"PK\x03\x04\x00\xff" + text.encode(), f"line 1 is not.*{SAVE}"),
    (lambda text: text.replace(",2,,70,", ',2,,70,"x').encode(), "must close every quotation mark"),
    (lambda text: text.replace(",2,,70,", ',2,"1,70,').encode(), "row 4: must have 5 fields"),
    (lambda text: text.replace("17.5", '"17,5"').encode(), "decimals with a point"),
    (lambda text: text.replace(",3,", ",01,").encode(), "must be one of its choices, found '01'"),
    (lambda text: text.replace(",3,", ",1.5,").encode(), "must be one of its choices"),
    (
        lambda text: text.replace("smokes,grade,floors", "Smokes,grades,x").encode(),
        r"missing: smokes, grade, floors.*'Smokes' meant to be smokes\?; is 'grades' meant",
    ),
]


@pytest.mark.parametrize(("write", "message"), HINTS, ids=range(len(HINTS)))
def test_what_cannot_be_read_is_refused_with_a_remedy(
    write: Callable[[str], bytes], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(write(TEXT.format(yes="yes", no="no")), tmp_path)


def test_an_unclosed_quotation_mark_in_a_column_that_is_left_out_loses_nobody(
    tmp_path: Path,
) -> None:
    lines = TEXT.format(yes="yes", no="no").splitlines()
    rows = [lines[0] + ",remark", lines[1] + ',"x', *(line + ",y" for line in lines[2:])]
    with pytest.raises(InvalidInput, match="row 1, which continues to the end"):
        read("\n".join(rows) + "\n", tmp_path)


COLUMNS: dict[str, list[pa.Array]] = {
    "smokes": [
        pa.array([True, False, None, None]),
        pa.array([1, 0, None, None], pa.int8()),
        pa.array([1.0, 0.0, float("nan"), None]),
        pa.array(["Yes", "NO", "", None]),
        pa.array(["1", "0", "NaN", None], pa.large_string()),
        pa.array([Decimal("1.00"), Decimal("0.00"), None, None]),
        pa.array(["yes", "no", None, None]).dictionary_encode(),
        pa.array([b"yes", b"no", None, None]),
    ],
    "grade": [
        pa.array(["1", "3", None, "2"]),
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
        pa.array([["1", "2"], ["2"], None, []]),
        pa.array([[1, 2], [2], [], None], pa.large_list(pa.int64())),
        pa.array([[1.0, 2.0], [2.0, None], None, None]),
        pa.array(["1;2", "2", "", None]),
        pa.array(["1; 2.0", "2.0", None, " "], pa.large_string()),
        pa.array([["1", "2"], ["2"], None, None], pa.list_(pa.string_view())),
    ],
    "age": [
        pa.array([17.5, 18, None, 70]),
        pa.array([17.5, 18, float("nan"), 70], pa.float32()),
        pa.array(["17.5", "18", "", "7e1"]),
        pa.array([" 17.5", "18.0", "NaN", "70"], pa.large_string()),
        pa.array([Decimal("17.5"), Decimal("18.0"), None, Decimal("70.0")]),
        pa.array([17, 18, None, 70], pa.int64()),
        pa.array([17.5, 18, None, 70]).dictionary_encode(),
    ],
    "tag": [pa.array(["7", "é", None, None]), pa.array(["7", "é", "", None], pa.large_string())],
}
CASES = [(name, place) for name, columns in COLUMNS.items() for place in range(len(columns))]


@pytest.mark.parametrize("file", [False, True], ids=["table", "parquet"])
@pytest.mark.parametrize(("name", "place"), CASES)
def test_types_of_columns(name: str, place: int, file: bool, tmp_path: Path) -> None:
    """Whatever type a column has, it says the same; also in a Parquet file, where it has it."""
    table = pa.table({**{n: c[0] for n, c in COLUMNS.items()}, name: COLUMNS[name][place]})
    if file:
        try:
            pq.write_table(table, tmp_path / "a.parquet")
        except pa.ArrowNotImplementedError:
            return
        assert found(open_answers(tmp_path / "a.parquet", LAYOUT)) == EXPECTED
    else:
        assert found(answers_in(table, LAYOUT)) == EXPECTED


WRONG: list[tuple[str, pa.Array, str]] = [
    ("smokes", pa.array([2]), "yes or no"),
    ("smokes", pa.array([0.5]), "yes or no"),
    ("smokes", pa.array([{"a": 1}]), "texts, numbers or truth values"),
    ("grade", pa.array([True]), "one of its choices"),
    ("grade", pa.array([1.5]), "one of its choices"),
    ("grade", pa.array(["one"]), "one of its choices"),
    ("grade", pa.array([["1"]]), "one answer in each row"),
    ("floors", pa.array([4]), "one of its choices"),
    ("floors", pa.array(["1|2"]), "one of its choices"),
    ("age", pa.array([True]), "must be a number"),
    ("age", pa.array(["old"]), "must be a number"),
    ("age", pa.array([0], pa.timestamp("s")), "must be a number"),
    ("age", pa.array([b"\xff"]), "texts, numbers or truth values"),
]


@pytest.mark.parametrize(("name", "column", "message"), WRONG, ids=range(len(WRONG)))
def test_columns_that_do_not_fit(name: str, column: pa.Array, message: str) -> None:
    others = {other: pa.nulls(1) for other in COLUMNS}
    with pytest.raises(InvalidInput, match=message):
        found(answers_in(pa.table({**others, name: column}), LAYOUT))


@pytest.mark.parametrize(
    ("choices", "column", "level"),
    [
        (["1", "1.0"], pa.array([1.0]), None),  # which of the two?
        (["1", "1.0"], pa.array([1]), 0),
        (["1", "1.0"], pa.array(["1.0"]), 1),
        (["01", "02"], pa.array([1]), None),
        (["NA", "DE"], pa.array(["NA"]), 0),  # Namibia
        (["na", "de"], pa.array(["NA"]), None),
        (["0.5", "1.5"], pa.array([0.5]), 0),
        (["1.0", "2.0"], pa.array([2.0]), 1),
    ],
)
def test_numbers_and_labels_are_never_guessed(
    choices: list[str], column: pa.Array, level: int | None
) -> None:
    layout = layout_for(Choice(name="c", choices=Choices(choices)))
    (chunk,) = answers_in(pa.table({"c": column}), layout).chunks
    encoded = encode_columns(layout, chunk.columns)
    if level is None:
        assert len(encoded.bad) == 1
    else:
        assert encoded.positions.tolist() == [level]


def test_a_separator_inside_a_choice_is_refused() -> None:
    """x;y could be one choice or two."""
    layout = layout_for(PickAny(name="p", choices=Choices(["x", "y", "x;y"])))
    with pytest.raises(InvalidInput, match="such as 'x;y'"):
        list(answers_in(pa.table({"p": ["x;y"]}), layout).chunks)
    (chunk,) = answers_in(pa.table({"p": [["x;y"]]}), layout).chunks
    assert encode_columns(layout, chunk.columns).positions.tolist() == [2]
    (chunk,) = answers_in(pa.table({"p": ["x;y|x"]}), layout, separator="|").chunks
    assert encode_columns(layout, chunk.columns).positions.tolist() == [0, 2]


def test_frames_of_pandas_and_their_files_say_the_same(tmp_path: Path) -> None:
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
    assert found(answers_in(frame, LAYOUT)) == EXPECTED
    frame.to_csv(tmp_path / "a.csv")
    assert found(open_answers(tmp_path / "a.csv", LAYOUT)) == EXPECTED
    frame = frame.assign(grade=pandas.Categorical([1, 3, None, 2]))
    frame.to_parquet(tmp_path / "a.parquet")
    assert found(open_answers(tmp_path / "a.parquet", LAYOUT)) == EXPECTED
    with pytest.raises(InvalidInput, match="must be a table"):
        answers_in(frame.assign(grade=["1", 2, None, 3.0]), LAYOUT)


def test_people_without_an_answer_are_counted() -> None:
    table = pa.table({name: columns[0] for name, columns in COLUMNS.items()})
    (chunk,) = answers_in(table, LAYOUT).chunks
    assert {name: 4 - answered(column) for name, column in chunk.columns.items()} == {
        "smokes": 2,
        "grade": 1,
        "floors": 2,
        "age": 1,
        "tag": 2,
    }


SMALL = survey_text(
    "habits",
    question_text("smokes", "yes_no"),
    question_text("pets", "pick_any", choices_file="pets.txt", at_most=1),
    epsilon=2.0,
    delta=0.01,
    minimum_crowd=100,
)


def run(at: Path, line: str) -> Result:
    names = [str(at / word) if "." in word else word for word in line.split()]
    return CliRunner().invoke(krand, names)


def test_the_command_tells_who_is_silent(tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "pets.txt").write_text("Kätzchen\nemu\n", encoding="utf-8")
    assert run(tmp_path, "plan survey.toml -o plan.json").exit_code == 0
    rows = "Yes,Kätzchen\n" * 90 + "0,NaN\n" * 10
    (tmp_path / "a.csv").write_text("smokes,pets\n" + rows, encoding="utf-8")
    done = run(tmp_path, "randomize a.csv --plan plan.json -o r.parquet")
    assert done.exit_code == 0, done.output
    assert "No answer (empty or NaN): pets 10." in done.output


def test_lists_in_files_obey_at_most(tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(
        SMALL.replace("at_most = 1", "at_most = 3"), encoding="utf-8"
    )
    (tmp_path / "pets.txt").write_text("cat\nemu\n", encoding="utf-8")
    found = run(tmp_path, "plan survey.toml")
    assert found.exit_code == 2
    assert "from 1 to the number of choices, 2" in found.output
