"""The standard world is what krand makes of its survey files now."""

from __future__ import annotations

from pathlib import Path

import pytest

import krand
import world


@pytest.mark.parametrize("name", world.NAMES)
def test_a_committed_plan_is_still_the_one_to_make(name: str) -> None:
    """Its promise holds, as whoever reads it computes; a new one is as precise, within 1.5 %.

    Searches need not end at the same noise on every machine, and laws of dummies that divide the
    noise in other ways may be as good: what is least is Σ w·σ².
    """
    kept, made = world.plan(name), krand.make_plan(world.survey(name))
    assert [lane.positions for lane in made.lanes] == [lane.positions for lane in kept.lanes]
    costs = [
        sum(each.block.weight * each.precision.sigma**2 for each in plan.blocks)
        for plan in (kept, made)
    ]
    assert costs[1] == pytest.approx(costs[0], rel=0.03)
    for one, other in zip(kept.blocks, made.blocks, strict=True):
        assert one.name == other.name
        if not kept.laws:
            assert other.precision.sigma == pytest.approx(one.precision.sigma, rel=0.015), one.name
        assert other.room == pytest.approx(one.room, abs=1)
    for limit in ("delta", "eta"):
        ours, theirs = (getattr(krand.promise_of(plan), limit) for plan in (made, kept))
        assert ours == pytest.approx(theirs, rel=0.1) or ours < theirs, f"{limit} {ours}"


def test_files_of_the_world_are_read_back(tmp_path: Path) -> None:
    """What commands read is what programs have."""
    place = world.files("kinds", tmp_path / "kinds")
    assert krand.read_plan(place / "plan.json") == world.plan("kinds")
    assert krand.read_results(place / "results.json").people == world.results("kinds").people
