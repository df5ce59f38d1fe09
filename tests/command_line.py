"""krand's commands, run in this process as people and programs type them."""

from __future__ import annotations

import io
import json
import os
import shlex
from collections.abc import Iterable
from contextlib import chdir
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
from click.testing import CliRunner, Result

from krand.cli.main import krand


def command_named(name: str) -> click.Command:
    """One of krand's commands."""
    found = krand.get_command(click.Context(krand), name)
    assert found is not None
    return found


def run(*words: object, at: Path | None = None, typed: str | None = None) -> Result:
    """A command in a folder: a text is part of a line, as a shell reads it; a path is one word."""
    with chdir(at or Path.cwd()):
        return CliRunner().invoke(krand, _split(words), input=typed)


def _split(words: Iterable[object]) -> list[str]:
    parts = (shlex.split(word) if isinstance(word, str) else [str(word)] for word in words)
    return list(chain.from_iterable(parts))


def done(*words: object, at: Path | None = None) -> Result:
    """A command that succeeds."""
    result = run(*words, at=at)
    assert result.exit_code == 0, f"{words}\n{result.output}"
    return result


def told(*words: object, at: Path | None = None) -> dict[str, Any]:
    """The one object that a command tells programs."""
    value = json.loads(done(*words, "--json", at=at).stdout)
    assert isinstance(value, dict)
    return value


def refused(*words: object, at: Path | None = None, code: int = 2) -> dict[str, Any]:
    """The error as programs read it; people read one too, and nobody sees a bug."""
    result = run(*words, "--json", at=at)
    assert result.exit_code == code, result.output
    text = run(*words, at=at)
    assert (text.exit_code, text.stdout) == (code, ""), text.output
    assert text.stderr.startswith("error: ")
    assert "bug in krand" not in text.stderr
    error: dict[str, Any] = json.loads(result.stdout)["error"]
    return error


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def on_a_terminal(
    *words: object, at: Path | None = None, typed: str = "", **variables: str
) -> tuple[int, str]:
    """The command on a terminal of 80 columns that has colours: its code, and what is shown."""
    screen, settings = Terminal(), {"TERM": "xterm-256color", "COLUMNS": "80", **variables}
    streams = {"stdin": Terminal(typed), "stdout": screen, "stderr": screen}
    with (
        chdir(at or Path.cwd()),
        patch.dict(os.environ, settings),
        patch.multiple("sys", **streams),
    ):
        try:
            krand(_split(words))
        except SystemExit as end:
            return int(end.code or 0), screen.getvalue()
    raise AssertionError(f"krand {words} did not end with an exit code")
