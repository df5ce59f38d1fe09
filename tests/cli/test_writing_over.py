"""What commands write: whole files, not over what they read, nor unasked over what is dear."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import krand
import world
from chaos import files_in, no_file_grows_beyond
from cli.forms import write_form
from command_line import done, refused, run
from krand.testing import simulated_table, small_plan

CALLS = {
    "import": "form.xlsx",
    "plan": "listed.toml",
    "randomize": "answers.csv --plan plan.json --again",
    "report": "results.json",
    "invite": "plan.json --count 12 --url https://form.example/",
}
"""Commands with an option for a file that they write, and what they read."""
ENDINGS = {"import": "toml", "plan": "json", "randomize": "p", "report": "html"}
NEVER = {"invite": "csv"}
"""They replace nothing, and have no --force: links may be in use."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that is read, of the tiny survey with its choices in a file."""
    at = tmp_path_factory.mktemp("made")
    asked = f"invitations = true\n{world.survey_file('tiny').read_text(encoding='utf-8')}"
    listed = asked.replace('choices = ["soup", "salad", "none"]', 'choices_file = "meals.txt"')
    (at / "listed.toml").write_text(listed, encoding="utf-8")
    (at / "meals.txt").write_text("soup\nsalad\nnone\n", encoding="utf-8")
    rows = "yes,soup,\n" * 14
    (at / "answers.csv").write_text(f"fair,lunch,tools\n{rows}", encoding="utf-8")
    write_form(at / "form.xlsx")
    (at / "key.pem").write_text("somebody's own", encoding="utf-8")
    done("plan listed.toml -o plan.json", at=at)
    shutil.copy(world.files("mixer", at / "mixer") / "results.json", at)
    return at


@pytest.fixture
def place(made: Path, here: Path) -> Path:
    """A copy of everything, which the test may lose."""
    return shutil.copytree(made, here, dirs_exist_ok=True)


def _linked(file: Path, link: Callable[[Path, Path], None]) -> str:
    other = file.with_name("other" + file.suffix)
    link(file, other)
    return other.name


LINKS: dict[str, Callable[[Path], str]] = {
    "itself": lambda file: file.name,
    "dotted": lambda file: f"./{file.name}",
    "absolute": str,
    "around": lambda file: f"../{file.parent.name}/{file.name}",
    "symbolic": lambda file: _linked(file, os.symlink),
    "hard": lambda file: _linked(file, os.link),
}
READ = [
    (name, word)
    for name, words in CALLS.items()
    for word in words.split()
    if "." in word and "://" not in word and name not in NEVER
] + [("plan", "meals.txt")]
TRIED = [(name, file, "itself") for name, file in READ]
TRIED += [("report", "results.json", way) for way in LINKS if way != "itself"]


@pytest.mark.parametrize(("name", "file", "way"), TRIED)
def test_no_command_writes_over_what_it_reads(name: str, file: str, way: str, place: Path) -> None:
    """By whichever path or link, with and without --force."""
    before = (place / file).read_bytes()
    target = LINKS[way](place / file)
    both = name not in NEVER and (name != "report" or way == "itself")
    for force in ("", "--force") if both else ("",):
        found = run(name, CALLS[name], "-o", Path(target), force)
        assert found.exit_code == 2, found.output
        assert "must not be a file that the command reads" in found.output
        assert "name another file" in found.output
        assert (place / file).read_bytes() == before


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("file", ["key.pem", "plan.json", "answers.csv"])
def test_what_cannot_be_made_again_needs_force(name: str, file: str, place: Path) -> None:
    """Keys, plans, responses, and whatever krand did not write."""
    before = (place / file).read_bytes() + (b" " if name == "plan" else b"")
    target = place / f"precious.{ENDINGS[name]}"
    target.write_bytes(before)
    line = f"{name} {CALLS[name]} -o {target.name}"
    assert "--force" in refused(line)["hint"]
    assert target.read_bytes() == before
    done(line, "--force")
    assert target.read_bytes() != before


def test_keys_are_never_lost_by_mistake(place: Path) -> None:
    """An analyst has one, whoever asks again; a page and the same plan are replaced."""
    line = done("keygen analyst").stdout
    before = Path("analyst/keys/analyst.pem").read_bytes()
    assert done("keygen analyst").stdout == line
    assert Path("analyst/keys/analyst.pem").read_bytes() == before
    for _ in range(2):
        done("report results.json -o report.html")
        done("plan listed.toml -o plan.json")


@pytest.mark.parametrize("name", CALLS)
def test_a_full_disk_leaves_everything_as_it_was(name: str, place: Path) -> None:
    """An error that says why, no half of a file, and the same command does it later."""
    ending = (ENDINGS | NEVER).get(name, "pem")
    line = f"{name} {CALLS[name]} -o new.{ending}"
    if name not in NEVER:
        line += " --force"
        Path(f"new.{ending}").write_text("old", encoding="utf-8")
    before = files_in(place)
    for size in (0, 40):
        with no_file_grows_beyond(size):
            found = run(line)
        assert found.exit_code in (2, 75), found.output
        assert found.stderr.startswith("error: "), found.output
        assert "bug in krand" not in found.output
        assert files_in(place) == before, "a file was damaged, or a part of one is left"
    done(line)
    assert len(Path(f"new.{ending}").read_bytes()) > 40


def test_a_demonstration_spares_what_is_not_its_own(place: Path) -> None:
    """Files have names like plan.json: somebody's own, and the survey that it reads."""
    before = files_in(place)
    assert "must be an empty folder" in refused("demo -o .")["rule"]
    assert files_in(place) == before
    os.mkdir("shown")
    Path("shown/.krand-demo").touch()
    text = Path("listed.toml").read_text(encoding="utf-8").replace("meals.txt", "tally.json")
    Path("shown/report.html").write_text(text, encoding="utf-8")
    Path("shown/tally.json").write_text("cat\ndog\n", encoding="utf-8")
    before = files_in(place)
    refused("demo --survey shown/report.html -o shown")
    assert files_in(place) == before


def test_a_device_is_not_replaced_by_a_file(place: Path) -> None:
    """Nor a folder."""
    os.mkfifo("pipe")
    assert refused("report results.json -o pipe")["rule"] == "must be a file, or not exist yet"


def test_python_spares_its_input_too(here: Path) -> None:
    """And asks for overwrite=True where commands ask for --force."""
    plan = small_plan()
    pq.write_table(simulated_table(plan.survey, 100, seed=1), "people.parquet")
    before = Path("people.parquet").read_bytes()
    with pytest.raises(krand.InvalidInput, match="must not be a file that the command reads"):
        krand.randomize_table(plan, "people.parquet", "./people.parquet", overwrite=True)
    assert Path("people.parquet").read_bytes() == before
    Path("responses.parquet").write_bytes(b"precious")
    Path("plan.json").write_text("another", encoding="utf-8")
    for write in (
        lambda **more: krand.randomize_table(plan, "people.parquet", "responses.parquet", **more),
        lambda **more: plan.save("plan.json", **more),
    ):
        before = files_in(here)
        with pytest.raises(krand.InvalidInput, match="overwrite=True"):
            write()
        assert files_in(here) == before
        write(overwrite=True)
    assert krand.read_plan("plan.json") == plan
