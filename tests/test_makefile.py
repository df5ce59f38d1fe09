"""`make` installs what a target needs, and nothing twice."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STAMPS = ("core", "figures", "test")


def would_run(folder: Path, target: str) -> str:
    """The commands of a target, which make prints instead of running them."""
    command = ["make", "--dry-run", "--no-print-directory", target]
    clean = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        command, cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the Makefile and the project's description, and no environment."""
    (tmp_path / "lab").mkdir()
    for name in ("Makefile", "pyproject.toml", "lab/pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("target", "installed"),
    [
        ("demo", "-e '.'"),
        ("drafts", "-e '.[figures]' -e ./lab"),
        ("unit", "-e '.[test]' -e ./lab"),
        ("lint", "-e '.[test]' -e ./lab"),
    ],
)
def test_a_target_installs_what_it_needs(clone: Path, target: str, installed: str) -> None:
    """The demonstration needs none of the tools for tests, nor figures of matplotlib."""
    lines = [line for line in would_run(clone, target).splitlines() if "pip install" in line]
    assert [line.partition("--disable-pip-version-check ")[2] for line in lines] == [installed]


@pytest.mark.parametrize("target", ["demo", "drafts", "unit"])
def test_the_environment_of_the_tests_serves_everything(clone: Path, target: str) -> None:
    """Who has run the tests installs nothing for the demonstration."""
    would = would_run(clone, "unit")
    stamps = [line for line in would.splitlines() if line.startswith("touch")]
    assert stamps == ["touch " + " ".join(f".venv/.{stamp}" for stamp in STAMPS)]
    for stamp in STAMPS:
        (clone / ".venv" / f".{stamp}").touch()
    assert "pip install" not in would_run(clone, target)


def test_the_environment_of_the_demonstration_is_completed_for_the_tests(clone: Path) -> None:
    (clone / ".venv" / ".core").touch()
    assert "pip install" not in would_run(clone, "demo")
    assert "'.[test]'" in would_run(clone, "unit")


def test_another_python_has_an_environment_of_its_own(clone: Path) -> None:
    """`make test-3.12` leaves .venv as it is."""
    would = would_run(clone, "test-3.12")
    assert "python3.12 -m venv .venv-3.12" in would
    assert ".venv/" not in would


def test_the_tests_of_krand_lab_run_with_the_others(clone: Path) -> None:
    """In one command, which names no folder; they can also be run alone."""
    assert would_run(clone, "unit").rstrip().endswith("loadfile --ignore=tests/oracles")
    assert would_run(clone, "drafts-test").rstrip().endswith("loadfile lab/tests")
    assert parts_of(clone, "test") == {"lint", "unit"}


def test_the_gate_runs_all_of_make_test_and_more(clone: Path) -> None:
    """The same parts with every variant, and other people's libraries."""
    assert parts_of(clone, "check") == {*parts_of(clone, "test"), "oracles"}
    makefile = (clone / "Makefile").read_text(encoding="utf-8")
    assert "\ncheck: export KRAND_CHECK = 1\n" in makefile
    assert "make -j2 check" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_make_long_runs_what_is_marked(clone: Path) -> None:
    """No list of files: whoever writes a loop marks it."""
    (line,) = (line for line in would_run(clone, "long").splitlines() if "pytest" in line)
    assert "KRAND_LONG=1" in line
    assert line.endswith("-m 'loop or long' --ignore=tests/oracles")


def parts_of(folder: Path, target: str) -> set[str]:
    """What a target consists of."""
    text = (folder / "Makefile").read_text(encoding="utf-8")
    (parts,) = re.findall(rf"^{target}: ([a-z -]+?)  ##", text, re.MULTILINE)
    return set(parts.split())
