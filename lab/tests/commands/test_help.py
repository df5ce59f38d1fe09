"""krand-lab in `krand`: listed, quick to load, and of the same version."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires, version

import pytest

import krand
from krand.cli.menu import menu
from krand.cli.plugins import ELSEWHERE

HEAVY = ("numpy", "scipy", "rich", "matplotlib")


def test_krand_names_every_command_of_krand_lab() -> None:
    """So that it can say what to install where krand-lab is missing."""
    assert list(menu()["krand-lab"]) == sorted(ELSEWHERE)
    assert set(ELSEWHERE.values()) == {"krand-lab"}


def test_the_two_packages_have_one_version() -> None:
    """krand-lab uses parts of krand that are not public."""
    assert version("krand-lab") == krand.__version__
    assert f"krand=={krand.__version__}" in (requires("krand-lab") or [])


@pytest.mark.parametrize("command", sorted(ELSEWHERE))
def test_help_loads_no_mathematics(command: str) -> None:
    """`krand --help` loads these modules too."""
    code = (
        f"import sys, krand_lab.commands.{command}\n"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
