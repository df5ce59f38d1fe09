"""kill -9 at each system call with which a release changes files.

Most kills at a random time, or at a random call of Python code, miss the few milliseconds in which
files are written. Here none does. Every call, several times:
KRAND_LONG=1 KRAND_FAULTS=1000 pytest tests/collector/test_kills_at_writes.py -s
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collecting import files_in
from collector.callers import Collector
from collector.crowds import config_for, crowd_of, filled, manifests_in, messages_in, messages_of
from collector.halting import Held, calls_noted, require_held_calls, spread_over
from collector.lives import Nursery, nursery
from components import require
from krand.collector.sqlite.spool import Spool
from krand.collector.states import State
from krand.promise import Linkage

require("uvicorn")
require("starlette")

pytestmark = pytest.mark.check
FAULTS = int(os.environ.get("KRAND_FAULTS", "16")) // 2
KILLED = -9
CROWD = 200
WAYS: dict[str, dict[str, Any]] = {
    "in memory": {},
    "in piles": {
        "krand.collector.sqlite.mixing.IN_MEMORY_BYTES": 0,
        "krand.collector.sqlite.mixing.PIECE_BYTES": 2**12,
    },
}
"""A large batch is put in order in nameless files."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    require_held_calls()
    with nursery(tmp_path_factory.mktemp("writes") / "errors") as made:
        yield made


class ResultsFolder:
    """One release again and again, each from the same full spool."""

    def __init__(self, folder: Path, home: Nursery, way: str) -> None:
        self.collector, self.home, self.way = Collector(folder, CROWD, home), home, way
        self._folder, self._full = folder, folder / "full"
        filled(self._full, CROWD, range(CROWD)).close()

    def begin_again(self) -> None:
        """No batch is out."""
        for folder in (self.collector.spool, self.collector.output):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._full, self.collector.spool)

    def run(self, stop_at: int = 0) -> int:
        """Release, killed at a call if one is chosen; how it ended."""
        note = self._folder / "note"
        note.unlink(missing_ok=True)
        held = {"under": str(self._folder), "stop_at": stop_at, "note": str(note)}
        self.collector.begin_release(held=held, changed=WAYS[self.way])
        return self.home.wait()

    def calls(self) -> list[Held]:
        """What an undisturbed release changes."""
        self.begin_again()
        assert self.run() == 0
        return calls_noted(self._folder / "note")

    def files(self) -> dict[str, bytes]:
        """What is in the output folder, hidden or not."""
        return files_in(self.collector.output)

    def state(self) -> State:
        """Of the batch; one that is not out is undamaged."""
        with Spool(self.collector.spool, config_for(CROWD)) as spool:
            state = spool.batches()[0].state
            if state.has_messages:
                spool.check()
        return state


@pytest.mark.loop
@pytest.mark.parametrize(("way", "linkage"), [("in memory", "bit"), ("in piles", "record")])
def test_kills_while_a_release_writes_leave_whole_files(
    tmp_path: Path, home: Nursery, way: str, linkage: str
) -> None:
    """No file, the batch alone, or both; each whole; repeated, they have the same bytes."""
    with crowd_of(Linkage(linkage)):
        check_kills(tmp_path, home, way)


def check_kills(tmp_path: Path, home: Nursery, way: str) -> None:
    releases = ResultsFolder(tmp_path, home, way)
    calls = releases.calls()
    expected = releases.files()
    check_expected(releases.collector)
    stops = places_to_stop(calls, str(releases.collector.output))
    seen: Counter[str] = Counter()
    for stop_at in stops:
        releases.begin_again()
        assert releases.run(stop_at) == KILLED
        found = releases.files()
        assert found == {name: expected[name] for name in found}
        assert {*found} in [set(), {"batch-000001.parquet"}, {*expected}]
        state = releases.state()
        assert state is not State.SEALED or not found
        assert state is not State.RELEASED or found == expected
        seen[f"{len(found)} files, {state}"] += 1
        assert releases.run() == 0
        assert releases.files() == expected
        check_wiped(releases.collector.spool)
    releasing = {f"{count} files, releasing" for count in range(3)}
    assert (
        {*releasing, "2 files, released"}
        <= {*seen}
        <= {*releasing, "2 files, released"} | {"0 files, sealed"}
    )
    print(
        f"\n{seen.total()} kills of a release at {len({*stops})} of its calls from {min(stops)} to"
        f" {len(calls)}, {way}: {dict(seen)}"
    )


def places_to_stop(calls: list[Held], output: str) -> list[int]:
    """Half of them from the first change of the output to the last of the spool, the other half
    where files are synced and get their names."""
    ours = [n for n, (_, path) in enumerate(calls, 1) if path.startswith(output)]
    synced = next(n for n in ours if calls[n - 1][0] == "fsync")
    some = FAULTS // 2
    return [*spread_over(ours[0], len(calls), some), *spread_over(synced, ours[-1], some)]


def check_expected(collector: Collector) -> None:
    """Everybody is in the batch of the undisturbed release, once."""
    everybody = Counter(m for number in range(CROWD) for m in messages_of(number))
    assert Counter(messages_in(collector.output)) == everybody
    assert [manifest.submissions for manifest in manifests_in(collector.output)] == [CROWD]


def check_wiped(folder: Path) -> None:
    """No message is left in any file of the spool."""
    content = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    assert not any(m[:24] in content for n in range(CROWD) for m in messages_of(n))
