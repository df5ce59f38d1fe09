"""What leaves a round: a whole crowd or nobody, in an order that is not that of arrival."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import krand
from chaos import quick_folder
from components import require
from rounds import ACCEPTED, CLOSED, KNOWN, Round

require("starlette")
require("uvicorn")

PEOPLE = range(20)


@pytest.fixture(scope="module", params=["tiny", "mixer"])
def left(request: pytest.FixtureRequest) -> Iterator[Round]:
    """A round whose batch has left, with either source of noise."""
    with quick_folder() as folder:
        round = Round.begun(folder / "round", request.param)
        with round.served() as collector:
            assert collector.send(PEOPLE, at_once=8) == [ACCEPTED] * len(PEOPLE)
            assert round.left_in_spool(PEOPLE) > 0
            assert round.close()["people"] == len(PEOPLE)
        yield round


def test_everybody_has_left_once_and_nothing_is_kept(left: Round) -> None:
    left.check_released(PEOPLE)
    assert left.left_in_spool(PEOPLE) == 0, "messages are overwritten, not only forgotten"
    before = left.released()
    with left.served() as collector:
        assert collector.send([0, 19, 20]) == [KNOWN, KNOWN, CLOSED]
    assert left.close()["rounds"] == []
    assert left.released() == before


def test_the_order_of_a_batch_is_not_that_of_arrival(left: Round) -> None:
    """One of so many orders; it is drawn for each collector."""
    content = left.released()["1.batch"]
    for place in range(left.plan.messages):
        found = [content.index(left.messages(number)[place]) for number in PEOPLE]
        assert found not in (sorted(found), sorted(found, reverse=True))


@pytest.mark.parametrize(("survey", "crowd"), [("tiny", 12), ("mixer", 1)])
def test_who_is_counted(tmp_path: Path, survey: str, crowd: int) -> None:
    """One below the crowd nobody, unless they are to be erased; from it on everybody."""
    for people in {crowd - 1, crowd}:
        round = Round.begun(tmp_path / f"{people}", survey)
        with round.served() as collector:
            collector.send(range(people), at_once=4)
            if people >= crowd:
                assert round.close()["people"] == people
                round.check_released(range(people))
            else:
                with pytest.raises(krand.CrowdTooSmall, match=f"{crowd}"):
                    round.close()
                if crowd > 1:
                    assert collector.send([0, 0]) == [KNOWN] * 2, "it is still open"
                assert round.close(erase=True)["state"] == "MISSED"
                assert round.released() == {}
                assert round.left_in_spool(range(people)) == 0
            known = [KNOWN] if people else []
            assert collector.send([*range(people)[:1], 100]) == [*known, CLOSED]


def test_the_exact_number_is_not_told_before_the_closing(tmp_path: Path) -> None:
    """Whoever is refused, and asks again after each arrival, would count people one by one."""
    round, told = Round.begun(tmp_path / "round"), set()
    with round.served() as collector:
        for number in range(11):
            with pytest.raises(krand.CrowdTooSmall) as error:
                round.close()
            told.add(str(error.value))
            told.add(json.dumps(collector.told()))
            collector.send([number])
    assert len(told) == 4, f"of 0 to 10 people, steps of 5; and the same to everybody: {told}"


def test_a_copied_submission_leaves_once(tmp_path: Path) -> None:
    """Under another id it counts as a person, and its messages are dropped in each lane."""
    round = Round.begun(tmp_path / "round", "mixer")
    with round.served() as collector:
        collector.send([1, 2])
        assert collector.post(round.body(1, id_of=3)) == ACCEPTED
        assert round.close()["people"] == 3
    content = round.released()["1.batch"]
    assert [content.count(one) for n in (1, 2) for one in round.messages(n)] == [1] * (
        2 * round.plan.messages
    )
