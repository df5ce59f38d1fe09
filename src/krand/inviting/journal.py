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
from krand.files import OWNER_ONLY, sync_folder, unreadable, unwritable

FORMAT = "krand-sending-1"
INTENDED, SENT, NOT_SENT = "?", "+", "-"


class Journal:
    """A file that one process has open; closing it lets the next one in."""

    def __init__(self, path: Path, kind: str, plan_hash: str) -> None:
        self._path, self._head = path, f"{FORMAT} {kind} {plan_hash}"
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
        except OSError as error:
            raise unwritable("output", path, error) from None
        try:
            self._lock()
            self.states = self._read()
        except BaseException:
            os.close(self._file)
            raise

    @classmethod
    def states_in(cls, path: Path, kind: str, plan_hash: str) -> dict[str, str]:
        """What a file says; it is not changed, and need not exist."""
        if not path.exists():
            return {}
        try:
            content = path.read_bytes()
        except OSError as error:
            raise unreadable("output", path, error) from None
        head = f"{FORMAT} {kind} {plan_hash}"
        return _states(content, head, path) if b"\n" in content else {}  # it has just been begun

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

    def intend(self, address: str) -> None:
        """On the disk before anything is sent."""
        self._write(INTENDED, address)
        self._sync()

    def note(self, state: str, address: str) -> None:
        """How it ended. If the machine fails now, the address is in doubt, and not mailed again."""
        self._write(state, address)

    def _write(self, state: str, address: str) -> None:
        self._append(f"{state} {address}\n".encode())
        self.states[address.casefold()] = state

    def _append(self, line: bytes) -> None:
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise unwritable("output", self._path, error) from None

    def _sync(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as error:
            raise unwritable("output", self._path, error) from None

    def _lock(self) -> None:
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Unavailable(f"another process is sending with {self._path}") from None

    def _read(self) -> dict[str, str]:
        with open(self._file, "rb", closefd=False) as stream:
            content = stream.read()
        whole = content[: content.rfind(b"\n") + 1]  # a line that was cut off sent nothing
        states = _states(whole, self._head, self._path) if whole else {}
        os.ftruncate(self._file, len(whole))
        os.lseek(self._file, 0, os.SEEK_END)
        if not whole:
            self._append(f"{self._head}\n".encode())
            self._sync()
            sync_folder(self._path.parent)
        return states


def _states(content: bytes, head: str, path: Path) -> dict[str, str]:
    """The last state of each address; capital letters make no other one."""
    lines = content.decode("utf-8", "replace").split("\n")
    if lines[0] != head:
        rule = f"must be a file that begins with: {head}"
        hint = f"{path} belongs to another survey or message: name another file"
        raise InvalidInput("output", rule, lines[0][:100], hint)
    states = {}
    for line in lines[1:-1]:  # the last one is empty, or cut off
        state, _, address = line.partition(" ")
        if state not in (INTENDED, SENT, NOT_SENT) or "@" not in address:
            hint = f"{path} was changed; nobody knows who was mailed"
            raise InvalidInput("output", "must be as krand invite wrote it", line[:100], hint)
        states[address.casefold()] = state
    return states
