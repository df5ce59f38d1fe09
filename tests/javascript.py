"""Runs the JavaScript client in node; tests are skipped where node or its packages are missing."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from components import missing, require_program

FOLDER = Path(__file__).parents[1] / "clients" / "js"
STATIC = FOLDER.parents[1] / "src" / "krand" / "web" / "form" / "static"
WAIT_SECONDS = 600.0


def node(*arguments: str, text: str = "") -> str:
    """What node prints; it must end well."""
    program = require_program("node")
    if not (FOLDER / "node_modules").is_dir():
        missing("node_modules of clients/js", "run: make js")
    done = subprocess.run(
        [program, *arguments],
        cwd=FOLDER,
        env={**os.environ, "NODE_NO_WARNINGS": "1"},
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@cache
def built_internals() -> Path:
    """All modules of the client in one file, built anew once in each process of tests."""
    node("build.mjs", "--internals")
    return FOLDER / "build" / "internals.js"


def asked(questions: list[dict[str, Any]]) -> list[Any]:
    """What the client answers to each question."""
    built_internals()
    answers: list[Any] = json.loads(node("test/driver.mjs", text=json.dumps(questions)))
    return answers
