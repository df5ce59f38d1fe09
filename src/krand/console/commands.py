"""krand's own commands, run for the console: the same as an organiser would type.

A survey's site runs by itself: it goes on when the console ends, and is started again by the next.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from krand.console.folder import Place

KRAND = (sys.executable, "-P", "-m", "krand")
LOG = "krand.log"
"""What a command that runs by itself says, beside the survey."""
SHOWN_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Done:
    """What a command told."""

    words: tuple[str, ...]
    code: int
    told: dict[str, Any]

    @property
    def failure(self) -> str:
        """Why it failed, for people; empty if it did not."""
        return "" if self.code == 0 else str(self.told.get("error", {}).get("message", "failed"))


def run(place: Place, *words: str) -> Done:
    """A command, to its end."""
    found = subprocess.run(
        [*KRAND, *words, "--json"],
        cwd=place.root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        told = json.loads(found.stdout)
    except ValueError:
        told = {"error": {"message": found.stderr[-SHOWN_CHARACTERS:]}}
    return Done(words, found.returncode, told if isinstance(told, dict) else {})


def start(place: Place, *words: str) -> subprocess.Popen[bytes]:
    """A command that goes on by itself; what it says is in a file."""
    with (place.path / LOG).open("wb") as log:
        return subprocess.Popen(
            [*KRAND, *words],
            cwd=place.root,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # it outlives the console, and its Ctrl-C
        )


def said(place: Place) -> str:
    """Why the last such command failed, or the end of what it said."""
    try:
        text = (place.path / LOG).read_text("utf-8", "replace")
    except OSError:
        return ""
    return text[-SHOWN_CHARACTERS:].rpartition("\nerror: ")[2].removeprefix("error: ").strip()


def shown(place: Place, *words: str) -> str:
    """A command as people type it, in the folder of all surveys."""
    return " ".join(("krand", *words)).replace(f"{place.root}/", "")


def relative(place: Place, path: Path) -> str:
    """A file as people name it, in the folder of all surveys."""
    return str(path.relative_to(place.root))
