"""Gives the parsers damaged inputs, and tells what they should not have done.

    python tests/fuzz/run.py --seconds 60            # all targets, so many seconds each
    python tests/fuzz/run.py --seconds 600 plan      # one of them

A finding is any exception but krand's own refusals, a process that dies or hangs, an input that is
accepted and does not come back, and Python and JavaScript disagreeing about a plan. JavaScript
checks less: what it alone accepts is counted, because whoever collects and mixes uses Python.
Inputs of findings are written to build/fuzz; after mending they belong into tests/fuzz/corpus.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import mmap
import multiprocessing
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT)]

from fuzz.mutator import Mutator  # noqa: E402
from fuzz.targets import TARGETS, corpus  # noqa: E402

INTERNALS = ROOT / "clients" / "js" / "build" / "internals.js"
MOST_BYTES, HUNG_SECONDS, AT_A_TIME = 2**22, 120, 100
FOUND = ROOT / "build" / "fuzz"


@dataclass
class Outcome:
    """What became of the executions of a target."""

    target: str
    executions: int = 0
    accepted: int = 0
    only_javascript: int = 0
    findings: dict[str, bytes] = field(default_factory=dict)
    """What was wrong, in a line, and the first input that shows it."""

    def __str__(self) -> str:
        counted = f"{self.executions:,} executions, {self.accepted:,} accepted"
        also = f", {self.only_javascript:,} by JavaScript alone" if self.only_javascript else ""
        lines = [f"{self.target}: {counted}{also}, {len(self.findings)} findings"]
        return "\n  ".join([*lines, *self.findings])


def judged(target: str, content: bytes, outcome: Outcome) -> Any:
    """What Python understands of one input."""
    outcome.executions += 1
    try:
        found = TARGETS[target](content)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.name}"
        problem = f"{type(error).__name__} in {place}: {error}".splitlines()[0]
        outcome.findings.setdefault(problem[:200], content)
        return None
    outcome.accepted += found is not None
    return found


class JavaScript:
    """The client in node, which is asked about plans."""

    def __init__(self) -> None:
        program = shutil.which("node")
        assert program, "node is not installed"
        script = str(Path(__file__).with_name("plan.mjs"))
        self.process = subprocess.Popen(
            [program, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def compare(self, pairs: Sequence[tuple[bytes, Any]], outcome: Outcome) -> None:
        """Inputs with what Python understood of them."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        for content, expected in pairs:
            self.process.stdin.write(base64.b64encode(content) + b"\n")
            self.process.stdin.flush()
            told = json.loads(self.process.stdout.readline())
            if "failed" in told:
                problem = f"JavaScript fails: {told['failed']}".splitlines()[0]
            elif expected is None:
                outcome.only_javascript += "accepted" in told
                continue
            elif told.get("accepted") == expected:
                continue
            else:
                problem = f"JavaScript disagrees: {json.dumps(told)}"
            outcome.findings.setdefault(problem[:200], content)

    def close(self) -> None:
        self.process.communicate()


def replay(target: str, is_compared: bool = False) -> Outcome:
    """The corpus as it is."""
    outcome, inputs = Outcome(target), corpus(target)
    told = [(content, judged(target, content, outcome)) for content in inputs]
    if is_compared and target == "plan":
        javascript = JavaScript()
        javascript.compare(told, outcome)
        javascript.close()
    return outcome


def fuzz(target: str, seconds: float, seed: int, is_compared: bool = False) -> Outcome:
    """Damaged inputs in a process of its own, which may die of them."""
    memory, context = mmap.mmap(-1, MOST_BYTES), multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    given = (target, seconds, seed, is_compared, memory, sending)
    child = context.Process(target=work, args=given)
    child.start()
    sending.close()
    try:
        outcome: Outcome = receiving.recv()
    except EOFError:
        size = int.from_bytes(memory[:4], "big")
        outcome = Outcome(target)
        child.join()
        problem = f"the process ended with {child.exitcode}"
        outcome.findings[problem] = memory[4 : 4 + size]
    child.join()
    return outcome


def work(
    target: str,
    seconds: float,
    seed: int,
    is_compared: bool,
    memory: mmap.mmap,
    sending: Connection,
) -> None:
    """Judge one input after the other until the time is over; an alarm ends what hangs.

    The input is kept where the parent finds it.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    outcome, mutator = Outcome(target), Mutator(corpus(target), f"{target} {seed}")
    javascript = JavaScript() if is_compared and target == "plan" else None
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        told = []
        for _ in range(AT_A_TIME):
            content = mutator.next()[: MOST_BYTES - 4]
            memory[: 4 + len(content)] = len(content).to_bytes(4, "big") + content
            signal.alarm(HUNG_SECONDS)
            told.append((content, judged(target, content, outcome)))
        if javascript is not None:
            javascript.compare(told, outcome)
    signal.alarm(0)
    if javascript is not None:
        javascript.close()
    sending.send(outcome)


def save(outcome: Outcome) -> None:
    """Write the inputs of findings to build/fuzz."""
    for problem, content in outcome.findings.items():
        folder = FOUND / outcome.target
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(content).hexdigest()[:16]
        (folder / name).write_bytes(content)
        (folder / f"{name}.txt").write_text(problem + "\n", encoding="utf-8")


def main() -> int:
    """Exit code 1 if anything was found."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each target")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    if unknown := {*options.targets} - {*TARGETS}:
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    is_compared = INTERNALS.exists() and shutil.which("node") is not None
    has_findings = False
    for target in options.targets or TARGETS:
        outcome = fuzz(target, options.seconds, options.seed, is_compared)
        print(outcome, flush=True)
        save(outcome)
        has_findings |= bool(outcome.findings)
    return int(has_findings)


if __name__ == "__main__":
    sys.exit(main())
