"""`krand randomize`, `tally`, `estimate` and `compare`: from a table to results."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from command_line import done, refused, run, told
from krand.analysis.tally import read_tally
from krand.batches.responses import header_of
from report.examples import mixed_example
from survey_texts import question_text, survey_text

SURVEY = survey_text(
    "habits",
    question_text("smokes", "yes_no"),
    question_text("age", "number", edges=[0, 20, 40, 60]),
    question_text("tag", "words", positions=64, hashes=2),
    question_text("pet", "choice", choices=["cat", "dog"]),
    epsilon=1.0,
    delta=0.001,
    minimum_crowd=400,
    together=["smokes", "pet"],
)
ESTIMATE = "estimate t.json --plan plan.json -o results.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plan and reports of 1,000 people, and their tally."""
    at = tmp_path_factory.mktemp("analysis")
    (at / "survey.toml").write_text(SURVEY, encoding="utf-8")
    rows = ["yes,30,jazz,cat"] * 500 + ["no,50,,dog"] * 500
    (at / "a.csv").write_text("smokes,age,tag,pet\n" + "\n".join(rows), encoding="utf-8")
    (at / "words.txt").write_text("jazz\n\nrock\n", encoding="utf-8")
    done("plan survey.toml -o plan.json", at=at)
    for name in ("r", "s"):
        done(f"randomize a.csv --plan plan.json -o {name}.parquet --again", at=at)
    done("tally r.parquet --plan plan.json -o t.json", at=at)
    return at


@pytest.fixture
def place(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, in which commands are run."""
    monkeypatch.chdir(made)
    return made


def table_of(rows: list[str]) -> None:
    """A table of answers, with a column that the survey does not know."""
    text = "smokes,pet,age,tag,id\n" + "\n".join(f"{row},30,,7" for row in rows)
    Path("people.csv").write_text(text, encoding="utf-8")


def test_people_read_what_was_randomized(place: Path) -> None:
    """How many people, how many reports, which plan, which file; unknown columns are named."""
    table_of(["yes,cat"] * 460)
    result = done("randomize people.csv --plan plan.json -o people.parquet --again")
    assert "460 people" in result.stdout
    assert "people.parquet" in result.stdout
    assert "not in the survey: id" in result.stderr
    header = header_of(pq.ParquetFile("people.parquet"), "people.parquet")
    assert header.people == 460
    assert header.plan in result.stdout


def test_a_bad_row_is_an_error_with_its_place_unless_it_may_be_left_out(place: Path) -> None:
    """Exit code 2, row and column, and no file; rows that are left out are told, with the first."""
    table_of(["yes,cat"] * 16 + ["yes,yak"] + ["no,dog"] * 443)
    line = "randomize people.csv --plan plan.json -o bad.parquet --again"
    result = run(line)
    assert result.exit_code == 2
    assert "row 17, pet: must be one of its choices, found 'yak'" in result.stderr
    assert "--skip-bad-rows" in result.stderr
    assert not Path("bad.parquet").exists()
    result = done(line, "--skip-bad-rows")
    assert "1 row was invalid and was skipped" in result.stderr
    assert "row 17, pet" in result.stderr
    found = told(line, "--skip-bad-rows --force")
    assert (found["people"], found["skipped"]) == (459, 1)
    (mistake,) = found["mistakes"]
    assert (mistake["row"], mistake["column"], mistake["value"]) == (17, "pet", "yak")


def test_tally_says_what_was_counted(place: Path) -> None:
    """For people and for programs; two files of one plan add up."""
    both = "tally r.parquet s.parquet --plan plan.json -o both.json"
    assert "2,000 people" in done(both, "--different-people").stdout
    values = told(both, "--different-people")
    assert (values["people"], len(values["batches"]), values["rejected"]) == (2_000, 2, {})
    assert (values["provenance"], values["different_people"]) == ("table", True)


def test_estimate_shows_tables_and_the_guarantee(place: Path) -> None:
    """Every question, what was declared together, words, and what was promised."""
    text = done(ESTIMATE, "--candidates tag=words.txt").stdout
    for word in ("smokes × pet", "unanswered", "median", "(proven)", "detection limit", "jazz"):
        assert word in text
    assert "others work together" not in text
    values = told(ESTIMATE, "--candidates tag=words.txt")
    assert values["coalitions"] == []
    assert values["promise"]["delta"] <= 1e-3
    (age,) = (q for q in values["questions"] if q["name"] == "age")
    for row, truth in zip(age["rows"], (0, 500, 500), strict=True):
        assert abs(row["count"] - truth) < 6 * row["standard_error"]


def test_a_confidence_near_one_is_not_rounded_to_one(place: Path) -> None:
    """In every table, of words and cells too."""
    text = done(ESTIMATE, "--candidates tag=words.txt --confidence 0.999").stdout
    assert "99.9 % interval" in text
    assert "100 % interval" not in text


def test_estimate_shows_what_remains_when_others_collude(here: Path) -> None:
    """As a table, and as codes and numbers in JSON; a data holder's table has nobody to collude."""
    mixed_example().write(here)
    line = "estimate tally.json --plan plan.json -o again.json"
    text = done(line).stdout
    assert "what protects a person if others work together" in text
    assert "of 12 people" in text
    values = told(line)
    assert [row["remains"] for row in values["coalitions"]][-3:] == ["nothing"] * 3
    assert values["coalitions"][-1]["coalition"] == "page-host"


def test_estimate_names_the_words_that_it_leaves_out(place: Path) -> None:
    """Without candidates nothing is said about a words question; with them it is not left out."""
    said = "Left out: tag, because words are found with a list of candidates: --candidates tag="
    assert said in " ".join(done(ESTIMATE).stdout.split())
    assert "Left out" not in done(ESTIMATE, "--candidates tag=words.txt").stdout


@pytest.mark.parametrize(("ending", "head"), [("csv", b'"question"'), ("parquet", b"PAR1")])
def test_the_ending_tells_the_form(place: Path, ending: str, head: bytes) -> None:
    """A table is written where a table is asked for."""
    done(f"estimate t.json --plan plan.json -o flat.{ending}")
    assert (place / f"flat.{ending}").read_bytes().startswith(head)


def test_samples_are_wider(place: Path) -> None:
    """A crowd that is a sample says less about everybody."""
    widths = []
    for more in ("", "--sample-of everybody", "--sample-of 1k"):
        ends = told(ESTIMATE, more)["questions"][0]["rows"][0]["share_interval"]
        widths.append(ends["high"] - ends["low"])
    assert widths[1] > 1.05 * widths[0]
    assert widths[2] == pytest.approx(widths[0], rel=0.1)  # everybody took part


def test_compare_two_results_files(place: Path) -> None:
    """The same people twice: no difference beyond the noise; questions can be chosen."""
    for name in ("r", "s"):
        done(f"tally {name}.parquet --plan plan.json -o {name}-tally.json")
        done(f"estimate {name}-tally.json --plan plan.json -o {name}.json")
    values = told("compare r.json s.json")
    assert set(values["questions"]) == {"smokes", "age", "pet"}
    for rows in values["questions"].values():
        assert all(abs(row["z"]) < 6 for row in rows)
    text = done("compare r.json s.json --question pet").stdout
    assert "cat" in text
    assert "points" in text


MISTAKES = [
    ("randomize absent.csv --plan plan.json -o x.json", "answers"),
    ("randomize a.csv --plan absent.json -o x.json", "plan"),
    ("randomize a.csv --plan plan.json -o x.json --round 2", "round"),
    ("randomize a.csv --plan plan.json -o x.json --separator ''", "separator"),
    ("tally r.parquet r.parquet --plan plan.json -o x.json", "responses"),
    ("tally absent.parquet --plan plan.json -o x.json", "responses"),
    ("tally r.parquet --plan plan.json -o ''", "output"),
    ("tally r.parquet --plan plan.json -o x.json --workers 0", "workers"),
    ("tally r.parquet --plan plan.json -o x.json --engine abacus", "engine"),
    ("tally r.parquet --plan absent.json -o x.json", "plan"),
    ("tally r.parquet --plan plan.json -o x.json --key key.pem", "collector_key"),
    ("estimate absent.json --plan plan.json -o x.json", "tally"),
    ("estimate t.json --plan plan.json -o x.json --confidence 2", "confidence"),
    ("estimate t.json --plan plan.json -o x.json --sample-of 7", "population"),
    ("estimate t.json --plan plan.json -o x.json --sample-of x", "sample_of"),
    ("estimate t.json --plan plan.json -o x.json --joint pet,age", "questions"),
    ("estimate t.json --plan plan.json -o x.json --candidates tag", "candidates"),
    ("estimate t.json --plan plan.json -o x.json --candidates tag=nowhere", "candidates"),
    ("compare t.json t.json", "results"),
]


@pytest.mark.parametrize(("line", "field"), MISTAKES)
def test_mistakes_are_named(place: Path, line: str, field: str) -> None:
    """Each is one error with its field, exit code 2, and writes nothing."""
    if "key.pem" in line:  # which is right, but needs that of a collector
        done("keygen -o key.pem --force")
    assert refused(line)["field"] == field
    assert not (place / "x.json").exists()


EDITS: list[tuple[str, dict[str, Any]]] = [
    ("crowd", {"people": 900}),
    ("counts", {"responses": 999}),
    ("round", {"round": 2}),
    ("crowd", {"batches": ["ab" * 32, "ab" * 32], "people": 2_000}),
    ("positions", {"linkage": "record", "histogram": [0] * 76}),
]
FROM_A_TALLY = "estimate {} --plan {} -o x.json"


@pytest.mark.parametrize(("check", "edit"), EDITS)
def test_a_tally_that_was_edited_is_not_estimated(
    place: Path, check: str, edit: dict[str, Any]
) -> None:
    """Whatever krand verify finds quickly stops krand estimate too, by the name of the check."""
    values = json.loads((place / "t.json").read_bytes()) | edit
    (place / "edited.json").write_text(json.dumps(values), encoding="utf-8")
    error = refused(FROM_A_TALLY.format("edited.json", "plan.json"))
    assert error["field"] == "tally"
    assert f"it fails '{check}'" in error["rule"]
    assert not (place / "x.json").exists()
    (file,) = json.loads(run("verify edited.json --plan plan.json --json").stdout)["files"]
    assert check in {entry["name"] for entry in file["checks"] if entry["state"] == "failed"}


@pytest.mark.check
def test_a_tally_of_another_plan_is_said_to_be_one(place: Path) -> None:
    """Both hashes, before its crowd or anything else is judged: nobody need wait for people."""
    text = SURVEY.replace("minimum_crowd = 400", "minimum_crowd = 100_000")
    (place / "large.toml").write_text(text, encoding="utf-8")
    pairs = (("survey", "plan"), ("large", "large"))
    hashes = [told(f"plan {name}.toml -o {plan}.json")["hash"] for name, plan in pairs]
    for line in (FROM_A_TALLY, "tally r.parquet --plan {1} -o x.json"):
        result = run(line.format("t.json", "large.json"))
        assert result.exit_code == 2
        assert all(plan in result.stderr for plan in hashes)
        assert "belongs to another plan" in result.stderr
        assert "wait for more people" not in result.stderr


SMALL = survey_text(
    "team",
    question_text("mood", "choice", choices=["good", "fair", "bad", "awful"]),
    question_text("age", "number", edges=[0, 20, 40, 60, 80]),
    epsilon=3.0,
    delta=0.001,
    minimum_crowd=60,
)
AGAIN = "estimate t.json --plan plan.json -o rel.json"


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty people, and noise that would leave a quarter less than nobody unanswered."""
    at = tmp_path_factory.mktemp("small")
    (at / "survey.toml").write_text(SMALL, encoding="utf-8")
    (at / "a.csv").write_text("mood,age\n" + "good,30\n" * 60, encoding="utf-8")
    done("plan survey.toml -o plan.json", at=at)
    done("randomize a.csv --plan plan.json -o r.parquet", at=at)
    done("tally r.parquet --plan plan.json -o t.json", at=at)
    loud = np.array([55, 15, 12, 1, 31, 28, 10, 10])
    replace(read_tally(at / "t.json"), counts=loud).save(at / "t.json")
    done(AGAIN, at=at)
    return at


@pytest.fixture
def small(sixty: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, in which commands are run."""
    monkeypatch.chdir(sixty)
    return sixty


def test_a_small_crowd_is_shown_with_counts_that_are_possible(small: Path) -> None:
    """Shares add up to 100 %, nothing is negative, intervals contain what is shown."""
    tables = done(AGAIN).stdout.split("┃ answer")[1:]
    assert len(tables) == 2
    for table in tables:
        rows = [line.split("│")[1:-1] for line in table.splitlines() if line.startswith("│")]
        numbers = [[float(n) for n in re.findall(r"-?[\d.]+", " ".join(r[1:5]))] for r in rows]
        assert sum(share for _, _, _, share, _, _ in numbers) == pytest.approx(100, abs=0.05)
        for people, low, high, share, least, most in numbers:
            assert 0 <= low <= people <= high <= 60
            assert 0 <= least <= share <= most <= 100
            assert low < high
    values = json.loads((small / "rel.json").read_text(encoding="utf-8"))
    raw = values["questions"][0]
    assert sum(row["share"] for row in raw["rows"]) > 1.2
    assert raw["unanswered"]["count"] < -12
    assert f"{raw['unanswered']['count']:.1f}" in done(AGAIN, "--raw").stdout
    assert values["questions"][1]["distribution"]["answered"] <= 60


@pytest.mark.check
def test_the_interval_of_a_mean_needs_no_assumption(here: Path) -> None:
    """Ratings from 0 to 10, said to be whole or not: what is printed holds the true mean."""
    ratings = [10] * 90 + [8] * 200 + [7] * 250 + [6] * 200 + [3] * 100 + [0] * 60
    truth = sum(ratings) / len(ratings)
    (here / "a.csv").write_text("rating\n" + "\n".join(map(str, ratings)))
    for whole in (False, True):
        question = question_text("rating", "number", edges=list(range(12)), integer=whole)
        policy = {"epsilon": 3, "delta": 0.001, "minimum_crowd": 900}
        text = survey_text(f"whole-{whole}".lower(), question, **policy)
        (here / "s.toml").write_text(text, encoding="utf-8")
        done("plan s.toml -o plan.json --force")
        done("randomize a.csv --plan plan.json -o r.parquet --force")
        done("tally r.parquet --plan plan.json -o t.json")
        text = " ".join(done(ESTIMATE).stdout.split())
        (found,) = re.findall(r"mean ([\d.]+) \(([\d.]+) to ([\d.]+)\)", text)
        value, low, high = map(float, found)
        width = high - low  # the noise is real: thrice the interval is all but never missed
        assert low - width <= truth <= high + width
        assert ("spread evenly within each range" in text) is not whole
        assert value == pytest.approx(truth + (0 if whole else 0.5), abs=0.2)


def test_what_cannot_be_read_is_said_loudly(small: Path) -> None:
    """On the terminal, in the file and on the page; the margin of "unanswered" is above 15 %."""
    result = done(AGAIN)
    assert "warning: these results are too noisy to use" in result.stderr
    assert "1 of 5 answers to mood; 1 of 5 answers to age" in result.stderr
    assert result.stdout.count("too noisy") == 2
    values = json.loads((small / "rel.json").read_text(encoding="utf-8"))
    for question in values["questions"]:
        assert [row["readable"] for row in question["rows"]] == [True] * 4
        assert question["unanswered"]["readable"] is False
    done("report rel.json -o page.html")
    page = (small / "page.html").read_text(encoding="utf-8")
    assert "Too uncertain to read, and grey below" in page
    (answered,) = re.findall(r"About (\d+)\speople answered", page)
    assert int(answered) <= 60


def test_commands_agree_on_a_small_crowd(small: Path) -> None:
    """`verify` holds; `compare` takes no results twice."""
    done("verify rel.json t.json")
    assert "given twice" in refused("compare rel.json rel.json")["hint"]
