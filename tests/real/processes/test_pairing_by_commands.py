"""krand mix serve, krand pair and krand mix accept, as an operator and organisers type them."""

from __future__ import annotations

import re
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import world
from chaos import Program, is_alive
from command_line import done, refused, run, told
from components import require

require("uvicorn")
require("starlette")

SERVE = ("mix", "serve", "--host", "127.0.0.1", "--port", 0, "--no-anchor", "--name", "university")


def folder_of(at: Path, organiser: str) -> Path:
    """A survey of two mixers, in a folder of its own."""
    at.mkdir()
    closes = datetime.now(UTC).date() + timedelta(days=30)
    text = world.survey_file("trio").read_text(encoding="utf-8").replace("mixers = 3", "mixers = 2")
    text = text.replace('organiser = "Works council"', f'organiser = "{organiser}"')
    (at / "survey.toml").write_text(f"closes = {closes}\n{text}", encoding="utf-8")
    return at


def test_operators_accept_whom_they_know(tmp_path: Path) -> None:
    """Both read words to each other; a refusal comes with its reason; a kill loses no identity."""
    store = tmp_path / "mixer"
    with Program(*SERVE, "--store", store, errors=tmp_path / "log") as service:
        (link,) = service.wait_until(
            lambda: re.findall(r"https://\S+/#[0-9a-f]{64}", service.said())[:1], "its link"
        )
        first = folder_of(tmp_path / "first", "The  Council")
        second = folder_of(tmp_path / "second", "the council")
        own = "pair survey.toml --no-anchor --no-wait --address https://127.0.0.1:9 --mixer"
        unknown = run(own, link.partition("/#")[0], at=first)
        assert unknown.exit_code == 2, "nobody is trusted at first sight"
        assert "must name the identity behind #, or --yes must be given" in unknown.stderr
        (words,) = re.findall(r"in words: +(.*)", unknown.stderr)
        for folder in (first, second):
            result = run(own, link, at=folder)
            assert result.exit_code == 75, result.output
            assert "its operator has to accept it first: krand mix accept" in result.stderr
            waiting = told("mix accept --store", store)["waiting"]
            assert waiting[-1]["words"] in result.stderr, "the organiser reads them out"
        one, other = waiting
        assert other["words"] in one["same_name"], "two of one name are told apart"
        listed = done("mix accept --store", store).stdout
        assert "Careful: somebody else called the council" in listed
        assert all(f"in words:  {request['words']}" in listed for request in waiting)
        accepted = told(f"mix accept {one['number']} --store", store)
        assert accepted["stage"] == "accepted"
        done(f"mix accept {other['number']} --refuse 'we do not know you' --store", store)
        said = done(own, link, at=first).stdout
        for line in ("university, mixer 2 of 2, has promised:", f"  It is {words}."):
            assert line in said, said
        assert "Open the survey: krand run survey.krand/site.toml" in said
        assert told(own, link, at=first)["mixers"][0]["fingerprint"] == words
        error = refused(own, link, at=second)
        assert error["hint"] == "we do not know you"
        assert "mixer 2" in error["field"]
        service.end(signal.SIGKILL)
    with Program(*SERVE[:-2], "--store", store, errors=tmp_path / "again") as again:
        same = link.partition("#")[2]
        again.wait_until(lambda: same in again.said(), "the same identity")
        assert is_alive(again.process.pid)
        assert again.end() == 0
    assert store.stat().st_mode & 0o077 == 0, "others can look into it"
