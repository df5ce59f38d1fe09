"""A planning process: it reads tasks and writes answers line by line until its input ends.

The pages start it as `python -m krand.web.worker`; people do not.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any, BinaryIO

from krand.languages.cldr import ENGLISH
from krand.languages.speaking import speaking
from krand.web.limits import MOST_MEMORY
from krand.web.tasks import TASKS


def main() -> None:
    """Answer until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process
    _limit()
    answers = _own_output()
    _warm_up()
    for line in sys.stdin.buffer:
        task, arguments = json.loads(line)
        answers.write(json.dumps(_done(task, arguments)).encode() + b"\n")
        answers.flush()


def _done(task: str, arguments: dict[str, Any]) -> dict[str, Any]:
    with speaking(arguments.pop("language", ENGLISH)):
        try:
            return TASKS[task](**arguments)
        except MemoryError:
            return TASKS["too_large"]()


def _limit() -> None:
    """Limit the memory of a task, if the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _own_output() -> BinaryIO:
    """The pipe for answers, separate from anything that prints."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _warm_up() -> None:
    """Load what every task needs before the first one arrives."""
    import krand.accounting.calibration
    import krand.web.plan_parts  # noqa: F401


if __name__ == "__main__":
    main()
