"""The command line as a whole: help at once, one language, plain text where it is wanted."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest

from command_line import command_named, done, refused, run, told
from krand import errors
from krand.cli.exit_codes import CHECK_FAILED, EXIT_CODES, INTERRUPTED, NOT_CHECKED
from krand.cli.main import krand
from krand.cli.menu import FLOW, MENU, NAMES, overview
from krand.terminal.overwriting import PlaceOrFile
from krand.testing import SMALL_SURVEY

README = Path(__file__).parents[2] / "README.md"
NOISE = "noise --crowd 10k --bits 2 --epsilon 1 --delta 1e-4"


def options() -> Iterator[tuple[str, click.Option]]:
    """Every option of every command."""
    for name in NAMES:
        for parameter in command_named(name).params:
            if isinstance(parameter, click.Option):
                yield name, parameter


@pytest.mark.parametrize(
    ("name", "said"), [item for commands in MENU.values() for item in commands.items()]
)
def test_the_menu_says_what_the_command_says(name: str, said: str) -> None:
    """The short help that is shown without loading a command is the command's own."""
    found = command_named(name)
    assert (found.name, found.short_help) == (name, said)


def test_every_command_of_the_package_is_on_the_menu() -> None:
    """A new file of commands cannot be forgotten."""
    from krand.cli import commands

    (folder,) = commands.__path__
    files = {file.stem.rstrip("_") for file in Path(folder).glob("*.py")} - {"__init"}
    assert files == set(NAMES)
    assert krand.list_commands(click.Context(krand)) == list(NAMES)


def test_krand_alone_shows_the_flow_within_80_columns() -> None:
    """From survey.toml to report.html, with the commands at their arrows; every command below."""
    text = run().stdout
    assert text == overview() + "\n"
    assert max(map(len, text.splitlines())) <= 80
    places = [FLOW.index(word) for word in ("survey.toml", "plan.json", "messages", "batch")]
    assert places == sorted(places)
    backwards = [FLOW.index(word) for word in ("report.html", "results.json", "tally.json")]
    assert backwards == sorted(backwards)
    for step in ("plan", "submit", "serve", "release", "randomize", "tally", "estimate", "report"):
        assert f"{step}" in FLOW.replace("plan.json", "").replace("results.json", "")
    for name in NAMES:
        assert f" {name} " in text
    assert "--help" in text


def test_help_lists_the_commands_in_the_order_of_use() -> None:
    """Grouped as on the menu, each with its short help."""
    text = done("--help").stdout
    places = [text.index(f"\n  {name}") for commands in MENU.values() for name in commands]
    assert places == sorted(places)
    for title in MENU:
        assert f"\n{title.capitalize()}:\n" in text


def test_krand_describes_itself_to_programs() -> None:
    """krand --json names version, commands and exit codes."""
    values = told()
    assert [name for group in values["commands"].values() for name in group] == list(NAMES)
    assert values["exit_codes"] == {str(code): text for code, text in EXIT_CODES.items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_command_can_speak_to_programs_and_be_quiet(name: str) -> None:
    """--json, --quiet and --no-color everywhere, in the same words."""
    shared = {option.opts[0]: option for option in krand.params if isinstance(option, click.Option)}
    own = {parameter.opts[0]: parameter for parameter in command_named(name).params}
    for option in ("--json", "--quiet", "--no-color"):
        assert isinstance(own[option], click.Option)
        assert own[option].help == shared[option].help
        assert own[option].opts == shared[option].opts


def test_the_same_option_is_spelt_the_same_everywhere() -> None:
    """An option of one name takes one sort of value and has one short form."""
    seen: dict[str, dict[tuple[object, ...], str]] = {}
    for command, option in options():
        long = max(option.opts, key=len)
        kind = {"count": "integer"}.get(option.type.name, option.type.name)  # 10k or 10000
        if isinstance(option.type, PlaceOrFile):  # a file, or the address of a remote one
            kind = "file"
        if long == "--output":  # a file or a folder
            kind = "path"
            assert isinstance(option.type, click.Path)
        if (command, long) == ("noise", "--copies"):  # one number or several
            kind = "integer"
        spelt = (tuple(sorted(option.opts)), kind, option.is_flag)
        seen.setdefault(long, {})[spelt] = command
    assert {name: ways for name, ways in seen.items() if len(ways) > 1} == {}
    assert "-o" in next(iter(seen["--output"]))[0]


def test_every_option_says_what_it_is() -> None:
    """A short sentence, with its full stop."""
    for command, option in options():
        assert option.help, (command, option.name)
        assert option.help.endswith("."), (command, option.name)
        assert len(option.help) <= 130, (command, option.name)


@pytest.mark.parametrize(
    ("typed", "meant"), [("nosie", "noise"), ("Estimate", "estimate"), ("tallly", "tally")]
)
def test_a_mistyped_command_is_answered_with_the_likely_one(typed: str, meant: str) -> None:
    """In krand's own words, with exit code 2."""
    result = run(typed)
    assert result.exit_code == 2
    assert result.stderr == (
        f"error: command: must be a krand command, found {typed!r}\n  did you mean {meant}?\n"
    )
    error = refused(typed)
    assert (error["field"], error["value"]) == ("command", typed)


def test_a_command_like_no_other_is_answered_with_where_to_look() -> None:
    """Nothing is guessed where nothing is near."""
    assert "run krand to list all commands" in run("xyzzy").stderr


def test_a_mistyped_option_is_answered_with_the_likely_one() -> None:
    """Of a command, and of krand itself; an argument too many is a mistake like any other."""
    refused("noise extra")
    assert "did you mean --crowd" in run("noise --crwod 3").stderr
    assert "did you mean --version" in run("--versoin").stderr


def subclasses(base: type) -> Iterator[type]:
    yield base
    for child in base.__subclasses__():
        yield from subclasses(child)


def test_exit_codes_are_those_of_the_errors() -> None:
    """Every code that an error can end with is explained, and no other one is."""
    import krand.client.sending
    import krand.collector.sqlite.spool

    assert krand.client.sending
    codes = {kind.exit_code for kind in subclasses(errors.KrandError)}  # type: ignore[attr-defined]
    assert set(EXIT_CODES) == codes | {0, CHECK_FAILED, NOT_CHECKED, INTERRUPTED}


def test_exit_codes_are_explained_in_help() -> None:
    """All of them."""
    helped = done("--help").stdout
    for code, meaning in EXIT_CODES.items():
        assert f"{code:>5}  {meaning}\n" in helped


def test_the_readme_names_every_command_in_order() -> None:
    """One row of its table for each."""
    lines = README.read_text(encoding="utf-8").splitlines()
    rows = [line.split("`")[1] for line in lines if line.startswith("| `krand ")]
    assert rows == [f"krand {name}" for name in NAMES]


@pytest.mark.check
def test_quiet_says_nothing_and_does_the_work(here: Path) -> None:
    """No byte on either stream, and the files are there."""
    Path("survey.toml").write_text(SMALL_SURVEY, encoding="utf-8")
    plan, key = "plan survey.toml -o plan.json -q", "keygen -o key.pem --quiet"
    for command in (plan, key, "completion bash -q", "-q", f"--quiet {NOISE}"):
        result = run(command)
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", ""), command
    assert Path("plan.json").stat().st_size
    assert Path("key.pem").stat().st_size


def test_quiet_leaves_errors_and_json_alone(here: Path) -> None:
    """What a script must know comes all the same."""
    assert refused("plan none.toml -q")["field"] == "survey"
    assert told("keygen -o key.pem -q")["encrypted"] is False


def test_what_stands_before_the_command_counts_for_it(here: Path) -> None:
    """krand --json keygen is krand keygen --json."""
    before = done("--json keygen -o key.pem")
    assert json.loads(before.stdout)["signing"] is False
    error = run("--json keygen -o key.pem")
    assert error.exit_code == 2
    assert json.loads(error.stdout)["error"]["field"] == "output"


def on_a_terminal(command: str, **environment: str) -> str:
    """What the command writes to a terminal, both streams."""
    master, slave = pty.openpty()
    variables = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    variables |= {"TERM": "xterm-256color", "COLUMNS": "80", **environment}
    words = [sys.executable, "-m", "krand", *command.split()]
    with subprocess.Popen(words, stdout=slave, stderr=slave, env=variables) as process:
        os.close(slave)
        written = b""
        with suppress(OSError):  # how a terminal says that nobody writes any more
            while piece := os.read(master, 65536):
                written += piece
        process.wait()
    os.close(master)
    return written.decode()


@pytest.mark.check
@pytest.mark.parametrize("command", [NOISE, "nosie", "-h"])
def test_plain_text_has_no_escape_codes(command: str) -> None:
    """Not one, in a terminal that has colours: by --no-color, and by NO_COLOR."""
    for text in (on_a_terminal(f"{command} --no-color"), on_a_terminal(command, NO_COLOR="1")):
        assert text.strip()
        assert "\x1b" not in text


@pytest.mark.check
@pytest.mark.parametrize("command", [NOISE, "nosie"])
def test_a_terminal_gets_colours(command: str) -> None:
    """The check above can fail: without being asked for plain text there are escape codes."""
    assert "\x1b[" in on_a_terminal(command, NO_COLOR="")  # empty is as good as absent
