"""What commands print for people about the standard world, word for word, and for programs."""

from __future__ import annotations

import csv
import json
import math
import os
from pathlib import Path

import pytest

import krand
import steps
import world
from cli.forms import write_form
from command_line import done, refused, run, told
from golden import Golden

KEYS = {r"\b[0-9a-f]{64}\b": "<key>"}
SAID = {
    "plan-records": ("records", "plan survey.toml"),
    "plan-mixers": ("mixers", "plan survey.toml"),
    "plan-explained": ("tiny", "plan survey.toml --explain"),
    "report": ("mixer", "report results.json -o report.html"),
    "compare": ("weeks", "compare results.json results-2.json"),
    "compare-three": ("weeks", "compare results-3.json results.json results-2.json"),
    "verify": ("weeks", "verify plan.json tally.json results.json"),
    "verify-mixers": ("mixers", "verify tally.json results.json --plan plan.json"),
    "noise": ("tiny", "noise --crowd 10k --bits 2 --epsilon 1 --delta 1e-4"),
    "noise-copies": (
        "tiny",
        "noise --crowd 1k --bits 5 --epsilon .69 --delta 1e-4 --linkage record --copies 1,4",
    ),
    "privacy": ("tiny", "privacy --crowd 1k --bits 5 --epsilon .69 --noise .1 --linkage record"),
    "demo": ("tiny", "demo --survey survey.toml -o shown"),
}
"""The survey whose files are there, and the command."""


@pytest.mark.parametrize("name", SAID)
def test_what_a_command_says(name: str, here: Path, golden: Golden) -> None:
    """On stdout, and its warnings on stderr; of numbers nobody sees more than is known."""
    survey, line = SAID[name]
    world.files(survey, here)
    result = done(line)
    warnings = f"\n--- stderr\n{result.stderr}" if result.stderr else ""
    golden(f"said/{name}", f"$ krand {line}\n{result.stdout}{warnings}")


RESULTS = {
    "kinds": ("kinds", "--candidates town=towns.txt"),
    "branches": ("branches", ""),
    "copies": ("copies", "--joint smokes,pet"),
    "mixers": ("mixers", "--raw --confidence 0.999 --sample-of 5000"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_a_terminal_shows_of_results(name: str, here: Path, golden: Golden) -> None:
    """Every question, what was asked jointly, words, what was promised and what remains of it."""
    survey, options = RESULTS[name]
    world.files(survey, here)
    Path("towns.txt").write_text("\n".join(["", *world.TOWNS]), encoding="utf-8")
    golden(f"said/results-{name}", steps.shown(here, options))


def table_of(here: Path, *rows: str) -> None:
    """A table of answers to the tiny survey, with a column that it does not know."""
    Path("people.csv").write_text("\n".join(["fair,lunch,tools,id", *rows]), encoding="utf-8")


def test_randomizing_a_table(here: Path, golden: Golden) -> None:
    """How many people, what is left out and why; nobody waits at an error that a row makes."""
    world.files("tiny", here)
    table_of(here, *["yes,soup,phone,7"] * 11, "no,,,8", "no,cake,,9")
    line = "randomize people.csv --plan plan.json -o r.parquet"
    wrong = run(line)
    assert wrong.exit_code == 2
    right = done(line, "--skip-bad-rows")
    again = run(line, "--skip-bad-rows --force")
    assert again.exit_code == 2, "two draws of one table tell more than one"
    texts = (wrong.stderr, right.stdout, right.stderr, again.stderr)
    golden("said/randomize", "\n---\n".join(texts), {r"\d+ positions": "<some> positions"})
    found = told(line, "--skip-bad-rows --force --again")
    assert (found["people"], found["skipped"]) == (12, 1)
    (mistake,) = found["mistakes"]
    assert (mistake["row"], mistake["column"], mistake["value"]) == (13, "lunch", "cake")


def test_keys_invitations_and_imports(here: Path, golden: Golden) -> None:
    """What is secret, and where it goes."""
    asked = world.survey_file("tiny").read_text(encoding="utf-8")
    Path("survey.toml").write_text(f"invitations = true\n{asked}", encoding="utf-8")
    write_form(Path("form.xlsx"))
    said = ""
    for line in (
        "keygen analyst",
        "plan survey.toml -o plan.json -q",
        "invite plan.json --count 2 --url https://form.example/ -o links.csv",
        "import form.xlsx -o imported.toml",
    ):
        result = done(line)
        said += f"$ krand {line}\n{result.stdout}{result.stderr}\n"
    golden("said/keys-invitations-imports", said, KEYS)
    asked = "invite plan.json --count 2 --url https://form.example/ -o other.csv"
    assert told(asked)["links"] == "other.csv"
    assert told("import form.xlsx -o other.toml")["questions"] == ["smokes"]
    for secret in ("analyst/keys/analyst.pem", "links.csv", "invitations.json"):
        assert os.stat(secret).st_mode & 0o077 == 0, f"others can read {secret}"
    with open("links.csv", encoding="utf-8") as stream:
        links = [row["link"] for row in csv.DictReader(stream)]
    assert len(set(links)) == 2
    digests = Path("invitations.json").read_text(encoding="utf-8")
    assert not any(link.rpartition("#")[2] in digests for link in links), "the collector's file"


# --- the same for programs -----------------------------------------------------------------------


def test_a_plan_for_programs_is_the_plan(here: Path) -> None:
    """The file's values, its hash, and what follows: the promise, and how far a dishonest person
    can move each count."""
    world.files("records", here)
    values, plan = (
        told("plan survey.toml -o plan.json --force"),
        krand.make_plan(world.survey("records")),
    )
    assert values["hash"] == plan.hash
    held = json.loads(Path("plan.json").read_bytes())
    assert {key: values[key] for key in held} == held
    assert values["promise"]["delta"] == krand.promise_of(plan).delta
    for block, numerator in zip(values["blocks"], held["numerators"], strict=True):
        truth = 1 - 2 * numerator / 2**32
        assert block["too_high"] == pytest.approx(1 / truth), "a record counts once"
    sent = {path.name for path in here.iterdir()}
    done("plan survey.toml")
    assert {path.name for path in here.iterdir()} == sent, "without -o nothing is written"


def test_a_plan_needs_no_other_file(here: Path) -> None:
    """A list of choices in a file of its own goes into the plan: the list counts, not its file."""
    asked = world.survey_file("tiny").read_text(encoding="utf-8")
    listed = asked.replace('choices = ["soup", "salad", "none"]', 'choices_file = "meals.txt"')
    assert listed != asked
    Path("listed.toml").write_text(listed, encoding="utf-8")
    Path("meals.txt").write_text("soup\nsalad\nnone\n", encoding="utf-8")
    assert told("plan listed.toml")["hash"] == krand.make_plan(world.survey("tiny")).hash


def test_noise_is_near_the_trusted_curators() -> None:
    """Within 4 % for 40 bits of ten million people; ε₀ = 431 is called no protection."""
    line = "noise --crowd 10M --bits 40 --epsilon 2 --delta 1e-6"
    plan = told(line)
    assert plan["sigma"] <= 1.04 * plan["curator_sigma"]
    assert plan["curator_sigma"] == pytest.approx(14.11, abs=0.01)
    assert plan["noise_numerator"] / 2**32 == plan["noise"]
    assert plan["half_width_95"] == pytest.approx(1.96 * plan["sigma"], rel=1e-3)
    assert plan["delta"] <= 1e-6
    local = 40 * math.log((1 - plan["noise"]) / plan["noise"])
    assert plan["local_epsilon"] == pytest.approx(local)
    assert "there is no protection (ε₀ = 43" in " ".join(done(line).stdout.split())


def test_privacy_of_a_noise_is_what_its_plan_promises() -> None:
    """The same numbers, whichever way they are asked for."""
    request = "--crowd 1000 --bits 5 --epsilon .69 --linkage record"
    plan = told(f"noise {request} --delta 1e-4")
    found = told(f"privacy {request} --noise {plan['noise']!r}")
    for key in ("delta", "eta", "local_epsilon", "method", "assumptions", "sigma", "linkage"):
        assert found[key] == plan[key], key


def test_what_commands_tell_programs(here: Path) -> None:
    """One object each, with these keys."""
    world.files("weeks", here)
    compared = told("compare results.json results-2.json --question mood")
    assert (compared["order"], list(compared["questions"])) == ("rounds", ["mood"])
    assert compared["people"] == [world.counts("weeks")[n]["people"] for n in (0, 1)]
    assert all(abs(row["z"]) < 6 for row in compared["questions"]["mood"]), "nothing has changed"
    assert told("report results.json -o r.html") == {
        "results": "results.json",
        "output": "r.html",
        "plan": world.plan("weeks").hash,
        "kept": True,
    }
    last = told("report results-2.json results.json -o both.html --language de")
    assert last["results"] == "results-2.json", "the report is about the last round"
    page = Path("both.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in page
    assert "Was sich geändert hat" in page
    checked = told("verify results.json --plan plan.json")
    states = {check["state"] for file in checked["files"] for check in file["checks"]}
    assert states == {"passed", "not_checked"}


TRANSLATED = """\
id = "pets"
policy = { epsilon = 60, delta = 1e-4, minimum_crowd = 100 }
trust = { noise = "devices" }
[[question]]
name = "pet"
type = "choice"
choices = ["cat", "dog", "chat"]
[translations.fr.question.pet]
choices = { cat = "chat", dog = "chien", chat = "discussion" }
"""


@pytest.mark.parametrize(("language", "words"), [("en", ["cat", "dog"]), ("fr", ["chat", "chien"])])
def test_a_table_in_one_language_is_counted_in_its_words(
    language: str, words: list[str], here: Path
) -> None:
    """A word that both languages have means what it means in the language that was named."""
    Path("survey.toml").write_text(TRANSLATED, encoding="utf-8")
    rows = [words[0]] * 60 + [words[1]] * 40
    Path("answers.csv").write_text("\n".join(["pet", *rows]), encoding="utf-8")
    done("plan survey.toml -o plan.json")
    made = "randomize answers.csv --plan plan.json -o responses.parquet"
    other = "fr" if language == "en" else "en"
    assert refused(f"{made} --language {other}")["rule"] == "must be one of its choices"
    done(f"{made} --language {language}")
    (pet,) = steps.counted(here, here / "responses.parquet", here / "plan.json").questions
    counts = {row.label: row.consistent for row in pet.rows}
    assert counts == pytest.approx({"cat": 60, "dog": 40, "chat": 0}, abs=10)
