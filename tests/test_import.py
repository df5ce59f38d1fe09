"""Starting krand is cheap: what is not needed is not loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

import krand

HEAVY = {"numpy", "scipy", "scipy.stats", "scipy.optimize", "matplotlib", "click", "rich"}


def loaded_after(statement: str) -> set[str]:
    """The heavy modules that a fresh interpreter has loaded after the statement."""
    code = f"import sys\n{statement}\nprint(*({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return set(run.stderr.split())


def test_the_probe_sees_a_heavy_module() -> None:
    """The check below can fail: a loaded module is reported."""
    assert "numpy" in loaded_after("import numpy")


def test_importing_krand_loads_no_mathematics() -> None:
    """`import krand` and the frozen values need neither numpy nor scipy."""
    assert loaded_after("import krand; krand.Policy, krand.Reports") == set()


@pytest.mark.parametrize("name", ["plan_noise", "assess", "frontier"])
def test_planning_avoids_the_slow_parts_of_scipy(name: str) -> None:
    """Planning does without scipy.stats, scipy.optimize and everything for display."""
    slow = {"scipy.stats", "scipy.optimize", "matplotlib", "click", "rich"}
    assert not loaded_after(f"from krand import {name}") & slow


@pytest.mark.parametrize("arguments", [[], ["--help"], ["noise", "--help"], ["--version"]])
def test_help_loads_no_mathematics(arguments: list[str]) -> None:
    """Help answers at once: no numpy, no scipy, no rich."""
    statement = f"""
from krand.present.cli import main
sys.argv = ["krand", *{arguments!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""
    assert loaded_after(statement) <= {"click"}


def test_every_exported_name_exists() -> None:
    """`__all__` lists names that really are there, and dir() shows them."""
    for name in krand.__all__:
        assert getattr(krand, name) is not None
    assert set(krand.__all__) <= set(dir(krand))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelled name fails like on any module."""
    with pytest.raises(AttributeError, match="no attribute 'plan_nose'"):
        krand.plan_nose  # noqa: B018
