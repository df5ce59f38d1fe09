"""A device that is killed at any time never randomizes the same answers twice."""

from __future__ import annotations

import os
import random
import signal
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import krand
import steps
from effort import EFFORT
from krand.testing import small_plan

SURVEYS = 400
PLAN = steps.named(small_plan())


def sent_in(file: Path, number: int) -> bytes:
    """Id and first message of one of many surveys, made or kept."""
    plan = replace(PLAN, survey=PLAN.survey.changed(id=f"survey-{number}"))
    client = steps.device(plan, krand.Ledger(file))
    made = client.prepare({"smokes": True})
    return made.id + made.messages[0]


def killed_child(file: Path, start: int, reports: int, after: int) -> list[bytes]:
    """What a child told that answers survey after survey, until it was killed while it goes on."""
    size = 2 + len(sent_in(file, SURVEYS))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            for number in range(start, SURVEYS):
                os.write(write, number.to_bytes(2, "big") + sent_in(file, number))
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        told = stream.read(reports * size)
        for _ in range(after):  # some work, so that it is killed at another place each time
            sent_in(file.with_name("other"), 1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        told += stream.read()
    return [told[i : i + size] for i in range(0, len(told) - size + 1, size)]


def test_kills_never_give_two_randomizations(tmp_path: Path) -> None:
    """kill -9 at random moments: whatever left the device for a survey is always the same."""
    file, chance = tmp_path / "ledger", random.Random(7)
    seen: dict[int, set[bytes]] = defaultdict(set)
    for kill in range(8 * EFFORT):
        start = chance.randint(1, min(SURVEYS - 10, max(seen, default=1)))
        for report in killed_child(file, start, 2 + kill % 5, chance.randint(0, 3)):
            seen[int.from_bytes(report[:2], "big")].add(report[2:])
    assert len(seen) > 8
    assert {number: len(found) for number, found in seen.items() if len(found) > 1} == {}
    for number, (sent,) in seen.items():
        assert sent_in(file, number) == sent, f"survey {number}"
