"""Whoever looks at a collector's spool from another process: nothing is disturbed or changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from collecting import exact_plan, submitted
from krand.collector.opening import config_of, open_spool, read_batches
from krand.collector.sqlite.batches import BatchTable, batches_in
from krand.collector.sqlite.high_water_mark import Progress
from krand.collector.sqlite.spool import Spool
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.plan import Plan

CROWD = 2_000


@pytest.fixture(scope="module")
def plan() -> Plan:
    return exact_plan(CROWD, Linkage.BIT)


def gathered(plan: Plan, folder: Path) -> int:
    return read_batches(plan, folder, 1)[-1].people


def test_looking_does_not_disturb_a_collector(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is open and writing, its files stay as they are, and it can do everything."""
    shape = config_of(plan).format
    with open_spool(plan, tmp_path / "spool") as spool:
        spool.add([submitted(1, shape)])
        before = {path.name: path.read_bytes() for path in spool.folder.glob("spool.sqlite*")}
        before.pop("spool.sqlite-shm")  # where readers note that they read
        with monkeypatch.context() as patch:
            patch.setattr(Spool, "__init__", None)  # opening it as its owner is out of the question
            assert gathered(plan, spool.folder) == 1
        after = {name: (spool.folder / name).read_bytes() for name in before}
        assert after == before
        spool.add([submitted(number, shape) for number in range(2, 42)])
        assert gathered(plan, spool.folder) == 41
        assert spool.settle()
    assert gathered(plan, tmp_path / "spool") == 41


def test_a_reader_cannot_write(tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever bug there may be, the spool is out of its reach."""
    open_spool(plan, tmp_path / "spool").close()
    monkeypatch.setattr(BatchTable, "exists", lambda table: table.begin(2))
    with pytest.raises(InvalidInput, match="readonly"):
        batches_in(tmp_path / "spool" / "spool.sqlite", config_of(plan))


def test_a_spool_that_is_missing_foreign_or_damaged_is_told(tmp_path: Path, plan: Plan) -> None:
    """Never read as if it were whole."""
    other = exact_plan(CROWD, Linkage.RECORD)
    open_spool(other, tmp_path / "other").close()
    open_spool(plan, tmp_path / "lost").close()
    (tmp_path / "lost" / "spool.mark").write_bytes(Progress(9, 0).line())
    open_spool(plan, tmp_path / "changed").close()
    (tmp_path / "changed" / "spool.mark").write_bytes(b"krand-mark-1 people 9")
    for name, words in (
        ("missing", "must be a collector's folder"),
        ("other", "must be of plan"),
        ("lost", "spool.mark records 9"),
        ("changed", "spool.mark was changed"),
    ):
        with pytest.raises(InvalidInput, match=words):
            read_batches(plan, tmp_path / name, 1)
