"""What may go wrong around a collector: a full disk, a failing one, a wrong clock, many at once."""

from __future__ import annotations

import ast
import asyncio
import os
import resource
import sqlite3
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import krand.collector
from collecting import no_file_grows_beyond
from collector.callers import Collector, post
from collector.crowds import (
    SIGNER,
    body_of,
    config_for,
    everybody,
    filled,
    messages_in,
    people,
    plan_of,
    sealing,
)
from collector.halting import fail_syncs, require_held_calls, while_syncs_fail
from collector.lives import Nursery
from components import require
from krand.collector.release import release_sealed
from krand.collector.sqlite.spool import Spool
from krand.collector.store import State, StoreUnavailable
from krand.errors import InvalidInput
from krand.files import sync_folder
from krand.survey.plan_check import CrowdTooSmall

require("uvicorn")
require("starlette")

CROWD = 200


def sent_until_refused(collector: Collector) -> int:
    """How many people are accepted before the next one is refused twenty times in a row.

    Once is not enough: a quiet moment empties the journal, which may make room for a few more.
    """
    accepted = refused = 0
    while refused < 20:
        (answer,) = post(collector, [accepted])
        if answer == (202, "accepted"):
            accepted, refused = accepted + 1, 0
            assert accepted < 100 * CROWD, "the disk is never full"
        else:
            assert answer == (503, "spool")
            refused += 1
    return accepted


def check_recovered(collector: Collector, before: int, home: Nursery) -> None:
    """Those who were refused come again, and everybody is counted once."""
    assert post(collector, range(before - 3, before + 3)) == [
        *[(202, "known")] * 3,
        *[(202, "accepted")] * 3,
    ]
    home.stop()
    with Spool(collector.spool, config_for(CROWD)) as spool:
        spool.check()
        assert sum(batch.people for batch in spool.batches()) == before + 3


@pytest.mark.check
def test_a_file_that_may_not_grow_is_no_acknowledgement(tmp_path: Path, home: Nursery) -> None:
    """A collector whose files may not grow answers 503; when they may, it goes on by itself."""
    collector = Collector(tmp_path, CROWD, home)
    process = collector.started()
    _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (2**18, hard))
    before = sent_until_refused(collector)
    assert before > 3
    resource.prlimit(process, resource.RLIMIT_FSIZE, (hard, hard))
    check_recovered(collector, before, home)


@pytest.mark.check
def test_a_full_disk_is_no_acknowledgement(tmp_path: Path, home: Nursery) -> None:
    """On a real disk that is full it answers 503; when there is room, it goes on by itself."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=640k", "krand-test", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nobody but root may mount a small disk")
    try:
        collector = Collector(disk, CROWD, home)
        collector.started()
        before = sent_until_refused(collector)
        assert before > 3
        subprocess.run(["mount", "-o", "remount,size=32m", str(disk)], check=True)
        check_recovered(collector, before, home)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_release_to_a_full_disk_is_named_and_repeated(tmp_path: Path) -> None:
    """A batch that does not fit is not written at all; with room, it is written and wiped."""
    spool = filled(tmp_path / "spool", CROWD, range(CROWD))
    output = tmp_path / "batches"
    spool.mark_releasing(spool.batches()[0])  # the spool has room for what follows
    with (
        no_file_grows_beyond(2**14),
        pytest.raises(InvalidInput, match="file too large") as caught,
    ):
        release_sealed(spool, output, SIGNER)
    assert caught.value.field == "output"
    assert not list(output.iterdir())
    assert spool.batches()[0].state is State.RELEASING
    release_sealed(spool, output, SIGNER)
    assert len(messages_in(output)) == 3 * CROWD
    spool.close()


def test_a_spool_whose_disk_fails_stores_nothing_and_recovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the sync fails nothing is stored; afterwards the same people are new, and counted once."""
    require_held_calls()
    # Without this the journal would be empty anyway.
    monkeypatch.setattr("krand.collector.sqlite.spool.ALWAYS_MIXED_BYTES", 0)
    with filled(tmp_path / "spool", CROWD, range(10)) as spool:
        for _ in range(20):
            with pytest.raises(StoreUnavailable, match="disk I/O error"):
                while_syncs_fail(lambda: spool.add(people(range(10, 20))))
        assert spool.batches()[0].people == 10
        assert spool.add(people(range(20))) == [False] * 10 + [True] * 10
        spool.add(people(range(20, 60)))  # so many at once stay in the journal for a while
        with pytest.raises(StoreUnavailable, match="disk I/O error"):
            while_syncs_fail(spool.settle)
        assert not any(spool.add(people(range(60))))
        spool.check()


def test_a_release_whose_disk_fails_wipes_nothing(tmp_path: Path) -> None:
    """If files or folder cannot be synced the messages stay; afterwards the bytes are the same."""
    require_held_calls()
    with filled(tmp_path / "spool", CROWD, range(CROWD)) as spool:
        output = tmp_path / "batches"
        with pytest.raises(StoreUnavailable, match="disk I/O error"):
            while_syncs_fail(lambda: release_sealed(spool, output, SIGNER))
        assert not list(output.iterdir())  # nothing is written before the spool says so
        assert spool.batches()[0].state is State.SEALED
        spool.mark_releasing(spool.batches()[0])
        with pytest.raises(InvalidInput, match="input/output error") as caught:
            while_syncs_fail(lambda: release_sealed(spool, output, SIGNER))
        assert caught.value.field == "output"
        with pytest.raises(OSError, match="Input/output error"):
            while_syncs_fail(lambda: sync_folder(output))
        assert spool.batches()[0].state is State.RELEASING
        spool.check()
        release_sealed(spool, output, SIGNER)
        assert Counter(messages_in(output)) == everybody(range(CROWD))


def test_over_http_a_failing_disk_is_503_until_it_works_again(tmp_path: Path) -> None:
    """No acknowledgement and not ready while syncs fail; then accepted once, and ready."""
    require_held_calls()
    from krand.collector.http import Collector

    spool = filled(tmp_path / "spool", CROWD, range(5))
    app = Collector(spool)
    intake = app.intake
    url = f"/v1/{plan_of(CROWD).hash}/submissions"

    async def scene() -> list[tuple[int, bytes | None]]:
        async with app.router.lifespan_context(app):
            intake._thread.submit(fail_syncs).result()
            answers = [await _asked(app, "POST", url, body_of(5)) for _ in range(3)]
            answers.append(await _asked(app, "GET", "/readyz"))
            intake._thread.shutdown()
            intake._thread = ThreadPoolExecutor(1)  # another thread: the disk is mended
            answers.append(await _asked(app, "GET", "/readyz"))
            answers += [await _asked(app, "POST", url, body_of(5)) for _ in range(2)]
            assert (await intake.batches())[0].people == 6
        return answers

    ready, mended = (503, b"5"), [(200, None), (202, None), (202, None)]
    assert asyncio.run(scene()) == [*[(503, b"5")] * 3, ready, *mended]


def test_ready_means_that_a_submission_could_be_stored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not that something else can be written; and nothing is stored again until somebody's is."""
    from krand.collector.http import Collector

    spool = filled(tmp_path / "spool", CROWD, range(5))
    app = Collector(spool)
    url = f"/v1/{plan_of(CROWD).hash}/submissions"

    async def scene() -> list[int]:
        asked = [("POST", url), ("GET", "/readyz"), ("GET", "/readyz")]
        async with app.router.lifespan_context(app):
            changed(spool, "ALTER TABLE recent RENAME TO lost")
            found = [(await _asked(app, *one, body_of(5)))[0] for one in asked]
            changed(spool, "ALTER TABLE lost RENAME TO recent")
            found += [(await _asked(app, *asked[1]))[0]]
            assert "stored again" not in caplog.text
            found += [(await _asked(app, *asked[0], body_of(5)))[0]]
        return found

    with caplog.at_level("INFO", "krand.collector"):
        assert asyncio.run(scene()) == [503, 503, 503, 200, 202]
    assert caplog.text.count("submissions are stored again") == 1


def changed(spool: Spool, statement: str) -> None:
    """By another process, say."""
    with closing(sqlite3.connect(spool.path)) as connection:
        connection.execute(statement)


async def _asked(app: Any, method: str, path: str, body: bytes = b"") -> tuple[int, bytes | None]:
    """The status of an answer and when to come again, without a network."""
    heads: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"content-type", b"application/octet-stream")],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            heads.append(message)

    await app(scope, receive, send)
    return heads[0]["status"], dict(heads[0]["headers"]).get(b"retry-after")


def test_many_duplicates_at_once_are_one(tmp_path: Path, home: Nursery) -> None:
    """32 clients send the same submission at the same moment, five times: one is counted."""
    collector = Collector(tmp_path, CROWD, home)
    collector.started()
    barrier = Barrier(32)

    def call(number: int) -> tuple[int, str]:
        barrier.wait()
        (answer,) = post(collector, [number])
        return answer

    with ThreadPoolExecutor(32) as threads:
        for number in range(5):
            answers = Counter(threads.map(call, [number] * 32))
            assert answers == {(202, "accepted"): 1, (202, "known"): 31}
    home.stop()
    with Spool(collector.spool, config_for(CROWD)) as spool:
        spool.check()
        assert (spool.batches()[0].people, spool.batches()[0].messages) == (5, 15)


def test_the_collector_does_not_know_what_a_clock_is() -> None:
    """No module of the collector imports one, and no statement asks SQLite for the time."""
    files = sorted(Path(krand.collector.__file__).parent.rglob("*.py"))
    assert {path.parent.name for path in files} == {"collector", "sqlite"}
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        imported |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert not {"time", "datetime", "calendar", "email.utils"} & imported, path.name
        strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        texts = [text.lower() for text in strings if isinstance(text, str)]
        words = ("'now'", "current_time", "julianday", "unixepoch", "strftime")
        assert not any(word in text for text in texts for word in words), path.name


YEARS = 10 * 365.25 * 86_400


@pytest.mark.parametrize("shift", [-YEARS, YEARS])
def test_a_clock_that_is_ten_years_off_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shift: float
) -> None:
    """Nothing is released early, nothing is deleted, and retries are known across the jump."""
    folder, output = tmp_path / "spool", tmp_path / "batches"
    filled(folder, CROWD, range(CROWD - 1)).close()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + shift)
    monkeypatch.setattr(time, "time_ns", lambda: int((now + shift) * 1e9))
    for path in folder.iterdir():
        os.utime(path, (now + shift, now + shift))
    with Spool(folder, sealing(CROWD)) as spool:
        with pytest.raises(CrowdTooSmall):
            spool.close_batch()
        assert release_sealed(spool, output, SIGNER) == ()
        assert not any(spool.add(people(range(CROWD - 1))))
        assert spool.batches()[0].people == CROWD - 1
        spool.check()
        assert spool.add(people([CROWD - 1])) == [True]
        release_sealed(spool, output, SIGNER)
    assert len(messages_in(output)) == 3 * CROWD
