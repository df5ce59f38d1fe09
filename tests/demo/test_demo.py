"""The demonstration: that its people, noise and numbers are what it says."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest

import krand
import world
from command_line import done, told

KINDS, MIXED = 20_000, 400
EXAMPLE = Path(__file__).parents[2] / "examples" / "browser.toml"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


def demonstrated(place: Path, name: str, options: str = "", to: str = "") -> dict[str, Any]:
    """What programs are told of a demonstration, and what it wrote as text."""
    line = f"demo --survey {world.survey_file(name)} {options} -o {to or name}"
    return told(line, at=place)


@pytest.fixture(scope="module")
def kinds(place: Path) -> dict[str, Any]:
    return demonstrated(place, "kinds")


def page_of(place: Path, shown: dict[str, Any]) -> str:
    text = (place / shown["written"]["report"]).read_text(encoding="utf-8")
    return unescape(text).replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture(scope="module")
def mixer(place: Path) -> dict[str, Any]:
    return demonstrated(place, "mixer", f"--crowd {MIXED}")


WORDS = """
[[question]]
name = "tags"
type = "words"
positions = 1024
hashes = 2
"""


def test_truth_is_what_was_counted(place: Path) -> None:
    """Where there is hardly any noise, the estimates of all ways of collecting are the truth.

    Words are found, but were chosen for standing out: their intervals promise less.
    """
    text = world.survey_file("tiny").read_text(encoding="utf-8") + WORDS
    quiet = text.replace("epsilon = 8", "epsilon = 60")
    (place / "quiet.toml").write_text(quiet, encoding="utf-8")
    shown = told("demo --survey quiet.toml --crowd 500 -o quiet", at=place)
    asked = [answer for answer in shown["answers"] if not answer["word"]]
    for answer in asked:
        assert abs(answer["estimate"] - answer["truth"]) < 5, answer
    assert sum(answer["truth"] for answer in asked if answer["question"] == "lunch") == 500
    assert shown["intervals"]["intervals"] == len(asked) < len(shown["answers"])


def test_errors_are_as_large_as_planned(kinds: dict[str, Any], place: Path) -> None:
    """Each divided by the plan's σ, they are about one; intervals hold as often as they say."""
    results = krand.read_results(place / kinds["written"]["results"])
    asked = [answer for answer in kinds["answers"] if not answer["word"]]
    spread = {(q.name, row.label): row.standard_error for q in results.questions for row in q.rows}
    off = [
        (answer["estimate"] - answer["truth"]) / spread[answer["question"], answer["answer"]]
        for answer in asked
        if (answer["question"], answer["answer"]) in spread
    ]
    assert len(off) > 20
    assert 0.6 < (sum(one**2 for one in off) / len(off)) ** 0.5 < 1.4
    hold = sum(answer["low"] <= answer["truth"] <= answer["high"] for answer in asked)
    assert (kinds["intervals"]["hold"], kinds["intervals"]["intervals"]) == (hold, len(asked))
    assert hold >= 0.85 * len(asked)


def test_methods_are_compared_by_their_expected_errors(kinds: dict[str, Any]) -> None:
    """krand's are those of its plan; a chain of mixers costs the root of their number."""
    found = {way["name"]: way["sigma"] for way in kinds["baselines"]}
    assert [*found] == [
        *("krand, devices", "krand, 1 mixer", "krand, 3 mixers", "RAPPOR", "trusted curator"),
    ]
    blocks = world.plan("kinds").blocks
    squares = sum(block.positions * block.precision.sigma**2 for block in blocks)
    planned = (squares / sum(block.positions for block in blocks)) ** 0.5
    assert found["krand, devices"] == pytest.approx(planned, rel=1e-4)
    curator = found["trusted curator"]
    assert found["krand, 1 mixer"] <= 1.001 * curator
    assert found["krand, 3 mixers"] == pytest.approx(3**0.5 * found["krand, 1 mixer"], rel=1e-3)
    assert found["RAPPOR"] > 10 * found["krand, devices"] > curator
    for way in kinds["baselines"]:
        assert way["times_curator"] == pytest.approx(way["sigma"] / curator)


def test_nobody_takes_it_for_a_survey_of_real_people(kinds: dict[str, Any], place: Path) -> None:
    """Its files say so, its page before any result; every file is there and is verified."""
    assert kinds["simulated"] is True
    assert (kinds["people"], kinds["seed"]) == (KINDS, 1)
    written = {name: place / path for name, path in kinds["written"].items()}
    assert all(path.exists() for path in written.values()), written
    page = page_of(place, kinds)
    body = page.partition("<body>")[2]
    assert "the 20,000 people are simulated" in body[:3000], "the first that one reads"
    assert "Nobody was asked: the people and their answers are simulated." in page
    assert "on the device it came from" not in page
    for heading in ("Estimates and truth", "Comparison with baselines"):
        assert heading in page
    again = krand.tally_responses(krand.read_plan(written["plan"]), [written["responses"]])
    assert again.values() == krand.read_tally(written["tally"]).values()
    assert again.provenance == "simulation"
    line = f"verify {written['plan']} {written['tally']} {written['results']}"
    assert "nobody was asked" in done(line, at=place).stdout


def test_mixers_are_demonstrated_too(mixer: dict[str, Any], place: Path) -> None:
    """Nothing is flipped; the dummies of all mixers are the noise."""
    tally = krand.read_tally(place / mixer["written"]["tally"])
    sent = MIXED * mixer["messages"]
    assert int(tally.counts.sum()) + tally.nulls == sent + mixer["dummies"]
    assert mixer["dummies"] > 0
    assert "responses" not in mixer["written"]
    page = page_of(place, mixer)
    assert f"{mixer['dummies']:,} dummies were added" in page
    assert "flipped" not in page.partition("Estimates and truth")[2]
    for answer in mixer["answers"]:
        assert abs(answer["estimate"] - answer["truth"]) < 150, answer


def test_a_seed_fixes_people_and_noise(mixer: dict[str, Any], place: Path) -> None:
    """Everybody sees the same numbers, unless they ask for others: each seed has its own noise."""
    shown = [
        demonstrated(place, "tiny", f"--crowd 300 --seed {seed}", f"tiny-{number}")["answers"]
        for number, seed in enumerate((1, 0, 0))
    ]
    assert shown[0] != shown[1] != shown[2]
    other = demonstrated(place, "mixer", f"--crowd {MIXED} --seed 2", "mixer-2")
    assert other["dummies"] != mixer["dummies"], "the dummies are those of another seed"


@pytest.mark.nightly
def test_the_example_that_is_installed_is_the_example(place: Path) -> None:
    """A wheel has no folder of examples, so the demonstration brings its own copy."""
    done("demo --crowd 2k -o example", at=place)
    example = EXAMPLE.read_text(encoding="utf-8").replace("100_000 ", "2_000 ", 1)
    assert (place / "example" / "survey.toml").read_text(encoding="utf-8") == example
