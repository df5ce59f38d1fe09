"""kill -9 at random points of a run: one input never leaves with two draws of noise.

A child process mixes a batch and kills itself at the n-th call of a function, of Python or of C.
Everything that ever appeared in the output folder is kept and compared. More kills:
KRAND_LONG=1 KRAND_FAULTS=1000 pytest tests/mixing/test_kills.py
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from krand.batches.chain import read_chain, verify_chain
from krand.mixing.mixer import MixOptions, first_mix, mix_batch
from krand.mixing.store import MixerStore
from mixing.chains import (
    Party,
    batch_id,
    counted,
    mixed_plan_for,
    random_answers,
    sealed_people,
    stores_of,
)

FAULTS = int(os.environ.get("KRAND_FAULTS", "12"))
KILLED = -signal.SIGKILL
STEPS = ("MixerStore.record", "_published")
"""Functions between whose beginnings and ends as many kills fall as in all the rest."""
ALONE = MixOptions(workers=1)


@dataclass(frozen=True)
class Setting:
    """Two mixers, and a run of each."""

    party: Party
    folder: Path

    def run(self, hop: int) -> Callable[[Path], None]:
        """What mixes in this folder, which is a copy of the one that was prepared."""

        def first(folder: Path) -> None:
            messages = PEOPLE["messages"]
            with MixerStore(folder / "store-1", folder / "anchor-1") as store:
                first_mix(store, self.party.plan, 1, NAME, messages, folder / "out", ALONE)

        def second(folder: Path) -> None:
            data = folder / "in" / f"batch-{NAME}-1.parquet"
            chain = folder / "in" / f"batch-{NAME}-1.chain.json"
            with MixerStore(folder / "store-2", folder / "anchor-2") as store:
                mix_batch(store, self.party.plan, data, chain, folder / "out", ALONE)

        return first if hop == 1 else second


NAME = batch_id()
PEOPLE: dict[str, Any] = {}
"""What the collector has; a child has it, too."""


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    party = mixed_plan_for(mixers=2)
    folder = tmp_path_factory.mktemp("prepared")
    stores_of(party, folder, anchored=True)
    PEOPLE["messages"] = sealed_people(party.plan, random_answers(10))
    with MixerStore(folder / "store-1", folder / "anchor-1") as store:
        shutil.copytree(folder / "store-1", folder / "first-store")
        shutil.copy(folder / "anchor-1", folder / "first-anchor")
        first_mix(store, party.plan, 1, NAME, PEOPLE["messages"], folder / "in", ALONE)
    shutil.rmtree(folder / "store-1")
    (folder / "first-store").rename(folder / "store-1")
    (folder / "first-anchor").rename(folder / "anchor-1")
    return Setting(party, folder)


def lived(
    work: Callable[[Path], None],
    folder: Path,
    kill_at: int,
    log: Path | None = None,
    watched: tuple[str, ...] = STEPS,
) -> int:
    """Run in a child that kills itself at the n-th call; how it ended.

    `log` gets the numbers of the calls at which the watched functions begin and end.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    done, steps = 0, []

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal done
        done += 1
        if done == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if log is not None and frame.f_code.co_qualname in watched and event in ("call", "return"):
            steps.append(done)

    code = 1
    try:
        sys.setprofile(count)
        work(folder)
        sys.setprofile(None)
        if log is not None:
            log.write_text(json.dumps([1, *steps]))
        code = 0
    finally:
        os._exit(code)


def seen_in(folder: Path) -> dict[str, bytes]:
    """All that others could have read."""
    out = folder / "out"
    return {path.name: path.read_bytes() for path in out.iterdir()} if out.exists() else {}


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("hop", [1, 2])
def test_rule_3_a_killed_run_shows_one_output_or_none(
    setting: Setting, hop: int, tmp_path: Path
) -> None:
    """Killed at random points and run again, several times: every byte ever seen is the same."""
    work = setting.run(hop)
    shutil.copytree(setting.folder, tmp_path / "whole")
    assert lived(work, tmp_path / "whole", 0, tmp_path / "log") == 0
    steps = json.loads((tmp_path / "log").read_text())
    assert len(steps) == 1 + 2 * len(STEPS)
    chance, kills, unpublished = random.Random(), 0, 0
    while kills < FAULTS // 2 or not unpublished:
        folder = tmp_path / f"life {kills}"
        shutil.copytree(setting.folder, folder)
        visible: dict[str, set[bytes]] = {}
        first, last = chance.choice(list(pairwise(steps)))
        for kill_at in (chance.randint(first, last), chance.randint(1, steps[-1] - steps[1]), 0):
            kills += lived(work, folder, kill_at) == KILLED
            unpublished += is_recorded(folder, hop) and len(seen_in(folder)) < 2
            for name, content in seen_in(folder).items():
                visible.setdefault(name, set()).add(content)
        assert {name: len(found) for name, found in visible.items()} == {
            f"batch-{NAME}-{hop}.parquet": 1,
            f"batch-{NAME}-{hop}.chain.json": 1,
        }
        check_whole(setting, folder, hop)
        shutil.rmtree(folder)


def is_recorded(folder: Path, hop: int) -> bool:
    """Read without the store's own repairs."""
    path = folder / f"store-{hop}" / "mixer.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("SELECT count(*) FROM mixed").fetchone()[0])


def check_whole(setting: Setting, folder: Path, hop: int) -> None:
    """The chain is right, and so are the messages."""
    links = read_chain(folder / "out" / f"batch-{NAME}-{hop}.chain.json")
    verify_chain(setting.party.plan, links)
    assert len(links) == hop
    if hop == 2:
        with MixerStore(folder / "store-2", folder / "anchor-2") as store:
            data = folder / "in" / f"batch-{NAME}-1.parquet"
            chain = folder / "in" / f"batch-{NAME}-1.chain.json"
            files = mix_batch(store, setting.party.plan, data, chain, folder / "out", ALONE)
        assert counted(setting.party, files).total() == links[-1].record.messages_out


def is_alive(number: int) -> bool:
    """A process that has ended but whose parent has not asked yet is not alive."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_processes_with_a_key_end_with_their_parent() -> None:
    """Otherwise an opening key would stay in the memory of a process that nobody knows."""
    tests = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join([tests, *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("crew_at_work.py"))],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as parent:
        assert parent.stdout is not None
        numbers = [int(number) for number in parent.stdout.readline().split()]
        assert len(numbers) == 2
        assert all(map(is_alive, numbers))
        parent.kill()
    until = time.monotonic() + 30
    while any(map(is_alive, numbers)) and time.monotonic() < until:
        time.sleep(0.05)
    left = [number for number in numbers if is_alive(number)]
    for number in left:
        os.kill(number, signal.SIGKILL)
    assert not left
