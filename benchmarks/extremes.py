"""Every planning command at extreme values: does each answer, how, and after how long?

    python benchmarks/extremes.py              # writes benchmarks/extremes.md
    python benchmarks/extremes.py --quick      # a smoke run: to the terminal only

Each request runs in a process of its own with a terminal for its progress, and may take half a
minute; then it gets Ctrl-C. Seconds are those that the processor worked for it, so that they are
what a quiet machine takes even where others work on it too. Requests are drawn from a grid that
also contains everything that once hung or crashed.
"""

from __future__ import annotations

import os
import platform
import pty
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from running import processor, progress, run_benchmark, table

LONGEST, PATIENCE = 30.0, 5.0
AT_ONCE = 2
BAR = "━"
GOAL = 15.0
REQUESTS, FEW = 250, 40

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
    "frontier --crowd 1e12 --bits 40 --epsilon .001 --delta 1e-6",
    "frontier --crowd 800 --bits 1000 --epsilon 1 --delta 1e-6",
)
"""What hung, crashed or was wrong once."""


@dataclass(frozen=True, slots=True)
class Answer:
    request: str
    code: int | None
    """The exit code; None where Ctrl-C did not end it within five seconds."""
    seconds: float
    shown: bool
    """Whether a bar was seen on the terminal."""
    late: bool
    """Whether it was ended by Ctrl-C."""
    stopping: float
    """Seconds from Ctrl-C to its end."""


def main() -> None:
    run_benchmark(__doc__, Path(__file__).with_suffix(".md"), _report)


def _report(quick: bool) -> str:
    chance = random.Random(1)
    requests = [*KNOWN, *(_random_request(chance) for _ in range(FEW if quick else REQUESTS))]
    from krand.accounting import density, division, frontier  # noqa: F401

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = []
        for answer in pool.map(_ask, requests):
            answers.append(answer)
            if answer.seconds > GOAL or answer.code not in (0, 2, 3):
                progress(f"{answer.seconds:6.1f} s  {answer.code}  krand {answer.request}")
            if len(answers) % 50 == 0:
                progress(f"{len(answers):,} of {len(requests):,}")
    return _page(answers, "a smoke run" if quick else "a full run")


def _random_request(chance: random.Random) -> str:
    command = chance.choice(("noise", "noise", "privacy", "privacy", "frontier"))
    words = [command]
    words += ["--crowd", chance.choice(POPULATIONS), "--bits", chance.choice(BITS)]
    words += ["--epsilon", chance.choice(EPSILONS), "--rounds", chance.choice(ROUNDS)]
    if chance.random() < 0.3:
        words += ["--max-set-bits", "1"]
    if command != "frontier":
        words += ["--copies", chance.choice(COPIES), "--linkage", chance.choice(("bit", "record"))]
    if command == "privacy":
        words += ["--noise", chance.choice(NOISES)]
    else:
        words += [chance.choice(("--delta", "--delta", "--delta", "--eta")), chance.choice(DELTAS)]
    words += ["--assurance", chance.choice(("certified", "certified", "outlier"))]
    return " ".join(words)


def _ask(request: str) -> Answer:
    """The command in a child that begins with everything imported, as a warm terminal would."""
    child, terminal = pty.fork()
    if child == 0:
        _run(request.split())
    seen: list[bytes] = []
    reader = threading.Thread(target=_read, args=(terminal, seen), daemon=True)
    reader.start()
    code, taken = _end(child, lambda worked, _: worked > LONGEST)
    late, stopping = code is None, 0.0
    if late:
        asked = time.perf_counter()
        os.kill(child, signal.SIGINT)
        code, _ = _end(child, lambda _, waited: waited > PATIENCE)
        stopping = time.perf_counter() - asked
        if code is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    reader.join(1)
    os.close(terminal)
    shown = any(BAR in text.decode(errors="replace") for text in seen)
    return Answer(request, code, taken, shown, late, stopping)


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


def _end(child: int, enough: Callable[[float, float], bool]) -> tuple[int | None, float]:
    """The child's exit code, None where it was enough before, and how long the processor worked.

    `enough` is asked with the seconds of work and the seconds that have passed.
    """
    start, worked = time.perf_counter(), 0.0
    while not enough(worked, time.perf_counter() - start):
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        worked = _worked(child)
        time.sleep(0.02)
    return None, worked


def _worked(child: int) -> float:
    """Seconds of processor time so far."""
    fields = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _page(answers: Sequence[Answer], kind: str) -> str:
    codes = Counter("Ctrl-C after half a minute" if a.late else str(a.code) for a in answers)
    slowest = sorted((a for a in answers if not a.late), key=lambda a: -a.seconds)[:5]
    over = [a for a in answers if a.seconds > GOAL]
    late = [a for a in over if a.late]
    bugs = [a.request for a in answers if _is_fault(a)]
    ends = [["exit code", "requests"], *([code, f"{n:,}"] for code, n in sorted(codes.items()))]
    lines = [
        "# Planning at extreme values",
        "<!-- Written by benchmarks/extremes.py; do not edit. -->",
        f"{kind.capitalize()} of {len(answers):,} requests on {datetime.now(UTC):%Y-%m-%d}, on "
        f"{processor()} ({platform.machine()}), {os.cpu_count()} cores; load average "
        f"{os.getloadavg()[0]:.1f}.",
        "Crowds of 2 to 10^12, 1 to 10^6 bits, ε from .001 to 100, δ or η from 1e-300 to .9, up to"
        " 10^4 copies and rounds, noise from 1e-300 to .49999. 0 is an answer, 2 a value that"
        " breaks a rule, 3 a request that cannot be met.",
        table(ends[0], ends[1:]),
        "Seconds are of processor time, on one core.",
        f"Over {GOAL:.0f} s: {len(over)}, of which {sum(a.shown for a in over)} showed a bar. "
        f"Over {LONGEST:.0f} s: {len(late)}, of which {sum(a.code == 130 for a in late)} ended at"
        f" Ctrl-C with exit code 130, within {max((a.stopping for a in late), default=0):.1f} s.",
        "The slowest five that ended by themselves, and all that did not:",
        table(
            ["request", "exit code", "seconds"],
            [[f"`krand {a.request}`", str(a.code), f"{a.seconds:.1f}"] for a in [*late, *slowest]],
        ),
    ]
    if bugs:
        lines.append(
            "Neither answered nor refused, or slow without a bar:\n\n"
            + "\n".join(f"- `{b}`" for b in bugs)
        )
    return "\n\n".join(lines) + "\n"


def _is_fault(answer: Answer) -> bool:
    """Neither answered nor refused nor, where it took too long to wait for, shown and ended."""
    if answer.late:
        return answer.code != 130 or not answer.shown
    return answer.code not in (0, 2, 3) or (answer.seconds > GOAL and not answer.shown)


if __name__ == "__main__":
    main()
