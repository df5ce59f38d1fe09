"""The demonstration live: a collector, or three mixers; none of them is left, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from collecting import quick_folder, until
from command_line import refused
from components import require
from krand.analysis.tally_file import read_tally
from krand.batches.chain import read_chain, verify_chain
from krand.demo import baselines, chain, live
from krand.demo.live import for_a_small_crowd
from krand.demo.report import write_report
from krand.demo.screen import opening_lines, promise_lines
from krand.demo.story import Asked, Demonstration, _with_noise, demonstrate, example_text
from krand.demo.values import demonstration_values
from krand.errors import Unavailable
from krand.survey import mechanisms
from krand.survey.reading import parse_survey, read_survey
from krand.terminal.output import Output
from survey_texts import question_text, survey_text

PEOPLE = 60
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


Run = tuple[Demonstration, Started, list[Path]]


@dataclass(frozen=True)
class Live:
    """What a demonstration with devices' noise, or with mixers', is asked and shows."""

    survey: Path
    workplace: Path

    def asked(self, folder: Path, people: int = PEOPLE, **more: Any) -> Asked:
        return Asked(folder=folder, survey=self.survey, crowd=people, live=True, **more)


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Where stores, spool and ledgers lie while it runs; records are not planned, it takes long."""
    require("uvicorn")
    require("starlette")
    file = tmp_path_factory.mktemp("survey") / "own.toml"
    file.write_text(SURVEY, encoding="utf-8")
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "MEMORY", str(folder))
        patch.setattr(baselines, "COPIES", ())
        yield Live(file, folder)


@pytest.fixture(scope="module")
def twice(lively: Live, tmp_path_factory: pytest.TempPathFactory) -> list[Demonstration]:
    """The same people twice, with a collector."""
    folder = tmp_path_factory.mktemp("live") / "output"
    asked = lively.asked(folder, noise=mechanisms.DEVICES)
    return [demonstrate(asked, Output(True, True)) for _ in range(2)]


@pytest.fixture(scope="module")
def run(lively: Live, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """With mixers, in a folder that was used before; what was left of them at its end."""
    asked = lively.asked(tmp_path_factory.mktemp("mixed") / "output")
    asked.folder.mkdir()
    (asked.folder / ".krand-demo").touch()
    (asked.folder / "batch.manifest.json").write_text("of an earlier one", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        started = Started(patch)
        return demonstrate(asked, Output(True, True)), started, [*lively.workplace.iterdir()]


def collectors() -> int:
    """How many collectors run within this process."""
    return sum(thread.name == "collector" for thread in threading.enumerate())


def test_everybody_is_counted_through_seal_and_collector(
    twice: list[Demonstration], lively: Live
) -> None:
    """The batch holds everybody's messages, the estimates are near, and nothing is left running."""
    shown = twice[1]
    tally = read_tally(shown.written["tally"])
    assert (tally.people, tally.rejected) == (PEOPLE, {})
    assert int(tally.counts.sum()) + tally.nulls == PEOPLE * shown.plan.messages
    colors = [answer for answer in shown.answers if answer.question == "color"]
    assert sum(answer.truth for answer in colors) == PEOPLE
    for answer, row in zip(colors, shown.results.questions[0].rows, strict=False):
        assert abs(answer.estimate - answer.truth) <= 6 * row.standard_error
    assert {"batch", "manifest", "analyst_key", "collector_key"} <= set(shown.written)
    assert all(path.exists() for path in shown.written.values())
    assert collectors() == 0
    assert list(lively.workplace.iterdir()) == []


def test_noise_of_real_devices_has_no_seed(twice: list[Demonstration]) -> None:
    """Twice the same people: the same truth, other reports, in a folder that is used again."""
    first, second = twice
    assert [a.truth for a in first.answers] == [a.truth for a in second.answers]
    assert first.results.batches != second.results.batches
    assert first.has_fresh_noise
    assert "answers use seed 1, noise is fresh" in next(opening_lines(first))


@pytest.mark.check
def test_three_parties_each_with_its_own_folder(run: Run) -> None:
    """The collector serves and closes the round; two mixers mix; nothing of them remains."""
    _, started, left = run
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
    assert left == []


@pytest.mark.check
def test_everybody_passes_all_mixers(run: Run) -> None:
    """The chain has three valid links, the counts are those of people and dummies, and verify."""
    shown = run[0]
    plan, tally = shown.plan, read_tally(shown.written["tally"])
    links = read_chain(shown.written["chain"])
    verify_chain(plan, links)
    assert [signed.record.submissions for signed in links] == [PEOPLE] * 3
    assert shown.dummies == tuple(signed.record.dummies for signed in links)
    assert (tally.people, tally.rejected) == (PEOPLE, {})
    assert int(tally.counts.sum()) + tally.nulls == PEOPLE * plan.messages + sum(shown.dummies)
    for answer in shown.answers:
        width = shown.baselines[0].half_widths_95[answer.question]
        assert abs(answer.estimate - answer.truth) <= 4 * width
    assert shown.checks > 10
    assert all(path.exists() for path in shown.written.values())
    assert not (shown.asked.folder / "batch.manifest.json").exists()


@pytest.mark.check
def test_words_and_values_tell_of_the_mixers(run: Run) -> None:
    """Nobody reads of flips that no device made."""
    shown = run[0]
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
    """Presses Ctrl-C when the fifth person has sent, while one collector runs."""

    def __init__(self, running: Callable[[], int]) -> None:
        super().__init__(True, True)
        self.running = running

    @contextmanager
    def counting(self, title: str, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
        done = 0

        def told(more: int) -> None:
            nonlocal done
            done += more
            if title == "sending" and done == 5:
                assert self.running() == 1
                raise KeyboardInterrupt

        yield told


@pytest.mark.parametrize("noise", [mechanisms.DEVICES, mechanisms.MIXERS])
def test_an_interruption_leaves_nothing_running(
    lively: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: mechanisms.Mechanism
) -> None:
    """Ctrl-C while people send: the collector stops; spool, stores and ledgers are gone."""
    started = Started(monkeypatch)
    running = collectors if noise is mechanisms.DEVICES else lambda: started.running
    with pytest.raises(KeyboardInterrupt):
        demonstrate(lively.asked(tmp_path / "output", noise=noise), Interrupting(running))
    assert len(started.processes) == (0 if noise is mechanisms.DEVICES else 1)
    assert running() == 0
    assert list(lively.workplace.iterdir()) == []


@pytest.mark.check
def test_a_mixer_that_fails_is_named(
    lively: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own words; nothing of it remains."""
    monkeypatch.setattr(chain.Work, "release", lambda self: self.output(1).mkdir())
    monkeypatch.setattr(chain.Work, "mix", _without_store)
    with pytest.raises(Unavailable, match=r"mixer 2: krand mix failed: .*store"):
        demonstrate(lively.asked(tmp_path / "output", 2), Output(True, True))
    assert list(lively.workplace.iterdir()) == []


def _without_store(work: chain.Work, hop: int) -> None:
    words = ["mix", "watch", work.output(1), "--to", work.output(2), "--once"]
    work._run(hop, [*words, "--plan", work.own(hop) / "plan.json", "--store", work.own(hop)])


@pytest.mark.check
@pytest.mark.parametrize(
    ("noise", "number", "everybody", "code"),
    [
        ("devices", signal.SIGINT, False, 130),
        ("mixers", signal.SIGINT, True, 130),
        ("mixers", signal.SIGTERM, False, 143),
    ],
)
def test_the_command_ends_alone(
    noise: str, number: signal.Signals, everybody: bool, code: int, lively: Live, tmp_path: Path
) -> None:
    """Ctrl-C reaches all processes of the group, SIGTERM the command alone: none is left."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("processes of a group cannot be listed here")
    folder = tmp_path / "output"
    command = [sys.executable, "-m", "krand", "demo", "--live", "--survey", str(lively.survey)]
    command += ["--noise-of", noise, "--crowd", "20_000", "-o", str(folder)]

    def works() -> bool:
        if noise == "devices":
            return (folder / "collector.pub.pem").exists()
        return len(_group(process.pid)) > 1

    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE) as process:
        try:
            until(lambda: works() or process.poll() is not None)
            (os.killpg if everybody else os.kill)(process.pid, number)
            assert process.wait(60) == code
            until(lambda: not _group(process.pid))
        finally:
            process.kill()


def _group(leader: int) -> list[str]:
    """The processes of a group that still run, by their numbers."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize("extra", ["max_local_epsilon = 8.0", ""])
def test_who_adds_the_noise_by_default(extra: str, tmp_path: Path) -> None:
    """Mixers, unless the survey asks for protection by the device itself."""
    file = tmp_path / "own.toml"
    text = SURVEY.replace("delta = 0.0001", f"delta = 0.0001\n{extra}")
    file.write_text(text, encoding="utf-8")
    found = _with_noise(Asked(folder=tmp_path, live=True), read_survey(file)).trust
    assert found.noise is (mechanisms.DEVICES if extra else mechanisms.MIXERS)
    assert extra or found.mixers == 3


def test_the_option_is_refused_for_other_words(tmp_path: Path) -> None:
    """--noise-of both has no demonstration of its own."""
    assert "noise" in refused("demo --live --noise-of both -o", tmp_path)["message"]


def test_a_small_crowd_gets_a_larger_epsilon_and_a_large_one_does_not() -> None:
    """Doubled until a count is known to some 2.5 % of the crowd, three times at most."""
    survey = parse_survey(example_text())
    found = {n: for_a_small_crowd(survey, n).policy for n in (100_000, 1_000, 10)}
    assert [policy.epsilon for policy in found.values()] == [1.0, 2.0, 8.0]
    assert [policy.minimum_crowd for policy in found.values()] == [100_000, 1_000, 10]
