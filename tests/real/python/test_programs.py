"""krand in programs of their own: what is loaded, and that workers need no guard."""

from __future__ import annotations

import subprocess
import sys
from keyword import iskeyword
from pathlib import Path

import pytest

from command_line import told

NAMES = [name for group in told()["commands"].values() for name in group]
HEAVY = {
    *("numpy", "scipy", "scipy.stats", "scipy.optimize", "click", "rich"),
    *("cryptography", "pyarrow", "pydantic", "jinja2", "starlette", "sqlite3", "babel"),
}
COMMANDS = "krand.cli.commands."


def loaded_after(statement: str) -> set[str]:
    """The heavy modules, and the commands, that a fresh interpreter has loaded after it."""
    found = f"(m for m in sys.modules if m in {HEAVY!r} or m.startswith({COMMANDS!r}))"
    code = f"import sys\n{statement}\nprint(*{found}, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return set(run.stderr.splitlines()[-1].split())  # what is said before is no module


def by_command(*words: str) -> str:
    """A command line that ends well."""
    return f"""
from krand.cli.main import main
sys.argv = ["krand", *{words!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""


@pytest.mark.parametrize(
    ("statement", "needed"),
    [
        ("import krand; krand.Linkage, krand.ResponseFormat", set()),
        ("import krand; krand.Policy", {"pydantic"}),
        ("from krand import Client, Ledger, read_plan", {"cryptography", "pydantic", "sqlite3"}),
        (by_command(), {"click"}),
        (by_command("--help"), {"click"}),
        (by_command("--version"), {"click"}),
    ],
    ids=["values", "a policy", "a device", "krand", "help", "version"],
)
def test_only_what_is_needed_is_loaded(statement: str, needed: set[str]) -> None:
    """A device loads numpy when somebody answers; overview and help answer at once."""
    assert loaded_after(statement) == needed


@pytest.mark.parametrize("name", ["plan_noise", "assess"])
def test_planning_avoids_what_is_slow_to_load(name: str) -> None:
    """Planning does without scipy.stats, scipy.optimize and everything for display."""
    slow = {"scipy.stats", "scipy.optimize", "click", "rich"}
    assert not loaded_after(f"from krand import {name}") & slow


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


SCRIPT = '''
import os
from krand import make_plan, parse_survey, tally_batches
from krand.testing import FakeChain, simulated_people

print("the script runs")
options = ", ".join(f'"option {n}"' for n in range(30))
plan = make_plan(parse_survey(f"""
id = "s"
title = "S"
[policy]
epsilon = 30.0
delta = 1e-2
[trust]
noise = "mixers"
mixers = 2
[[question]]
name = "q"
type = "pick_any"
text = "Which?"
choices = [{options}]
"""))
chain = FakeChain(plan)
for answers in simulated_people(plan.survey, 140, seed=1):
    chain.client().submit(answers)
os.cpu_count = lambda: 2
tally = tally_batches(chain.plan, [chain.release("batches")], chain.key)
print(tally.people, "people counted")
'''
"""Without `if __name__ == "__main__":`, and with more messages than one process mixes alone."""


@pytest.mark.parametrize("given", ["plain.py", "-"])
def test_a_plain_program_mixes_and_tallies(given: str, tmp_path: Path) -> None:
    """It runs once, as a script, and as what the interpreter reads."""
    (tmp_path / "plain.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, given],
        cwd=tmp_path,
        input=SCRIPT,
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "the script runs\n140 people counted\n"
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr
