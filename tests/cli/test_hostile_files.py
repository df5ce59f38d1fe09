"""Files that other people wrote, or that are damaged: shown as they are, or refused at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from command_line import done, refused, run
from survey_texts import question_text, survey_text

LABELS = ("[/x]", "[link=https://a]b[/link]", "[bold]", "=1+1", "@sum", "-2", "+3", "-cmd")
SURVEY = survey_text(
    "habits",
    question_text("smokes", "yes_no", text="[/x] [link=https://a]b[/link] [bold]"),
    question_text("pet", "choice", choices=LABELS),
    epsilon=2.0,
    delta=0.01,
    minimum_crowd=400,
    together=["smokes", "pet"],
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything of a survey whose labels, wording, files and folder look like markup."""
    at = tmp_path_factory.mktemp("made") / "[bold] [" / "x]"
    at.mkdir(parents=True)
    (at / "survey.toml").write_text(SURVEY, encoding="utf-8")
    rows = "".join(f"yes,{label}\n" for label in LABELS * 60)
    (at / "answers.csv").write_text("smokes,pet\n" + rows, encoding="utf-8")
    for line in (
        "plan survey.toml -o plan.json",
        "randomize answers.csv --plan plan.json -o [x].parquet",
        "tally [x].parquet --plan plan.json -o tally.json",
        "estimate tally.json --plan plan.json -o results.json",
        "keygen -o key.pem",
        "keygen --signing -o collector.pem",
    ):
        done(line, at=at)
    values = json.loads((at / "results.json").read_bytes())
    (at / "other.json").write_text(json.dumps(values | {"tally_sha256": "0" * 64}), "utf-8")
    return at


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "[/x]")
    monkeypatch.chdir(tmp_path / "[/x]")
    monkeypatch.setenv("COLUMNS", "300")
    return tmp_path / "[/x]"


SHOWING = {
    "plan survey.toml": (),
    "estimate tally.json --plan plan.json -o [/x]/r[bold].csv": LABELS,
    "compare results.json other.json": LABELS,
    "verify plan.json results.json tally.json": (),
    "report results.json -o [/x]/r[bold].html": (),
    "demo --survey survey.toml -o [/x]/shown": (),
}


@pytest.mark.parametrize("line", SHOWING)
def test_labels_are_never_markup(line: str, place: Path) -> None:
    (place / "[").mkdir()
    (place / "[" / "x]").mkdir()
    shown = done(line).output
    for label in SHOWING[line]:
        assert label in shown
    if "[/x]/" in line:
        assert line.rpartition(" ")[2] in shown.replace("\n", "")


def test_the_page_shows_labels_as_they_are(place: Path) -> None:
    done("report results.json -o r.html")
    page = (place / "r.html").read_text(encoding="utf-8")
    for label in LABELS:
        assert label.replace("+", "&#43;") in page or label in page


def test_progress_bars_show_text_as_it_is() -> None:
    from krand.terminal.plain_console import plain_column

    class Task:
        description = "[/x]"

    assert plain_column("{task.description}").render(Task()).plain == "[/x]"  # type: ignore[arg-type]


def test_a_terminal_gets_no_commands_from_a_file(place: Path) -> None:
    values = json.loads((place / "results.json").read_text(encoding="utf-8"))
    for row in values["questions"][0]["rows"]:
        row["label"] = "a\x1b[2J\u202eb"
    (place / "results.json").write_text(json.dumps(values), encoding="utf-8")
    shown = done("compare results.json other.json").output
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "a\\x1b[2J\\u202eb" in shown


def test_cells_of_exported_csv_are_no_formulas(place: Path) -> None:
    done("estimate tally.json --plan plan.json -o r.csv")
    table = pyarrow.csv.read_csv(place / "r.csv")
    answers = {row["answer"] for row in table.to_pylist() if row["question"] == "smokes × pet"}
    assert answers, table.column("question")
    done("estimate tally.json --plan plan.json -o r.parquet")
    true = pq.read_table(place / "r.parquet").to_pydict()
    found = table.to_pydict()
    for before, after in zip(true["answer"], found["answer"], strict=True):
        formula = before[:1] in ("=", "+", "@") or before == "-cmd"
        assert after == ("'" + before if formula else before)
    assert found["count"] == true["count"]


def test_an_ending_that_promises_another_program_is_refused(place: Path) -> None:
    for line, field, known in (
        ("estimate tally.json --plan plan.json -o r.ods", "output", ".json, .parquet, .csv, .xlsx"),
        ("report results.json -o report.pdf", "output", ".html or .htm"),
    ):
        error = refused(line)
        assert error["field"] == field
        assert known in error["message"]
        assert not (place / line.split()[-1]).exists()


def text_of(values: Any) -> bytes:
    return json.dumps(values).encode()


DEEP = b"[" * 100_000 + b"]" * 100_000
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda content: content[: len(content) // 2],
    "binary": lambda _: bytes(range(256)) * 8,
    "deep": lambda _: DEEP,
    "deep inside": lambda content: content[:-1].rstrip(b"}\n") + b',"x":' + DEEP + b"}",
    "not so deep": lambda _: b'{"format":' + b"[" * 400 + b"]" * 400 + b"}",
    "a list": lambda _: b"[]",
    "infinite": lambda content: content.replace(b"400", b"Infinity").replace(b"480", b"NaN"),
    "twice": lambda content: b'{"format": "krand", ' + content.lstrip()[1:],
    "huge": lambda content: content.replace(b"480", b"1" + b"0" * 30).replace(
        b"400", b"1" + b"0" * 30
    ),
    "text": lambda content: content.replace(b"480", b'"480"').replace(b"400", b'"400"'),
    "fraction": lambda content: content.replace(b"480", b"480.5").replace(b"400", b"400.5"),
    "digits": lambda content: content.replace(b"480", b"4" * 10_000).replace(b"400", b"4" * 10_000),
}
READING = {
    "plan.json": [
        "verify plan.json",
        "tally [x].parquet --plan plan.json -o t.json",
        "randomize answers.csv --plan plan.json -o r.parquet",
    ],
    "tally.json": [
        "estimate tally.json --plan plan.json -o r.json",
        "verify tally.json --plan plan.json",
    ],
    "results.json": [
        "report results.json -o r.html",
        "compare results.json other.json",
        "verify results.json --plan plan.json",
    ],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("file", READING)
def test_damaged_files_are_refused_with_a_sentence(file: str, damage: str, place: Path) -> None:
    content = DAMAGE[damage]((place / file).read_bytes())
    assert content != (place / file).read_bytes()
    (place / file).write_bytes(content)
    for line in READING[file]:
        found = run(line)
        assert found.exit_code in (1, 2) if "verify" in line else found.exit_code == 2, found.output
        assert "Traceback" not in found.output
        assert not (place / "r.json").exists()


@pytest.mark.parametrize("people", ["400", 400.5, 10**30, -1, True, None, [400]])
def test_a_tally_counts_people_in_whole_numbers(people: object, place: Path) -> None:
    values = json.loads((place / "tally.json").read_bytes())
    (place / "tally.json").write_text(json.dumps({**values, "people": people}), encoding="utf-8")
    said = refused("estimate tally.json --plan plan.json -o r.json")["message"]
    assert "people: should be a whole number" in said or "is too large" in said


@pytest.mark.parametrize("people", ["400", 400.5, 10**30, -1, True, None])
def test_responses_count_people_in_whole_numbers(people: object, place: Path) -> None:
    table = pq.read_table(place / "[x].parquet")
    header = json.loads(table.schema.metadata[b"krand"])
    changed = table.replace_schema_metadata({b"krand": text_of({**header, "people": people})})
    pq.write_table(changed, place / "[x].parquet")
    refused("tally [x].parquet --plan plan.json -o t.json")


@pytest.mark.parametrize("submissions", ["400", 400.5, 10**30, -1, True])
def test_a_manifest_counts_people_in_whole_numbers(submissions: object) -> None:
    from krand.batches.chain import Manifest, manifest_bytes, parse_manifest
    from krand.errors import InvalidInput
    from krand.wire.keys import generate_signing_key

    key = generate_signing_key()
    counted = {"round": 1, "submissions": 400, "messages": 400}
    signed = Manifest(plan="ab" * 32, batch_sha256="cd" * 32, batch_id="0" * 32, **counted)
    values = json.loads(manifest_bytes(signed, key))
    with pytest.raises(InvalidInput, match=r"submissions: should be|too large"):
        parse_manifest(text_of({**values, "submissions": submissions}), key.public_key())
    with pytest.raises(InvalidInput, match="deeply"):
        parse_manifest(b'{"a":' + DEEP + b"}", key.public_key())


@pytest.mark.parametrize("damage", ["empty", "half", "binary"])
@pytest.mark.parametrize(
    "line",
    [
        "randomize table.csv --plan plan.json -o r.parquet",
        "randomize table.parquet --plan plan.json -o r.parquet",
        "tally table.parquet --plan plan.json -o r.json",
        "submit table.json --plan plan.json --key key.pub.pem --ledger l --collector http://[::1]",
    ],
)
def test_damaged_tables_are_refused(line: str, damage: str, place: Path) -> None:
    name = line.split()[1]
    source = {"csv": "answers.csv", "parquet": "[x].parquet", "json": "plan.json"}
    content = (place / source[name.rpartition(".")[2]]).read_bytes()
    if damage == "half" and name.endswith("csv"):
        content = content[:-1].replace(b"yes", b"\xff\xfe\x00", 1)
    (place / name).write_bytes(DAMAGE[damage](content))
    refused(line)
    assert not (place / "r.parquet").exists()


def test_a_folder_is_no_file(place: Path) -> None:
    for suffix in ("csv", "parquet", "json", "toml"):
        (place / f"folder.{suffix}").mkdir()
    for line in (
        "plan folder.toml",
        "randomize folder.csv --plan plan.json -o r.parquet",
        "randomize folder.parquet --plan plan.json -o r.parquet",
        "randomize answers.csv --plan folder.json -o r.parquet",
        "tally folder.parquet --plan plan.json -o t.json",
        "estimate folder.json --plan plan.json -o r.json",
        "report folder.json -o r.html",
        "verify folder.json",
        "estimate tally.json --plan plan.json -o folder.json",
    ):
        refused(line)


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 100_000) + " = 1",
        "[" + ".".join(['"a"'] * 100_000) + "]",
        "x = {" + ". ".join(["'a'"] * 100_000) + " = 1}",
        "x = " + "[" * 100_000 + "]" * 100_000,
        "x = " + "{a=" * 100_000 + "1" + "}" * 100_000,
        'x = "' + '\\"' * 100_000,
        "epsilon = 1" + "0" * 5_000,
        f"[policy]\nepsilon = 1{'0' * 400}\nminimum_crowd = 1{'0' * 400}\ndelta = 1e400",
        "",
        "\x00\x01\x02",
    ],
    ids=range(10),
)
def test_hostile_surveys_are_refused_at_once(text: str, place: Path) -> None:
    (place / "s.toml").write_text(text, encoding="utf-8")
    error = refused("plan s.toml")
    assert error["field"] == "s.toml"
    assert error["rule"].startswith("has ")
