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
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
LONGEST = 30.0
PATIENCE = 60.0
BAR = "━"
REQUESTS = 250

POPULATIONS = ("2", "3", "12", "800", "1e6", "1e9", "1e12")
BITS = ("1", "2", "40", "1000", "10000", "1000000")
EPSILONS = ("0.001", "0.1", "1", "10", "40", "100")
DELTAS = ("1e-300", "1e-30", "1e-12", "1e-6", "0.01", "0.9")
COPIES = ("1", "1", "2", "16", "100", "10000")
ROUNDS = ("1", "1", "2", "100", "10000")
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


@dataclass(frozen=True, slots=True)
class Answer:
    """How a request ended."""

    code: int | None
    """The exit code; None where Ctrl-C did not end it."""
    shown: bool
    """Whether a bar was seen on the terminal."""
    late: bool
    """Whether it was ended by Ctrl-C."""


def random_request(chance: random.Random) -> str:
    command = chance.choice(("noise", "noise", "privacy", "privacy"))
    words = [command]
    words += ["--crowd", chance.choice(POPULATIONS), "--bits", chance.choice(BITS)]
    words += ["--epsilon", chance.choice(EPSILONS), "--rounds", chance.choice(ROUNDS)]
    if chance.random() < 0.3:
        words += ["--max-set-bits", "1"]
    words += ["--copies", chance.choice(COPIES), "--linkage", chance.choice(("bit", "record"))]
    if command == "privacy":
        words += ["--noise", chance.choice(NOISES)]
    else:
        words += [chance.choice(("--delta", "--delta", "--delta", "--eta")), chance.choice(DELTAS)]
    return " ".join(words)


def ask(request: str) -> Answer:
    """The command in a child that begins with everything imported, as a warm terminal would."""
    child, terminal = pty.fork()
    if child == 0:
        _run(request.split())
    seen: list[bytes] = []
    reader = threading.Thread(target=_read, args=(terminal, seen), daemon=True)
    reader.start()
    code = _ended(child, lambda worked, _: worked > LONGEST)
    late = code is None
    if late:
        os.kill(child, signal.SIGINT)
        code = _ended(child, lambda _, waited: waited > PATIENCE)
        if code is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    reader.join(1)
    os.close(terminal)
    shown = any(BAR in text.decode(errors="replace") for text in seen)
    return Answer(code, shown, late)


def _run(words: Sequence[str]) -> None:
    """The command with its answer thrown away and its progress on the terminal."""
    from krand.cli.main import krand

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ |= {"TERM": "xterm", "COLUMNS": "120"}
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        krand(list(words))
        code: object = 0
    except SystemExit as end:
        code = end.code
    os._exit(code if isinstance(code, int) else 0)


def _read(terminal: int, seen: list[bytes]) -> None:
    try:
        while text := os.read(terminal, 65_536):
            seen.append(text)
    except OSError:  # how a terminal says that nobody writes to it any more
        return


def _ended(child: int, enough: Callable[[float, float], bool]) -> int | None:
    """The child's exit code; None where it was enough before.

    `enough` is asked with the seconds of work and the seconds that have passed.
    """
    start, worked = time.perf_counter(), 0.0
    while not enough(worked, time.perf_counter() - start):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        worked = _worked(child)
        time.sleep(0.02)
    return None


def _worked(child: int) -> float:
    """Seconds of processor time so far."""
    fields = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


CHANCE = random.Random(1)


@pytest.mark.parametrize("words", [*KNOWN, *(random_request(CHANCE) for _ in range(REQUESTS))])
def test_a_request_is_answered_refused_or_shown_and_ended(words: str) -> None:
    """0 is an answer, 2 a value that breaks a rule, 3 a request that cannot be met, 130 Ctrl-C."""
    from krand.accounting import division  # noqa: F401 - for all children

    found = ask(words)
    assert found.code == 130 if found.late else found.code in (0, 2, 3)
    assert found.shown or not found.late
