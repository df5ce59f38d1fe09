"""No command writes over what it reads, by any path or link, nor unasked over what is precious."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import krand as library
from command_line import command_named, done, refused, run
from components import require
from importing.forms import asked, xlsform
from krand.cli.menu import NAMES
from krand.errors import InvalidInput
from krand.terminal.overwriting import (
    FILE_OR_FOLDER,
    FOLDER,
    GUARDED,
    InputFile,
    OutputFile,
)
from krand.testing import simulated_table, small_plan
from survey_texts import question_text, survey_text

SURVEY = survey_text(
    "habits",
    question_text("smokes", "yes_no"),
    question_text("pet", "choice", choices_file="pets.txt"),
    question_text("tag", "words", positions=16, hashes=2),
    epsilon=1.0,
    delta=0.001,
    minimum_crowd=60,
)
CALLS = {
    "import": "form.xlsx",
    "plan": "survey.toml --analyst-key key.pub.pem",
    "randomize": "answers.csv --plan plan.json",
    "tally": "responses.parquet --plan plan.json",
    "estimate": "tally.json --plan plan.json --candidates tag=words.txt",
    "report": "results.json",
    "export": "results.json",
    "trend": "results.json",
    "invite": "plan.json --count 2 --url https://form.example/",
    "submit": "answers.json --plan plan.json --collector http://127.0.0.1:1",
    "keygen": "",
    "web": "",
}
"""Every command with an option for a file that it writes, and what it reads."""
OPTION = {"submit": "--ledger", "web": "--token-file"}


COMMANDS: dict[str, click.Command] = {name: command_named(name) for name in NAMES}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("made")
    (at / "survey.toml").write_text(SURVEY, encoding="utf-8")
    xlsform(at, [asked("select_one yn", "smokes")])
    (at / "pets.txt").write_text("cat\ndog\n", encoding="utf-8")
    (at / "words.txt").write_text("jazz\n", encoding="utf-8")
    (at / "answers.json").write_text('{"smokes": true}', encoding="utf-8")
    rows = "yes,cat,jazz\n" * 60
    (at / "answers.csv").write_text(f"smokes,pet,tag\n{rows}", encoding="utf-8")
    for line in (
        "plan survey.toml -o plan.json",
        "randomize answers.csv --plan plan.json -o responses.parquet",
        "tally responses.parquet --plan plan.json -o tally.json",
        "estimate tally.json --plan plan.json -o results.json",
        "keygen -o key.pem",
        "keygen --signing -o council.pem",
    ):
        done(line, at=at)
    return at


@pytest.fixture
def place(made: Path, here: Path) -> Path:
    """A copy of everything, which the test may lose."""
    shutil.copytree(made, here, dirs_exist_ok=True)
    return here


def test_every_path_of_every_command_says_whether_it_is_read_or_written() -> None:
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if isinstance(parameter.type, click.Path):
                known = isinstance(parameter.type, (InputFile, OutputFile))
                known = known or parameter.type in (FOLDER, FILE_OR_FOLDER)
                assert known, f"krand {name}: {parameter.name}"


def test_every_command_is_guarded() -> None:
    for name, command in COMMANDS.items():
        assert GUARDED in vars(command.callback), f"krand {name} lacks @output_options"


READ = [
    (name, value.rpartition("=")[2])
    for name, values in CALLS.items()
    for value in values.split()
    if "." in value and "://" not in value
] + [("plan", "pets.txt")]

LINKS: dict[str, Callable[[Path], str]] = {
    "itself": lambda file: file.name,
    "dotted": lambda file: f"./{file.name}",
    "absolute": lambda file: str(file),
    "around": lambda file: f"../{file.parent.name}/{file.name}",
    "symbolic": lambda file: _linked(file, os.symlink),
    "hard": lambda file: _linked(file, os.link),
}


def _linked(file: Path, link: Callable[[Path, Path], None]) -> str:
    other = file.with_name("other" + file.suffix)
    link(file, other)
    return other.name


TRIED = [(name, file, "itself") for name, file in READ] + [(*READ[0], way) for way in LINKS]


@pytest.mark.parametrize(("name", "file", "way"), TRIED)
def test_no_command_writes_over_what_it_reads(name: str, file: str, way: str, place: Path) -> None:
    before = (place / file).read_bytes()
    target = LINKS[way](place / file)
    forcing = any("--force" in p.opts for p in command_named(name).params)
    for force in ("", "--force") if way == "itself" and forcing else ("",):
        found = run(name, CALLS[name], OPTION.get(name, "-o"), Path(target), force)
        assert found.exit_code == 2, found.output
        assert "must not be a file that the command reads" in found.output
        assert "name another file" in found.output
        assert (place / file).read_bytes() == before


def test_an_address_of_a_file_here_is_that_file(place: Path) -> None:
    before = (place / "responses.parquet").read_bytes()
    address = (place / "responses.parquet").as_uri()
    refused(f"tally {address} --plan plan.json -o responses.parquet --force")
    assert (place / "responses.parquet").read_bytes() == before


ENDINGS = {
    "import": "toml",
    "plan": "json",
    "tally": "json",
    "estimate": "csv",
    "report": "html",
    "export": "csv",
    "randomize": "p",
}


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("file", ["key.pem", "plan.json", "responses.parquet", "answers.csv"])
def test_what_cannot_be_made_again_needs_force(name: str, file: str, place: Path) -> None:
    before = (place / file).read_bytes() + (b" " if name == "plan" else b"")
    target = f"precious.{ENDINGS[name]}"
    (place / target).write_bytes(before)
    line = f"{name} {CALLS[name]} -o {target}"
    assert "--force" in refused(line)["hint"]
    assert (place / target).read_bytes() == before
    done(line, "--force")
    assert (place / target).read_bytes() != before


@pytest.mark.parametrize("ending", ["json", "csv", "parquet", "xlsx"])
def test_tallies_results_and_reports_are_replaced(ending: str, place: Path) -> None:
    if ending == "xlsx":
        require("openpyxl")
    written = [
        ("tally", "t.json"),
        ("estimate", f"r.{ending}"),
        ("report", "r.html"),
    ]
    written += [("export", f"e.{ending}")] if ending != "json" else []
    for name, file in written:
        for _ in range(2):
            done(name, CALLS[name], "-o", file)


def test_a_workbook_of_somebody_else_needs_force(place: Path) -> None:
    openpyxl = require("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = "precious"
    book.save("mine.xlsx")
    before = Path("mine.xlsx").read_bytes()
    refused("export results.json -o mine.xlsx")
    assert Path("mine.xlsx").read_bytes() == before
    Path("torn.xlsx").write_bytes(before[:500])
    refused("export results.json -o torn.xlsx")


def test_the_same_plan_may_be_written_again(place: Path) -> None:
    done("plan survey.toml -o plan.json")


def test_a_demonstration_spares_the_survey_that_it_reads(place: Path) -> None:
    os.mkdir("shown")
    Path("shown/.krand-demo").touch()
    text = SURVEY.replace("pets.txt", "tally.json")
    Path("shown/report.html").write_text(text, encoding="utf-8")
    Path("shown/tally.json").write_text("cat\ndog\n", encoding="utf-8")
    refused("demo --survey shown/report.html -o shown")
    assert Path("shown/report.html").read_text(encoding="utf-8") == text
    assert Path("shown/tally.json").read_text(encoding="utf-8") == "cat\ndog\n"


def test_a_device_is_not_replaced_by_a_file(place: Path) -> None:
    os.mkfifo("pipe")
    assert refused("report results.json -o pipe")["rule"] == "must be a file, or not exist yet"


def test_python_spares_its_input_too(here: Path) -> None:
    import pyarrow.parquet as pq

    plan = small_plan()
    pq.write_table(simulated_table(plan.survey, 100, seed=1), "people.parquet")
    before = Path("people.parquet").read_bytes()
    with pytest.raises(InvalidInput, match="must not be a file that the command reads"):
        library.randomize_table(plan, "people.parquet", "./people.parquet", overwrite=True)
    assert Path("people.parquet").read_bytes() == before
    Path("responses.parquet").write_bytes(b"precious")
    with pytest.raises(InvalidInput, match="overwrite=True"):
        library.randomize_table(plan, "people.parquet", "responses.parquet")
    assert Path("responses.parquet").read_bytes() == b"precious"
    library.randomize_table(plan, "people.parquet", "responses.parquet", overwrite=True)
    assert Path("responses.parquet").read_bytes() != b"precious"
    Path("plan.json").write_text("another", encoding="utf-8")
    with pytest.raises(InvalidInput, match="overwrite=True"):
        plan.save("plan.json")
    plan.save("plan.json", overwrite=True)
    assert library.read_plan("plan.json") == plan
