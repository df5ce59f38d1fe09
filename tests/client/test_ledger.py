"""The ledger: one randomization for each round, and nothing of it after it was delivered."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import krand
import steps
from krand.testing import small_plan
from vectors import SecureRandom, during

ROUNDS = 60
KEY = krand.generate_private_key()


def plan_with(rounds: int = ROUNDS, **given: object) -> krand.Plan:
    """The small plan with a round a day."""
    plan = steps.named(small_plan(), KEY)
    values: dict[str, Any] = {"every": "day", "starts": date(2099, 1, 5), **given}
    schedule = krand.Schedule(**values)
    return replace(plan, survey=plan.survey.changed(rounds=rounds, schedule=schedule))


PLAN = plan_with()


def device(ledger: krand.Ledger, number: int = 1, plan: krand.Plan = PLAN) -> krand.Client:
    return steps.device(plan, ledger, now=during(plan, number))


def prepared(ledger: krand.Ledger, number: int = 1, plan: krand.Plan = PLAN) -> Any:
    return device(ledger, number, plan).prepare({"smokes": True}, number)


def test_whoever_asks_again_gets_the_same_bytes(tmp_path: Path) -> None:
    """From the same ledger, and from one that is opened later; of each plan and round its own."""
    file = tmp_path / "ledger"
    ledger = krand.Ledger(file)
    first = prepared(ledger)
    assert prepared(ledger) == prepared(krand.Ledger(file)) == first
    assert file.stat().st_mode & 0o077 == 0, "it tells which surveys somebody has answered"
    other = plan_with(campaign="another")
    assert prepared(ledger, plan=other) != first
    assert prepared(ledger, 2) != first
    assert sorted(entry.round for entry in ledger.entries()) == [1, 1, 2]


def copies_of(secret: bytes, folder: Path) -> list[str]:
    """The files of a folder in which it can be found."""
    return [file.name for file in folder.iterdir() if secret in file.read_bytes()]


def test_what_was_acknowledged_leaves_nothing_but_the_fact(tmp_path: Path) -> None:
    """Whoever takes the device later cannot tell which submission was this person's."""
    ledger = krand.Ledger(tmp_path / "ledger")
    for number in range(1, ROUNDS + 1, 3):
        sent = prepared(ledger, number)
        assert copies_of(sent.id, tmp_path) == copies_of(sent.messages[0], tmp_path) == ["ledger"]
        device(ledger, number).acknowledge(number)
        left = [copies_of(secret, tmp_path) for secret in (sent.id, *sent.messages)]
        assert not any(left), f"round {number}: {left}"
        with pytest.raises(krand.AlreadySubmitted, match="pets"):
            prepared(ledger, number)
    assert [file.name for file in tmp_path.iterdir()] == ["ledger"]
    assert all(entry.acknowledged for entry in ledger.entries())


def test_the_journal_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages as they were do not stay behind on the disk when the journal is deleted."""
    ledger = krand.Ledger(tmp_path / "ledger")
    sent, seen = prepared(ledger), list[bytes]()
    opening, syncing = os.open, os.fsync

    def opened(path: Any, *given: Any, **options: Any) -> int:
        if str(path).endswith("-journal"):
            seen.append(Path(path).read_bytes())
        return opening(path, *given, **options)

    def synced(handle: int) -> None:
        syncing(handle)
        if seen:
            seen.append((tmp_path / "ledger-journal").read_bytes())

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "fsync", synced)
    device(ledger).acknowledge(1)
    before, after = seen
    assert sent.id in before
    assert (len(after), set(after)) == (len(before), {0})


def test_what_is_trusted_and_spent_is_remembered(tmp_path: Path) -> None:
    """What is spent is the sum over plans; all rounds of a plan are one promise."""
    ledger = krand.Ledger(tmp_path / "ledger")
    for _ in range(2):
        ledger.trust(PLAN)
    assert krand.Ledger(tmp_path / "ledger").trusted("pets") == (PLAN.hash,)
    assert ledger.trusted("another") == ()
    for number, plan in ((1, PLAN), (2, PLAN), (3, PLAN), (1, plan_with(campaign="another"))):
        prepared(ledger, number, plan)
    spent, policy = krand.Ledger(tmp_path / "ledger").spent(), PLAN.survey.policy
    assert (spent.epsilon, spent.delta) == (2 * policy.epsilon, 2 * policy.delta)
    assert spent.surveys == 2


def test_a_failure_while_randomizing_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next try makes a submission as if nothing had happened."""
    ledger = krand.Ledger(tmp_path / "ledger")

    def broken(self: SecureRandom, count: int) -> None:
        raise krand.NoEntropy("failed")

    with monkeypatch.context() as patched:
        patched.setattr(SecureRandom, "bytes", broken)
        with pytest.raises(krand.NoEntropy):
            prepared(ledger)
    assert (ledger.entries(), ledger.spent().surveys) == ((), 0)
    assert prepared(ledger).messages
    for number in (0, -1, ROUNDS + 1):
        with pytest.raises(krand.InvalidInput, match="round"):
            device(ledger).prepare({}, number)


def test_threads_that_ask_at_the_same_time_get_the_same(tmp_path: Path) -> None:
    """Eight of them, with other answers: one submission is made."""
    ledger = krand.Ledger(tmp_path / "ledger")
    got: list[Any] = []
    clients = [device(ledger) for _ in range(8)]

    def ask(client: krand.Client, smokes: bool) -> None:
        got.append(client.prepare({"smokes": smokes}, 1))

    threads = [
        threading.Thread(target=ask, args=(client, place % 2 == 0))
        for place, client in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len(set(got))) == (8, 1)
    assert sum(not each.kept for each in got) == 1


def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path: Path) -> None:
    """With the field and the path; looking at a ledger makes none."""
    text, newer, theirs, empty = (tmp_path / name for name in ("text", "newer", "theirs", "empty"))
    text.write_bytes(b"not a database at all, but long enough to look like one" * 100)
    empty.touch()
    for file, statement in (
        (newer, "PRAGMA user_version = 99"),
        (theirs, "CREATE TABLE theirs (secret)"),
    ):
        with sqlite3.connect(file) as connection:
            connection.execute(statement)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    makes: tuple[tuple[Callable[[], object], str], ...] = (
        (lambda: krand.Ledger(text), "ledger: must be a usable ledger"),
        (lambda: krand.Ledger(newer), "must have version 1, found 99"),
        (lambda: krand.Ledger(empty, create=False), "ledger: must be a krand ledger"),
        (lambda: krand.Ledger(theirs, create=False), "ledger: must be a krand ledger"),
        (lambda: krand.Ledger(tmp_path / "none", create=False), "must be a file that exists"),
    )
    for make, rule in makes:
        with pytest.raises(krand.InvalidInput, match=rule):
            make()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_looking_at_a_ledger_changes_nothing_and_a_removed_one_is_not_begun_anew(
    tmp_path: Path,
) -> None:
    """Whatever its name, and even where it may only be read."""
    file = tmp_path / "what? 100% of #1.ledger"
    kept = krand.Ledger(file)
    prepared(kept)
    before = file.read_bytes()
    file.chmod(0o400)
    seen = krand.Ledger(file, create=False)
    assert (seen.entries(), seen.spent()) == (kept.entries(), kept.spent())
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [(file.name, before)]
    file.unlink()
    with pytest.raises(krand.InvalidInput, match="must be a usable ledger"):
        prepared(kept)
    assert not file.exists(), "a new one would not know what has been sent already"
