"""Results as tables: what other programs read is what krand estimated, and no text is a formula."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from analysis.simulated_surveys import tally_of
from components import require
from krand.analysis import results_sheets
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.results_file import read_results
from krand.batches.provenance import Provenance
from krand.cli.main import krand
from krand.cli.result_tables import results_tables
from krand.errors import InvalidInput, MissingComponent
from krand.planning.making import make_plan
from krand.report.workbook import _Names
from krand.survey.reading import parse_survey
from krand.terminal.plain_console import PlainConsole
from krand.testing import unsafe_exact_plan
from survey_texts import question_text, survey_text

SURVEY = survey_text(
    "habits",
    question_text("formula", "choice", choices=["=1+1", "+x", "-x", "-5", "@sum", "＝1", "plain"]),
    question_text("tag", "words", positions=16, hashes=2),
    question_text("smokes", "yes_no"),
    question_text("pet", "choice", choices=["cat", "dog"]),
    question_text("rent", "number", edges=[0, 1000, 2000], unit="€ a month"),
    epsilon=1,
    delta=0.001,
    minimum_crowd=1000,
    together=["smokes", "pet"],
)
ENDINGS = ("csv", "parquet", "xlsx")


@pytest.fixture(scope="module")
def results() -> Results:
    plan = unsafe_exact_plan(parse_survey(SURVEY))
    tally = tally_of(plan, 1000, np.arange(plan.layout.positions) + 10)
    return make_results(plan, tally, ResultsOptions(candidates={"tag": ["jazz", "=evil()"]}))


def same(value: Any, other: Any) -> bool:
    """Whether two values are the same, but for the last digits, which a spreadsheet drops."""
    numbers = isinstance(value, int | float) and isinstance(other, int | float)
    return math.isclose(value, other, rel_tol=1e-14) if numbers else bool(value == other)


def read_back(file: Path) -> list[dict[str, Any]]:
    """The rows, as a program that is not krand reads them."""
    if file.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.read_table(file).to_pylist()
        return found
    if file.suffix == ".csv":
        frame = require("pandas").read_csv(file, float_precision="round_trip")
        return list(frame.replace({np.nan: None}).to_dict("records"))
    sheet = require("openpyxl").load_workbook(file)["results"]
    head, *rows = sheet.values
    assert {cell.data_type for row in sheet.rows for cell in row} <= {"s", "n", "b"}
    return [dict(zip(head, row, strict=True)) for row in rows]


@pytest.mark.parametrize("ending", ENDINGS)
def test_other_programs_read_every_number(ending: str, results: Results, tmp_path: Path) -> None:
    """pandas, pyarrow and openpyxl find the rows of `to_arrow`."""
    file = tmp_path / f"results.{ending}"
    results.save(file)
    rows, expected = read_back(file), results.to_arrow().to_pylist()
    for row, wanted in zip(rows, expected, strict=True):
        texts = [name for name, value in wanted.items() if isinstance(value, str)]
        for name in wanted.keys() - set(texts):
            assert same(row[name], wanted[name])
        assert [str(row[name]).removeprefix("'") for name in texts] == [wanted[n] for n in texts]


def test_one_question_is_a_small_table(results: Results) -> None:
    """Its answers alone, with the numbers of the large table; no line for the whole question."""
    whole = [row for row in results.to_arrow().to_pylist() if row["question"] == "rent"]
    small = results.to_arrow(question="rent").to_pylist()
    assert [row["answer"] for row in small] == [
        "0 to under 1000",
        "1000 to under 2000",
        "unanswered",
    ]
    for row in small:
        assert any(row.items() <= large.items() for large in whole)
    for frame in (results.to_pandas(question="tag"), results.to_polars(question="tag")):
        assert list(frame["answer"]) == ["jazz", "=evil()"]
    with pytest.raises(InvalidInput, match=r"must be the name of a question.*did you mean pet"):
        results.to_arrow(question="pets")
    with pytest.raises(InvalidInput, match="must not be given beside joint"):
        results.to_arrow(["smokes", "pet"], question="pet")


def test_only_texts_that_a_spreadsheet_would_run_get_an_apostrophe(
    results: Results, tmp_path: Path
) -> None:
    """The rule of CSV: = + @ and -, unless a number follows; other forms keep the text."""
    results.to_csv(tmp_path / "r.csv")
    found = [r["answer"] for r in read_back(tmp_path / "r.csv") if r["question"] == "formula"]
    assert found[:7] == ["'=1+1", "'+x", "'-x", "-5", "'@sum", "'＝1", "plain"]
    require("openpyxl")
    results.to_excel(tmp_path / "r.xlsx")
    found = [r["answer"] for r in read_back(tmp_path / "r.xlsx") if r["question"] == "formula"]
    assert found[:7] == ["=1+1", "+x", "-x", "-5", "@sum", "＝1", "plain"]


def test_a_workbook_is_read_from_its_first_sheet_on(results: Results, tmp_path: Path) -> None:
    """An overview with each question, a sheet for each with shares and people, the table last."""
    require("openpyxl")
    simulated = replace(results, provenance=Provenance.SIMULATION)
    simulated.to_excel(tmp_path / "r.xlsx")
    book = require("openpyxl").load_workbook(tmp_path / "r.xlsx")
    first, *questions = book.sheetnames
    assert (first, questions[-1]) == ("Overview", "results")
    names = [question.name for question in results.plan.survey.questions]
    assert [name.partition(" ")[2] for name in questions[: len(names)]] == names
    assert questions[len(names)] == "smokes × pet"
    told = {row[0]: row[1] for row in book[first].values if row[1]}
    assert list(told) == ["Question", *names]
    for sheet in book.worksheets[:-1]:
        assert any("nobody was asked" in str(row[0]) for row in sheet.values), sheet.title
        assert "f" not in {cell.data_type for row in sheet.rows for cell in row}
    rows = {row[0]: row for row in book[questions[0]].values}
    for row in next(q for q in results.questions if q.name == "formula").all_rows:
        ends = row.share_interval
        shares = (row.consistent_share, ends.low, ends.high)
        people = (row.consistent, row.interval.low, row.interval.high)
        assert rows[row.label][1:7] == pytest.approx((*shares, *people))


def test_names_of_sheets_are_possible_and_differ() -> None:
    """At most 31 characters, none that Excel refuses, and different in more than case."""
    names = _Names({"results"})
    titles = ["Results", "a/b:c?*[d]", "A B C D", "x" * 40, "X" * 40, "'", ""]
    made = [names.take(title) for title in titles]
    assert len({name.casefold() for name in made} - {"results"}) == len(titles)
    assert all(0 < len(name) <= 31 and not re.search(r"[\[\]:*?/\\']", name) for name in made)


def test_a_workbook_takes_any_text_and_any_number(results: Results, tmp_path: Path) -> None:
    """Characters that XML forbids are replaced, and infinity is a word."""
    require("openpyxl")
    (words,) = results.words
    first = replace(words.rows[0], word="a\x00b\x1b", unclipped=float("inf"))
    odd = replace(results, words=(replace(words, rows=(first,)),))
    odd.to_excel(tmp_path / "r.xlsx")
    last = read_back(tmp_path / "r.xlsx")[-1]
    assert (last["answer"], last["count"]) == ("a\ufffdb\ufffd", "inf")


def test_too_many_rows_for_a_workbook_are_refused(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left out in silence, and nothing is written."""
    require("openpyxl")
    monkeypatch.setattr(results_sheets, "MOST_ROWS", 3)
    with pytest.raises(InvalidInput, match=r"at most 3 rows.*\.csv or \.parquet"):
        results.to_excel(tmp_path / "r.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_every_row_says_what_it_rests_on(results: Results) -> None:
    """Confidence, crowd, round, promise and plan, whatever the row is about."""
    for row in results.to_arrow().to_pylist():
        assert (row["confidence"], row["people"], row["round"]) == (0.95, 1000, 1)
        assert (row["epsilon"], row["delta"]) == (1.0, results.promise.delta)
        assert row["plan"] == results.plan.hash
        assert row["low"] <= row["high"]
    answers = sum(len(question.all_rows) for question in results.questions)
    assert results.to_arrow().num_rows == answers + 9 + 2  # cells and words


def test_a_joint_table_has_a_column_for_each_question(results: Results) -> None:
    """A cell is where krand's own table has it; the order of the names does not matter."""
    pandas = require("pandas")
    frame = results.to_pandas(joint=["pet", "smokes"])
    assert isinstance(frame, pandas.DataFrame)
    wide = frame.pivot(index="answer_smokes", columns="answer_pet", values="consistent")
    table = results.joint[0].table
    for (i, j), people in np.ndenumerate(table.consistent):
        assert wide.loc[table.labels[0][i], table.labels[1][j]] == people
    assert set(frame["question"]) == {"smokes × pet"}


def test_questions_without_a_joint_table_are_refused(results: Results) -> None:
    """The error lists the joint tables that there are."""
    with pytest.raises(InvalidInput, match="the joint tables are: smokes, pet"):
        results.to_arrow(joint=["pet", "formula"])
    with pytest.raises(InvalidInput, match="no joint table"):
        replace(results, joint=()).to_arrow(joint=["smokes", "pet"])


def test_data_frames_are_the_arrow_table(results: Results) -> None:
    """pandas and polars, with the same columns and rows."""
    require("pandas")
    table = results.to_arrow()
    assert list(require("polars").DataFrame(results.to_polars()).columns) == table.column_names
    assert results.to_polars().to_arrow().to_pylist() == table.to_pylist()
    assert results.to_pandas()["count"].tolist()[0] == table["count"][0].as_py()


@pytest.mark.parametrize(
    ("module", "method", "extra"),
    [
        ("pandas", "to_pandas", "pandas"),
        ("polars", "to_polars", "polars"),
        ("openpyxl", "to_excel", "excel"),
    ],
)
def test_what_is_not_installed_is_named(
    module: str,
    method: str,
    extra: str,
    results: Results,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, module, None)
    arguments = [tmp_path / "r.xlsx"] if method == "to_excel" else []
    with pytest.raises(MissingComponent, match=rf"krand\[{extra}\]"):
        getattr(results, method)(*arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results file that krand reads: of a real plan, with a joint table."""
    survey = parse_survey(
        SURVEY.replace('["=1+1", "+x", "-x", "-5", "@sum", "＝1", "plain"]', '["a", "b"]')
    )
    plan = make_plan(survey)
    folder = tmp_path_factory.mktemp("results")
    tally = tally_of(plan, 1000, np.full(plan.layout.positions, 300))
    make_results(plan, tally).save(folder / "results.json")
    return folder / "results.json"


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_command_writes_the_same_table(ending: str, file: Path, tmp_path: Path) -> None:
    """krand export, whole and for a joint table."""
    results = read_results(file)
    output = str(tmp_path / f"t.{ending}")
    if ending == "xlsx":
        require("openpyxl")
    for names in (None, ["smokes", "pet"]):
        joint = [] if names is None else ["--joint", ", ".join(names)]
        done = CliRunner().invoke(krand, ["export", str(file), "-o", output, *joint])
        assert done.exit_code == 0, done.output
        expected = results.to_arrow(names)
        assert f"({expected.num_rows:,} rows, {expected.num_columns:,} columns)" in done.stdout
        counts = [row["count"] for row in read_back(Path(output))]
        assert len(counts) == expected.num_rows
        assert all(map(same, counts, expected["count"].to_pylist()))


@pytest.mark.parametrize("name", ["table", "table.json", "table.ods"])
def test_the_command_refuses_other_endings(name: str, file: Path, tmp_path: Path) -> None:
    """Before it reads anything, with the endings that there are."""
    done = CliRunner().invoke(krand, ["export", str(file), "-o", str(tmp_path / name)])
    assert done.exit_code == 2
    assert "must end in .csv or .parquet or .xlsx" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_command_speaks_to_programs(file: Path, tmp_path: Path) -> None:
    """What was written, of which plan, how many rows and which columns."""
    output = str(tmp_path / "t.csv")
    done = CliRunner().invoke(krand, ["export", str(file), "-o", output, "--json"])
    values = json.loads(done.stdout)
    assert (values["output"], values["columns"][:3]) == (output, ["question", "kind", "answer"])
    assert values["rows"] == len(read_back(Path(output)))


def test_the_table_has_the_rate_of_participation(file: Path, tmp_path: Path) -> None:
    """Of the number that the option gives; without one, and without one in the survey, none."""
    output = str(tmp_path / "t.parquet")
    for more, rate in (([], (None, None)), (["--invited", "4000"], (4000, 0.25))):
        done = CliRunner().invoke(krand, ["export", str(file), "-o", output, *more])
        assert done.exit_code == 0, done.output
        rows = read_back(Path(output))
        assert {(row["invited"], row["participation"]) for row in rows} == {rate}


def test_every_column_is_in_the_reference(results: Results) -> None:
    """The page on formats describes each, and no other one."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
    section = page.read_text(encoding="utf-8").partition("\n## Table of results\n")[2]
    section = section.partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert [name for row in rows for name in re.findall("`(.+?)`", row)] == (
        results.to_arrow().column_names
    )


def test_values_of_any_size_are_one_short_line_on_a_console(results: Results) -> None:
    """A joint table and words, which hold thousands of numbers in a real survey."""
    (joint,), (words,) = results.joint, results.words
    assert repr(joint.table) == "<JointTable smokes × pet: 9 cells, 1,000 people>"
    assert repr(joint) == f"<JointResult: {joint.table!r}>"
    assert repr(words) == "<WordsEstimate tag: 0 found of 2 candidates>"


def test_numbers_have_their_unit(results: Results) -> None:
    """In a column of the table, and in the heading of the terminal's; other questions have none."""
    rows = results.to_arrow().to_pylist()
    assert {row["question"]: row["unit"] for row in rows if row["unit"]} == {"rent": "€ a month"}
    console = PlainConsole(file=StringIO(), width=100)
    for table in results_tables(results, raw=False):
        console.print(table)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "answer (€ a month)" in shown
    assert "1,000 to under 2,000" in shown
    assert re.search(r"median [\d.,]+ € a month \(", shown)
