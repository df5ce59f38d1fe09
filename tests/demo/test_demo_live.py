"""The demonstration with a collector: sealed, sent, released, opened; and stopped at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from collecting import quick_folder
from components import require
from krand.analysis.tally_file import read_tally
from krand.demo import live
from krand.demo.live import for_a_small_crowd
from krand.demo.screen import opening_lines
from krand.demo.story import Asked, Demonstration, demonstrate, example_text
from krand.survey import mechanisms
from krand.survey.reading import parse_survey
from krand.terminal.output import Output
from survey_texts import question_text, survey_text

PEOPLE = 60
SURVEY = survey_text(
    "live",
    question_text("color", "choice", choices=["red", "green", "blue"]),
    epsilon=1.0,
    delta=0.0001,
    minimum_crowd=100000,
)


@dataclass(frozen=True)
class Twice:
    """The same people twice, and where spool and ledgers were."""

    shown: list[Demonstration]
    workplace: Path


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("uvicorn")
    require("starlette")
    file = tmp_path_factory.mktemp("survey") / "own.toml"
    file.write_text(SURVEY, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def workplace() -> Iterator[Path]:
    """Where spool and ledgers lie while it runs."""
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "MEMORY", str(folder))
        yield folder


@pytest.fixture(scope="module")
def twice(survey: Path, workplace: Path, tmp_path_factory: pytest.TempPathFactory) -> Twice:
    asked = Asked(
        folder=tmp_path_factory.mktemp("live") / "output",
        survey=survey,
        crowd=PEOPLE,
        live=True,
        noise=mechanisms.DEVICES,
    )
    return Twice([demonstrate(asked, Output(True, True)) for _ in range(2)], workplace)


def collectors() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "collector"]


def test_everybody_is_counted_through_seal_and_collector(twice: Twice) -> None:
    """The batch holds everybody's messages, the estimates are near, and nothing is left running."""
    shown = twice.shown[1]
    tally = read_tally(shown.written["tally"])
    assert (tally.people, tally.rejected) == (PEOPLE, {})
    assert int(tally.counts.sum()) + tally.nulls == PEOPLE * shown.plan.messages
    assert sum(answer.truth for answer in shown.answers) == PEOPLE
    for answer, row in zip(shown.answers, shown.results.questions[0].rows, strict=False):
        assert abs(answer.estimate - answer.truth) <= 6 * row.standard_error
    assert {"batch", "manifest", "analyst_key", "collector_key"} <= set(shown.written)
    assert all(path.exists() for path in shown.written.values())
    assert collectors() == []
    assert list(twice.workplace.iterdir()) == []


def test_noise_of_real_devices_has_no_seed(twice: Twice) -> None:
    """Twice the same people: the same truth, other reports, in a folder that is used again."""
    first, second = twice.shown
    assert [a.truth for a in first.answers] == [a.truth for a in second.answers]
    assert first.results.batches != second.results.batches
    assert first.has_fresh_noise
    assert "answers use seed 1, noise is fresh" in next(opening_lines(first))


class Interrupting(Output):
    """Presses Ctrl-C when the fifth person has sent."""

    @contextmanager
    def counting(self, title: str, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
        done = 0

        def told(more: int) -> None:
            nonlocal done
            done += more
            if title == "sending" and done == 5:
                assert len(collectors()) == 1
                raise KeyboardInterrupt

        yield told


def test_an_interruption_leaves_nothing_running(
    survey: Path, workplace: Path, tmp_path: Path
) -> None:
    """Ctrl-C while people send: the collector stops, spool and ledgers are gone."""
    asked = Asked(
        folder=tmp_path / "output",
        survey=survey,
        crowd=PEOPLE,
        live=True,
        noise=mechanisms.DEVICES,
    )
    with pytest.raises(KeyboardInterrupt):
        demonstrate(asked, Interrupting(True, True))
    assert collectors() == []
    assert list(workplace.iterdir()) == []


def test_the_command_ends_at_once_and_alone(survey: Path, tmp_path: Path) -> None:
    """SIGINT while it sends: exit code 130, and no process of its group is left."""
    folder = tmp_path / "output"
    command = [sys.executable, "-m", "krand", "demo", "--live", "--survey", str(survey)]
    command += ["--noise-of", "devices", "--crowd", "20_000", "-o", str(folder)]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE) as process:
        try:
            _until(lambda: (folder / "collector.pub.pem").exists(), process)
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(60) == 130
            with pytest.raises(ProcessLookupError):
                os.killpg(process.pid, 0)
        finally:
            process.kill()


def _until(done: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_small_crowd_gets_a_larger_epsilon_and_a_large_one_does_not() -> None:
    """Doubled until a count is known to some 2.5 % of the crowd, three times at most."""
    survey = parse_survey(example_text())
    found = {n: for_a_small_crowd(survey, n).policy for n in (100_000, 1_000, 10)}
    assert [policy.epsilon for policy in found.values()] == [1.0, 2.0, 8.0]
    assert [policy.minimum_crowd for policy in found.values()] == [100_000, 1_000, 10]
