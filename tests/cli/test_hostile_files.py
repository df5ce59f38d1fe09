"""Files that other people wrote, or that are damaged: shown as they are, or refused at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import krand
import steps
import world
from command_line import done, refused, run

LABELS = ("[/x]", "[link=https://a]b[/link]", "[bold]", "=1+1", "@sum", "-2", "+3", "-cmd")
SURVEY = f"""\
id = "habits"
policy = {{ epsilon = 2.0, delta = 0.01, minimum_crowd = 400 }}
trust = {{ noise = "devices" }}
[[question]]
name = "smokes"
type = "yes_no"
text = "[/x] [link=https://a]b[/link] [bold]"
[[question]]
name = "pet"
type = "choice"
choices = {json.dumps(LABELS)}
[[together]]
questions = ["smokes", "pet"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything of a survey whose labels, wording, files and folder look like markup."""
    at = tmp_path_factory.mktemp("made") / "[bold] [" / "x]"
    at.mkdir(parents=True)
    (at / "survey.toml").write_text(SURVEY, encoding="utf-8")
    rows = "".join(f"yes,{label}\n" for label in LABELS * 60)
    (at / "answers.csv").write_text("smokes,pet\n" + rows, encoding="utf-8")
    done("plan survey.toml -o plan.json", at=at)
    done("randomize answers.csv --plan plan.json -o [x].parquet", at=at)
    steps.counted(at, at / "[x].parquet", at / "plan.json")
    values = json.loads((at / "results.json").read_bytes())
    (at / "other.json").write_text(json.dumps(values | {"tally_sha256": "0" * 64}), "utf-8")
    return at


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "[/x]")
    monkeypatch.chdir(tmp_path / "[/x]")
    monkeypatch.setenv("COLUMNS", "300")
    return tmp_path / "[/x]"


def test_labels_are_never_markup(place: Path) -> None:
    """Nor names of files and folders, in any output."""
    Path("[/x]").mkdir(parents=True)
    for line in ("plan survey.toml", "verify plan.json results.json tally.json"):
        done(line)
    for line in ("report results.json -o [/x]/r[bold].html", "demo --survey survey.toml -o [/x]/d"):
        assert line.rpartition(" ")[2] in done(line).stdout
    for text in (steps.shown(place), done("compare results.json other.json").output):
        assert [label for label in LABELS if label not in text] == []
    page = Path("[/x]/r[bold].html").read_text(encoding="utf-8")
    for label in LABELS:
        assert label.replace("+", "&#43;") in page or label in page


def test_a_terminal_gets_no_commands_from_a_file(place: Path) -> None:
    """Control characters are shown, not sent."""
    values = json.loads(Path("results.json").read_text(encoding="utf-8"))
    for row in values["questions"][0]["rows"]:
        row["label"] = "a\x1b[2J\u202eb"
    Path("results.json").write_text(json.dumps(values), encoding="utf-8")
    shown = done("compare results.json other.json").output
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "a\\x1b[2J\\u202eb" in shown
    Path("tally.json").rename("a\x1b[2Jb.json")
    checked = done("verify plan.json", Path("a\x1b[2Jb.json")).output
    assert "\x1b" not in checked
    assert "a\\x1b[2Jb.json (tally)" in checked
    Path("a\x1b[2Jb.toml").write_text("no survey", encoding="utf-8")
    assert "error: a\\x1b[2Jb.toml: has 1 mistake" in run("plan", Path("a\x1b[2Jb.toml")).stderr


def test_cells_of_exported_csv_are_no_formulas(place: Path) -> None:
    """What a spreadsheet would run gets an apostrophe; numbers stay numbers."""
    results = krand.read_results("results.json")
    for form in ("csv", "parquet"):
        results.save(f"r.{form}")
    found = pyarrow.csv.read_csv("r.csv").to_pydict()
    true = pq.read_table("r.parquet").to_pydict()
    assert "smokes × pet" in found["question"]
    for before, after in zip(true["answer"], found["answer"], strict=True):
        formula = before[:1] in ("=", "+", "@") or before == "-cmd"
        assert after == ("'" + before if formula else before)
    assert found["count"] == true["count"]


DEEP = b"[" * 100_000 + b"]" * 100_000
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "one byte": lambda content: content[:1],
    "half": lambda content: content[: len(content) // 2],
    "all but one byte": lambda content: content.rstrip()[:-1],
    "binary": lambda _: bytes(range(256)) * 8,
    "parquet": lambda _: b"PAR1\x00\xff",
    "deep": lambda _: DEEP,
    "deep inside": lambda content: content.rstrip()[:-1] + b',"x":' + DEEP + b"}",
    "not so deep": lambda _: b'{"format":' + b"[" * 400 + b"]" * 400 + b"}",
    "a list": lambda _: b"[]",
    "null": lambda _: b"null",
    "nothing": lambda _: b"{}",
    "no format": lambda _: b'{"format": 7}',
    "half a character": lambda _: b'{"format": "\\ud800"}',
    "infinite": lambda content: content.replace(b"400", b"Infinity").replace(b"480", b"1e999"),
    "twice": lambda content: b'{"format": "krand", ' + content.lstrip()[1:],
    "huge": lambda content: content.replace(b"480", b"1" + b"0" * 30).replace(b"400", b"1" * 30),
    "text": lambda content: content.replace(b"480", b'"480"').replace(b"400", b'"400"'),
    "fraction": lambda content: content.replace(b"480", b"480.5").replace(b"400", b"400.5"),
    "digits": lambda content: content.replace(b"480", b"4" * 10_000).replace(b"400", b"4" * 9_999),
}
READING = {
    "plan.json": ("verify plan.json", "randomize answers.csv --plan plan.json -o r.parquet"),
    "tally.json": ("verify tally.json --plan plan.json",),
    "results.json": (
        *("report results.json -o r.html", "compare results.json other.json"),
        "verify results.json --plan plan.json",
    ),
}


@pytest.mark.parametrize("file", READING)
def test_damaged_files_are_refused_with_a_sentence(file: str, place: Path) -> None:
    """However they are damaged; what a command would have replaced stays as it was."""
    Path("r.html").write_text("<!doctype html> old", encoding="utf-8")
    whole = Path(file).read_bytes()
    for damage, make in DAMAGE.items():
        assert make(whole) != whole, damage
        Path(file).write_bytes(make(whole))
        for line in READING[file]:
            found = run(line)
            assert found.exit_code in ((1, 2) if "verify" in line else (2,)), (damage, found.output)
            assert "Traceback" not in found.output
            assert not Path("r.parquet").exists()
    assert Path("r.html").read_text(encoding="utf-8") == "<!doctype html> old"


@pytest.mark.parametrize("people", ["480", 480.5, 10**30, -1, True, None, [480]])
def test_people_are_counted_in_whole_numbers(people: object, place: Path) -> None:
    """In a tally as in the header of responses."""
    values = json.loads(Path("tally.json").read_bytes())
    Path("tally.json").write_text(json.dumps({**values, "people": people}), encoding="utf-8")
    with pytest.raises(krand.InvalidInput, match=r"people|too large"):
        krand.read_tally("tally.json")
    table = pq.read_table("[x].parquet")
    header = json.loads(table.schema.metadata[b"krand"])
    changed = json.dumps({**header, "people": people}).encode()
    pq.write_table(table.replace_schema_metadata({b"krand": changed}), "[x].parquet")
    with pytest.raises(krand.InvalidInput):
        krand.tally_responses(krand.read_plan("plan.json"), ["[x].parquet"])


@pytest.mark.parametrize("damage", ["empty", "half", "binary"])
@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_damaged_tables_are_refused(name: str, damage: str, place: Path) -> None:
    """Half a character is damage of a table that could be cut anywhere."""
    content = Path("answers.csv" if name.endswith("csv") else "[x].parquet").read_bytes()
    if damage == "half" and name.endswith("csv"):
        content = content[:-1].replace(b"yes", b"\xff\xfe\x00", 1)
    Path(name).write_bytes(DAMAGE[damage](content))
    refused(f"randomize {name} --plan plan.json -o r.parquet")
    assert not Path("r.parquet").exists()


HOSTILE = {
    "long key": ".".join(["a"] * 100_000) + " = 1",
    "long header": "[" + ".".join(['"a"'] * 100_000) + "]",
    "long inline": "x = {" + ". ".join(["'a'"] * 100_000) + " = 1}",
    "deep list": "x = " + "[" * 100_000 + "]" * 100_000,
    "deep table": "x = " + "{a=" * 100_000 + "1" + "}" * 100_000,
    "quotes": 'x = "' + '\\"' * 100_000,
    "digits": "epsilon = 1" + "0" * 5_000,
    "large": f"[policy]\nepsilon = 1{'0' * 400}\nminimum_crowd = 1{'0' * 400}\ndelta = 1e400",
    "empty": "",
    "binary": "\x00\x01\x02",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_surveys_are_refused_at_once(name: str, here: Path) -> None:
    """By the name of the file."""
    Path("s.toml").write_text(HOSTILE[name], encoding="utf-8")
    error = refused("plan s.toml")
    assert error["field"] == "s.toml"
    assert error["rule"].startswith("has ")


def test_an_edited_tally_is_not_estimated(here: Path) -> None:
    """Whatever krand verify finds quickly stops making results, too, by the name of the check."""
    world.files("mixer", here)
    plan = world.plan("mixer")
    values = json.loads(Path("tally.json").read_bytes())
    for check, edit in (
        ("counts", {"responses": values["responses"] - 1}),
        ("round", {"round": 2}),
    ):
        Path("edited.json").write_text(json.dumps(values | edit), encoding="utf-8")
        with pytest.raises(krand.InvalidInput, match=f"it fails '{check}'"):
            krand.make_results(plan, krand.read_tally("edited.json"))
        (file,) = json.loads(run("verify edited.json --plan plan.json --json").stdout)["files"]
        assert check in {entry["name"] for entry in file["checks"] if entry["state"] == "failed"}
    with pytest.raises(krand.InvalidInput, match="belongs to another plan"):
        krand.make_results(world.plan("trio"), krand.read_tally("tally.json"))
