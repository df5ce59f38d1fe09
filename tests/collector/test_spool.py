"""The collector's folder: what is planted in it, taken out of it, copied or damaged is noticed."""

from __future__ import annotations

import os
import random
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import krand
from chaos import files_in, quick_folder
from command_line import run
from components import require
from effort import EFFORT
from krand.testing import FakeCollector
from rounds import ACCEPTED, KNOWN, Round

require("starlette")
require("uvicorn")

PEOPLE = range(14)
NAMED = (2, 3, 75)
"""Exit codes of a sentence: somebody's mistake, what cannot be met, or a disk that fails now."""


@pytest.fixture(scope="module")
def kept() -> Iterator[Round]:
    """A round of some people, at rest; copied by whoever changes it."""
    with quick_folder() as folder:
        round = Round.begun(folder / "round")
        with round.served() as collector:
            collector.send(PEOPLE)
        yield round


@pytest.fixture
def round(kept: Round, tmp_path: Path) -> Round:
    (tmp_path / "victim").write_text("precious")
    return kept.copied(tmp_path / "round")


def database(round: Round) -> Path:
    """The largest file: where the messages are."""
    return max(round.spool.iterdir(), key=lambda path: path.lstat().st_size)


PLANTED: dict[str, Callable[[Path, Path], object]] = {
    "a link to a file elsewhere": lambda path, at: path.symlink_to(at / "victim"),
    "a link to nowhere": lambda path, at: path.symlink_to(at / "planted"),
    "a second name of a file elsewhere": lambda path, at: path.hardlink_to(at / "victim"),
    "a pipe": lambda path, _: os.mkfifo(path),
    "another file": lambda path, _: path.write_bytes(b"no database"),
    "zeros": lambda path, _: path.write_bytes(bytes(9000)),
}


@pytest.mark.parametrize("what", PLANTED)
def test_what_is_planted_in_the_place_of_a_file_is_refused(
    round: Round, tmp_path: Path, what: str
) -> None:
    """By release and collector, which may run as root; nothing elsewhere is changed or made."""
    for name in [*files_in(round.spool), f"{database(round).name}-journal"]:
        planted = round.copied(tmp_path / f"with-{name}")
        (planted.spool / name).unlink(missing_ok=True)
        PLANTED[what](planted.spool / name, tmp_path)
        if "journal" in name and not (planted.spool / name).is_symlink():
            continue  # SQLite's own affair
        assert planted.refusal()["field"] == "spool", name
        with pytest.raises(krand.InvalidInput, match="spool"), planted.served():
            pass
        assert planted.released() == {}
    assert (tmp_path / "victim").read_text() == "precious"
    assert stat.S_IMODE((tmp_path / "victim").stat().st_mode) != 0o600
    assert not (tmp_path / "planted").exists()


def open_to_others(round: Round) -> None:
    round.spool.chmod(0o777)


def linked(round: Round) -> None:
    round.spool.rename(round.study.at / "elsewhere")
    round.spool.symlink_to(round.study.at / "elsewhere")


def not_there(round: Round) -> None:
    shutil.rmtree(round.spool)


def empty(round: Round) -> None:
    for path in round.spool.iterdir():
        path.unlink()


def of_another_plan(round: Round) -> None:
    other = Round.begun(round.study.at / "other", "mixer")
    with other.served() as collector:
        collector.send([1])
    shutil.rmtree(round.spool)
    shutil.copytree(other.spool, round.spool)


@pytest.mark.parametrize("change", [open_to_others, linked, not_there, empty, of_another_plan])
def test_a_folder_that_is_not_the_collectors_own_is_refused(
    round: Round, change: Callable[[Round], None]
) -> None:
    """By its name, and looking at it makes nothing."""
    change(round)
    before = files_in(round.study.at)
    error = round.refusal()
    assert error["field"] == "spool", error
    assert str(round.spool.name) in str(error["value"]) or "plan" in error["rule"], error
    assert files_in(round.study.at) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_strangers_file_is_refused(round: Round) -> None:
    """In a folder of the collector's user, root touches that user's files and its own."""
    service, stranger = 65_532, 65_533
    for path in (round.spool, *round.spool.iterdir()):
        os.chown(path, service, service)
    os.chown(database(round), stranger, stranger)
    assert "must belong to" in round.refusal()["rule"]
    os.chown(database(round), service, service)
    with round.served() as collector:
        assert collector.send([0, 99]) == [KNOWN, ACCEPTED]
        owners = {path.stat().st_uid for path in round.spool.iterdir()}
    assert owners == {service}, "what root makes there is the collector's"


def vanish(round: Round) -> None:
    round.spool.rename(round.study.at / "aside")


def lose_the_file(round: Round) -> None:
    database(round).rename(round.study.at / "aside")


def replace_by_an_older_copy(round: Round) -> None:
    round.spool.rename(round.study.at / "aside")
    shutil.copytree(round.study.at / "older", round.spool)


@pytest.mark.parametrize("change", [vanish, lose_the_file, replace_by_an_older_copy])
def test_a_spool_that_vanishes_under_a_collector_ends_acknowledgements(
    round: Round, change: Callable[[Round], None]
) -> None:
    """A 202 promises that the submission is in the spool that will be released."""
    shutil.copytree(round.spool, round.study.at / "older")
    with round.served() as collector:
        assert collector.send([20, 21]) == [ACCEPTED] * 2
        change(round)
        assert collector.send([22, 23]) == [(503, "collector")] * 2
        aside = round.study.at / "aside"
        if aside.is_dir():
            shutil.rmtree(round.spool, ignore_errors=True)
            aside.rename(round.spool)
        else:
            aside.rename(round.spool / sorted(files_in(round.study.at / "older"))[-1])
    round.close()
    round.check_released([*PEOPLE, 20, 21], perhaps=[22, 23])


def test_an_older_copy_never_leaves_beside_the_batch(round: Round) -> None:
    """The store refuses other people; with an older store, nothing is written over the first."""
    older = round.copied(round.study.at.parent / "older")
    round.close()
    expected = round.released()
    shutil.copytree(older.spool, round.spool.with_name("kept"))
    shutil.rmtree(round.spool)
    round.spool.with_name("kept").rename(round.spool)
    with round.served() as collector:
        assert collector.send([0, 30]) == [KNOWN, ACCEPTED]
    assert round.refusal()["field"] == "batch"
    assert round.released() == expected
    older.out.mkdir()
    for name, content in expected.items():
        (older.out / name).write_bytes(content)
    assert older.refusal()["field"] == "output"
    assert older.released() == expected


def damages(content: bytes, draw: random.Random) -> Iterator[bytes]:
    """Of every kind one: a bit, a sector of zeros, two halves exchanged, the end cut off."""
    place = draw.randrange(len(content))
    bit = bytes((content[place] ^ 1 << draw.randrange(8),))
    yield content[:place] + bit + content[place + 1 :]
    sector = place - place % 512
    yield (content[:sector] + bytes(512) + content[sector + 512 :])[: len(content)]
    half = len(content) // 2
    yield content[half:] + content[:half]
    yield content[:place]


def test_damage_is_named_or_does_no_harm(round: Round, tmp_path: Path) -> None:
    """Never a bug, never fewer people than the plan asks for, and nobody twice."""
    draw = random.Random(os.urandom(8))
    path, outcomes = database(round), []
    for attempt in range(2 * EFFORT):
        for content in damages(path.read_bytes(), draw):
            other = round.copied(tmp_path / f"{attempt}-{len(outcomes)}")
            database(other).write_bytes(content)
            found = run(*other.study.release(), "--close --yes --json", at=other.study.at)
            outcomes.append(found.exit_code)
            assert found.exit_code in (0, *NAMED), found.output
            for people, messages in other.counted():
                assert people >= 12, f"{people} people are fewer than the plan's crowd"
                assert messages == people * other.plan.messages
    assert {*outcomes} & {*NAMED}, "half of the damage is gross"


def test_a_fake_collector_is_closed_as_the_real_one(kept: Round) -> None:
    """What the real one refuses, krand's own fake refuses."""
    fake = FakeCollector(kept.plan)
    assert fake.post(fake.url + kept.way_in, kept.body(0)).status == 202
    assert fake.post(fake.url + kept.way_in, kept.body(0)).known
    for wrong in (kept.body(1)[:-1], kept.body(1) + b"\0"):
        assert fake.post(fake.url + kept.way_in, wrong).status == 413
    assert fake.people == 1
    with pytest.raises(krand.CrowdTooSmall):
        fake.release(kept.study.at / "fake", kept.study.opened_store(1))
