"""A chain in one process: everybody's answers arrive once, with the dummies of all mixers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from krand import make_plan, mix, parse_survey
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.testing import MIXED_SURVEY, FakeChain, small_plan
from krand.wire.layers import LaneOpener


def mixed_plan(mixers: int) -> Plan:
    return make_plan(parse_survey(MIXED_SURVEY.replace("mixers = 2", f"mixers = {mixers}")))


def counted(chain: FakeChain, batch: Path) -> Counter[int]:
    """How often the analyst finds each position."""
    table = pq.read_table(batch)
    opener, found = LaneOpener(chain.key, chain.plan, 1), Counter[int]()
    for lane in chain.plan.lanes:
        rows = table.filter(table.column("lane").to_numpy() == lane.number)
        opened = opener.open_all(lane, rows.column("message").to_pylist())
        assert not opened.rejected
        found.update(opened.positions.tolist())
    return found


@pytest.mark.check
@pytest.mark.parametrize("mixers", [1, 2])
def test_answers_arrive_with_the_dummies_of_all_mixers(mixers: int, tmp_path: Path) -> None:
    """Many more dogs than all dummies of a position can be, and no cats."""
    chain, people = FakeChain(mixed_plan(mixers)), 80
    for _ in range(people):
        chain.client().submit(chain.url, {"pet": "dog", "smokes": True})
    found = counted(chain, chain.release(tmp_path / "out"))
    for lane in chain.plan.lanes:
        most = 2 * chain.plan.law_of(lane).reach * mixers
        for place in range(lane.positions):
            true = people if (lane.block, place) in (("pet", 1), ("smokes", 0)) else 0
            assert true <= found[lane.offset + place] <= true + most
    assert most < people


def test_a_closed_round_takes_nobody(tmp_path: Path) -> None:
    chain = FakeChain(mixed_plan(1))
    chain.client().submit(chain.url, {"pet": "dog"})
    chain.release(tmp_path / "out")
    with pytest.raises(InvalidInput, match="410 must not be closed"):
        chain.client().submit(chain.url, {"pet": "dog"})


def test_a_plan_of_devices_has_no_chain() -> None:
    with pytest.raises(InvalidInput, match="plan: must be a plan in which mixers add the noise"):
        FakeChain(small_plan())


def test_mixing_again_gives_the_same_files(tmp_path: Path) -> None:
    """Also by `krand.mix`; and each mixer has its place."""
    chain = FakeChain(mixed_plan(3))
    chain.client().submit(chain.url, {"pet": "dog"})
    batch = chain.collect(tmp_path / "collected")
    first, again = (mix(chain.plan, batch, chain.stores[1], tmp_path / out) for out in "ab")
    assert first.data.read_bytes() == again.data.read_bytes()
    assert first.chain.read_bytes() == again.chain.read_bytes()
    with pytest.raises(InvalidInput, match="chain: must have 2 links"):
        mix(chain.plan, batch, chain.stores[2], tmp_path / "c")
