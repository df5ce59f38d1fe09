"""A table is randomized in a process of its own, which is killed: all of the output or nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import krand
import world
from chaos import Program


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_killed_while_it_writes_it_leaves_nothing_but_its_mark(
    kill: signal.Signals, tmp_path: Path
) -> None:
    """No output and no temporary file, whichever signal ends it; and it is not begun again."""
    answers, place = tmp_path / "answers.parquet", tmp_path / "out"
    pq.write_table(pa.concat_tables([world.table("copies", 20_000)] * 20), answers)
    place.mkdir()
    given = "randomize", answers, "--plan", world.plan_file("copies"), "-o out/r.parquet"
    state = Path(os.environ["XDG_STATE_HOME"])
    with Program(*given, errors=tmp_path / "log", at=tmp_path) as program:
        program.wait_until(lambda: [*state.rglob("randomized/*-1")], "mark")
        program.process.send_signal(kill)
        assert program.process.wait() != 0, program.said()
    assert list(place.iterdir()) == []
    with pytest.raises(krand.AlreadyRandomized, match="never finished"):
        krand.randomize_table(world.plan("copies"), answers, place / "r.parquet")
