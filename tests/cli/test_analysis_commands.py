"""`krand tally`, `estimate` and `compare`: from reports to results on the command line."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from krand.analysis.tally_file import read_tally
from krand.cli.main import krand
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


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plan and reports of 1,000 people, and their tally."""
    at = tmp_path_factory.mktemp("analysis")
    (at / "survey.toml").write_text(SURVEY, encoding="utf-8")
    rows = ["yes,30,jazz,cat"] * 500 + ["no,50,,dog"] * 500
    (at / "a.csv").write_text("smokes,age,tag,pet\n" + "\n".join(rows), encoding="utf-8")
    (at / "words.txt").write_text("jazz\n\nrock\n", encoding="utf-8")
    done(at, "plan", "survey.toml", "-o", "plan.json")
    for name in ("r", "s"):
        options = ("--plan", "plan.json", "-o", f"{name}.parquet", "--other-people")
        done(at, "randomize", "a.csv", *options)
    done(at, "tally", "r.parquet", "--plan", "plan.json", "-o", "t.json")
    return at


def run(at: Path, *arguments: str) -> Result:
    ends = (".csv", ".json", ".toml", ".parquet")
    paths = [
        str(at / a) if a.endswith(ends) else a.replace("=words", f"={at}/words") for a in arguments
    ]
    return CliRunner().invoke(krand, paths)


def done(at: Path, *arguments: str) -> Result:
    result = run(at, *arguments)
    assert result.exit_code == 0, result.output
    return result


def answer(at: Path, *arguments: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(done(at, *arguments, "--json").stdout)
    return value


def test_tally_says_what_was_counted(place: Path, tmp_path: Path) -> None:
    """For people and for programs; two files of one plan add up."""
    both = ("tally", "r.parquet", "s.parquet", "--plan", "plan.json", "-o", "both.json")
    assert "2,000 people" in done(place, *both).stdout
    values = answer(place, *both)
    assert (values["people"], len(values["batches"]), values["rejected"]) == (2_000, 2, {})
    assert (values["provenance"], values["distinct_people"]) == ("table", "data_holder")


def test_estimate_shows_tables_and_the_guarantee(place: Path) -> None:
    """Every question, what was declared together, words, and what was promised."""
    options = ("--plan", "plan.json", "-o", "results.json", "--candidates", "tag=words.txt")
    text = done(place, "estimate", "t.json", *options).stdout
    for word in ("smokes × pet", "unanswered", "median", "(proven)", "detection limit", "jazz"):
        assert word in text
    assert "others work together" not in text
    values = answer(place, "estimate", "t.json", *options)
    assert values["coalitions"] == []
    assert values["promise"]["delta"] <= 1e-3
    (age,) = (q for q in values["questions"] if q["name"] == "age")
    counts = [row["count"] for row in age["rows"]]
    errors = [row["standard_error"] for row in age["rows"]]
    for count, error, truth in zip(counts, errors, (0, 500, 500), strict=True):
        assert abs(count - truth) < 6 * error


def test_estimate_shows_what_remains_when_others_collude(tmp_path: Path) -> None:
    """As a table, and as codes and numbers in JSON; a data holder's table has nobody to collude."""
    mixed_example().write(tmp_path)
    options = ("--plan", "plan.json", "-o", "again.json")
    text = done(tmp_path, "estimate", "tally.json", *options).stdout
    assert "what protects a person if others work together" in text
    assert "of 12 people" in text
    values = answer(tmp_path, "estimate", "tally.json", *options)
    assert [row["remains"] for row in values["coalitions"]][-3:] == ["nothing"] * 3
    assert values["coalitions"][-1]["coalition"] == "page-host"


def test_estimate_names_the_words_that_it_leaves_out(place: Path) -> None:
    """Without candidates nothing is said about a words question; with them it is not left out."""
    options = ("--plan", "plan.json", "-o", "results.json")
    said = "Left out: tag, because words are found with a list of candidates: --candidates tag="
    assert said in " ".join(done(place, "estimate", "t.json", *options).stdout.split())
    text = done(place, "estimate", "t.json", *options, "--candidates", "tag=words.txt").stdout
    assert "Left out" not in text


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_ending_tells_the_form(place: Path, ending: str) -> None:
    """A table is written where a table is asked for."""
    done(place, "estimate", "t.json", "--plan", "plan.json", "-o", f"flat.{ending}")
    head = (place / f"flat.{ending}").read_bytes()[:10]
    assert head.startswith(b"PAR1" if ending == "parquet" else b'"question"')


def test_samples_are_wider(place: Path) -> None:
    """A crowd that is a sample says less about everybody."""
    widths = []
    for more in ((), ("--sample-of", "everybody"), ("--sample-of", "1k")):
        options = ("--plan", "plan.json", "-o", "sampled.json", *more)
        values = answer(place, "estimate", "t.json", *options)
        ends = values["questions"][0]["rows"][0]["share_interval"]
        widths.append(ends["high"] - ends["low"])
    assert widths[1] > 1.05 * widths[0]
    assert widths[2] == pytest.approx(widths[0], rel=0.1)  # everybody took part


def test_compare_two_results_files(place: Path) -> None:
    """The same people twice: no difference beyond the noise; questions can be chosen."""
    for name, responses in (("first", "r"), ("second", "s")):
        done(place, "tally", f"{responses}.parquet", "--plan", "plan.json", "-o", "x.json")
        done(place, "estimate", "x.json", "--plan", "plan.json", "-o", f"{name}.json")
    values = answer(place, "compare", "first.json", "second.json")
    assert set(values["questions"]) == {"smokes", "age", "pet"}
    for rows in values["questions"].values():
        assert all(abs(row["z"]) < 6 for row in rows)
    text = done(place, "compare", "first.json", "second.json", "--question", "pet").stdout
    assert "cat" in text
    assert "points" in text


TALLY = ("tally", "r.parquet", "--plan", "plan.json", "-o", "x.json")
ESTIMATE = ("estimate", "t.json", "--plan", "plan.json", "-o", "x.json")
WRONG = [
    ((*TALLY, "r.parquet"), "responses"),
    (("tally", "absent.parquet", *TALLY[2:]), "responses"),
    ((*TALLY, "--workers", "0"), "workers"),
    ((*TALLY, "--engine", "abacus"), "engine"),
    ((*TALLY, "--plan", "absent.json"), "plan"),
    (("estimate", "absent.json", *ESTIMATE[2:]), "tally"),
    ((*ESTIMATE, "--confidence", "2"), "confidence"),
    ((*ESTIMATE, "--sample-of", "7"), "population"),
    ((*ESTIMATE, "--sample-of", "x"), "sample_of"),
    ((*ESTIMATE, "--joint", "pet,age"), "questions"),
    ((*ESTIMATE, "--candidates", "tag"), "candidates"),
    ((*ESTIMATE, "--candidates", "tag=nowhere"), "candidates"),
    (("compare", "t.json", "t.json"), "results"),
]


@pytest.mark.parametrize(("arguments", "field"), WRONG)
def test_mistakes_are_named(place: Path, arguments: tuple[str, ...], field: str) -> None:
    """Each is one error with its field, exit code 2, and writes nothing."""
    (place / "x.json").unlink(missing_ok=True)
    result = run(place, *arguments, "--json")
    assert result.exit_code == 2, result.output
    assert json.loads(result.stdout)["error"]["field"] == field
    assert not (place / "x.json").exists()


def test_a_key_needs_a_collector(place: Path) -> None:
    """A sealed batch is counted only if its manifest can be verified."""
    done(place, "keygen", "-o", str(place / "key.pem"), "--force")
    options = ("--plan", "plan.json", "--key", str(place / "key.pem"), "-o", "x.json")
    result = run(place, "tally", "r.parquet", *options, "--json")
    assert json.loads(result.stdout)["error"]["field"] == "collector_key"


EDITS: list[tuple[str, dict[str, Any]]] = [
    ("crowd", {"people": 900}),
    ("counts", {"responses": 999}),
    ("round", {"round": 2}),
    ("crowd", {"batches": ["ab" * 32, "ab" * 32], "people": 2_000}),
    ("positions", {"linkage": "record", "histogram": [0] * 76}),
]


@pytest.mark.parametrize("command", ["estimate", "observe"])
@pytest.mark.parametrize(("check", "edit"), EDITS)
def test_a_tally_that_was_edited_is_not_estimated(
    place: Path, command: str, check: str, edit: dict[str, Any]
) -> None:
    """Whatever krand verify finds quickly stops krand estimate too, by the name of the check."""
    (place / "x.json").unlink(missing_ok=True)
    values = json.loads((place / "t.json").read_bytes()) | edit
    (place / "edited.json").write_text(json.dumps(values), encoding="utf-8")
    output = ("-o", "x.json") if command == "estimate" else ()
    result = run(place, command, "edited.json", "--plan", "plan.json", *output, "--json")
    assert result.exit_code == 2, result.output
    error = json.loads(result.stdout)["error"]
    assert error["field"] == "tally"
    assert f"it fails '{check}'" in error["rule"]
    assert not (place / "x.json").exists()
    verified = run(place, "verify", "edited.json", "--plan", "plan.json", "--json")
    (file,) = json.loads(verified.stdout)["files"]
    assert check in {entry["name"] for entry in file["checks"] if entry["state"] == "failed"}


@pytest.mark.check
def test_a_tally_of_another_plan_is_said_to_be_one(place: Path) -> None:
    """Both hashes, before its crowd or anything else is judged: nobody need wait for people."""
    text = SURVEY.replace("minimum_crowd = 400", "minimum_crowd = 100_000")
    (place / "large.toml").write_text(text, encoding="utf-8")
    hashes = [
        answer(place, "plan", f"{name}.toml", "-o", f"{plan}.json")["hash"]
        for name, plan in (("survey", "plan"), ("large", "large"))
    ]
    for command in ("estimate", "observe"):
        output = ("-o", "x.json") if command == "estimate" else ()
        result = run(place, command, "t.json", "--plan", "large.json", *output)
        assert result.exit_code == 2
        assert all(plan in result.stderr for plan in hashes)
        assert "belongs to another plan" in result.stderr
        assert "wait for more people" not in result.stderr
    result = run(place, "tally", "r.parquet", "--plan", "large.json", "-o", "x.json")
    assert result.exit_code == 2
    assert all(plan in result.stderr for plan in hashes)
    assert "belongs to another plan" in result.stderr


SMALL = survey_text(
    "team",
    question_text("mood", "choice", choices=["good", "fair", "bad", "awful"]),
    question_text("age", "number", edges=[0, 20, 40, 60, 80]),
    epsilon=3.0,
    delta=0.001,
    minimum_crowd=60,
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty people, and noise that would leave a quarter less than nobody unanswered."""
    at = tmp_path_factory.mktemp("small")
    (at / "survey.toml").write_text(SMALL, encoding="utf-8")
    done(at, "plan", "survey.toml", "-o", "plan.json")
    (at / "a.csv").write_text("mood,age\n" + "good,30\n" * 60, encoding="utf-8")
    done(at, "randomize", "a.csv", "--plan", "plan.json", "-o", "r.parquet")
    done(at, "tally", "r.parquet", "--plan", "plan.json", "-o", "t.json")
    loud = np.array([55, 15, 12, 1, 31, 28, 10, 10])
    replace(read_tally(at / "t.json"), counts=loud).save(at / "t.json")
    done(at, "estimate", "t.json", "--plan", "plan.json", "-o", "rel.json")
    return at


def test_a_small_crowd_is_shown_with_counts_that_are_possible(small: Path) -> None:
    """Shares add up to 100 %, nothing is negative, intervals contain what is shown."""
    text = done(small, "estimate", "t.json", "--plan", "plan.json", "-o", "rel.json").stdout
    tables = text.split("┃ answer")[1:]
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
    shown = done(small, "estimate", "t.json", "--plan", "plan.json", "-o", "rel.json", "--raw")
    assert f"{raw['unanswered']['count']:.1f}" in shown.stdout
    assert values["questions"][1]["distribution"]["answered"] <= 60


@pytest.mark.check
def test_the_interval_of_a_mean_needs_no_assumption(tmp_path: Path) -> None:
    """Ratings from 0 to 10, said to be whole or not: what is printed holds the true mean."""
    ratings = [10] * 90 + [8] * 200 + [7] * 250 + [6] * 200 + [3] * 100 + [0] * 60
    truth = sum(ratings) / len(ratings)
    edges = "edges = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]"
    policy = "[policy]\nepsilon = 3\ndelta = 1e-3\nminimum_crowd = 900\n"
    for name, more in (("loose", ""), ("whole", "integer = true")):
        asked = f'[[question]]\nname = "rating"\ntype = "number"\n{edges}\n{more}\n'
        (tmp_path / "s.toml").write_text(f'id = "{name}"\n{policy}{asked}', encoding="utf-8")
        (tmp_path / "a.csv").write_text("rating\n" + "\n".join(map(str, ratings)))
        done(tmp_path, "plan", "s.toml", "-o", f"{name}-plan.json")
        plan = ("--plan", f"{name}-plan.json")
        done(tmp_path, "randomize", "a.csv", *plan, "-o", f"{name}.parquet")
        done(tmp_path, "tally", f"{name}.parquet", *plan, "-o", f"{name}-t.json")
        printed = done(tmp_path, "estimate", f"{name}-t.json", *plan, "-o", "r.json").stdout
        text = " ".join(printed.split())
        (found,) = re.findall(r"mean ([\d.]+) \(([\d.]+) to ([\d.]+)\)", text)
        value, low, high = map(float, found)
        width = high - low  # the noise is real: thrice the interval is all but never missed
        assert low - width <= truth <= high + width
        assert ("spread evenly within each range" in text) is (name == "loose")
        assert value == pytest.approx(truth + (0.5 if name == "loose" else 0), abs=0.2)


def test_what_cannot_be_read_is_said_loudly(small: Path) -> None:
    """On the terminal, in the file and on the page; the margin of "unanswered" is above 15 %."""
    result = done(small, "estimate", "t.json", "--plan", "plan.json", "-o", "rel.json")
    assert "warning: these results are too noisy to use" in result.stderr
    assert "1 of 5 answers to mood; 1 of 5 answers to age" in result.stderr
    assert result.stdout.count("too noisy") == 2
    values = json.loads((small / "rel.json").read_text(encoding="utf-8"))
    for question in values["questions"]:
        assert [row["readable"] for row in question["rows"]] == [True] * 4
        assert question["unanswered"]["readable"] is False
    done(small, "report", "rel.json", "-o", str(small / "page.html"))
    page = (small / "page.html").read_text(encoding="utf-8")
    assert "Some results are too uncertain to read" in page
    (answered,) = re.findall(r"Among the (\d+)\speople who answered", page)
    assert int(answered) <= 60


def test_commands_agree_on_a_small_crowd(small: Path) -> None:
    """`verify` holds, `compare` and `observe` answer."""
    done(small, "verify", "rel.json", "t.json")
    done(small, "compare", "rel.json", "rel.json")
    done(small, "observe", "t.json", "--plan", "plan.json")
