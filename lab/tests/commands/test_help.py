"""`krand-lab`: quick to load, of krand's version, and failing as krand does."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import requires, version

from click.testing import CliRunner

import krand
from asking import run
from krand_lab.commands.main import lab

HEAVY = ("numpy", "scipy", "rich", "matplotlib")


def test_the_two_packages_have_one_version() -> None:
    """krand-lab uses parts of krand that are not public."""
    assert version("krand-lab") == krand.__version__
    assert f"krand=={krand.__version__}" in (requires("krand-lab") or [])


def test_help_lists_the_commands_and_loads_no_mathematics() -> None:
    said = run("--help").stdout
    assert all(f"\n  {name} " in said for name in ("drafts", "observe", "simulate"))
    code = (
        "import sys, krand_lab.commands.main\n"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_failure_is_one_message_with_an_exit_code() -> None:
    """As text, and as JSON if asked for."""
    wrong = ["simulate", "--crowd", "0", "--bits", "1", "--epsilon", "1", "--noise", "0.2"]
    assert CliRunner().invoke(lab, wrong).exit_code == 2
    failed = CliRunner().invoke(lab, [*wrong, "--json"])
    assert failed.exit_code == 2
    assert "crowd" in json.loads(failed.stdout)["error"]["message"]
