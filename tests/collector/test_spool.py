"""The spool: what it acknowledged it has, once; what it must not tell, no copy of it tells."""

from __future__ import annotations

import math
import os
import random
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path

import pytest

import krand
from chaos import files_in, no_file_grows_beyond, quick_folder, statements_below
from effort import EFFORT
from halting import Faults, calls_noted, nursery, spread_over, while_syncs_fail
from spools import Damaged, Place, State, Verdict, finish

NEW, KNOWN, CLOSED = Verdict.ACCEPTED, Verdict.KNOWN, Verdict.CLOSED
POOL = 32
"""Nobody is to be told apart from so many others."""
DEATHS = 60 * EFFORT


@pytest.fixture
def place() -> Iterator[Place]:
    with quick_folder() as folder:
        yield Place.begun(folder)


def spool_file(place: Place) -> Path:
    (found,) = place.folder.rglob("*.sqlite")
    return found


def key_names(place: Place) -> list[str]:
    keys = (place.folder / "keys").rglob("*")
    return [path.name for path in keys if path.is_file() and path.name != "CACHEDIR.TAG"]


# What was acknowledged.


@pytest.mark.parametrize("survey", ["tiny", "mixer"])
def test_a_life(tmp_path: Path, survey: str) -> None:
    """Open, closed, released: everybody once; whoever asks again is told so, at any time."""
    place = Place.begun(tmp_path, survey)
    with place.opened() as spool:
        for number in range(20):
            assert place.add(spool, [number, number]) == [NEW, KNOWN]
        assert place.add(spool, range(15, 70)) == [KNOWN] * 5 + [NEW] * 50
        for number in range(70, 130, 5):
            assert place.add(spool, range(number, number + 5)) == [NEW] * 5
        assert spool.add([place.sent(3), place.sent(999)], taking=False) == [KNOWN, CLOSED]
        assert (spool.round().state, spool.round().people) == (State.OPEN, 130)
    with place.opened() as spool:
        assert place.add(spool, range(130)) == [KNOWN] * 130
        assert spool.close_round() == spool.close_round()
        assert spool.round().state is State.CLOSED
        assert place.add(spool, [0, 129, 130]) == [KNOWN, KNOWN, CLOSED]
        assert key_names(place) == ["1.closed"]
        spool.write(place.left)
        place.check_left(range(130))
        spool.forget()
        assert key_names(place) == ["1.mixed"]
        assert place.add(spool, [0, 129, 130]) == [KNOWN, KNOWN, CLOSED]
        with pytest.raises(krand.InvalidInput, match="closed"):
            spool.write(place.left)
    with place.opened() as spool:
        assert (spool.round().state, spool.round().people) == (State.RELEASED, 130)
        assert place.add(spool, [0, 129, 130]) == [KNOWN, KNOWN, CLOSED]
        assert spool.close_round().state is State.RELEASED
    for path in (place.folder, *place.folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, f"{path} may be read by others"


def test_below_the_crowd_nothing_leaves_and_nothing_stays(place: Place) -> None:
    """Ended on purpose it is erased; otherwise it goes on."""
    with place.opened() as spool:
        place.add(spool, range(11))
        with pytest.raises(krand.CrowdTooSmall):
            spool.close_round()
        assert place.add(spool, [3, 50]) == [KNOWN, NEW]
        assert spool.close_round().state is State.CLOSED
    other = Place.begun(place.at / "other")
    with other.opened() as spool:
        other.add(spool, range(11))
        assert spool.close_round(erase=True).state is State.ERASED
        assert other.found(range(11)) == 0
        assert other.add(spool, [3, 50]) == [KNOWN, CLOSED]
        with pytest.raises(krand.InvalidInput, match="closed"):
            spool.write(other.left)
        spool.forget()
        assert (spool.round().state, key_names(other)) == (State.ERASED, ["1.closed"])


def test_kills(place: Place, tmp_path: Path) -> None:
    """At any call that writes: nobody who was told is lost, nobody is there twice, and a batch
    that was recorded is never followed by another."""
    people, plan = 100, place.at / "study" / "plan.json"

    def run(number: int, **faults: int) -> tuple[Path, int]:
        at = place.at / f"life-{number}"
        at.mkdir()
        given = {"at": str(at), "plan": str(plan), "told": str(at / "told"), "people": people}
        held = Faults(under=str(at / "party"), note=str(place.at / "note"), **faults)
        home.call("spools:live", held, **given)
        return at, home.wait()

    with nursery(tmp_path / "errors", "spools") as home:
        _, code = run(0)
        assert code == 0, (tmp_path / "errors").read_text()
        calls = calls_noted(place.at / "note")
        for way in ("stop_at", "refuse_from"):
            for number in spread_over(1, len(calls), DEATHS // 2):
                at, code = run(number + 10**6 * (way == "stop_at"), **{way: number})
                assert code != 0 or way == "refuse_from"
                check_goes_on(Place(at, place.plan), people, f"{way} {number}: {calls[number - 1]}")
                shutil.rmtree(at)
    said = [line for line in (tmp_path / "errors").read_text().splitlines() if line]
    allowed = ("StoreUnavailable: ", "Unwritable: ")
    assert all(line.startswith(allowed) for line in said), said


def check_goes_on(place: Place, people: int, why: str) -> None:
    """As after a restart."""
    lines = (place.at / "told").read_text().split() if (place.at / "told").exists() else []
    recorded = place.left.read_bytes() if (place.at / "record").exists() else None
    with place.opened() as spool:
        told = [int(line) for line in lines]
        assert place.add(spool, told) == [KNOWN] * len(told), why
        everybody = range(people)
        if spool.round().is_open:
            place.add(spool, everybody)
        assert set(place.add(spool, everybody)) == {KNOWN}, why
        assert spool.round().people == people, why
        finish(place, spool)
    place.check_left(everybody)
    assert recorded in (None, place.left.read_bytes()), why
    assert place.found(everybody) == 0, why
    assert key_names(place) == ["1.mixed"], why


def test_a_disk_that_fails_acknowledges_nothing(place: Place) -> None:
    """One sentence each time; when it is mended, everything goes on, and nobody is there twice."""
    with place.opened() as spool:
        place.add(spool, range(40))
        size = spool_file(place).stat().st_size

        def come(numbers: range) -> None:
            for start in range(numbers.start, numbers.stop, 10):
                place.add(spool, range(start, start + 10))

        def failing(act: Callable[[], object]) -> None:
            def fail() -> None:
                with pytest.raises(krand.StoreUnavailable, match="sqlite"):
                    act()

            while_syncs_fail(fail)

        with no_file_grows_beyond(size), pytest.raises(krand.StoreUnavailable, match="sqlite"):
            come(range(40, 400))
        failing(lambda: place.add(spool, range(400, 410)))
        place.add(spool, range(500))
        assert spool.round().people == 500
        failing(spool.tidy)
        failing(spool.close_round)
        assert place.add(spool, [0, 500]) == [KNOWN, NEW]
        spool.close_round()
        with no_file_grows_beyond(4096), pytest.raises(krand.Unwritable):
            spool.write(place.left)
        assert not place.left.exists()
        spool.write(place.left)
        failing(spool.forget)
        spool.forget()
    place.check_left(range(501))
    assert place.found(range(501)) == 0


def aside(place: Place) -> Path:
    return place.folder.rename(place.at / "aside")


def unlinked(place: Place) -> Path:
    return spool_file(place).rename(place.at / "aside")


def replaced(place: Place) -> Path:
    found = spool_file(place)
    moved = found.rename(place.at / "aside")
    shutil.copy(moved, found)
    return moved


@pytest.mark.parametrize("change", [aside, unlinked, replaced])
def test_removed_spool(place: Place, change: Callable[[Place], Path]) -> None:
    """A spool that is gone, or another file, acknowledges nothing, until it is put back."""
    with place.opened() as spool:
        place.add(spool, range(10))
        before = place.folder if change is aside else spool_file(place)
        moved = change(place)
        for number in (10, 3):
            with pytest.raises(krand.StoreUnavailable, match="removed or replaced"):
                place.add(spool, [number])
        if change is not replaced:
            moved.rename(before)
        else:
            moved.replace(before)
        assert place.add(spool, [3, 10, 11]) == [KNOWN, NEW, NEW]
        assert spool.close_round().state is State.CLOSED
        spool.write(place.left)
    place.check_left(range(12))


# Older copies.


def test_older_copy_is_dead(place: Place) -> None:
    """Every earlier state of the folder with today's keys: nothing more is taken, nothing mixed."""
    older: list[Place] = []
    with statements_below(place.folder) as sql:

        def look() -> None:
            older.append(place.copied(place.at / f"older-{len(older)}"))

        def at_each(act: Callable[[], object]) -> None:
            for moment in range(6):
                sql.begin(moment, look)
                if not act():
                    sql.end()
                    return
                sql.end()

        with place.opened() as spool:
            numbers = iter(range(100))
            at_each(lambda: place.add(spool, [next(numbers) for _ in range(9)]))
            sql.begin(2, look)
            spool.close_round()
            sql.end()
            sql.begin(1, look)
            spool.write(place.left)
            sql.end()
            sql.begin(2, look)
            spool.forget()
            sql.end()
    assert len(older) == 9
    for one in older:
        copy = one.copied(one.at / "with today's keys", keys=place.folder)
        with suppress(krand.InvalidInput), copy.opened() as spool:
            assert spool.round().state is State.RELEASED
            assert copy.add(spool, [200]) == [CLOSED]
            with pytest.raises(krand.InvalidInput, match="round"):
                spool.write(copy.left)
        assert not copy.left.exists()


def lose_key(place: Place) -> None:
    shutil.rmtree(place.folder / "keys")


def lose_file(place: Place) -> None:
    spool_file(place).unlink()


def lose_key_of_a_closed_round(place: Place) -> None:
    with place.opened() as spool:
        spool.close_round()
    lose_key(place)


def empty_file(place: Place) -> None:
    spool_file(place).write_bytes(b"")


def other_program(place: Place) -> None:
    spool_file(place).write_bytes(b"no database" * 1000)


def link(place: Place) -> None:
    found = spool_file(place)
    found.rename(place.at / "elsewhere")
    found.symlink_to(place.at / "elsewhere")


def second_name(place: Place) -> None:
    (place.at / "second").hardlink_to(spool_file(place))


def open_to_others(place: Place) -> None:
    place.folder.chmod(0o777)


def cut_key(place: Place) -> None:
    (path,) = place.folder.rglob("*.open")
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize(
    "change",
    [
        *(
            lose_key,
            lose_key_of_a_closed_round,
            lose_file,
            empty_file,
            other_program,
            link,
            second_name,
            open_to_others,
        ),
        cut_key,
    ],
)
def test_a_folder_that_is_not_whole_is_refused(
    place: Place, change: Callable[[Place], None]
) -> None:
    """In one sentence, before anybody is told anything; and nothing is made in its place."""
    with place.opened() as spool:
        place.add(spool, range(14))
    change(place)
    before = files_in(place.folder)
    with pytest.raises(krand.InvalidInput) as refused:
        place.opened()
    assert "\n" not in str(refused.value)
    after = files_in(place.folder)
    assert {name for name, content in after.items() if content} <= {*before, "keys/CACHEDIR.TAG"}


def test_damage_is_told_or_does_no_harm(place: Place) -> None:
    """Whatever is damaged: a batch of everybody leaves, or none."""
    with place.opened() as spool:
        place.add(spool, range(40))
        place.add(spool, range(40, 60))
    draw, told = random.Random(os.urandom(8)), 0
    content = spool_file(place).read_bytes()
    for attempt in range(30 * EFFORT):
        other = place.copied(place.at / f"damaged-{attempt}")
        at, changed = draw.randrange(len(content)), bytearray(content)
        match attempt % 3:
            case 0:
                changed[at] ^= 1 << draw.randrange(8)
            case 1:
                changed[at - at % 512 : at - at % 512 + 512] = bytes(512)
            case _:
                del changed[at:]
        spool_file(other).write_bytes(changed[: len(content)])
        damage = ended(other)
        told += bool(damage)
        assert "\n" not in damage
        if damage:
            assert not other.left.exists()
        else:
            assert other.left.stat().st_size == 60 * other.plan.messages * other.length
    assert told >= 8 * EFFORT


def ended(place: Place) -> str:
    """What is said when the round is ended; empty if all is well."""
    try:
        with place.opened() as spool:
            spool.close_round()
            spool.write(place.left)
    except krand.InvalidInput as damage:
        return str(damage)
    return ""


@pytest.mark.parametrize("table", ["ids", "messages"])
def test_a_lost_row_is_noticed_at_the_end(place: Place, table: str) -> None:
    """Sound as a file of SQLite, but not what was acknowledged."""
    with place.opened() as spool:
        place.add(spool, range(40))
    with closing(sqlite3.connect(spool_file(place), isolation_level=None)) as other:
        column = "digest" if table == "ids" else "key"
        other.execute(f"DELETE FROM {table} WHERE {column} = (SELECT max({column}) FROM {table})")
    with place.opened() as spool:
        with pytest.raises(Damaged, match="40 people"):
            spool.close_round()
        with pytest.raises(krand.InvalidInput, match="closed"):
            spool.write(place.left)


# What a copy tells.


def chance_at_most(mean: float, ways: int = 16) -> float:
    """A count that the luckiest of so many independent guesses exceeds in one of 10^7 tests."""
    level = math.log(1e7 * ways)
    return mean + math.sqrt(2 * mean * level) + level


def seen(place: Place, people: int) -> list[tuple[int, int, int]]:
    """Where each message lies in the folder, whose it is, and which of theirs; each is there once:
    what was written anew is nowhere any more."""
    content = b"\0".join(files_in(place.folder).values())
    found = []
    for number in range(people):
        for which, message in enumerate(place.messages(number)):
            at = content.find(message)
            assert content.find(message, at + 1) < 0, f"a message of person {number} twice"
            if at >= 0:  # in one piece
                found.append((at, number, which))
    return sorted(found)


def test_no_copy_while_people_come_tells_them_apart(place: Place) -> None:
    """While people submit one by one, no copy ties a message to another of its person, or to those
    who came last: what came last lies anywhere among those of at least 32."""
    together = ranked = pairs = steps = 0
    ranks: list[float] = []
    each = place.plan.messages
    with place.opened() as spool:
        for number in range(POOL, 100 + 40 * EFFORT):
            place.add(spool, [number] if number > POOL else range(POOL + 1))
            if number < 2 * POOL:
                continue
            found = seen(place, number + 1)
            together += sum(one[1] == other[1] for one, other in pairwise(found))
            pairs += len(found) - 1
            order = {which: [p for _, p, n in found if n == which] for which in range(each)}
            ranked += sum(a == b for a, b in zip(order[0], order[each - 1], strict=False))
            ranks += ranks_in_pool(place, number)
            steps += 1
    assert together <= chance_at_most(pairs * (each - 1) / (each * POOL))
    assert ranked <= chance_at_most(steps * 100 / POOL)
    assert len(ranks) > steps * each / 4
    mean = sum(ranks) / len(ranks)
    assert abs(mean - 0.5) < 5.5 * math.sqrt(1 / 12 / len(ranks)), f"the last ones lie at {mean}"


def ranks_in_pool(place: Place, last: int) -> list[float]:
    """Where the messages of who came last lie in the pool, between 0 and 1 in each lane; none of
    them if they have just left it."""
    with closing(sqlite3.connect(shutil.copy(spool_file(place), place.at / "copy"))) as copy:
        ((pool,),) = copy.execute("SELECT content FROM pool WHERE name = 'messages'").fetchall()
    found, first = list[float](), 0
    for lane in place.plan.lanes:
        sent = [place.messages(n)[first : first + lane.messages] for n in range(last + 1)]
        at = {message: pool.find(message) for one in sent for message in one}
        here = sorted(position for position in at.values() if position >= 0)
        own = [at[message] for message in sent[last] if at[message] >= 0]
        found += [here.index(position) / (len(here) - 1) for position in own]
        first += lane.messages
    return found


def test_after_a_quiet_second_the_file_follows_from_its_content(place: Place) -> None:
    """In whatever order its rows came: only how often it was written is told."""
    with place.opened() as spool:
        for number in range(70):
            place.add(spool, [number])
        place.add(spool, range(70, 400))
        for number in range(400, 420):
            place.add(spool, [number])
        spool.tidy()
        kept = place.copied(place.at / "kept")
    contents = []
    for order in ("{}", "{} DESC", "random()"):
        path = place.at / f"again-{len(contents)}"
        with (
            closing(sqlite3.connect(spool_file(kept))) as old,
            closing(sqlite3.connect(path, isolation_level=None)) as new,
        ):
            tables = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"
            schema = old.execute(tables).fetchall()
            for _, statement in schema:
                new.execute(statement)
            new.execute(f"PRAGMA user_version = {old.execute('PRAGMA user_version').fetchone()[0]}")
            for name, _ in schema:
                rows = old.execute(f"SELECT * FROM {name} ORDER BY {order.format(1)}").fetchall()
                for row in rows:
                    new.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
            new.execute("VACUUM")
        contents.append(bytearray(path.read_bytes()))
    contents.append(bytearray(spool_file(kept).read_bytes()))
    for content in contents:
        for first in (24, 40, 92):  # the counters of changes, of VACUUM, and of changes again
            content[first : first + 4] = bytes(4)
    one, *others = contents
    for place_, other in enumerate(others):
        assert len(one) == len(other)
        different = [at for at in range(len(one)) if one[at] != other[at]]
        assert not different, (place_, different[:20])


def test_no_copy_elsewhere(place: Place, tmp_path: Path) -> None:
    """Nothing is written outside the folder, whatever is written anew."""
    note, told = place.at / "note", place.at / "told"
    given = {"at": str(place.at), "plan": str(place.at / "study" / "plan.json"), "told": str(told)}
    with nursery(tmp_path / "errors", "spools") as home:
        home.call("spools:live", Faults(under="/", note=str(note)), people=1000, **given)
        assert home.wait() == 0, (tmp_path / "errors").read_text()
    opened = {path for name, path in calls_noted(note) if name == "openat"}
    own = (str(place.folder), str(place.left), str(place.at), str(told), "/dev/null")
    assert any(path.endswith("sqlite-journal") for path in opened)
    assert all(path.startswith(own) for path in opened), opened


def test_no_message_stays(place: Place) -> None:
    """From the commit on that records that the batch has left: in no file, and in no part."""
    people = range(300)
    with statements_below(place.folder) as sql, place.opened() as spool:
        place.add(spool, people)
        spool.close_round()
        assert place.found(people) == 300 * place.plan.messages
        left: list[int] = []
        sql.begin(-1, lambda: None)
        spool.forget()
        after_commit = sql.seen.index("COMMIT") + 1
        assert len(sql.seen) > after_commit, "VACUUM follows"
        assert place.found(people) == 0
    with quick_folder() as folder:
        again = Place.begun(folder)
        with statements_below(again.folder) as sql, again.opened() as spool:
            again.add(spool, people)
            spool.close_round()
            sql.begin(after_commit, lambda: left.append(again.found(people)))
            spool.forget()
            assert sql.end()[-1] == "COMMIT"
    assert left == [0]
