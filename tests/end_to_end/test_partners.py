"""An organiser and two partners: processes that talk to each other, and nobody carries a file."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from collecting import WAIT_SECONDS, until
from command_line import run
from components import require
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from partners.processes import free_ports, mixer_serving
from survey_texts import question_text, survey_text

require("uvicorn")
require("starlette")

pytestmark = pytest.mark.check

CLOSES = (datetime.now(UTC) + timedelta(days=30)).date()
ABOUT = f'title = "Team"\norganiser = "The council"\ncloses = {CLOSES}'
SURVEY = survey_text(
    "team",
    question_text("fair", "yes_no"),
    question_text("lunch", "choice", choices=["soup", "salad", "none"]),
    epsilon=2,
    delta=0.0001,
    trust={"noise": "mixers", "mixers": 3},
).replace('id = "team"', f'id = "team"\n{ABOUT}')


def test_two_partners_join_by_links(tmp_path: Path) -> None:
    """One command of each: the organiser waits, prints a link for each, and goes on by itself."""
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    folder = SurveyFolder(tmp_path / "survey.krand")
    with free_ports(3) as ports, ThreadPoolExecutor() as pool:
        words = "pair survey.toml --invite university --invite union --no-anchor --address"
        command = [*words.split(), f"https://127.0.0.1:{ports[0]}"]
        log = tmp_path / "pair.log"
        with log.open("w") as errors:
            pairing = subprocess.Popen(
                [sys.executable, "-m", "krand", *command, "--json"],
                cwd=tmp_path,
                stderr=errors,
                stdout=subprocess.PIPE,
                text=True,
            )
        try:
            until(lambda: log.read_text().count("#") == 2 or pairing.poll() is not None)
            links = [line.strip() for line in log.read_text().splitlines() if "#" in line]
            own = [(f"--address https://127.0.0.1:{port}", port) for port in ports[1:]]
            with (
                _joined(tmp_path / "university", links[0], *own[0]) as university,
                _joined(tmp_path / "union", links[1], *own[1]) as union,
            ):
                paired = json.loads(pairing.communicate(timeout=WAIT_SECONDS)[0])
                assert pairing.returncode == 0, paired
                found = [(each["name"], each["fingerprint"]) for each in paired["mixers"]]
                assert found == [("university", university.words), ("union", union.words)]
                assert university.words in log.read_text()
                second = pool.submit(run, *_stranger(tmp_path, links[0]), "--json").result()
                assert second.exit_code == 75, second.output  # nobody listens any more
                assert "The pairing may have ended" in second.output
        finally:
            pairing.kill()
            pairing.wait()
    assert read_plan(folder.plan).hash == paired["plan"]


def _joined(store: Path, link: str, address: str, port: int) -> Any:
    return mixer_serving(store, "--join", link, *address.split(), "--no-anchor", port=port)


def _stranger(place: Path, link: str) -> tuple[str, ...]:
    own = "--address https://127.0.0.1:9 --host 127.0.0.1 --port 0 --no-anchor"
    return "mix serve", f"--store {place / 'stranger'}", f"--join {link}", own
