"""Runs the JavaScript client in node; tests are skipped where node or its packages are missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from components import missing

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "clients" / "js"
INTERNALS = FOLDER / "build" / "internals.js"
STATIC = ROOT / "src" / "krand" / "web" / "form" / "static"
WAIT_SECONDS = 600.0


def node(*arguments: str, text: str = "") -> str:
    """What node prints; it must end well."""
    program = shutil.which("node")
    if program is None:
        missing("node", "node 18 or newer is not installed")
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


def built_internals() -> Path:
    """All modules of the client in one file, built anew."""
    node("build.mjs", "--internals")
    return INTERNALS


def asked(questions: list[dict[str, Any]]) -> list[Any]:
    """What the client answers to each question."""
    answers: list[Any] = json.loads(node("test/driver.mjs", text=json.dumps(questions)))
    return answers
