"""The collector's folder as commands and a running collector find it: lost, moved, older, false."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import krand
from chaos import files_in, quick_folder
from components import require
from krand.testing import FakeCollector
from rounds import ACCEPTED, KNOWN, Round

require("starlette")
require("uvicorn")

PEOPLE = range(14)


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
    return kept.copied(tmp_path / "round")


def database(round: Round) -> Path:
    """The largest file: where the messages are."""
    files = (path for path in round.spool.rglob("*") if path.is_file())
    return max(files, key=lambda path: path.stat().st_size)


def open_to_others(round: Round) -> None:
    round.spool.chmod(0o777)


def linked(round: Round) -> None:
    round.spool.rename(round.study.at / "elsewhere")
    round.spool.symlink_to(round.study.at / "elsewhere")


def not_there(round: Round) -> None:
    shutil.rmtree(round.spool)


def empty(round: Round) -> None:
    shutil.rmtree(round.spool)
    round.spool.mkdir(mode=0o700)


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
    at = database(round)
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
            aside.rename(at)
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
