"""Releasing: a whole crowd or nobody, the same bytes every time, and never over another file."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaos import no_file_grows_beyond, quick_folder
from command_line import refused, run
from components import require
from halting import require_held_calls, while_syncs_fail
from rounds import ACCEPTED, CLOSED, KNOWN, Round

require("starlette")
require("uvicorn")

PEOPLE = range(20)


@pytest.fixture(scope="module", params=["tiny", "mixer"])
def kept(request: pytest.FixtureRequest) -> Iterator[Round]:
    """A round with people, with either source of noise; copied by whoever changes it."""
    with quick_folder() as folder:
        round = Round.begun(folder / "round", request.param)
        with round.served() as collector:
            assert collector.send(PEOPLE, at_once=8) == [ACCEPTED] * len(PEOPLE)
        yield round


@pytest.fixture
def round(kept: Round, tmp_path: Path) -> Round:
    return kept.copied(tmp_path / "round")


@pytest.mark.parametrize(("survey", "crowd"), [("tiny", 12), ("mixer", 1)])
def test_who_is_counted(tmp_path: Path, survey: str, crowd: int) -> None:
    """One below the crowd nobody, unless they are to be erased; from it on everybody."""
    for people in {0, crowd - 1, crowd, crowd + 1}:
        round = Round.begun(tmp_path / f"{people}", survey)
        with round.served() as collector:
            collector.send(range(people), at_once=4)
            if people >= crowd:
                told = round.close()
                assert told["released"]["people"] == people
                round.check_released(range(people))
            else:
                error = round.refusal()
                assert (error["field"], error["rule"].split()[-1]) == ("people", f"{crowd}")
                assert collector.send([99]) == [ACCEPTED], "it is still open"
                assert round.close("--erase" if people + 1 < crowd else "")["closed"]
            known = [KNOWN] if people else []
            assert collector.send([*range(people)[:1], 100]) == [*known, CLOSED]


def test_the_exact_number_is_not_told_before_the_closing(tmp_path: Path) -> None:
    """Whoever is refused, and asks again after each arrival, would count people one by one."""
    round, told = Round.begun(tmp_path / "round"), set()
    with round.served() as collector:
        for number in range(11):
            told.add(json.dumps(round.refusal()))
            told.add(json.dumps(collector.ask("GET", f"{round.root}/open").content.decode()))
            collector.send([number])
    assert len(told) == 4, f"of 0 to 10 people, steps of 5; and the same to everybody: {told}"


def test_a_repeated_release_gives_the_same_bytes(round: Round, tmp_path: Path) -> None:
    """From a copy of the spool, over nothing or over any of the files; then nothing is left in it.

    The mixer's store keeps what was drawn.
    """
    older = tmp_path / "older"
    shutil.copytree(round.spool, older)
    assert round.left_in_spool(PEOPLE) > 0
    round.close()
    expected = round.released()
    round.check_released(PEOPLE)
    assert round.left_in_spool(PEOPLE) == 0, "messages are overwritten, not only forgotten"
    assert round.release()["released"] is None
    for kept in ((), *((name,) for name in expected)):
        shutil.rmtree(round.spool)
        shutil.copytree(older, round.spool)
        for name in {*expected} - {*kept}:
            (round.out / name).unlink()
        round.close()
        assert round.released() == expected
    batch = next(content for name, content in expected.items() if name.endswith(".batch"))
    signed = next(content for name, content in expected.items() if name.endswith(".json"))
    assert hashlib.sha256(batch).hexdigest().encode() in signed


def test_a_store_that_could_not_mix_the_batch_closes_nothing(tmp_path: Path) -> None:
    """That of a later mixer: the error says so, and the round stays open."""
    round = Round.begun(tmp_path / "round", "trio")
    words, *paths = round.study.release()
    with round.served() as collector:
        collector.send([1, 2])
        other = str(words).replace("./mixer-1", "./mixer-2")
        assert refused(other, *paths, "--close --yes", at=round.study.at)["field"] == "store"
        assert collector.send([3]) == [ACCEPTED]
    assert round.released() == {}


def test_a_copied_submission_leaves_once(tmp_path: Path) -> None:
    """Under another id it counts as a person, and its messages are dropped in each lane."""
    round = Round.begun(tmp_path / "round", "mixer")
    with round.served() as collector:
        collector.send([1, 2])
        assert collector.post(round.body(1, id_of=3)) == ACCEPTED
    assert round.close()["released"]["people"] == 3
    content = b"".join(round.released().values())
    assert [content.count(one) for n in (1, 2) for one in round.messages(n)] == [1] * (
        2 * round.plan.messages
    )


def test_the_order_of_a_batch_is_not_that_of_arrival(round: Round) -> None:
    """One of so many orders; it is drawn for each collector."""
    round.close()
    content = b"".join(c for n, c in round.released().items() if n.endswith(".batch"))
    for place in range(round.plan.messages):
        found = [content.index(round.messages(number)[place]) for number in PEOPLE]
        assert found not in (sorted(found), sorted(found, reverse=True))


def foreign_file(path: Path, _: Path) -> None:
    path.write_bytes(b"another batch")


def link(path: Path, at: Path) -> None:
    path.symlink_to(at / "planted")


@pytest.mark.parametrize("plant", [foreign_file, link])
def test_what_lies_under_the_name_of_a_file_is_never_replaced(
    round: Round, tmp_path: Path, plant: Callable[[Path, Path], None]
) -> None:
    """It may be the only copy of another batch, or lead elsewhere; nothing is wiped."""
    other = round.copied(tmp_path / "other")
    other.close()
    for name in other.released():
        mine = round.copied(tmp_path / f"with {name}")
        mine.out.mkdir()
        plant(mine.out / name, tmp_path)
        before = (mine.out / name).lstat().st_ino
        assert mine.refusal()["field"] == "output"
        assert (mine.out / name).lstat().st_ino == before
        (mine.out / name).unlink()
        mine.release()
        mine.check_released(PEOPLE)
    assert not (tmp_path / "planted").exists()


def test_an_output_that_everybody_may_write_to_is_refused(round: Round) -> None:
    """Whoever removes the file removes the only copy."""
    round.out.mkdir()
    round.out.chmod(0o777)
    error = round.refusal()
    assert (error["field"], error["hint"]) == ("output", f"chmod o-w {round.out}")
    assert list(round.out.iterdir()) == []


def test_a_release_to_a_disk_that_is_full_or_fails_is_named_and_repeated(round: Round) -> None:
    """What does not fit is not there at all; with room, or a disk that works, it is."""
    with no_file_grows_beyond(2**12):
        full = run(*round.study.release(), "--close --yes --json", at=round.study.at)
    assert full.exit_code in (2, 75), full.output
    assert "bug in krand" not in full.output
    assert not [name for name in round.released() if not name.startswith(".")]
    require_held_calls()
    words = (*round.study.release(), "--close --yes --json")
    failed = while_syncs_fail(lambda: run(*words, at=round.study.at))
    assert failed.exit_code in (2, 75), failed.output
    assert round.released() == {}
    assert round.left_in_spool(PEOPLE) > 0
    round.close()
    round.check_released(PEOPLE)
