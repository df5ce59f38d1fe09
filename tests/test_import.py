"""Starting krand is cheap: what is not needed is not loaded."""

from __future__ import annotations

import subprocess
import sys
from keyword import iskeyword

import pytest

import krand
from krand.cli.menu import NAMES

HEAVY = {
    *("numpy", "scipy", "scipy.stats", "scipy.optimize", "click", "rich"),
    *("cryptography", "pyarrow", "pydantic", "jinja2", "starlette", "sqlite3", "babel"),
}
COMMANDS = "krand.cli.commands."
LIGHT = (
    "krand.survey.document",
    "krand.survey.encoding",
    "krand.planning.record",
)


def loaded_after(statement: str) -> set[str]:
    """The heavy modules, and the commands, that a fresh interpreter has loaded after it."""
    found = f"(m for m in sys.modules if m in {HEAVY!r} or m.startswith({COMMANDS!r}))"
    code = f"import sys\n{statement}\nprint(*{found}, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return set(run.stderr.splitlines()[-1].split())  # what is said before is no module


@pytest.mark.check
@pytest.mark.parametrize(
    ("statement", "needed"),
    [
        pytest.param("import krand; krand.Policy, krand.ResponseFormat", set(), id="values"),
        pytest.param(f"import {', '.join(LIGHT)}", set(), id="reading a plan and encoding"),
        pytest.param(
            "from krand import Client, Ledger, read_plan", {"cryptography", "sqlite3"}, id="device"
        ),
    ],
)
def test_only_what_is_needed_is_loaded(statement: str, needed: set[str]) -> None:
    """A device loads numpy when somebody answers, and pydantic is for survey files alone."""
    assert loaded_after(statement) == needed


@pytest.mark.check
@pytest.mark.parametrize("name", ["plan_noise", "assess"])
def test_planning_avoids_the_slow_parts_of_scipy(name: str) -> None:
    """Planning does without scipy.stats, scipy.optimize and everything for display."""
    slow = {"scipy.stats", "scipy.optimize", "click", "rich"}
    assert not loaded_after(f"from krand import {name}") & slow


def loaded_by(arguments: list[str]) -> set[str]:
    """What a command line loads that ends well."""
    statement = f"""
from krand.cli.main import main
sys.argv = ["krand", *{arguments!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""
    return loaded_after(statement)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["--json"]])
def test_krand_itself_loads_no_command(arguments: list[str]) -> None:
    """Flow and help answer at once: from the menu alone."""
    assert loaded_by(arguments) == {"click"}


def test_help_of_a_command_loads_that_command_alone() -> None:
    """No numpy, no rich, and none of the other commands."""
    code = f"""
import os, sys
from krand.cli.main import main
for name in {tuple(NAMES)!r}:
    if os.fork() == 0:
        sys.argv = ["krand", name, "--help"]
        try:
            main()
        finally:
            loaded = (m for m in sys.modules if m in {HEAVY!r} or m.startswith({COMMANDS!r}))
            os.write(2, " ".join([name, *sorted(loaded), chr(10)]).encode())
            os._exit(0)
    os.wait()
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = {name: f"{name}_" if iskeyword(name) else name for name in NAMES}
    expected = [[name, "click", f"{COMMANDS}{modules[name]}"] for name in NAMES]
    assert [line.split() for line in run.stderr.splitlines()] == expected
    assert run.stdout.count("Usage: krand") == len(NAMES)


def test_a_mistyped_command_loads_no_command() -> None:
    """The likely ones are found by name."""
    statement = """
from krand.cli.main import krand
try:
    krand(["nosie"], prog_name="krand")
except SystemExit as stop:
    assert stop.code == 2, stop.code
sys.stderr = sys.__stderr__
"""
    assert not {m for m in loaded_after(statement) if m.startswith(COMMANDS)}


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelled name fails like on any module."""
    with pytest.raises(AttributeError, match="no attribute 'plan_nose'"):
        krand.plan_nose  # noqa: B018
