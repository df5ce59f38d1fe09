"""The ledger: one randomization for each round, whatever happens to the device."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
import time
from collections import defaultdict
from pathlib import Path

import pytest

from effort import CHECK, LONG
from krand.client import ledger as ledger_module
from krand.client.ledger import AlreadySubmitted, Ledger, Submission
from krand.errors import InvalidInput
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.survey import Survey
from schedules import days, of_campaign

ROUNDS = 400

KILLS = 200 if LONG else 50 if CHECK else 10


@pytest.fixture(scope="module")
def plan() -> Plan:
    policy = Policy(epsilon=1.0, delta=1e-4, minimum_crowd=1_000_000)
    return make_plan(
        Survey(
            id="habits",
            policy=policy,
            questions=(YesNo(name="smokes"),),
            rounds=ROUNDS,
            schedule=days(ROUNDS),
        )
    )


def fresh() -> Submission:
    """As random as a real one: two of them are never alike."""
    return Submission(os.urandom(16), tuple(os.urandom(54) for _ in range(3)))


def test_whoever_asks_again_gets_the_same_bytes(plan: Plan, tmp_path: Path) -> None:
    """From the same ledger, and from one that is opened later."""
    ledger = Ledger(tmp_path / "ledger")
    first = ledger.submission(plan, 1, fresh)
    assert ledger.submission(plan, 1, fresh) == first
    assert Ledger(tmp_path / "ledger").submission(plan, 1, fresh) == first
    assert ledger.submission(plan, 2, fresh) != first


def test_a_ledger_is_its_owners_alone(plan: Plan, tmp_path: Path) -> None:
    """It tells which surveys somebody has answered."""
    file = tmp_path / "ledger"
    Ledger(file).submission(plan, 1, fresh)
    assert file.stat().st_mode & 0o077 == 0


def test_plans_are_kept_apart(plan: Plan, tmp_path: Path) -> None:
    """Another plan, even of the same survey, is another answer."""
    ledger = Ledger(tmp_path / "ledger")
    other = of_campaign(plan, "another")
    assert ledger.submission(plan, 1, fresh) != ledger.submission(other, 1, fresh)


def test_an_acknowledged_round_is_never_sent_again(plan: Plan, tmp_path: Path) -> None:
    """Its messages are gone from the file, the fact that it was answered is not."""
    file = tmp_path / "ledger"
    ledger = Ledger(file)
    sent = ledger.submission(plan, 1, fresh)
    assert sent.messages[0] in file.read_bytes()
    ledger.acknowledge(plan, 1)
    with pytest.raises(AlreadySubmitted, match="habits"):
        ledger.submission(plan, 1, fresh)
    assert sent.messages[0] not in file.read_bytes()
    assert [entry.acknowledged for entry in ledger.entries()] == [True]


def copies_of(secret: bytes, folder: Path) -> list[str]:
    """The files of a folder in which it can be found."""
    return [file.name for file in folder.iterdir() if secret in file.read_bytes()]


def test_an_acknowledged_submission_leaves_no_id(plan: Plan, tmp_path: Path) -> None:
    """Whoever takes the device later cannot tell which submission was this person's."""
    ledger = Ledger(tmp_path / "ledger")
    sent = {number: ledger.submission(plan, number, fresh) for number in range(1, 61)}
    for number, submission in sent.items():
        assert copies_of(submission.id, tmp_path) == ["ledger"]
        ledger.acknowledge(plan, number)
        assert copies_of(submission.id, tmp_path) == []
        assert not any(copies_of(message, tmp_path) for message in submission.messages)
        with pytest.raises(AlreadySubmitted):
            ledger.submission(plan, number, fresh)
    assert [file.name for file in tmp_path.iterdir()] == ["ledger"]
    assert all(entry.acknowledged for entry in ledger.entries())


def test_the_journal_is_overwritten(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages as they were do not stay behind on the disk when the journal is deleted."""
    ledger = Ledger(tmp_path / "ledger")
    sent = ledger.submission(plan, 1, fresh)
    original, seen = ledger_module._overwrite, []

    def watched(path: Path) -> None:
        before = path.read_bytes()
        original(path)
        seen.append((sent.id in before, set(path.read_bytes())))

    monkeypatch.setattr(ledger_module, "_overwrite", watched)
    ledger.acknowledge(plan, 1)
    assert seen == [(True, {0})]


def test_a_trusted_plan_is_remembered(plan: Plan, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    assert ledger.trusted(plan.survey.id) == ()
    ledger.trust(plan)
    ledger.trust(plan)
    assert Ledger(tmp_path / "ledger").trusted(plan.survey.id) == (plan.hash,)
    assert ledger.trusted("another") == ()


def test_what_was_spent_is_the_sum_over_plans(plan: Plan, tmp_path: Path) -> None:
    """All rounds of a plan are one promise; two plans are two."""
    ledger = Ledger(tmp_path / "ledger")
    assert ledger.spent().surveys == 0
    for number in (1, 2, 3):
        ledger.submission(plan, number, fresh)
    assert ledger.spent().epsilon == plan.promise.epsilon
    ledger.submission(of_campaign(plan, "another"), 1, fresh)
    spent = ledger.spent()
    assert (spent.epsilon, spent.surveys) == (2 * plan.promise.epsilon, 2)
    assert spent.delta == 2 * plan.promise.delta


@pytest.mark.parametrize("number", [0, -1, ROUNDS + 1])
def test_a_round_that_was_not_planned_is_refused(plan: Plan, tmp_path: Path, number: int) -> None:
    """The promise covers the planned rounds and no others."""
    with pytest.raises(InvalidInput, match="round"):
        Ledger(tmp_path / "ledger").submission(plan, number, fresh)


def test_a_failure_while_randomizing_leaves_nothing_behind(plan: Plan, tmp_path: Path) -> None:
    """The next try makes a submission as if nothing had happened."""
    ledger = Ledger(tmp_path / "ledger")

    def broken() -> Submission:
        raise RuntimeError("no entropy")

    with pytest.raises(RuntimeError):
        ledger.submission(plan, 1, broken)
    assert ledger.entries() == ()
    assert ledger.submission(plan, 1, fresh).messages


def test_threads_that_ask_at_the_same_time_get_the_same(plan: Plan, tmp_path: Path) -> None:
    """Sixteen of them: one submission is made."""
    ledger = Ledger(tmp_path / "ledger")
    got: list[Submission] = []
    threads = [
        threading.Thread(target=lambda: got.append(ledger.submission(plan, 1, fresh)))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 16
    assert len(set(got)) == 1


def test_a_file_that_is_no_ledger_is_refused(plan: Plan, tmp_path: Path) -> None:
    """With the field and the path, and it is left as it is."""
    file = tmp_path / "ledger"
    file.write_bytes(b"not a database at all, but long enough to look like one" * 100)
    with pytest.raises(InvalidInput, match="ledger"):
        Ledger(file)
    other = tmp_path / "newer"
    with sqlite3.connect(other) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(InvalidInput, match="must have version 1, found 99"):
        Ledger(other)


def test_looking_at_a_ledger_makes_none(plan: Plan, tmp_path: Path) -> None:
    """A missing file stays missing; an empty one and another program's stay as they are."""
    with pytest.raises(InvalidInput, match="must be a file that exists") as caught:
        Ledger(tmp_path / "none", create=False)
    assert caught.value.field == "ledger"
    assert list(tmp_path.iterdir()) == []
    empty, other = tmp_path / "empty", tmp_path / "other"
    empty.touch()
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE theirs (secret)")
    for file in (empty, other):
        before = file.read_bytes()
        with pytest.raises(InvalidInput, match="must be a krand ledger"):
            Ledger(file, create=False)
        assert file.read_bytes() == before


def test_looking_at_a_ledger_shows_what_it_holds(plan: Plan, tmp_path: Path) -> None:
    """Whatever its name, and even where it may only be read; not a byte is changed."""
    file = tmp_path / "what? 100% of #1.ledger"
    kept = Ledger(file)
    kept.submission(plan, 1, fresh)
    before = file.read_bytes()
    file.chmod(0o400)
    seen = Ledger(file, create=False)
    assert (seen.entries(), seen.spent()) == (kept.entries(), kept.spent())
    assert file.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]


def test_a_ledger_that_was_removed_is_not_begun_anew(plan: Plan, tmp_path: Path) -> None:
    """A new one in its place would not know what has been sent already."""
    file = tmp_path / "ledger"
    ledger = Ledger(file)
    ledger.submission(plan, 1, fresh)
    file.unlink()
    with pytest.raises(InvalidInput, match="must be a usable ledger"):
        ledger.submission(plan, 1, fresh)
    assert not file.exists()


def answer_until_killed(ledger: Ledger, plan: Plan, start: int, report: int) -> None:
    """Answer round after round, each told to the parent as soon as it could be sent."""
    for number in range(start, ROUNDS + 1):
        sent = ledger.submission(plan, number, fresh)
        os.write(report, number.to_bytes(2, "big") + sent.id + sent.messages[0])
    time.sleep(60)


def killed_child(file: Path, plan: Plan, start: int, wanted: int, after: float) -> bytes:
    """What a child reported that was killed a moment after so many bytes of its reports."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            answer_until_killed(Ledger(file), plan, start, write)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        first = stream.read(wanted)
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return first + stream.read()


@pytest.mark.loop
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kills_never_give_two_randomizations(plan: Plan, tmp_path: Path) -> None:
    """kill -9 at random moments: whatever left the device for a round is always the same."""
    file, size, chance = tmp_path / "ledger", 2 + 16 + 54, random.Random(7)
    seen: dict[int, set[bytes]] = defaultdict(set)
    reported = 0
    for kill in range(KILLS):
        start = chance.randint(1, max(1, max(seen, default=1)))
        awaited = min(kill % 5, ROUNDS + 1 - start)
        told = killed_child(file, plan, start, awaited * size, chance.uniform(0, 0.05))
        for place in range(0, len(told) - size + 1, size):
            number = int.from_bytes(told[place : place + 2], "big")
            seen[number].add(told[place + 2 : place + size])
            reported += 1
    assert reported > KILLS
    assert max(map(len, seen.values())) == 1
    for number, (sent,) in seen.items():
        stored = Ledger(file).submission(plan, number, fresh)
        assert stored.id + stored.messages[0] == sent
