"""A damaged spool is named, or the damage was to nothing: there is no wrong release.

The large counts of docs/explanation/reliability.md:
KRAND_LONG=1 KRAND_FLIPS=5000 pytest tests/collector/test_damage.py -s
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collecting import files_in
from collector.crowds import SIGNER, crowd_of, filled, people, sealing
from krand.collector.release import release_sealed
from krand.collector.sqlite.disk import PAGE_BYTES
from krand.collector.sqlite.spool import Spool
from krand.collector.store import State
from krand.errors import InvalidInput
from krand.promise import Linkage

SECTOR = 512
FLIPS = int(os.environ.get("KRAND_FLIPS", "30"))
CROWD, SOME = 40, 37
EVERYBODY = 2 * CROWD + SOME

Image = dict[str, bytes]
"""The files of a spool, by name."""


def laid_out(image: Image, folder: Path) -> Path:
    """The files of an image in a fresh folder."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    for name, content in image.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return at_rest(tmp_path_factory.mktemp("closed"))


def at_rest(folder: Path) -> Image:
    """A spool with one batch released, one sealed, one open."""
    with filled(folder / "spool", CROWD, range(CROWD)) as spool:
        release_sealed(spool, folder / "batches", SIGNER)
    filled(folder / "spool", CROWD, range(CROWD, EVERYBODY)).close()
    return files_in(folder / "spool")


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return after_a_crash(tmp_path_factory.mktemp("crashed"))


def after_a_crash(folder: Path) -> Image:
    """The same as a crash leaves it: much of it is in the journal only."""
    with filled(folder / "spool", CROWD, range(CROWD)) as spool:
        release_sealed(spool, folder / "batches", SIGNER)
    with pytest.MonkeyPatch.context() as patch:  # else it is emptied whenever few have come
        patch.setattr(Spool, "_empty_journal", lambda *_, **__: False)
        spool = filled(folder / "spool", CROWD, range(CROWD, EVERYBODY))
        image = files_in(folder / "spool")
    spool.close()
    assert len(image["spool.sqlite-wal"]) > 10 * PAGE_BYTES
    return image


def used(folder: Path) -> tuple[Image, list[bytes]]:
    """Everybody comes again, then what is complete is released: the files, and what waits."""
    output = folder.parent / "batches"
    if output.exists():
        shutil.rmtree(output)
    with Spool(folder, sealing(CROWD)) as spool:
        for start in range(0, EVERYBODY, 16):
            spool.add(people(range(start, min(start + 16, EVERYBODY))))
        release_sealed(spool, output, SIGNER)
        spool.check()
        waiting = spool.batches()[-1]
        assert waiting.people == SOME
        rows = sorted(spool.rows_of(waiting))
    return files_in(output), rows


def outcome(folder: Path, expected: tuple[Image, list[bytes]]) -> str:
    """Named, or nothing that matters was changed; everything else is a failure."""
    try:
        found = used(folder)
    except InvalidInput as error:
        if error.field != "spool":
            raise
        return "named"
    assert found == expected
    return "harmless"


Change = Callable[[Image, random.Random], Image]


def outcomes(image: Image, change: Change, folder: Path, count: int) -> Counter[str]:
    """How often a change was named, and how often it changed nothing that matters."""
    expected = used(laid_out(image, folder / "spool"))
    seen: Counter[str] = Counter()
    draw = random.Random(count)
    for _ in range(count):
        laid_out(change(image, draw), folder / "spool")
        seen[outcome(folder / "spool", expected)] += 1
    print(f"\n{change.__name__}: {dict(seen)}")
    return seen


def flipped(content: bytes, place: int, bit: int) -> bytes:
    changed = bytearray(content)
    changed[place] ^= 1 << bit
    return bytes(changed)


def in_the_file(name: str, change: Callable[[bytes, random.Random], bytes]) -> Change:
    def changed(image: Image, draw: random.Random) -> Image:
        return {**image, name: change(image[name], draw)}

    changed.__name__ = f"{change.__name__} in {name}"
    return changed


def one_bit(content: bytes, draw: random.Random) -> bytes:
    return flipped(content, draw.randrange(len(content)), draw.randrange(8))


def one_bit_of_the_first_page(content: bytes, draw: random.Random) -> bytes:
    """The header, and the names and shapes of all tables."""
    used = [n for n in range(PAGE_BYTES) if content[n]]
    return flipped(content, draw.choice(used), draw.randrange(8))


def one_bit_near_a_batch(content: bytes, draw: random.Random) -> bytes:
    """The page that holds states, crowds and numbers of people."""
    start = content.index(State.SEALED.encode()) // PAGE_BYTES * PAGE_BYTES
    used = [n for n in range(start, start + PAGE_BYTES) if content[n]]
    return flipped(content, draw.choice(used), draw.randrange(8))


def a_sector_of_zeros(content: bytes, draw: random.Random) -> bytes:
    """One that was not empty."""
    used = [n for n in range(0, len(content), SECTOR) if any(content[n : n + SECTOR])]
    start = draw.choice(used)
    return content[:start] + bytes(len(content[start : start + SECTOR])) + content[start + SECTOR :]


def two_pages_swapped(content: bytes, draw: random.Random) -> bytes:
    first, second = sorted(draw.sample(range(len(content) // PAGE_BYTES), 2))
    pages = [content[n : n + PAGE_BYTES] for n in range(0, len(content), PAGE_BYTES)]
    pages[first], pages[second] = pages[second], pages[first]
    return b"".join(pages)


def cut_short(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


JOURNAL_CHANGES = (one_bit, a_sector_of_zeros, cut_short)
TO_THE_FILE = (
    one_bit,
    one_bit_of_the_first_page,
    one_bit_near_a_batch,
    a_sector_of_zeros,
    two_pages_swapped,
    cut_short,
)
DAMAGES = (
    *(("closed", "spool.sqlite", change, 1.0, 1 / 20) for change in TO_THE_FILE),
    *(("crashed", "spool.sqlite-wal", change, 1.0, 1 / 3) for change in JOURNAL_CHANGES),
    *(("closed", "spool.mark", change, 0.25, 1 / 2) for change in (one_bit, cut_short)),
)
"""A spool at rest or as a crash leaves it, a file of it, and what is done to that; how often, as a
share of FLIPS; and how often at least it is named."""


@pytest.mark.loop
@pytest.mark.parametrize(("state", "file", "change", "share", "least"), DAMAGES)
def test_damage_is_named_or_harmless(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    state: str,
    file: str,
    change: Callable[[bytes, random.Random], bytes],
    share: float,
    least: float,
) -> None:
    """Whatever is changed, no retry counts twice and no wrong batch is released.

    SQLite takes what is left of a journal for all of it; that people are missing is noticed. The
    line beside the spool is no weak place: only where it is empty does it say nothing.
    """
    image, count = request.getfixturevalue(state), int(FLIPS * share)
    seen = outcomes(image, in_the_file(file, change), tmp_path, count)
    assert seen["named"] > least * count
    if change is cut_short and file != "spool.mark":
        assert not seen["harmless"]


@pytest.mark.check
@pytest.mark.loop
def test_damage_is_named_or_harmless_in_bit_linkage(tmp_path: Path) -> None:
    """The other tests here are about records; a plan of bits has messages of another size."""
    with crowd_of(Linkage.BIT):
        images = {"closed": at_rest(tmp_path / "a"), "crashed": after_a_crash(tmp_path / "b")}
        for state, file, change, *_ in DAMAGES[:-2]:
            few = max(4, FLIPS // 5)
            seen = outcomes(images[state], in_the_file(file, change), tmp_path, few)
            assert seen["named"] or (file, change) == ("spool.sqlite", one_bit)


@pytest.mark.loop
def test_pages_of_an_older_state_are_named_or_harmless(tmp_path: Path) -> None:
    """A disk that forgot a write leaves an old page: sound by itself, and yet it is noticed."""
    filled(tmp_path / "s", CROWD, range(CROWD + 5)).close()
    older = files_in(tmp_path / "s")
    filled(tmp_path / "s", CROWD, range(CROWD + 5, EVERYBODY)).close()
    newer = files_in(tmp_path / "s")
    pages = len(older["spool.sqlite"]) // PAGE_BYTES

    def an_old_page(content: bytes, draw: random.Random) -> bytes:
        start = draw.randrange(pages) * PAGE_BYTES
        return (
            content[:start]
            + older["spool.sqlite"][start : start + PAGE_BYTES]
            + content[start + PAGE_BYTES :]
        )

    seen = outcomes(newer, in_the_file("spool.sqlite", an_old_page), tmp_path, FLIPS // 2)
    assert seen["named"] > FLIPS / 8


def test_an_older_copy_of_a_spool_is_refused(closed: Image, tmp_path: Path) -> None:
    """An old backup in the place of the spool, or an empty file, is not taken for the spool."""
    folder = laid_out(closed, tmp_path / "spool")
    filled(folder, CROWD, range(EVERYBODY, EVERYBODY + 1)).close()
    for content in (closed["spool.sqlite"], b""):
        (folder / "spool.sqlite").write_bytes(content)
        with pytest.raises(InvalidInput, match=r"spool\.mark records") as caught:
            Spool(folder, sealing(CROWD))
        assert caught.value.field == "spool"
        assert len((folder / "spool.sqlite").read_bytes()) <= max(PAGE_BYTES, len(content))


def edit(folder: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(folder / "spool.sqlite")
    with connection:
        connection.execute(statement, values)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE setting SET value = '17' WHERE name = 'crowd'",
        "UPDATE setting SET value = zeroblob(16) WHERE name = 'id_key'",
        "DELETE FROM setting WHERE name = 'crowd'",
        f"UPDATE batches SET crowd = {SOME}",
        f"UPDATE batches SET people = {CROWD} WHERE state = 'open'",
        "UPDATE batches SET state = 'sealed' WHERE state = 'open'",
        "UPDATE batches SET state = 'oqen' WHERE state = 'open'",
        "DELETE FROM batches WHERE state = 'released'",
        "DELETE FROM batches",
        "DELETE FROM seen WHERE id IN (SELECT id FROM seen LIMIT 1)",
        "UPDATE pool SET content = zeroblob(length(content))",
        "DELETE FROM pool WHERE name = 'ids'",
        "DELETE FROM messages_2 WHERE key IN (SELECT key FROM messages_2 LIMIT 1)",
        "DROP TABLE seen",
        "DROP TABLE messages_3",
        "CREATE TABLE more (a)",
        "ALTER TABLE seen RENAME TO segn",
    ],
)
def test_what_somebody_edits_is_refused(closed: Image, tmp_path: Path, statement: str) -> None:
    """A crowd that is lowered, people made up, a batch sealed by hand: no release."""
    folder = laid_out(closed, tmp_path / "spool")
    edit(folder, statement)
    with pytest.raises(InvalidInput) as caught:
        used(folder)
    assert caught.value.field == "spool"
    assert not list(tmp_path.glob("batches/*"))


def test_a_row_of_another_batch_is_no_substitute(closed: Image, tmp_path: Path) -> None:
    """As many messages as there should be, each with the right digest, but not the same ones."""
    folder = laid_out(closed, tmp_path / "spool")
    row = "(SELECT key FROM messages_{} WHERE length(content) = {} LIMIT 1)"
    connection = sqlite3.connect(folder / "spool.sqlite")
    (size,) = connection.execute(
        "SELECT length(content) FROM messages_2 INTERSECT SELECT length(content) FROM messages_3"
    ).fetchone()
    connection.close()
    edit(folder, f"DELETE FROM messages_2 WHERE key = {row.format(2, size)}")
    copied = f"SELECT * FROM messages_3 WHERE key = {row.format(3, size)}"
    edit(folder, f"INSERT INTO messages_2 {copied}")
    with pytest.raises(InvalidInput, match="not those that were stored") as caught:
        used(folder)
    assert caught.value.field == "spool"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"crowd": SOME + 1}, "batch 3 is not of the planned crowd"),
        ({"crowd": SOME, "state": State.SEALED}, "batch 3 is not of the planned crowd"),
        ({"state": State.SEALED}, f"batch 3 is sealed with {SOME} people"),
        ({"people": CROWD, "state": State.SEALED}, f"batch 3 has {3 * SOME} messages"),
        ({"people": SOME - 1}, f"batch 3 has {3 * SOME} messages"),
        ({"people": SOME - 1, "messages": 3 * (SOME - 1)}, "spool.mark records"),
    ],
)
def test_a_crowd_that_is_lowered_with_all_digests_right_is_refused(
    closed: Image, tmp_path: Path, change: dict[str, Any], found: str
) -> None:
    """Not what the file says, but what the plan says, is the crowd that a batch needs."""
    folder = laid_out(closed, tmp_path / "spool")
    with Spool(folder, sealing(CROWD)) as spool:
        entry = spool._batches.open()
        with spool._transaction():
            spool._batches.write(replace(entry, batch=replace(entry.batch, **change)))
            if change.get("state") is State.SEALED:
                spool._batches.begin(4)
    with pytest.raises(InvalidInput, match=found) as caught:
        Spool(folder, sealing(CROWD))
    assert caught.value.field == "spool"
