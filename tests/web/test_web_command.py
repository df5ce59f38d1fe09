"""`krand web`: what it prints, what it refuses, how it stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from collecting import WAIT_SECONDS, exact_plan
from components import require
from krand.cli.main import krand
from krand.collector.opening import open_spool
from krand.promise import Linkage


@pytest.fixture
def at(tmp_path: Path) -> Path:
    """A folder with a plan and its collector's spool."""
    plan = exact_plan(30, Linkage.BIT)
    (tmp_path / "plan.json").write_bytes(plan.bytes)
    open_spool(plan, tmp_path / "spool").close()
    return tmp_path


def told_by(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The one object that it prints when it has begun."""
    assert process.stdout is not None
    text = ""
    while not text.endswith("}\n"):
        line = process.stdout.readline()
        assert line, text
        text += line
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_pages_are_there_until_it_is_stopped(at: Path) -> None:
    """The addresses that it prints work, the dashboard's with the token in it; Ctrl-C stops it."""
    require("starlette")
    require("uvicorn")
    options = ["--plan", at / "plan.json", "--spool", at / "spool", "--token-file", at / "token"]
    command = [sys.executable, "-m", "krand", "web", "--port", "0", "--json", *map(str, options)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=at
    )
    try:
        told = told_by(process)
        assert set(told) == {"planner", "collector"}
        token = (at / "token").read_text(encoding="ascii").strip()
        assert told["collector"] == f"{told['planner']}collector?token={token}"
        with urllib.request.urlopen(told["planner"] + "static/krand.js", timeout=WAIT_SECONDS):
            pass
        with pytest.raises(urllib.error.HTTPError) as locked:
            urllib.request.urlopen(told["planner"] + "collector", timeout=WAIT_SECONDS)
        assert locked.value.code == 401
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(told["collector"], timeout=WAIT_SECONDS) as page:
            assert "Collector for cells" in page.read().decode()
    finally:
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode in (0, 130)
    assert rest == ""
    assert token not in errors
    assert "Traceback" not in errors


def refusal(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(krand, ["web", *arguments, "--json"])
    assert result.exit_code == 2, result.output
    error: dict[str, Any] = json.loads(result.stdout)["error"]
    return error


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("--port", "99999"), "port"),
        (("--host", "nowhere.invalid"), "host"),
        (("--token-file", "token"), "token-file"),
        (("--plan", "plan.json"), "plan"),
        (("--results", "out"), "results"),
    ],
)
def test_what_cannot_be_served_is_refused(arguments: tuple[str, str], field: str) -> None:
    """Exit code 2, and the option is named; nothing is left behind."""
    assert refusal(*arguments)["field"] == field
    assert not Path("token").exists()


def test_another_address_than_loopback_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no TLS; on loopback there is no warning."""
    shown: list[Any] = []
    monkeypatch.setattr("krand.web.serving.make_server", lambda *_: None)
    monkeypatch.setattr("krand.web.serving.serve", lambda _, listener, show: shown.append(show))
    quiet = CliRunner().invoke(krand, ["web", "--port", "0"])
    assert (quiet.exit_code, "warning" in quiet.stderr) == (0, False)
    assert "Planner    http://127.0.0.1:" in quiet.stderr
    loud = CliRunner().invoke(krand, ["web", "--port", "0", "--host", "0.0.0.0", "--open"])
    assert (loud.exit_code, "without encryption" in loud.stderr) == (0, True)
    assert shown[0] is None
    assert shown[1].startswith("http://")


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    """Exit code 4, like every missing component."""
    (tmp_path / "starlette.py").write_text("raise ImportError(name='starlette')", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-m", "krand", "web", "--port", "0", "--json"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 4, found.stderr
    assert "krand[serve]" in json.loads(found.stdout)["error"]["message"]
