"""Packages add commands to `krand`, and a broken one disturbs nobody."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import krand

SOURCE = Path(krand.__file__).parents[1]
PAINT = """
import click

@click.command(short_help="Paint the results.")
def paint() -> None:
    click.echo("painted")
"""
BROKEN = {
    "import no_such_module": "ModuleNotFoundError: No module named 'no_such_module'",
    "raise SystemExit(3)": "SystemExit: 3",
    "paint = 5": "paints:paint is no click command",
    "": "AttributeError: module 'paints' has no attribute 'paint'",
}


def install(folder: Path, code: str, command: str = "paint", package: str = "krand-paints") -> None:
    """A package with one command, as pip would leave it in a folder of packages."""
    module = package.removeprefix("krand-")
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    described = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[krand.commands]\n{command} = {module}:paint\n")


def ask(folders: list[Path], *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """krand in an environment that has these folders of packages and nothing else."""
    path = os.pathsep.join(map(str, folders))
    return subprocess.run(
        [sys.executable, "-S", "-m", "krand", *arguments],
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """krand, and every installed package but krand-lab."""
    folder = tmp_path_factory.mktemp("packages")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(("krand_lab", "_krand_lab", "_editable_impl_krand")):
            (folder / path.name).symlink_to(path)
    return [SOURCE, folder]


@pytest.mark.check
@pytest.mark.parametrize("command", ["drafts", "observe", "simulate"])
def test_a_command_of_krand_lab_says_how_to_get_it(alone: list[Path], command: str) -> None:
    """With exit code 4, and no list names what is not there."""
    said = ask(alone, command, "--help")
    assert (said.returncode, said.stdout) == (4, "")
    expected = f"error: krand {command} is not installed; run: pip install krand-lab\n"
    assert said.stderr == expected
    assert f"\n  {command} " not in ask(alone, "--help").stdout


@pytest.mark.check
def test_a_package_adds_a_command(alone: list[Path], tmp_path: Path) -> None:
    """It is run, listed under its package, told to programs, completed and suggested."""
    install(tmp_path, PAINT)
    site = [*alone, tmp_path]
    assert ask(site, "paint").stdout == "painted\n"
    listed = ask(site, "--help").stdout
    assert "Krand-paints:\n  paint       Paint the results.\n" in listed
    assert "krand-paints  paint       Paint the results.\n" in ask(site).stdout
    commands = json.loads(ask(site, "--json").stdout)["commands"]
    assert commands["krand-paints"] == {"paint": "Paint the results."}
    line = {"_KRAND_COMPLETE": "bash_complete", "COMP_WORDS": "krand pain", "COMP_CWORD": "1"}
    assert ask(site, **line).stdout == "plain,paint\n"
    assert "did you mean paint or plan?" in ask(site, "piant").stderr


@pytest.mark.check
@pytest.mark.parametrize("code", BROKEN)
def test_a_broken_package_is_one_line(alone: list[Path], tmp_path: Path, code: str) -> None:
    """Its own command says what is wrong; help, completion and other commands go on."""
    install(tmp_path, code)
    site = [*alone, tmp_path]
    said = ask(site, "paint")
    assert (said.returncode, said.stdout) == (4, "")
    assert said.stderr == (
        f"error: krand paint cannot be loaded ({BROKEN[code]});"
        " run: pip install --upgrade krand-paints\n"
    )
    listed = ask(site, "--help")
    assert listed.returncode == 0
    assert "  paint       cannot be loaded; krand paint says why\n" in listed.stdout
    assert ask(site, "completion", "bash").returncode == 0
    line = {"_KRAND_COMPLETE": "bash_complete", "COMP_WORDS": "krand paint --", "COMP_CWORD": "2"}
    assert ask(site, **line).stderr == ""


def test_a_name_has_one_command(alone: list[Path], tmp_path: Path) -> None:
    """krand's own, or that of the first package; help tells which are not used."""
    install(tmp_path, PAINT, command="completion", package="krand-taken")
    install(tmp_path, PAINT, package="krand-first")
    install(tmp_path, PAINT.replace("painted", "overpainted"), package="krand-second")
    site = [*alone, tmp_path]
    assert "_KRAND_COMPLETE" in ask(site, "completion", "bash").stdout
    assert ask(site, "paint").stdout == "painted\n"
    assert ask(site, "--help").stdout.count("not used: there is another command of this name") == 2
