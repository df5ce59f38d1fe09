"""A file system that turns read-only: under a collector, under a release, and before a command.

At every call of a release:
KRAND_LONG=1 KRAND_FAULTS=1000 pytest tests/collector/test_read_only.py -s
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from collecting import asked, files_in
from collector.callers import Collector, Repeated, post
from collector.crowds import SIGNER, config_for, people, plan_of, stored
from collector.halting import calls_noted, require_held_calls, spread_over
from collector.lives import Nursery
from command_line import done, run
from components import missing, require
from krand.collector.sqlite.spool import Spool
from krand.wire.keys import private_key_pem
from survey_texts import question_text, survey_text

require("uvicorn")
require("starlette")

FAULTS = int(os.environ.get("KRAND_FAULTS", "4"))
CROWD = 200
BEFORE, AFTER = range(10), range(10, 20)
NAMED = (2, 75)
"""Exit codes of a sentence: somebody's mistake, or a disk that fails now."""


def ready(collector: Collector) -> int:
    return asked(collector.port, "GET", "/readyz").status


def system(*command: str) -> bool:
    """Whether a command of the system succeeded."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def mounted(folder: Path, *how: str) -> Iterator[Path]:
    """A file system of our own."""
    folder.mkdir()
    if os.geteuid() != 0 or not system("mount", *how, str(folder)):
        missing("mount", "nobody but root may mount a file system")
    try:
        yield folder
    finally:
        system("umount", "-l", str(folder))


def check_refused(collector: Collector) -> None:
    """Nobody is acknowledged, and it says that it is not ready."""
    assert {status for status, _ in post(collector, AFTER)} == {503}
    assert ready(collector) == 503
    assert {status for status, _ in post(collector, AFTER)} == {503}


def check_everybody(collector: Collector) -> None:
    """Who was acknowledged is known, the others come again, and all are there once."""
    known, accepted = [(202, "known")] * len(BEFORE), [(202, "accepted")] * len(AFTER)
    assert post(collector, [*BEFORE, *AFTER]) == known + accepted
    assert ready(collector) == 200
    collector.home.stop()
    with Spool(collector.spool, config_for(CROWD)) as spool:
        spool.check()
        assert spool.batches()[0].people == len(BEFORE) + len(AFTER)


def test_a_collector_whose_disk_is_read_only_for_a_while(tmp_path: Path, home: Nursery) -> None:
    """503 and not ready; when the disk can be written to, the same process accepts again."""
    require_held_calls()
    (tmp_path / "disk").mkdir()
    collector, switch = Collector(tmp_path / "disk", CROWD, home), tmp_path / "switch"
    held = {"under": str(tmp_path / "disk"), "refuse_while": str(switch)}
    collector.started(held=held)
    for _ in range(3):
        assert {status for status, _ in post(collector, BEFORE)} == {202}
        switch.touch()
        check_refused(collector)
        switch.unlink()
    check_everybody(collector)


def turn_read_only(disk: Path) -> None:
    """What ext4 does by itself when it finds an error."""
    device = os.stat(disk).st_dev
    name = Path(os.readlink(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")).name
    assert name.startswith("loop"), "not our own file system"
    trigger = Path(f"/sys/fs/ext4/{name}/trigger_fs_error")
    if not trigger.exists():
        missing("trigger_fs_error", "this kernel makes no errors of ext4")
    trigger.write_text("test of krand", encoding="utf-8")


def test_a_collector_whose_disk_turns_read_only_by_an_error(tmp_path: Path, home: Nursery) -> None:
    """ext4 after an error: 503. Repaired and mounted again, everybody is there once."""
    image, disk = tmp_path / "image", tmp_path / "disk"
    with image.open("wb") as stream:
        stream.truncate(2**25)
    if not system("mkfs.ext4", "-q", "-F", str(image)):
        missing("mkfs.ext4", "no ext4 can be made")
    how = ("-o", "loop,errors=remount-ro", str(image))
    with mounted(disk, *how):
        collector = Collector(tmp_path, CROWD, home)
        collector.spool = disk / "spool"
        collector.started()
        assert {status for status, _ in post(collector, BEFORE)} == {202}
        turn_read_only(disk)
        check_refused(collector)
        assert home.stop() in (0, -15)
        assert system("umount", str(disk))
        assert system("fsck.ext4", "-p", str(image)) or system("fsck.ext4", "-n", str(image))
        assert system("mount", *how, str(disk))
        collector.started()
        check_everybody(collector)


@pytest.mark.check
@pytest.mark.loop
def test_a_release_whose_disk_turns_read_only(tmp_path: Path, home: Nursery, errors: Path) -> None:
    """From any of its calls on: a sentence, no half file; with a disk that works, the same bytes"""
    (tmp_path / "disk").mkdir()
    collector = Collector(tmp_path / "disk", CROWD, home)
    with stored(collector.spool, CROWD, range(CROWD)) as spool:
        spool.close_batch()
    releases = Repeated(home, tmp_path / "disk", ("spool", "batches"), collector.releasing)
    assert releases.run() == 0
    expected = files_in(collector.output)
    seen: Counter[str] = Counter()
    for place in spread_over(1, len(releases.calls()), FAULTS):
        releases.begin_again()
        errors.write_bytes(b"")
        code, told = releases.run(refuse_from=place), errors.read_text(encoding="utf-8")
        found = files_in(collector.output)
        assert found == {name: expected[name] for name in found}
        assert code in NAMED or (code == 0 and found == expected), told
        assert code == 0 or told.startswith("error: ")
        seen[f"exit {code}, {len(found)} files"] += 1
        assert collector.release() == 0
        assert files_in(collector.output) == expected
    print(f"\n{seen.total()} releases on a disk that turns read-only: {dict(seen)}")


SURVEY = survey_text(
    "habits", question_text("smokes", "yes_no"), epsilon=2, delta=0.01, minimum_crowd=400
)
STEPS = (
    "plan survey.toml -o plan.json",
    "keygen -o key.pem",
    "randomize answers.csv --plan plan.json -o r.parquet --again",
    "tally r.parquet --plan plan.json -o t.json",
    "estimate t.json --plan plan.json -o e.json",
    "report e.json -o e.html",
)
"""Each of them writes something."""
COLLECTING = (
    "serve --plan sealed.json --spool spool --port 0",
    "serve --plan sealed.json --spool new --port 0",
    "release --plan sealed.json --spool spool --key collector.pem -o batches",
    "status --plan sealed.json --spool spool",
)


@pytest.mark.check
def test_commands_on_a_read_only_disk_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command that writes ends with a sentence, and the files are as they were."""
    with mounted(tmp_path / "disk", "-t", "tmpfs", "krand-test") as disk:
        monkeypatch.chdir(disk)
        (disk / "survey.toml").write_text(SURVEY, encoding="utf-8")
        (disk / "answers.csv").write_text("smokes\n" + "yes\n" * 400, encoding="utf-8")
        (disk / "sealed.json").write_bytes(plan_of(CROWD).bytes)
        (disk / "collector.pem").write_bytes(private_key_pem(SIGNER))
        (disk / "collector.pem").chmod(0o600)
        with stored(disk / "spool", CROWD, range(CROWD)) as spool:
            spool.close_batch()
        for line in STEPS:
            done(line)
        before = content_of(disk)
        assert system("mount", "-o", "remount,ro", str(disk))
        for line in (*STEPS, *(f"{step} --force" for step in STEPS[3:5]), *COLLECTING):
            found = run(line + " --json" * ("serve" in line))
            assert found.exit_code in NAMED, f"{line}\n{found.output}"
            assert "Traceback" not in found.output
        assert content_of(disk) == before
        monkeypatch.chdir(tmp_path)


def content_of(disk: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(disk.rglob("*")) if p.is_file()}


@pytest.mark.check
@pytest.mark.loop
def test_a_spool_on_a_read_only_disk_is_not_changed_in_part(tmp_path: Path, home: Nursery) -> None:
    """A writer meets the read-only disk at any of its calls: whom it told of is there, once."""
    require_held_calls()
    disk, note, told = tmp_path / "disk", tmp_path / "note", tmp_path / "told"
    disk.mkdir()
    task = {"folder": str(disk / "spool"), "crowd": CROWD, "group": 5, "told": str(told)}
    home.start("add", **task, first=0, last=5, held={"under": str(disk), "note": str(note)})
    assert home.wait() == 0
    start = 5
    for place in spread_over(1, len(calls_noted(note)), FAULTS):
        told.write_text("")
        held = {"under": str(disk), "refuse_from": place}
        home.start("add", **task, first=start, last=start + 5, held=held)
        home.wait()
        known = [*map(int, told.read_text(encoding="utf-8").split())]
        with Spool(disk / "spool", config_for(CROWD)) as spool:
            spool.check()
            new = spool.add(people(range(start, start + 5)))
            assert not any(new[number - start] for number in known)
            assert sum(batch.people for batch in spool.batches()) == start + 5
        start += 5
