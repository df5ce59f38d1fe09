"""A ledger without a file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from krand.client.ledger import SCHEMA, Ledger


class UnsafeMemoryLedger(Ledger):
    """A device's memory that lasts as long as the object: fast, and forgetful.

    In earnest that would be unsafe: a device that forgets what it sent randomizes the same answer
    again, and two randomizations tell more than the plan promises.

    >>> from krand.testing import UnsafeMemoryLedger
    >>> UnsafeMemoryLedger().entries()
    ()
    """

    def __init__(self) -> None:
        self.path = Path(":memory:")
        self._lock = threading.RLock()
        self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._memory.executescript(SCHEMA)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            yield self._memory
