"""The standard world is what krand makes of its survey files now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import krand
import world


@pytest.mark.parametrize("name", world.NAMES)
def test_a_committed_plan_is_made_again(name: str) -> None:
    """Noise and everything that people send to the byte; bounds as far as processors agree."""

    made = krand.make_plan(world.survey(name))
    kept = leaves(world.plan_file(name).read_bytes())
    close = {
        place: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
        for place, value in kept.items()
    }
    assert leaves(made.bytes) == close


def leaves(content: bytes) -> dict[str, object]:
    """All values of a JSON file by their places."""

    def walk(value: object, place: str) -> Iterator[tuple[str, object]]:
        if isinstance(value, dict | list):
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            for key, entry in pairs:
                yield from walk(entry, f"{place}.{key}")
        else:
            yield place, value

    return dict(walk(json.loads(content), ""))


def test_files_of_the_world_are_read_back(tmp_path: Path) -> None:
    """What commands read is what programs have."""
    place = world.files("kinds", tmp_path / "kinds")
    assert krand.read_plan(place / "plan.json") == world.plan("kinds")
    assert krand.read_results(place / "results.json").people == world.results("kinds").people
