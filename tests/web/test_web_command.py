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

from collecting import WAIT_SECONDS, object_told
from command_line import done, refused
from components import require

TLS = "--tls-cert here.pem --tls-key here.pem"


@pytest.mark.check
def test_the_pages_are_there_until_it_is_stopped(tmp_path: Path) -> None:
    """The address that it prints works, with the token in it; Ctrl-C stops it."""
    require("starlette")
    require("uvicorn")
    words = "web --port 0 --json --token-file token"
    command = [sys.executable, "-m", "krand", *words.split()]
    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=tmp_path
        )
    try:
        told = json.loads(object_told(process, tmp_path / "log"))
        assert set(told) == {"console"}
        token = (tmp_path / "token").read_text(encoding="ascii").strip()
        home = told["console"].removesuffix(f"?token={token}")
        with urllib.request.urlopen(home + "static/krand.js", timeout=WAIT_SECONDS):
            pass
        with pytest.raises(urllib.error.HTTPError) as locked:
            urllib.request.urlopen(home, timeout=WAIT_SECONDS)
        assert locked.value.code == 401
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(told["console"], timeout=WAIT_SECONDS) as page:
            assert "There are no surveys yet" in page.read().decode()
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=WAIT_SECONDS)
    errors = (tmp_path / "log").read_text(encoding="utf-8")
    assert process.returncode in (0, 130)
    assert rest == ""
    assert token not in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ("--port 99999", "port"),
        (f"--host nowhere.invalid {TLS} --token-file token", "host"),
        ("--host 0.0.0.0", "tls-cert"),
        (f"--host 0.0.0.0 {TLS}", "token-file"),
        ("--tls-cert here.pem", "tls-key"),
        ("nowhere", "folder"),
    ],
)
def test_what_cannot_be_served_is_refused(
    options: str, field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, and the option is named; nothing is left behind."""
    monkeypatch.chdir(tmp_path)
    Path("here.pem").touch()
    assert refused("web", options)["field"] == field
    assert not Path("token").exists()


def test_another_address_needs_a_password_and_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the token is typed, and stands in no address; on this machine it does."""
    monkeypatch.chdir(tmp_path)
    shown: list[Any] = []
    monkeypatch.setattr("krand.web.access.make_server", lambda *_: None)
    monkeypatch.setattr("krand.web.access.serve", lambda _, listener, show: shown.append(show))
    assert "Console    http://127.0.0.1:" in done("web --port 0").stderr
    Path("here.pem").touch()
    tls = f"{TLS} --token-file token"
    assert "token=" not in done(f"web --port 0 --host 0.0.0.0 --open {tls}").stderr
    assert shown[0] is None
    assert shown[1].startswith("https://")


@pytest.mark.parametrize(
    "line",
    ["web --port 0", "mix serve --store mixer --name a --no-anchor", "pair a.toml", "run a.toml"],
)
def test_without_the_extra_it_says_what_to_install(line: str, tmp_path: Path) -> None:
    """Exit code 4, like every missing component; nothing is made before."""
    (tmp_path / "starlette.py").write_text("raise ImportError(name='starlette')", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-m", "krand", *line.split(), "--json"]
    found = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 4, found.stderr
    assert "krand[serve]" in json.loads(found.stdout)["error"]["message"]
    assert {path.name for path in tmp_path.iterdir()} <= {"starlette.py", "__pycache__"}
