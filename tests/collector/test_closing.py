"""Who is counted when a round is closed: the table of docs/reference/collector.md, run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from collecting import exact_plan, submitted
from krand.collector.closing import close_batch, preview_of
from krand.collector.opening import config_of
from krand.collector.progress import status_step
from krand.collector.sqlite.spool import Spool
from krand.collector.store import SpoolConfig
from krand.promise import Linkage
from krand.survey.plan_check import CrowdTooSmall
from mixing.chains import mixed_plan_for

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "collector.md"
CROWD = 800


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    noise: str
    survey: str
    counted: dict[int, int]


def rows() -> Iterator[Row]:
    _, _, table = PAGE.read_text(encoding="utf-8").partition("### Who is counted")
    head, _, *lines = re.findall(r"^\| .* \|$|^\|--.*$", table.partition("\n## ")[0], re.MULTILINE)
    arrived = [int(cell.replace(",", "")) for cell in head.strip("| ").split(" | ")[2:]]
    for line in lines:
        noise, survey, *cells = line.strip("| ").split(" | ")
        numbers = [0 if cell == "nobody" else int(cell.replace(",", "")) for cell in cells]
        yield Row(noise, survey, dict(zip(arrived, numbers, strict=True)))


ROWS = list(rows())


def config_for(row: Row) -> SpoolConfig:
    """As the collector of such a survey has it."""
    given = {name: int(value) for name, value in re.findall(r"`(\w+) = (\d+)`", row.survey)}
    plan = exact_plan(CROWD, Linkage.BIT)
    if row.noise == "mixers":
        plan = mixed_plan_for(mixers=1).plan
    policy = replace(plan.survey.policy, minimum_crowd=given.get("minimum_crowd", 2))
    promise = replace(plan.promise, crowd=policy.minimum_crowd)
    survey = replace(plan.survey, policy=policy)
    return config_of(replace(plan, survey=survey, promise=promise))


def test_the_table_has_every_case() -> None:
    """One below the crowd, the crowd, one above it, half as many again; both sources of noise."""
    assert {*ROWS[0].counted} == {CROWD - 1, CROWD, CROWD + 1, 1200}
    assert {row.noise for row in ROWS} == {"devices", "mixers"}
    assert len(ROWS) == 3


@pytest.mark.parametrize("arrived", ROWS[0].counted)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.noise} {row.survey}")
def test_who_is_counted(row: Row, arrived: int, tmp_path: Path) -> None:
    """As the page says; nobody is left out before the organiser has said --erase."""
    config = config_for(row)
    with Spool(tmp_path / "spool", config, tmp_path / "key") as spool:
        for start in range(0, arrived, 100):
            some = range(start, min(start + 100, arrived))
            spool.add([submitted(number, config.format) for number in some])
        lost = arrived - row.counted[arrived]
        if lost:
            with pytest.raises(CrowdTooSmall):
                close_batch(spool)
        closed = close_batch(spool, erase=lost > 0)
        assert closed is not None
        assert closed.lost == lost
        assert close_batch(spool, erase=True) is None
        assert sum(b.people for b in spool.batches() if b.state.is_waiting) == arrived - lost
        spool.check()


def test_a_preview_is_no_counter(tmp_path: Path) -> None:
    """Somebody who asks for it after every arrival sees as few changes as in the status."""
    config = config_for(ROWS[0])
    shown = []
    with Spool(tmp_path / "spool", config, tmp_path / "key") as spool:
        for number in range(0, 2 * CROWD, 20):
            some = range(number, number + 20)
            spool.add([submitted(one, config.format) for one in some])
            shown.append(preview_of(config, spool.batches()))
    step = status_step(CROWD)
    assert {one.fewest for one in shown if one} == {*range(0, 2 * CROWD + 1, step)}
    assert [one.surely_enough for one in shown if one] == [20 * n >= CROWD for n in range(1, 81)]
