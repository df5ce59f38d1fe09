"""Every planning command at extreme values: does each answer, how, and after how long?

    python benchmarks/extremes.py              # writes benchmarks/extremes.md
    python benchmarks/extremes.py --quick      # a smoke run: to the terminal only

Each request runs in a process of its own, in the way a terminal would run it, and may take a
minute. Requests are drawn from a grid that also contains everything that once hung or crashed.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from running import processor, progress, run_benchmark, table

LONGEST = 60.0
GOAL = 15.0
REQUESTS, FEW = 400, 40

POPULATIONS = ("2", "3", "12", "800", "1e6", "1e9", "1e12")
BITS = ("1", "2", "40", "1000", "10000", "1000000")
EPSILONS = ("0.001", "0.1", "1", "10", "40", "100")
DELTAS = ("1e-300", "1e-30", "1e-12", "1e-6", "0.01", "0.9")
COPIES = ("1", "1", "2", "16", "100", "10000")
ROUNDS = ("1", "1", "2", "100", "10000")
NOISES = ("1e-300", "1e-12", "2.3e-10", "1e-5", "0.01", "0.25", "0.45", "0.49999")
KNOWN = (
    "privacy --population 1000 --bits 20 --noise .01 --epsilon 40 --linkage record",
    "privacy --population 100 --bits 4 --noise 1e-300 --epsilon 1",
    "noise --population 1e12 --bits 40 --epsilon .001 --delta 1e-6",
    "noise --population 1e6 --bits 1e6 --epsilon 1 --delta 1e-6 --linkage record",
    "privacy --population 1000 --bits 10000 --noise .45 --epsilon 1 --linkage record",
    "frontier --population 1e12 --bits 40 --epsilon .001 --delta 1e-6",
    "frontier --population 800 --bits 1000 --epsilon 1 --delta 1e-6",
)
"""What hung, crashed or was wrong once."""


@dataclass(frozen=True, slots=True)
class Answer:
    request: str
    code: int | None
    """The exit code; None where it did not end in time."""
    seconds: float


def main() -> None:
    run_benchmark(__doc__, Path(__file__).with_suffix(".md"), _report)


def _report(quick: bool) -> str:
    chance = random.Random(1)
    requests = [*KNOWN, *(_random_request(chance) for _ in range(FEW if quick else REQUESTS))]
    answers = []
    for done, request in enumerate(requests):
        if done % 50 == 0:
            progress(f"{done:,} of {len(requests):,}")
        answers.append(_ask(request))
    return _page(answers, "a smoke run" if quick else "a full run")


def _random_request(chance: random.Random) -> str:
    command = chance.choice(("noise", "noise", "privacy", "privacy", "frontier"))
    words = [command]
    words += ["--population", chance.choice(POPULATIONS), "--bits", chance.choice(BITS)]
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
    from krand.privacy import density, division, frontier, planner  # noqa: F401

    child = multiprocessing.get_context("fork").Process(target=_run, args=(request.split(),))
    start = time.perf_counter()
    child.start()
    child.join(LONGEST)
    taken = time.perf_counter() - start
    code = child.exitcode
    if code is None:
        child.kill()
        child.join()
    return Answer(request, code, taken)


def _run(words: Sequence[str]) -> None:
    from krand.present.cli import krand

    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    try:
        krand([*words, "--json"])
        code: object = 0
    except SystemExit as end:
        code = end.code
    os._exit(code if isinstance(code, int) else 0)


def _page(answers: Sequence[Answer], kind: str) -> str:
    codes = Counter("not within a minute" if a.code is None else str(a.code) for a in answers)
    slowest = sorted(answers, key=lambda a: -a.seconds)[:5]
    over = sum(a.seconds > GOAL for a in answers)
    bugs = [a.request for a in answers if a.code not in (0, 2, 3)]
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
        f"Over {GOAL:.0f} s: {over}. The slowest five:",
        table(
            ["request", "exit code", "seconds"],
            [[f"`krand {a.request}`", str(a.code), f"{a.seconds:.1f}"] for a in slowest],
        ),
    ]
    if bugs:
        lines.append("Neither answered nor refused:\n\n" + "\n".join(f"- `{b}`" for b in bugs))
    return "\n\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
