"""Processes that share work, from a script, a notebook, the interpreter or a test alike.

Opening and sealing hold the interpreter, so only processes can share them. Those of the standard
library either run the caller's script again or are forks, in which Arrow's threads are missing.
loky starts new ones that import nothing of the caller's.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from loky.process_executor import ProcessPoolExecutor

Task = TypeVar("Task")
Done = TypeVar("Done")

SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""The current folder must not affect what the processes import."""


class Workers:
    """So many processes, each prepared once; they end with the block, and with this process."""

    def __init__(self, count: int, prepare: Callable[..., None], *given: object) -> None:
        self._count = count
        self._unfinished: set[Future[Any]] = set()
        theirs, self._alive = Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            count, initializer=_start, initargs=(theirs, prepare, given), env=SAFE_PATH
        )

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for future in self._unfinished:
            future.cancel()
        self._pool.shutdown(wait=True)
        self._alive.close()

    def in_order(self, work: Callable[[Task], Done], tasks: Iterable[Task]) -> Iterator[Done]:
        """What becomes of the tasks, in their order; only a few wait at a time."""
        waiting: deque[Future[Done]] = deque()
        for task in tasks:
            waiting.append(self._pool.submit(work, task))
            self._unfinished.add(waiting[-1])
            if len(waiting) > 2 * self._count:
                yield self._taken(waiting)
        while waiting:
            yield self._taken(waiting)

    def _taken(self, waiting: deque[Future[Done]]) -> Done:
        first = waiting.popleft()
        self._unfinished.discard(first)
        return first.result()


def _start(parent: Connection, prepare: Callable[..., None], given: tuple[Any, ...]) -> None:
    # Ctrl-C reaches all processes of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    prepare(*given)


def _end_with(parent: Connection) -> None:
    """A process whose parent was killed would keep its key in memory."""
    try:
        parent.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
