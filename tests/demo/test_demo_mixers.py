"""The demonstration with mixers: three processes, and none of them left, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from collecting import quick_folder
from components import require
from krand.analysis.tally_file import read_tally
from krand.batches.chain import read_chain, verify_chain
from krand.cli.main import krand
from krand.demo import baselines, chain, live
from krand.demo.report import write_report
from krand.demo.screen import opening_lines, promise_lines
from krand.demo.story import Asked, Demonstration, demonstrate
from krand.demo.values import demonstration_values
from krand.errors import Unavailable
from krand.survey import mechanisms
from krand.survey.reading import read_survey
from krand.terminal.output import Output
from survey_texts import question_text, survey_text

PEOPLE = 30
SURVEY = survey_text(
    "live",
    question_text("color", "choice", choices=["red", "green", "blue"]),
    question_text("smokes", "yes_no"),
    epsilon=1.0,
    delta=0.0001,
    minimum_crowd=100000,
)


class Started:
    """Every process that the demonstration starts, with its command."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.processes: list[subprocess.Popen[str]] = []
        self.commands: list[list[str]] = []
        self._popen = subprocess.Popen
        patch.setattr(chain.subprocess, "Popen", self._start)

    def _start(self, command: list[str], **options: Any) -> subprocess.Popen[str]:
        process = self._popen(command, **options)
        self.processes.append(process)
        self.commands.append(command[command.index("krand") + 1 :])
        return process

    @property
    def running(self) -> int:
        return sum(process.poll() is None for process in self.processes)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("uvicorn")
    require("starlette")
    file = tmp_path_factory.mktemp("survey") / "own.toml"
    file.write_text(SURVEY, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def workplace() -> Iterator[Path]:
    """Where stores, spool and ledgers lie while it runs; records are not planned, it takes long."""
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "MEMORY", str(folder))
        patch.setattr(baselines, "COPIES", ())
        yield folder


@pytest.fixture(scope="module")
def run(
    survey: Path, workplace: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Demonstration, Started]:
    asked = Asked(
        folder=tmp_path_factory.mktemp("live") / "output", survey=survey, crowd=PEOPLE, live=True
    )
    asked.folder.mkdir()
    (asked.folder / ".krand-demo").touch()
    (asked.folder / "batch.manifest.json").write_text("of an earlier one", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        started = Started(patch)
        return demonstrate(asked, Output(True, True)), started


def test_three_parties_each_with_its_own_folder(
    run: tuple[Demonstration, Started], workplace: Path
) -> None:
    """The collector serves and closes the round; two mixers mix; nothing of them remains."""
    _, started = run
    names = [command[: 2 if command[0] == "mix" else 1] for command in started.commands]
    assert names == [["serve"], ["release"], ["mix", "watch"], ["mix", "watch"]]
    assert "--close" in started.commands[1]
    stores = [
        command[command.index(option) + 1]
        for command in started.commands
        for option in ("--store", "--mixer-store")
        if option in command
    ]
    assert len({Path(store).parent for store in stores}) == 3
    assert len({process.pid for process in started.processes}) == 4
    assert started.running == 0
    assert list(workplace.iterdir()) == []


def test_everybody_passes_all_mixers(run: tuple[Demonstration, Started]) -> None:
    """The chain has three valid links, the counts are those of people and dummies, and verify."""
    shown, _ = run
    plan, tally = shown.plan, read_tally(shown.written["tally"])
    links = read_chain(shown.written["chain"])
    verify_chain(plan, links)
    assert [signed.link.submissions for signed in links] == [PEOPLE] * 3
    assert shown.dummies == tuple(signed.link.dummies for signed in links)
    assert (tally.people, tally.rejected) == (PEOPLE, {})
    assert int(tally.counts.sum()) + tally.nulls == PEOPLE * plan.messages + sum(shown.dummies)
    for answer in shown.answers:
        width = shown.baselines[0].half_widths_95[answer.question]
        assert abs(answer.estimate - answer.truth) <= 4 * width
    assert shown.checks > 10
    assert all(path.exists() for path in shown.written.values())
    assert not (shown.asked.folder / "batch.manifest.json").exists()


def test_words_and_values_tell_of_the_mixers(run: tuple[Demonstration, Started]) -> None:
    """Nobody reads of flips that no device made."""
    shown, _ = run
    _, said, *_ = opening_lines(shown)
    first, second, third = (f"{dummies:,}" for dummies in shown.dummies)
    assert f"added {first}, {second} and {third} dummies" in said
    assert "flipped" not in said
    (promise,) = promise_lines(shown)
    assert "If at least one of the 3 mixers is honest" in promise
    names = [way.name for way in shown.baselines]
    assert names[:3] == ["krand, 3 mixers", "krand, devices", "krand, 1 mixer"]
    report = write_report(shown)
    values = demonstration_values(shown, report)
    assert (values["noise"], values["mixers"]) == ("mixers", 3)
    assert values["dummies"] == list(shown.dummies)
    assert values["checks_passed"] == shown.checks
    assert said in unescape(report.read_text(encoding="utf-8"))


class Interrupting(Output):
    """Presses Ctrl-C when the fifth person has sent."""

    def __init__(self, started: Started) -> None:
        super().__init__(True, True)
        self.started = started

    @contextmanager
    def counting(self, title: str, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
        done = 0

        def told(more: int) -> None:
            nonlocal done
            done += more
            if title == "sending" and done == 5:
                assert self.started.running == 1
                raise KeyboardInterrupt

        yield told


def test_an_interruption_leaves_no_process(
    survey: Path, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while people send: the collector ends, stores and ledgers are gone."""
    started = Started(monkeypatch)
    asked = Asked(folder=tmp_path / "output", survey=survey, crowd=PEOPLE, live=True)
    with pytest.raises(KeyboardInterrupt):
        demonstrate(asked, Interrupting(started))
    assert len(started.processes) == 1
    assert started.running == 0
    assert list(workplace.iterdir()) == []


def test_a_mixer_that_fails_is_named(
    survey: Path, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own words; nothing of it remains."""
    monkeypatch.setattr(chain.Work, "release", lambda self: self.output(1).mkdir())
    monkeypatch.setattr(chain.Work, "mix", _without_store)
    asked = Asked(folder=tmp_path / "output", survey=survey, crowd=2, live=True)
    with pytest.raises(Unavailable, match=r"mixer 2: krand mix failed: .*store"):
        demonstrate(asked, Output(True, True))
    assert list(workplace.iterdir()) == []


def _without_store(work: chain.Work, hop: int) -> None:
    words = ["mix", "watch", work.output(1), "--to", work.output(2), "--once"]
    work._run(hop, [*words, "--plan", work.own(hop) / "plan.json", "--store", work.own(hop)])


@pytest.mark.parametrize(
    ("number", "everybody", "code"), [(signal.SIGINT, True, 130), (signal.SIGTERM, False, 143)]
)
def test_the_command_ends_alone(
    number: signal.Signals, everybody: bool, code: int, survey: Path, tmp_path: Path
) -> None:
    """Ctrl-C reaches all processes of the group, SIGTERM the command alone: none is left."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("processes of a group cannot be listed here")
    command = [sys.executable, "-m", "krand", "demo", "--live", "--survey", str(survey)]
    command += ["--crowd", "20_000", "-o", str(tmp_path / "output")]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE) as process:
        try:
            _until(lambda: len(_group(process.pid)) > 1, process)
            (os.killpg if everybody else os.kill)(process.pid, number)
            assert process.wait(60) == code
            with pytest.raises(ProcessLookupError):
                os.killpg(process.pid, 0)
        finally:
            process.kill()


def _group(leader: int) -> list[str]:
    """The processes of a group, by their numbers."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[2]) == leader:
            found.append(path.parent.name)
    return found


def _until(done: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("extra", ["max_local_epsilon = 8.0", ""])
def test_who_adds_the_noise_by_default(extra: str, tmp_path: Path) -> None:
    """Mixers, unless the survey asks for protection by the device itself."""
    from krand.demo.story import _with_noise

    file = tmp_path / "own.toml"
    text = SURVEY.replace("delta = 0.0001", f"delta = 0.0001\n{extra}")
    file.write_text(text, encoding="utf-8")
    found = _with_noise(Asked(folder=tmp_path, live=True), read_survey(file)).trust
    assert found.noise is (mechanisms.DEVICES if extra else mechanisms.MIXERS)
    assert extra or found.mixers == 3


def test_the_option_is_refused_for_other_words(tmp_path: Path) -> None:
    """--noise-of both has no demonstration of its own."""
    result = CliRunner().invoke(
        krand, ["demo", "--live", "--noise-of", "both", "-o", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "noise" in result.output
