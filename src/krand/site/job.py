"""A job of the worker, in a process of its own: `python -m krand.site.job`.

    mix      open a batch, add dummies, shuffle: into the folder work/ alone
    check    recompute the promise of a plan
    count    tally a batch, estimate, write the report

What to do is one line of JSON on standard input, which then stays open: a job whose worker has
ended ends. It reads the files that are named there and no others, writes into one folder, and
talks to nobody. What came of it is JSON on standard output.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput, KrandError, Unavailable
from krand.mixing.mixer import mix
from krand.site.walls import confine
from krand.survey.plan_file import read_plan

SHARED_MEMORY = Path("/dev/shm")
"""Where processes that share work have their locks."""


def _mix(
    plan: Path, number: int, place: int, came: Sequence[int], batch: Path, key: Path, work: Path
) -> dict[str, Any]:
    read = [plan, batch] if place == 1 else [plan, batch, key]
    confine(read, [work, SHARED_MEMORY])
    opening = None if place == 1 else key.read_bytes()
    mixed = mix(read_plan(plan), number, place, came, batch, work / "new", key=opening)
    return {"lanes": [asdict(lane) for lane in mixed.lanes], "output": mixed.output}


def _check(plan: Path) -> dict[str, Any]:
    from krand.partners.policy import check_plan_promise

    confine([plan])
    return check_plan_promise(plan)


def _count(plan: Path, batch: Path, key: Path, results: Path) -> dict[str, Any]:
    from krand.site.counting import count

    confine([plan, key, results.parent], [results, SHARED_MEMORY])
    return count(plan, batch, key, results)


JOBS: dict[str, Callable[..., dict[str, Any]]] = {"mix": _mix, "check": _check, "count": _count}
FILES = ("plan", "batch", "key", "work", "results")


def main() -> None:
    """Do the job, and say what came of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the worker decides what it means
    asked = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_worker, daemon=True).start()
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else is written there
    job = JOBS[asked.pop("job")]
    try:
        said = job(**{n: Path(value) if n in FILES else value for n, value in asked.items()})
    except InvalidInput as error:
        value = error.value if isinstance(error.value, (str, int, float)) else str(error.value)
        named = {"field": error.field, "rule": error.rule, "value": value, "hint": error.hint}
        said = {"refused": named}
    except (Unavailable, OSError, MemoryError) as error:
        said = {"unavailable": str(error) or type(error).__name__}
    except KrandError as error:
        said = {"failed": str(error)}
    json.dump(said, answer)
    answer.close()


def _end_with_worker() -> None:
    """Nothing else is ever written to the pipe: when it ends, the worker has."""
    os.read(sys.stdin.fileno(), 1)  # not through the stream, whose lock would outlive the thread
    os._exit(1)


if __name__ == "__main__":
    main()
