"""The shell completes commands, options, choices and files."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from command_line import done, refused, told
from krand.cli.main import krand
from krand.cli.menu import NAMES

BASH = shutil.which("bash")
FOLDER = str(Path(sys.executable).parent)
SHELLS = ("bash", "zsh", "fish")
WAIT_SECONDS = 300.0


def completions(line: str) -> list[tuple[str, str]]:
    """What the shell is told for a line with the cursor at its end: sorts and values."""
    told = CliRunner().invoke(krand, env=asking(line))
    assert (told.exit_code, told.stderr) == (0, "")
    return [(kind, value) for kind, _, value in (e.partition(",") for e in told.stdout.split())]


def asking(line: str) -> dict[str, str]:
    """What the script of bash sets."""
    place = str(len(line.split(" ")) - 1)
    return {"_KRAND_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": place}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_asks_krand(shell: str) -> None:
    """Every script calls krand with the variable that krand listens to."""
    script = done("completion", shell).stdout
    assert f"_KRAND_COMPLETE={shell}_complete" in script
    values = told("completion", shell)
    assert values == {"shell": shell, "script": script.removesuffix("\n")}


def test_another_shell_is_refused_by_name() -> None:
    """With the ones that there are."""
    error = refused("completion tcsh")
    assert error["message"].startswith("shell: must be one of bash, zsh, fish, found 'tcsh'")


def test_help_says_where_to_put_it() -> None:
    """For each shell a line and its file."""
    text = done("completion --help").stdout
    for shell, file in zip(SHELLS, (".bashrc", ".zshrc", "config.fish"), strict=True):
        (line,) = (line for line in text.splitlines() if file in line)
        assert f"krand completion {shell}" in line


def test_commands_are_completed() -> None:
    """All of them, or those that begin so."""
    assert completions("krand ") == [("plain", name) for name in NAMES]
    assert completions("krand re") == [("plain", name) for name in ("release", "report")]


def test_options_and_choices_are_completed() -> None:
    """Those of the command, and what an option takes."""
    assert completions("krand noise --link") == [("plain", "--linkage")]
    assert completions("krand noise --linkage ") == [("plain", "bit"), ("plain", "record")]
    assert completions("krand tally --engine s") == [("plain", "spark")]
    assert completions("krand completion f") == [("plain", "fish")]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("krand plan sur", "file"),
        ("krand tally resp", "file"),
        ("krand estimate tally.json --plan pl", "file"),
        ("krand status --spool s", "dir"),
    ],
)
def test_files_and_folders_are_completed_by_the_shell(line: str, kind: str) -> None:
    """It is told which of them is meant, and what of its name is there."""
    assert completions(line) == [(kind, line.split(" ")[-1])]


def test_completing_a_name_loads_no_command() -> None:
    """The menu is enough, so that the tab key answers at once."""
    code = (
        "import sys\n"
        "from krand.cli.main import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print(*(m for m in sys.modules if 'present.commands.' in m), file=sys.stderr)\n"
    )
    environment = {**os.environ, **asking("krand ")}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "plain,noise" in run.stdout
    assert run.stderr.split() == []


@pytest.mark.skipif(BASH is None, reason="bash is not here")
def test_bash_completes_as_people_type(tmp_path: Path) -> None:
    """In a real shell on a terminal: the tab key after half a command, option, choice and file."""
    assert BASH is not None
    (tmp_path / "survey-of-pets.toml").write_text("", encoding="utf-8")
    master, slave = pty.openpty()
    path = f"{FOLDER}:{os.environ['PATH']}"
    process = subprocess.Popen(
        [BASH, "--norc", "--noprofile", "-i"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "TERM": "dumb", "PS1": "> "},
        start_new_session=True,
    )
    os.close(slave)
    seen = ""

    def type_and_wait(keys: str, wanted: str) -> None:
        nonlocal seen
        seen, end = "", time.monotonic() + WAIT_SECONDS
        os.write(master, keys.encode())
        while wanted not in seen:
            assert time.monotonic() < end, seen
            if select.select([master], [], [], 1.0)[0]:
                seen += os.read(master, 65536).decode(errors="replace")

    try:
        type_and_wait('eval "$(krand completion bash)"; echo rea""dy\n', "ready\r\n")
        type_and_wait("krand tal\t", "krand tally")
        type_and_wait(" --eng\t", "--engine")
        type_and_wait(" spa\t", "spark")
        type_and_wait(" surv\t", "survey-of-pets.toml")
    finally:
        process.kill()
        process.wait()
        os.close(master)
