"""What became of each address: a line before its message leaves, and one after.

    krand-sending-1 invitation 3b1f…
    ? anna@example.org      it is about to be mailed
    + anna@example.org      the server has taken the message
    - anna@example.org      the server has not, and it may be mailed again

An address of which only the first line is known is in doubt. The file has neither codes nor times.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from krand.errors import InvalidInput, Unavailable
from krand.files import OWNER_ONLY, read_whole, sync_folder, unwritable

FORMAT = "krand-sending-1"
INTENDED, SENT, NOT_SENT = "?", "+", "-"


class Journal:
    """A file that one process has open; closing it lets the next one in."""

    def __init__(self, path: Path, kind: str, plan_hash: str) -> None:
        self._path = path
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(path, flags, OWNER_ONLY)
        except OSError as error:
            raise unwritable("journal", path, error) from None
        try:
            self._lock()
            self.states = states_in(path, kind, plan_hash)
            content = read_whole("journal", path)
            whole = content.rfind(b"\n") + 1
            os.ftruncate(self._file, whole)  # a line that was cut off sent nothing
            if not whole:
                self._append(f"{FORMAT} {kind} {plan_hash}", sync=True)
                sync_folder(path.parent)
        except BaseException:
            os.close(self._file)
            raise

    @staticmethod
    def is_open(path: Path) -> bool:
        """Whether a process sends with it now."""
        import fcntl

        try:
            with path.open("rb") as stream:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    @property
    def reached(self) -> int:
        """How many addresses have a code, or may have one."""
        return sum(state != NOT_SENT for state in self.states.values())

    def intend(self, address: str) -> None:
        """On the disk before anything is sent."""
        self._append(f"{INTENDED} {address}", sync=True)
        self.states[address.casefold()] = INTENDED

    def note(self, state: str, address: str) -> None:
        """How it ended. If the machine fails now, the address is in doubt, and not mailed again."""
        self._append(f"{state} {address}", sync=False)
        self.states[address.casefold()] = state

    def _append(self, line: str, *, sync: bool) -> None:
        content = f"{line}\n".encode()
        try:
            if os.write(self._file, content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                os.fsync(self._file)
        except OSError as error:
            raise unwritable("journal", self._path, error) from None

    def _lock(self) -> None:
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Unavailable(f"another process is sending with {self._path}") from None


def states_in(path: Path, kind: str, plan_hash: str) -> dict[str, str]:
    """The last state of each address in a file, which need not exist; capitals do not matter."""
    content = read_whole("journal", path) if path.exists() else b""
    lines = content.decode("utf-8", "replace").split("\n")  # the last one is empty, or cut off
    head = f"{FORMAT} {kind} {plan_hash}"
    if lines[0] != head and not (len(lines) == 1 and head.startswith(lines[0])):
        rule = f"must be a file that begins with: {head}"
        hint = f"{path} belongs to another survey or message: move it, or name another file"
        raise InvalidInput("journal", rule, lines[0][:100], hint)
    states = {}
    for line in lines[1:-1]:
        state, _, address = line.partition(" ")
        if state not in (INTENDED, SENT, NOT_SENT) or "@" not in address:
            hint = f"{path} was changed; nobody knows who was mailed"
            raise InvalidInput("journal", "must be as krand invite wrote it", line[:100], hint)
        states[address.casefold()] = state
    return states
