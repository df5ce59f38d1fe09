"""Releasing: only whole crowds, the same bytes every time, and never over another file."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from collecting import files_in
from collector.crowds import (
    SIGNER,
    everybody,
    filled,
    manifests_in,
    messages_in,
    people,
    sealing,
)
from krand.batches.sealed import batch_id_in
from krand.collector.release import release_batch, release_sealed
from krand.collector.sqlite.spool import Spool
from krand.collector.store import State
from krand.errors import InternalError, InvalidInput
from krand.survey.plan_check import CrowdTooSmall

CROWD = 60


def test_a_crowd_of_one_short_is_never_released(tmp_path: Path) -> None:
    """Not by release_sealed, not by release_batch, not with a batch that claims to be sealed."""
    with filled(tmp_path / "s", CROWD, range(CROWD - 1)) as spool:
        with pytest.raises(CrowdTooSmall, match="wait for more people"):
            spool.close_batch()
        assert release_sealed(spool, tmp_path / "b", SIGNER) == ()
        (waiting,) = spool.batches()
        for batch in (
            waiting,
            replace(waiting, state=State.SEALED),
            replace(waiting, state=State.SEALED, crowd=CROWD - 1),
        ):
            with pytest.raises(InvalidInput, match="must be sealed"):
                release_batch(spool, batch, tmp_path / "b", SIGNER)
        assert not any((tmp_path / "b").glob("*"))
        assert spool.add(people([CROWD])) == [True]
        release_sealed(spool, tmp_path / "b", SIGNER)


@pytest.mark.parametrize(
    ("claims", "error"),
    [
        ({"people": CROWD - 1}, "fewer than the crowd"),
        ({"messages": 3 * CROWD + 1}, f"{3 * CROWD} messages in a batch of {3 * CROWD + 1}"),
    ],
)
def test_a_store_that_miscounts_releases_nothing(
    claims: dict[str, int], error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last check before a file gets its name does not rely on the store."""
    usual = Spool.mark_releasing
    monkeypatch.setattr(
        Spool, "mark_releasing", lambda self, batch: replace(usual(self, batch), **claims)
    )
    with filled(tmp_path / "s", CROWD, range(CROWD)) as spool:
        with pytest.raises(InternalError, match=error):
            release_sealed(spool, tmp_path / "b", SIGNER)
        assert not any((tmp_path / "b").glob("batch-*"))
        assert spool.batches()[0].state is State.RELEASING


def test_late_reports_go_to_the_next_batch(tmp_path: Path) -> None:
    """Nobody joins a batch that is sealed or out: each batch holds its own crowd."""
    with filled(tmp_path / "s", CROWD, range(CROWD + 10)) as spool:
        (first,) = release_sealed(spool, tmp_path / "b", SIGNER)
        whole = first.data.read_bytes()
        spool.add(people(range(CROWD + 10, 2 * CROWD)))
        (second,) = release_sealed(spool, tmp_path / "b", SIGNER)
        assert release_sealed(spool, tmp_path / "b", SIGNER) == ()
    assert first.data.read_bytes() == whole
    assert (first.batch.number, second.batch.number) == (1, 2)
    assert Counter(messages_in(tmp_path / "b")) == everybody(range(2 * CROWD))
    for entry in manifests_in(tmp_path / "b"):
        assert (entry.submissions, entry.messages) == (CROWD, 3 * CROWD)


@pytest.mark.parametrize("left", [(), ("parquet",), ("parquet", "manifest.json")], ids=len)
def test_a_repeated_release_gives_the_same_bytes(tmp_path: Path, left: tuple[str, ...]) -> None:
    """From a copy of the spool, over nothing, the data file, or all files; then it is wiped."""
    filled(tmp_path / "s", CROWD, range(CROWD), group=7).close()
    shutil.copytree(tmp_path / "s", tmp_path / "copy")
    with Spool(tmp_path / "s", sealing(CROWD)) as spool:
        release_sealed(spool, tmp_path / "out", SIGNER)
    before = files_in(tmp_path / "out")
    assert sorted(before) == ["batch-000001.manifest.json", "batch-000001.parquet"]
    for name in before:
        if name.removeprefix("batch-000001.") not in left:
            (tmp_path / "out" / name).unlink()
    with Spool(tmp_path / "copy", sealing(CROWD)) as spool:
        release_sealed(spool, tmp_path / "out", SIGNER)
        assert [batch.state for batch in spool.batches()] == [State.RELEASED, State.OPEN]
    assert files_in(tmp_path / "out") == before
    (manifest,) = manifests_in(tmp_path / "out")
    content = before["batch-000001.parquet"]
    assert manifest.batch_sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("name", ["batch-000001.parquet", "batch-000001.manifest.json"])
def test_another_file_under_the_name_is_never_replaced(tmp_path: Path, name: str) -> None:
    """It may be the only copy of another round's batch: it stays, and nothing is wiped."""
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / name).write_bytes(b"another batch")
    with filled(tmp_path / "s", CROWD, range(CROWD)) as spool:
        with pytest.raises(InvalidInput, match="must not hold another batch") as caught:
            release_sealed(spool, tmp_path / "b", SIGNER)
        assert caught.value.field == "output"
        assert (tmp_path / "b" / name).read_bytes() == b"another batch"
        assert spool.batches()[0].state is State.RELEASING  # part of it may have been written
        spool.check()
        release_sealed(spool, tmp_path / "c", SIGNER)
    assert Counter(messages_in(tmp_path / "c")) == everybody(range(CROWD))


def test_a_spool_that_was_restored_from_before_a_release_releases_nobody_twice(
    tmp_path: Path,
) -> None:
    """Old messages with new people make another batch of the same number: it is refused."""
    filled(tmp_path / "s", CROWD, range(20)).close()
    shutil.copytree(tmp_path / "s", tmp_path / "backup")
    with filled(tmp_path / "s", CROWD, range(20, CROWD)) as spool:
        release_sealed(spool, tmp_path / "b", SIGNER)
    (tmp_path / "backup" / "spool.mark").unlink()
    others = range(100, 100 + CROWD - 20)
    with (
        filled(tmp_path / "backup", CROWD, others) as spool,
        pytest.raises(InvalidInput, match="must not hold the same batch with other") as caught,
    ):
        release_sealed(spool, tmp_path / "b", SIGNER)
    assert "older copy" in caught.value.hint
    assert "Do not release the copy into any folder" in caught.value.hint
    assert Counter(messages_in(tmp_path / "b")) == everybody(range(CROWD))


def test_a_batch_has_one_id_from_its_beginning_on(tmp_path: Path) -> None:
    """In the spool, the manifest and the file, and in whatever an older copy would release."""
    filled(tmp_path / "s", CROWD, range(20)).close()
    shutil.copytree(tmp_path / "s", tmp_path / "backup")
    (tmp_path / "backup" / "spool.mark").unlink()
    ids = []
    for name, others in (("s", range(20, 2 * CROWD)), ("backup", range(200, 300))):
        with filled(tmp_path / name, CROWD, others) as spool:
            ids.append([batch.id for batch in spool.batches()])
            release_sealed(spool, tmp_path / f"out-{name}", SIGNER)
            assert [batch.id for batch in spool.batches()] == ids[-1]
        signed = [entry.batch_id for entry in manifests_in(tmp_path / f"out-{name}")]
        files = sorted((tmp_path / f"out-{name}").glob("*.parquet"))
        assert signed == [batch_id_in(pq.read_schema(file)) for file in files]
        assert signed == ids[-1][: len(signed)]
    assert ids[0][0] == ids[1][0]  # krand tally refuses the two together
    assert len({*ids[0], *ids[1]}) == len(ids[0]) + len(ids[1]) - 1


def test_a_backup_is_a_spool(tmp_path: Path) -> None:
    """As docs/howto/deploy-a-collector.md makes it while one runs: all are known, same bytes."""
    with filled(tmp_path / "s", CROWD, range(CROWD + 5)) as spool:
        (tmp_path / "new").mkdir()
        backup = sqlite3.connect(spool.path)
        backup.execute("VACUUM INTO ?", [str(tmp_path / "new" / "spool.sqlite")])
        backup.close()
        release_sealed(spool, tmp_path / "b", SIGNER)
    with Spool(tmp_path / "new", sealing(CROWD)) as spool:
        spool.check()
        assert not any(spool.add(people(range(CROWD + 5))))
        release_sealed(spool, tmp_path / "c", SIGNER)
    for path in (tmp_path / "b").iterdir():
        assert path.read_bytes() == (tmp_path / "c" / path.name).read_bytes()


def test_two_releases_at_once_agree(tmp_path: Path) -> None:
    """Both write the same; whoever is second finds the batch released, and changes nothing."""
    filled(tmp_path / "s", CROWD, range(CROWD)).close()
    first, second = (Spool(tmp_path / "s", sealing(CROWD)) for _ in range(2))
    (batch, _) = second.batches()
    done = release_batch(first, batch, tmp_path / "b", SIGNER)
    digest = hashlib.sha256(done.data.read_bytes()).hexdigest()
    second.mark_released(batch, digest)  # it had read everything before the first was done
    with pytest.raises(InvalidInput, match="must be sealed, found 'released'"):
        release_batch(second, batch, tmp_path / "c", SIGNER)
    assert second.batches()[0].sha256 == digest
    for spool in (first, second):
        spool.close()
    assert Counter(messages_in(tmp_path / "b")) == everybody(range(CROWD))
    assert not list((tmp_path / "c").iterdir())


def test_people_may_come_while_a_batch_is_released(tmp_path: Path) -> None:
    """A collector and a release on one spool: both go on, and everybody is there once."""
    collector = filled(tmp_path / "s", CROWD, range(CROWD))
    releasing = Spool(tmp_path / "s", sealing(CROWD))
    (batch, _) = releasing.batches()
    rows = releasing.rows_of(batch)
    next(rows)  # in the middle of reading
    collector.add(people(range(CROWD, 2 * CROWD)))
    rows.close()
    assert len(release_sealed(releasing, tmp_path / "b", SIGNER)) == 2
    collector.add(people(range(2 * CROWD, 3 * CROWD)))
    assert len(release_sealed(releasing, tmp_path / "b", SIGNER)) == 1
    assert Counter(messages_in(tmp_path / "b")) == everybody(range(3 * CROWD))
    releasing.close()
    collector.close()
