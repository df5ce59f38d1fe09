"""The spool: durable, counted once, for the collector's eyes only, and for one process each."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from itertools import product
from pathlib import Path

import pytest

from collecting import files_in
from collector.crowds import SIGNER, check_wiped, filled, people, person, sealing
from krand.collector.release import release_sealed
from krand.collector.sqlite import batches
from krand.collector.sqlite.spool import Spool
from krand.collector.store import State, StoreUnavailable, check_change
from krand.errors import InternalError, InvalidInput

CROWD = 50


def test_files_are_for_the_collector_only(tmp_path: Path) -> None:
    """Folder 0700, files 0600, whatever the mask; the journals too, and a copy that was open."""
    before = os.umask(0)
    try:
        spool = filled(tmp_path / "s", CROWD, range(5))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in spool.folder.iterdir()}
        assert modes == dict.fromkeys(
            ["spool.mark", "spool.sqlite", "spool.sqlite-shm", "spool.sqlite-wal"], 0o600
        )
        assert stat.S_IMODE(spool.folder.stat().st_mode) == 0o700
        spool.close()
        spool.path.chmod(0o644)
        Spool(spool.folder, spool.config).close()
        assert stat.S_IMODE(spool.path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_closed_spool_has_no_journal(tmp_path: Path) -> None:
    """The journal knows which groups came after which: nothing of it is left."""
    filled(tmp_path / "s", CROWD, range(30)).close()
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == [
        "spool.mark",
        "spool.sqlite",
    ]


@pytest.mark.parametrize("content", [b"no database", b"\0" * 5000, os.urandom(9000)])
def test_a_file_that_is_no_spool_is_named(tmp_path: Path, content: bytes) -> None:
    """Anything else under the spool's name is refused, not overwritten."""
    (tmp_path / "spool.sqlite").write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        Spool(tmp_path, sealing(CROWD))
    assert caught.value.field == "spool"
    assert (tmp_path / "spool.sqlite").read_bytes() == content


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """A file where the folder should be is the user's to mend."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="must be a folder") as caught:
        Spool(tmp_path / "file", sealing(CROWD))
    assert caught.value.field == "spool"


def test_a_spool_of_another_version_is_refused_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names both versions and the way out; nobody in it is lost."""
    with monkeypatch.context() as change:
        change.setattr(batches, "VERSION", 2)
        filled(tmp_path, CROWD, range(3)).close()
    before = files_in(tmp_path)
    with pytest.raises(InvalidInput, match=r"version 1 of the format, found '2'") as caught:
        Spool(tmp_path, sealing(CROWD))
    assert caught.value.field == "spool"
    assert "release what is in it with the krand that wrote it" in caught.value.hint
    assert files_in(tmp_path) == before


def test_two_collectors_may_share_a_spool(tmp_path: Path) -> None:
    """Two writers take turns: everybody once, crowds as planned, and none of them is stuck."""
    spools = [Spool(tmp_path / "s", sealing(CROWD)) for _ in range(2)]
    new: list[bool] = []

    def work(spool: Spool) -> None:
        for start in range(0, 4 * CROWD, 8):
            new.extend(spool.add(people(range(start, start + 8))))

    threads = [threading.Thread(target=work, args=(spool,)) for spool in spools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(new), sum(new)) == (8 * CROWD, 4 * CROWD)
    spools[0].check()
    assert [b.people for b in spools[1].batches()] == [*[CROWD] * 4, 0]
    for spool in spools:
        spool.close()


def test_a_spool_does_not_survive_a_fork(tmp_path: Path) -> None:
    """SQLite's locks are the process's own: a child that used them could damage the file."""
    with filled(tmp_path / "s", CROWD, range(3)) as spool:
        spool._process += 1  # as if this were the child
        with pytest.raises(InternalError, match="process that opened it"):
            spool.add(people([4]))
        spool._process -= 1
        assert spool.add(people([4])) == [True]


@pytest.mark.check
def test_a_reader_delays_wiping_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who reads keeps the journal: the release says so, and the next one wipes it."""
    monkeypatch.setattr("krand.collector.sqlite.disk.WAIT_SECONDS", 0.05)
    spool = filled(tmp_path / "s", CROWD, range(CROWD))
    reader = sqlite3.connect(spool.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM seen").fetchone()
    with pytest.raises(StoreUnavailable, match="run this again"):
        release_sealed(spool, tmp_path / "b", SIGNER)
    assert spool.batches()[0].state is State.RELEASED
    reader.execute("COMMIT")
    reader.close()
    assert release_sealed(spool, tmp_path / "b", SIGNER) == ()
    spool.close()
    check_wiped(spool.folder, range(CROWD))


def test_a_retry_is_known_wherever_its_id_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the pool, among those that left it last, among the others, or in the same group."""
    monkeypatch.setattr("krand.collector.sqlite.spool.ALWAYS_MIXED_BYTES", 0)
    monkeypatch.setattr("krand.collector.sqlite.seen_ids.MOST_RECENT", 60)
    monkeypatch.setattr("krand.collector.sqlite.seen_ids.MOST_ASKED", 2)
    with filled(tmp_path / "s", 1_000, ()) as spool:

        def lie() -> tuple[int, ...]:
            tables = ("seen", "recent")
            counts = [spool._connection.execute(f"SELECT count(*) FROM {t}") for t in tables]
            return (*(asked.fetchone()[0] for asked in counts), len(spool._pool.ids()))

        for first in range(0, 120, 3):
            new = people(range(first, first + 3))
            assert spool.add([*new, *new]) == [True] * 3 + [False] * 3
        assert lie() == (67, 0, 53)
        crowd = people(range(120, 160))
        assert spool.add([*crowd, *people(range(10))]) == [True] * 40 + [False] * 10
        assert lie() == (67, 40, 53)
        spool.check()
        spool.tidy()
        assert lie() == (128, 0, 32)
        assert not any(spool.add(people(range(160))))
        assert spool.batches()[0].people == 160


def test_a_full_file_is_no_damage(tmp_path: Path) -> None:
    """Nothing is stored, the error passes, and so does the shortage; closing is no error either."""
    with filled(tmp_path / "s", CROWD, range(5)) as spool:
        (pages,) = spool._connection.execute("PRAGMA page_count").fetchone()
        spool._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreUnavailable, match="full"):
            spool.add(people(range(5, CROWD)))
        assert spool.batches()[0].people == 5
        spool._connection.execute("PRAGMA max_page_count = 1000000")
        assert sum(spool.add(people(range(CROWD)))) == CROWD - 5
        spool._connection.execute("PRAGMA max_page_count = 1")
    with Spool(tmp_path / "s", sealing(CROWD)) as spool:
        spool.check()
        assert spool.batches()[0].people == CROWD


def test_nothing_of_a_person_ties_their_messages_together(tmp_path: Path) -> None:
    """The id is not in the file, only a digest under a key that every spool draws anew."""
    filled(tmp_path / "s", CROWD, range(20)).close()
    filled(tmp_path / "t", CROWD, range(20)).close()
    content = (tmp_path / "s" / "spool.sqlite").read_bytes()
    assert not any(person(number).id in content for number in range(20))
    digests = []
    for name in "st":
        connection = sqlite3.connect(tmp_path / name / "spool.sqlite")
        found = {row[0] for row in connection.execute("SELECT id FROM seen")}
        (pool,) = connection.execute("SELECT content FROM pool WHERE name = 'ids'").fetchone()
        digests.append(found | {pool[at : at + 16] for at in range(0, len(pool), 16)})
        connection.close()
    assert len(digests[0]) == len(digests[1]) == 20
    assert not digests[0] & digests[1]


def test_the_life_of_a_batch_has_one_direction() -> None:
    """Of all changes of state four are possible; below the planned crowd only erasing is."""
    allowed = {
        (State.OPEN, State.SEALED, CROWD),
        (State.OPEN, State.ERASED, CROWD - 1),
        (State.SEALED, State.RELEASING, CROWD),
        (State.RELEASING, State.RELEASED, CROWD),
    }
    for change in product(State, State, (CROWD - 1, CROWD)):
        if change in allowed:
            check_change(*change, CROWD)
        else:
            with pytest.raises(InternalError):
                check_change(*change, CROWD)
