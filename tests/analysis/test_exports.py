"""Results as tables: what other programs read is what krand estimated, and no text is a formula."""

from __future__ import annotations

import math
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import estimates
import krand
import world
from command_line import done, refused, told
from components import require
from draws import survey_of, tally_of
from krand.testing import unsafe_exact_plan

FORMULAS = ("=1+1", "+x", "-x", "-5", "@sum", "＝1", "plain")
ENDINGS = ("csv", "parquet", "xlsx")


@cache
def hostile() -> krand.Results:
    """A survey whose answers and candidates a spreadsheet could run; long and odd names."""
    names = ("a/b:c?*[d]", "A B C D", "x" * 40, "X" * 40)
    questions = (
        krand.Choice(name="formula", choices=krand.Choices(FORMULAS)),
        krand.Words(name="tag", size=16, hashes=2),
        *(krand.YesNo(name=f"q{place}", text=name) for place, name in enumerate(names)),
    )
    plan = unsafe_exact_plan(survey_of(*questions))
    tally = tally_of(plan, 1_000, np.arange(plan.layout.positions) + 10)
    candidates = {"tag": ["jazz", "=evil()", "a\x00b\x1b"]}
    return krand.make_results(plan, tally, krand.ResultsOptions(candidates=candidates))


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
@pytest.mark.parametrize("name", ["branches", "mixers"])
def test_other_programs_read_every_number(name: str, ending: str, tmp_path: Path) -> None:
    """By Python and by the command, whole and for a joint table."""
    if ending == "xlsx":
        require("openpyxl")
    world.files(name, tmp_path)
    results, file = world.results(name), tmp_path / f"results.{ending}"
    results.save(file)
    (table,) = results.joint
    for given, expected in (
        ("", results.to_arrow()),
        (f"--joint {','.join(table.table.questions)}", results.to_arrow(table.table.questions)),
    ):
        if given:
            output = tmp_path / f"t.{ending}"
            said = told("export results.json -o", output, given, at=tmp_path)
            assert (said["rows"], len(said["columns"])) == expected.shape
            file = output
        rows = read_back(file)
        for row, wanted in zip(rows, expected.to_pylist(), strict=True):
            for column, value in wanted.items():
                if isinstance(value, str):
                    assert str(row[column]).removeprefix("'") == value
                else:
                    assert same(row[column], value), (column, row)


@pytest.mark.parametrize("name", world.COUNTED)
def test_the_flat_table_has_every_estimate_and_what_it_rests_on(name: str) -> None:
    """A row for each answer, cell and word, with confidence, people, round, promise and plan."""
    results = world.results(name)
    rows = results.to_arrow().to_pylist()
    for question in results.questions:
        mine = {r["answer"]: r for r in rows[::-1] if r["question"] == question.name}
        for label, seen in estimates.counts(results, question.name).items():
            row = mine[label]
            numbers = (
                row["consistent"],
                row["low"],
                row["high"],
                row["count"],
                row["standard_error"],
            )
            assert numbers == tuple(seen), (question.name, label)
    for row in rows:
        assert (row["people"], row["round"]) == (results.people, results.round)
        assert (row["epsilon"], row["delta"]) == (results.promise.epsilon, results.promise.delta)
        assert row["plan"] == results.plan.hash
    cells = sum(joint.table.counts.size for joint in results.joint)
    assert sum(row["kind"] == "together" for row in rows) == cells
    words = sum(len(words.rows) for words in results.words)
    assert sum(row["kind"] == "words" for row in rows) == words


def test_one_question_or_one_joint_table_is_a_small_table() -> None:
    """As pandas and polars take it; a cell is where krand's own table has it, in any order."""
    results = world.results("mixers")
    whole = [row for row in results.to_arrow().to_pylist() if row["question"] == "years"]
    small = results.to_arrow(question="years").to_pylist()
    assert [row["answer"] for row in small] == [row["answer"] for row in whole][: len(small)]
    assert all(any(row.items() <= large.items() for large in whole) for row in small)
    frame = results.to_pandas(joint=["content", "department"])
    for (department, content), seen in estimates.cells(results).items():
        of_cell = (frame.answer_department == department) & (frame.answer_content == content)
        assert frame[of_cell].consistent.tolist() == [seen.value]
    assert results.to_polars().to_arrow().to_pylist() == results.to_arrow().to_pylist()
    for wrong, says in (
        ({"question": "year"}, r"must be the name of a question.*did you mean years"),
        (
            {"question": "years", "joint": ["content", "department"]},
            "must not be given beside joint",
        ),
        ({"joint": ["content", "years"]}, "the joint tables are: department, content"),
    ):
        with pytest.raises(krand.InvalidInput, match=says):
            results.to_arrow(**wrong)
    with pytest.raises(krand.InvalidInput, match="no joint table"):
        world.results("mixer").to_arrow(joint=["team", "wishes"])


def test_only_texts_that_a_spreadsheet_would_run_get_an_apostrophe(tmp_path: Path) -> None:
    """The rule of CSV: = + @ and -, unless a number follows; other forms keep the text."""
    hostile().to_csv(tmp_path / "r.csv")
    found = [row["answer"] for row in read_back(tmp_path / "r.csv")]
    assert found[:7] == ["'=1+1", "'+x", "'-x", "-5", "'@sum", "'＝1", "plain"]
    assert "'=evil()" in found
    require("openpyxl")
    hostile().to_excel(tmp_path / "r.xlsx")
    rows = read_back(tmp_path / "r.xlsx")
    assert tuple(row["answer"] for row in rows[:7]) == FORMULAS
    assert "a\ufffdb\ufffd" in [row["answer"] for row in rows], "XML forbids some characters"


def test_a_workbook_is_read_from_its_first_sheet_on(tmp_path: Path) -> None:
    """An overview, a sheet for each question with shares and people, all numbers last.

    Names of sheets are possible, and differ in more than case.
    """
    results = hostile()
    results.to_excel(tmp_path / "r.xlsx")
    book = require("openpyxl").load_workbook(tmp_path / "r.xlsx")
    assert (book.sheetnames[0], book.sheetnames[-1]) == ("Overview", "results")
    assert len(book.sheetnames) == len(results.plan.survey.questions) + 2
    assert len({name.casefold() for name in book.sheetnames}) == len(book.sheetnames)
    for sheet in book.worksheets:
        assert 0 < len(sheet.title) <= 31
        assert not re.search(r"[\[\]:*?/\\']", sheet.title)
        assert "f" not in {cell.data_type for row in sheet.rows for cell in row}
        if sheet.title != "results":
            assert any("nobody was asked" in str(row[0]) for row in sheet.values), sheet.title
    rows = {row[0]: row for row in book.worksheets[1].values}
    people = estimates.counts(results, "formula")
    for label, share in estimates.shares(results, "formula").items():
        numbers = (*share[:3], *people[label][:3])
        assert rows[label][1:7] == pytest.approx(numbers), label


@pytest.mark.parametrize("name", ["table", "table.json", "table.ods"])
def test_other_endings_are_refused(name: str, tmp_path: Path) -> None:
    """Before anything is read, with the endings that there are."""
    world.files("mixer", tmp_path)
    error = refused("export results.json -o", tmp_path / name, at=tmp_path)
    assert "must end in .csv or .parquet or .xlsx" in error["message"]
    assert not (tmp_path / name).exists()
    with pytest.raises(krand.InvalidInput, match="json, parquet, csv, xlsx"):
        world.results("mixer").save(tmp_path / "r", "ods")


def test_the_table_has_the_rate_of_participation(tmp_path: Path) -> None:
    """Of the number that the option gives; without one, and without one in the survey, none."""
    world.files("mixer", tmp_path)
    people = world.results("mixer").people
    for more, rate in (("", (None, None)), (f"--invited {4 * people}", (4 * people, 0.25))):
        done("export results.json -o t.parquet --force", more, at=tmp_path)
        rows = read_back(tmp_path / "t.parquet")
        assert {(row["invited"], row["participation"]) for row in rows} == {rate}


def test_every_column_is_in_the_reference() -> None:
    """The page on formats describes each, and no other one."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
    section = page.read_text(encoding="utf-8").partition("\n## Table of results\n")[2]
    section = section.partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall("`(.+?)`", row)]
    assert named == hostile().to_arrow().column_names


@pytest.mark.parametrize(
    ("module", "method", "extra"),
    [
        ("pandas", "to_pandas", "pandas"),
        ("polars", "to_polars", "polars"),
        ("openpyxl", "to_excel", "excel"),
    ],
)
def test_what_is_not_installed_is_named(
    module: str, method: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, module, None)
    arguments = [tmp_path / "r.xlsx"] if method == "to_excel" else []
    with pytest.raises(krand.MissingComponent, match=re.escape(f"krand[{extra}]")):
        getattr(hostile(), method)(*arguments)
    assert list(tmp_path.iterdir()) == []
