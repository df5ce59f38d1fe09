"""Starts the parts of a site, starts again those that died, and leaves none behind.

Every part is a process of its own, and is given what it needs through a pipe. The pipe stays open
as long as the supervisor lives, however it ends; a part whose pipe ends, ends. So nothing has to be
cleaned up after a supervisor that was killed.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from krand.site.part import Part

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a part that died is started again; twice as many each time."""
HEALTHY_SECONDS = 60.0
"""A part that lived so long has not failed at once."""
END_SECONDS = 40.0
"""A collector answers what has arrived before it ends; then a part is killed."""

Heard = Callable[[Part, dict[str, Any]], None]


class Keeper(threading.Thread):
    """One part: a process, and another one whenever it dies."""

    def __init__(self, part: Part, heard: Heard) -> None:
        super().__init__(name=f"{part.kind} {part.survey}", daemon=True)
        self._part, self._heard = part, heard
        self._ending, self._lock = threading.Event(), threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Until `end` is called."""
        wait = FIRST_WAIT
        while not self._ending.is_set():
            began = time.monotonic()
            code = self._life()
            if self._ending.is_set():
                return
            wait = FIRST_WAIT if time.monotonic() - began >= HEALTHY_SECONDS else wait
            self._heard(self._part, {"event": "died", "code": code, "again": wait})
            self._ending.wait(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def end(self) -> None:
        """Tell it to end; `join` waits for it."""
        self._ending.set()
        with self._lock:
            if self._process is not None:
                self._process.terminate()

    def kill(self) -> None:
        """It did not end in time."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def _life(self) -> int | None:
        """From its start to its end; its exit code."""
        with self._lock:
            if self._ending.is_set():
                return None
            self._process = process = _started(self._part)
        self._heard(self._part, {"event": "started", "process": process.pid})
        assert process.stdout is not None
        for line in process.stdout:
            self._heard(self._part, json.loads(line))
        return process.wait()


def _started(part: Part) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "krand.site.part"],  # -P: not from the current folder
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the supervisor, which ends all of them in turn
    )
    assert process.stdin is not None
    try:
        process.stdin.write(pickle.dumps(part))
        process.stdin.flush()
    except BrokenPipeError:  # it died at once, which is seen below
        pass
    return process


class Supervisor:
    """The parts that are wanted, and no others."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._keepers: dict[Part, Keeper] = {}

    def keep(self, wanted: Iterable[Part]) -> None:
        """Start what is new, and end what is not wanted any more; others are left alone."""
        parts = list(wanted)
        gone = [part for part in self._keepers if part not in parts]
        _end([self._keepers.pop(part) for part in gone])
        for part in gone:
            self._heard(part, {"event": "ended"})
        for part in parts:
            if part not in self._keepers:
                self._keepers[part] = keeper = Keeper(part, self._heard)
                keeper.start()

    def end(self) -> None:
        """End all of them, and wait until they have."""
        self.keep(())


def _end(keepers: list[Keeper]) -> None:
    for keeper in keepers:
        keeper.end()
    until = time.monotonic() + END_SECONDS
    for keeper in keepers:
        keeper.join(max(0.0, until - time.monotonic()))
        if keeper.is_alive():
            keeper.kill()
            keeper.join()
