"""A mixer that dies between any two system calls that change a file shows one output or none."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

import pytest

import krand
import steps
import world
from chaos import Program, files_in, is_alive, until
from effort import EFFORT
from halting import KILLED, Repeated, nursery, require_held_calls, spread_over
from mixing.by_hand import ByHand, holds_key

KILLS = 4 * EFFORT


@pytest.mark.parametrize("hop", [1, 2])
def test_one_output_whoever_is_killed_when(tmp_path: Path, hop: int) -> None:
    """Killed, killed again and run to its end: every byte that was ever shown is the same."""
    require_held_calls()
    study = steps.published(tmp_path / "work", "trio")
    with study.collecting() as url:
        study.answer(url, world.people("trio", 3))
    out = study.at / "out"
    options = ["--plan", study.at / "plan.json", "-o", out, "--quiet"]
    if hop == 1:
        spool = ["release", "--spool", study.spool(), "--close", "--yes"]
        words = [*spool, "--mixer-store", study.at / "mixer-1", *options]
    else:
        words = ["mix", "run", study.close(), "--store", study.at / "mixer-2", *options]
    visible, ended = dict[str, set[bytes]](), 0
    with nursery(tmp_path / "errors") as home:
        runs = Repeated(home, study.at, words)
        assert runs.run() == 0
        for stop_at in spread_over(1, len(runs.calls()), KILLS):
            runs.begin_again()
            visible.clear()
            for kill_at in (stop_at, 1 + stop_at // 2, 0):
                ended += runs.run(stop_at=kill_at) == KILLED
                shown = files_in(out) if out.exists() else {}
                for name, content in shown.items():
                    visible.setdefault(name, set()).add(content)
                if shown and hop == 2:
                    key = study.plan.mixers[1].keys[0]
                    assert not holds_key(study.at / "mixer-2", key), "shown before it was erased"
            named = {name: found for name, found in visible.items() if name.startswith("round-")}
            assert {name: len(found) for name, found in named.items()} == dict.fromkeys(named, 1)
            assert len(shown) == 2, f"killed at call {stop_at}: {[*shown]}"
    assert ended >= KILLS


def test_processes_with_a_key_end_with_their_parent(tmp_path: Path) -> None:
    """Otherwise an opening key would stay where nobody looks; the next run opens everything."""
    chain = ByHand(tmp_path)
    people = 1_100  # so that more than one process is worth its start
    batch, out = chain.batch(chain.honest(people), crowd=people), tmp_path / "out"
    options = ("--plan", chain.plan_file, "--store", chain.store, "--workers", 2, "-o", out)
    with Program("mix", "run", batch, *options, errors=tmp_path / "log") as mixing:
        parent = mixing.process.pid
        until(lambda: len(children_of(parent)) > 1 or mixing.process.poll() is not None)
        opening = children_of(parent)
        assert len(opening) > 1, mixing.said()
        mixing.end(signal.SIGKILL)
        until(lambda: not any(map(is_alive, opening)), what="an end of all processes")
    files = krand.mix(chain.plan, batch, chain.store, out)
    tally = krand.tally_batches(chain.plan, [files.data], chain.key)
    sent = sum(len(rows) for rows in chain.inside.values())
    assert sum(tally.counts) + tally.nulls == sent + files.link.total("dummies")


def children_of(process: int) -> list[int]:
    """The processes that it has started."""
    found = Path(f"/proc/{process}/task").glob("*/children")
    with suppress(OSError):
        return [int(number) for path in found for number in path.read_text().split()]
    return []
