"""What all commands have in common: help, exit codes, objects for programs, plain text."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest

import krand
import steps
import world
from chaos import free_port
from command_line import command_named, done, on_a_terminal, refused, run, told
from golden import Golden
from krand.testing import SMALL_SURVEY

README = Path(__file__).parents[2] / "README.md"
PRIVACY = "privacy --crowd 7 --bits 1 --noise 1/3 --epsilon 1"
STAYING = (
    *("run", "plan", "import", "invite", "keygen", "mix", "mix accept", "pair"),
    *("randomize", "report", "compare", "verify", "noise", "privacy", "demo"),
)
"""The commands whose help is kept word for word."""
NAMES = [name for group in told()["commands"].values() for name in group]


@pytest.mark.parametrize("name", ["", *STAYING])
def test_help(name: str, golden: Golden) -> None:
    """What people read who ask how to use it."""
    golden(f"help/{name.replace(' ', '-') or 'krand'}", done(name, "--help").stdout)


def test_krand_alone_says_what_to_type_next(golden: Golden) -> None:
    """On one screen of 80 columns, with every command."""
    text = done().stdout
    assert max(map(len, text.splitlines())) <= 80
    golden("help/overview", text)


def test_programs_learn_version_commands_and_exit_codes() -> None:
    """In the words of the help; each command by the short help that it has itself."""
    values, helped = told(), done("--help").stdout
    assert values["version"] == krand.__version__ == done("--version").stdout.split()[-1]
    for code, meaning in values["exit_codes"].items():
        assert f"{code:>5}  {meaning}\n" in helped
    for group in values["commands"].values():
        for name, said in group.items():
            assert (name, command_named(name).short_help) == (name, said)


def test_the_readme_names_every_command_in_order() -> None:
    """One row of its table for each."""
    lines = README.read_text(encoding="utf-8").splitlines()
    rows = [line.split("`")[1] for line in lines if line.startswith("| `krand ")]
    assert rows == [f"krand {name}" for name in NAMES]


def options() -> Iterator[tuple[str, click.Option]]:
    """Every option of every command."""
    for name in NAMES:
        for parameter in command_named(name).params:
            if isinstance(parameter, click.Option):
                yield name, parameter


def test_an_option_of_one_name_is_the_same_everywhere() -> None:
    """One short form, with a value or without; all commands have the three for output."""
    seen: dict[str, set[tuple[tuple[str, ...], bool]]] = {}
    having: dict[str, set[str]] = {}
    for command, option in options():
        name = max(option.opts, key=len)
        seen.setdefault(name, set()).add((tuple(sorted(option.opts)), option.is_flag))
        having.setdefault(name, set()).add(command)
        assert (option.help or "").endswith("."), f"{command} {name}: {option.help!r}"
    assert {name: ways for name, ways in seen.items() if len(ways) > 1} == {}
    for name in ("--json", "--quiet", "--no-color"):
        assert set(NAMES) - having[name] == set(), f"commands without {name}"


# --- how a command ends --------------------------------------------------------------------------

FAILS = "cryptography.hazmat.primitives.asymmetric.x25519.X25519PrivateKey.generate"
"""A part of somebody else's library, which `krand keygen` needs."""


class Failing:
    """A key type whose generation ends as a test wants."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def generate(self) -> None:
        raise self.error


def keygen_ends_with(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, *more: str
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    monkeypatch.setattr(FAILS, Failing(error).generate)
    result = run("keygen analyst", *more)
    assert not [*Path("analyst").rglob("*.pem")]
    return result.exit_code, result.stdout, result.stderr


def test_a_bug_is_told_as_one(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 70, what it was, whose mistake it is; no traceback, unless that is asked for."""
    code, out, said = keygen_ends_with(RuntimeError("no such curve"), monkeypatch)
    assert (code, out) == (70, "")
    assert said == (
        "error: internal error: RuntimeError: no such curve\n"
        "  this is a bug in krand; please report it with your command\n"
    )
    code, out, said = keygen_ends_with(RuntimeError("x"), monkeypatch, "--json")
    assert (code, json.loads(out)["error"]["kind"], said) == (70, "internal_error", "")
    monkeypatch.setenv("KRAND_DEBUG", "1")
    assert "Traceback" in keygen_ends_with(RuntimeError("x"), monkeypatch)[2]


@pytest.mark.parametrize("more", ["", "--json"])
def test_ctrl_c_ends_a_command(here: Path, monkeypatch: pytest.MonkeyPatch, more: str) -> None:
    """With the code of shells, without a traceback, and nothing half done."""
    code, out, said = keygen_ends_with(KeyboardInterrupt(), monkeypatch, more)
    assert (code, out) == (130, "")
    assert "Traceback" not in said
    assert not [*here.rglob("*.pem")]


def test_without_randomness_there_is_no_noise(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A code of its own, and no file."""
    world.files("tiny", here)
    Path("a.csv").write_text("fair,lunch,tools\n" + "yes,soup,\n" * 12, encoding="utf-8")

    def fail(_: int, *__: object) -> bytes:
        raise OSError(errno.ENOSYS, "no random numbers")

    for source in ("urandom", "getrandom"):
        monkeypatch.setattr(os, source, fail, raising=False)
    error = refused("randomize a.csv --plan plan.json -o r.parquet", code=71)
    assert error["kind"] == "no_entropy"
    assert not Path("r.parquet").exists()


def test_a_part_that_is_not_installed_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    Path("form.xlsx").write_bytes(b"PK\x03\x04")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    error = refused("import form.xlsx -o survey.toml", code=4)
    assert error["kind"] == "missing_component"
    assert "krand[excel]" in error["message"]


def test_what_may_work_later_is_a_code_of_its_own(here: Path) -> None:
    """A mail server that nobody reaches."""
    survey = world.survey("tiny").changed(invitations=True)
    plan = replace(world.plan("tiny"), survey=survey)
    steps.named(plan).save("plan.json")
    rows = "".join(f"p{number}@example.org\n" for number in range(12))
    Path("people.csv").write_text(f"address\n{rows}", encoding="utf-8")
    mail = f"--smtp smtp://127.0.0.1:{free_port()} --from survey@example.org"
    line = f"invite plan.json --mail people.csv --url https://form.example/ {mail}"
    error = refused(line, code=75)
    assert error["kind"] == "unavailable"
    assert "Connection refused" in error["message"]


def test_what_cannot_be_met_is_answered_with_what_can(golden: Golden) -> None:
    """40 linked bits among 100 people at ε = 0.1: exit code 3, with a crowd that would do."""
    line = "noise --crowd 100 --bits 40 --epsilon 0.1 --delta 1e-6 --linkage record"
    error = refused(line, code=3)
    assert (error["kind"], error["nearest"]) == ("cannot_meet", ["crowd 2,160 at epsilon 0.1"])
    golden("refusals/cannot-be-met", f"error: {error['message']}")


def test_what_could_not_be_checked_is_a_code_for_those_who_ask(here: Path) -> None:
    """5 with --strict; 1 where a check failed, whatever else could not be made."""
    world.files("mixer", here)
    verify = "verify results.json tally.json --plan plan.json"
    assert run(verify).exit_code == 0
    assert run(verify, "--strict").exit_code == 5
    values = json.loads(Path("results.json").read_bytes())
    values["questions"][0]["rows"][0]["count"] += 20
    Path("results.json").write_text(json.dumps(values), encoding="utf-8")
    for more in ("", "--strict", "--json"):
        assert run(verify, more).exit_code == 1, f"{verify} {more}"


# --- what goes to which stream -------------------------------------------------------------------


def test_quiet_says_nothing_and_does_the_work(here: Path) -> None:
    """No byte on either stream; errors and objects for programs come all the same."""
    Path("survey.toml").write_text(SMALL_SURVEY, encoding="utf-8")
    for line in ("plan survey.toml -o plan.json -q", "keygen analyst --quiet", "-q"):
        result = run(line)
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", ""), line
    assert Path("plan.json").stat().st_size
    assert Path("analyst/keys/analyst.pem").stat().st_size
    assert refused("plan none.toml -q")["field"] == "survey"
    assert told("keygen other -q")["key"] == "other/keys/analyst.pem"


def test_what_stands_before_the_command_counts_for_it(here: Path) -> None:
    """krand --json keygen is krand keygen --json, and so are its errors."""
    assert json.loads(done("--json keygen analyst").stdout)["key"] == "analyst/keys/analyst.pem"
    error = run("--json plan none.toml")
    assert (error.exit_code, json.loads(error.stdout)["error"]["field"]) == (2, "survey")


@pytest.mark.parametrize("line", [PRIVACY, "nosie", "-h"])
def test_colours_only_where_they_are_wanted(line: str) -> None:
    """Not one escape code with --no-color, or NO_COLOR that is not empty."""
    assert "\x1b" not in on_a_terminal(f"{line} --no-color")[1]
    assert ("\x1b[" in on_a_terminal(line)[1]) == (line != "-h")
    for value, has_colours in (("", line != "-h"), ("1", False)):
        code, text = on_a_terminal(line, NO_COLOR=value)
        assert ("\x1b" in text) == has_colours, f"NO_COLOR={value!r}"
        assert code == (2 if line == "nosie" else 0)


def test_progress_is_shown_on_a_terminal_alone(here: Path) -> None:
    """Which step of how many, within 80 columns, none left out; nothing of it in a pipe."""
    world.files("tiny", here)
    code, text = on_a_terminal("demo --survey survey.toml -o shown")
    assert code == 0
    lines = re.split(r"[\r\n]", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text))
    assert max(map(len, lines)) <= 80
    steps = re.findall(r"step (\d) of (\d), (\w+)", text)
    assert [*dict.fromkeys(int(step) for step, _, _ in steps)] == [1, 2, 3, 4, 5]
    assert {of for _, of, _ in steps} == {"5"}
    assert {"planning", "answering", "randomizing", "counting"} <= {title for *_, title in steps}
    assert done("verify plan.json").stderr == ""


@pytest.mark.parametrize("width", range(30, 62, 4))
def test_no_line_ends_between_a_number_and_its_sign(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However narrow the terminal is; what is printed are spaces, which people search for."""
    monkeypatch.setenv("COLUMNS", str(width))
    text = done(PRIVACY).stdout
    lines = [re.sub("[─-╿]", "", line).strip() for line in text.splitlines()]
    broken = [line for line in lines if re.search(r"(^|\s)[εδ=±]$", line)]
    assert not broken, broken
    assert "\xa0" not in text
