"""Planning commands at extreme values answer, refuse, or show how far they are and can be ended.

Each request runs in a process of its own with a terminal for its progress, and may take half a
minute of processor time; then it gets Ctrl-C. Requests are drawn from a grid, beside everything
that once hung or crashed.
"""

from __future__ import annotations

import os
import pty
import random
import signal
import threading
from contextlib import suppress

import pytest

from chaos import until
from command_line import krand
from effort import EFFORT

pytestmark = pytest.mark.nightly
LONGEST = 30
"""Seconds of processor time."""
GRID = {
    "--crowd": ("2", "3", "12", "800", "1e6", "1e9", "1e12"),
    "--bits": ("1", "2", "40", "1000", "10000", "1000000"),
    "--epsilon": ("0.001", "0.1", "1", "10", "40", "100"),
    "--copies": ("1", "1", "2", "16", "100", "10000"),
    "--rounds": ("1", "1", "2", "100", "10000"),
    "--linkage": ("bit", "record"),
}
DELTAS = ("1e-300", "1e-30", "1e-12", "1e-6", "0.01", "0.9")
NOISES = ("1e-300", "1e-12", "2.3e-10", "1e-5", "0.01", "0.25", "0.45", "0.49999")
KNOWN = (
    "privacy --crowd 1000 --bits 20 --noise .01 --epsilon 40 --linkage record",
    "privacy --crowd 100 --bits 4 --noise 1e-300 --epsilon 1",
    "noise --crowd 1e12 --bits 40 --epsilon .001 --delta 1e-6",
    "noise --crowd 1e6 --bits 1e6 --epsilon 1 --delta 1e-6 --linkage record",
    "privacy --crowd 1000 --bits 10000 --noise .45 --epsilon 1 --linkage record",
    "noise --crowd 1e12 --bits 40 --epsilon .001 --delta 1e-6 --linkage record --copies 1,4,1024",
    "noise --crowd 800 --bits 1000 --epsilon 1 --delta 1e-6 --copies 1,1024",
)
"""What hung, crashed or was wrong once."""


def random_request(chance: random.Random) -> str:
    words = [f"{option} {chance.choice(values)}" for option, values in GRID.items()]
    if chance.random() < 0.3:
        words.append("--max-set-bits 1")
    if chance.random() < 0.5:
        return " ".join(["privacy", *words, "--noise", chance.choice(NOISES)])
    kind = chance.choice(("--delta", "--delta", "--delta", "--eta"))
    return " ".join(["noise", *words, kind, chance.choice(DELTAS)])


CHANCE = random.Random(1)
DRAWN = [random_request(CHANCE) for _ in range(10 * EFFORT)]


@pytest.mark.parametrize("asked", [*KNOWN, *DRAWN])
def test_a_request_is_answered_refused_or_shown_and_ended(asked: str) -> None:
    """0 is an answer, 2 a value that breaks a rule, 3 a request that cannot be met, 130 Ctrl-C."""
    child, terminal = pty.fork()
    if child == 0:
        _run(asked)
    seen = bytearray()
    reader = threading.Thread(target=_read, args=(terminal, seen), daemon=True)
    reader.start()
    try:
        ended = until(lambda: _status(child), what=f"the end of krand {asked}")
    except AssertionError:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        reader.join(1)
        os.close(terminal)
    code = os.waitstatus_to_exitcode(ended[0])
    assert code in (0, 2, 3, 130), f"krand {asked} ended with {code}"
    assert code != 130 or "━" in seen.decode(errors="replace"), "no progress was shown"


def _run(asked: str) -> None:
    """The command with its answer thrown away, and its progress on the terminal."""
    signal.signal(signal.SIGPROF, signal.default_int_handler)  # as Ctrl-C
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    os.environ |= {"TERM": "xterm", "COLUMNS": "120"}
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        krand(asked.split())
    except SystemExit as end:
        os._exit(int(end.code or 0))


def _status(child: int) -> tuple[int, ...]:
    """How it ended; nothing while it runs."""
    ended, status = os.waitpid(child, os.WNOHANG)
    return (status,) if ended else ()


def _read(terminal: int, seen: bytearray) -> None:
    with suppress(OSError):  # how a terminal says that nobody writes to it any more
        while text := os.read(terminal, 65_536):
            seen.extend(text)
