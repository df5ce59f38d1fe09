"""Processes that die at the n-th system call that changes a file, or whose disk turns read-only.

The kernel holds every such call of a child (a seccomp filter with a listener), and a guard, a
process of its own, lets it go on, refuses it or kills the child. So a fault hits between any two
calls, also those that SQLite and Arrow make, without strace and without a compiler. A filter
without a guard makes disks that fail: the kernel refuses to sync, for as long as a thread lives.

Loading krand takes a second, and a thousand lives would take a quarter of an hour. So one process,
the nursery, loads everything and forks a child for every life. It also kills them: only a parent
knows that a number still belongs to its child.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import importlib
import json
import os
import platform
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import krand
from chaos import typed, until

T = TypeVar("T")

KILLED = -signal.SIGKILL
Held = tuple[str, str]
"""A call's name, and the file that it changes, where the call names it by a handle."""

X86_64 = """
write 1 pwrite64 18 writev 20 fsync 74 fdatasync 75 ftruncate 77 rename 82 mkdir 83 link 86
unlink 87 openat 257 mkdirat 258 unlinkat 263 renameat 264 linkat 265 fallocate 285 pwritev 296
renameat2 316 seccomp 317
"""
AARCH64 = """
mkdirat 34 unlinkat 35 linkat 37 renameat 38 ftruncate 46 fallocate 47 openat 56 write 64 writev 66
pwrite64 68 pwritev 70 fsync 82 fdatasync 83 renameat2 276 seccomp 277
"""


def _table(text: str) -> dict[str, int]:
    words = text.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


NUMBERS = {"x86_64": _table(X86_64), "aarch64": _table(AARCH64)}
BY_HANDLE = [
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
]
HARMLESS = ("fsync", "fdatasync")
"""They succeed where nothing can be written."""
TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
NO_NEW_PRIVILEGES, SET_FILTER, NEW_LISTENER = 38, 1, 8
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, NOTIFY, ERROR = 0x7FFF0000, 0x7FC00000, 0x00050000
RECEIVE, SEND = 0xC0502100, 0xC0182101
CONTINUE = 1
HERE = 0xFFFFFF9C
"""AT_FDCWD: a path that is not beside a handle."""
NOTICE = struct.Struct("=QIIiIQ6Q")
"""Of the kernel: id, process, flags; number of the call, machine, place, six arguments."""
ANSWER = struct.Struct("=QqiI")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.c_char_p))


def require_held_calls() -> None:
    """Skip the test where the kernel does not hold system calls for others."""
    import pytest

    if sys.platform != "linux" or platform.machine() not in NUMBERS:
        pytest.skip(f"no held system calls on {sys.platform}, {platform.machine()}")


@dataclass(frozen=True)
class Faults:
    """What happens to calls that change something below a folder."""

    under: str
    note: str = ""
    """Where the guard writes down the calls that it has let go on."""
    stop_at: int = 0
    """The n-th call is the last one; 0 is none."""
    refuse_from: int = 0
    """From the n-th call on the file system is read-only."""


def guard_writes(faults: Faults) -> None:
    """From now on a guard watches this process and all its threads."""
    ours, theirs = socket.socketpair()
    child = os.getpid()
    if os.fork() == 0:
        ours.close()
        _Guard(child, faults).live(theirs)
    theirs.close()
    numbers = [number for name, number in _numbers().items() if name != "seccomp"]
    listener = _filter(numbers, NOTIFY, NEW_LISTENER)
    socket.send_fds(ours, [b"x"], [listener])
    os.close(listener)
    ours.close()


def fail_syncs() -> None:
    """From now on no sync of this thread succeeds.

    It cannot be taken back, but whoever works in another thread finds the disk mended.
    """
    _filter([_numbers()[name] for name in HARMLESS], ERROR | errno.EIO)


def while_syncs_fail(work: Callable[[], T]) -> T:
    """Do something in a thread of its own in which no sync succeeds."""
    with ThreadPoolExecutor(1, initializer=fail_syncs) as thread:
        return thread.submit(work).result()


def spread_over(first: int, last: int, count: int) -> list[int]:
    """So many numbers, evenly from the first to the last; each several times if they are few."""
    numbers = range(first, last + 1)
    if count < len(numbers):
        return [numbers[n * (len(numbers) - 1) // max(1, count - 1)] for n in range(count)]
    return [number for number in numbers for _ in range(count // len(numbers))]


def _numbers() -> dict[str, int]:
    return NUMBERS[platform.machine()]


def _filter(calls: Sequence[int], verdict: int, flags: int = 0) -> int:
    """Let the kernel give this verdict on each of these calls; what installing the filter gave."""
    steps = [struct.pack("=HBBI", LOAD, 0, 0, 0)]
    for place, number in enumerate(calls):
        steps.append(struct.pack("=HBBI", IF_EQUAL, len(calls) - place, 0, number))
    steps.append(struct.pack("=HBBI", RETURN, 0, 0, ALLOW))
    steps.append(struct.pack("=HBBI", RETURN, 0, 0, verdict))
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps), b"".join(steps))
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    number = _numbers()["seccomp"]
    found: int = libc.syscall(number, SET_FILTER, flags, ctypes.byref(program))
    if found < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return found


class _Guard:
    """Answers the kernel for each call that it holds."""

    def __init__(self, child: int, faults: Faults) -> None:
        self._child, self._faults = child, faults
        self._held: list[Held] = []
        self._names = {number: name for name, number in _numbers().items()}

    def live(self, theirs: socket.socket) -> None:
        """The guard's whole life: it ends when the child has ended."""
        try:
            _, (listener, *_), *_ = socket.recv_fds(theirs, 1, 1)
            waiting = select.poll()
            waiting.register(listener, select.POLLIN)
            while any(event & select.POLLIN for _, event in waiting.poll()):
                with suppress(OSError):  # the child is gone meanwhile
                    self._answer(listener)
        finally:
            if self._faults.note:
                Path(self._faults.note).write_text(json.dumps(self._held), encoding="utf-8")
            os._exit(0)

    def _answer(self, listener: int) -> None:
        notice = bytearray(NOTICE.size)
        fcntl.ioctl(listener, RECEIVE, notice)
        call, caller, _, number, *rest = NOTICE.unpack(notice)
        verdict = self._verdict(caller, self._names[number], rest[2:])
        answer = (call, 0, verdict, 0) if verdict else (call, 0, 0, CONTINUE)
        fcntl.ioctl(listener, SEND, bytearray(ANSWER.pack(*answer)))

    def _verdict(self, caller: int, name: str, arguments: Sequence[int]) -> int:
        """0 to go on, or an error; the caller may be a process that the child has started."""
        faults, found = self._faults, _changed(caller, name, arguments)
        if found is None or not found[1].startswith(faults.under):
            return 0
        if len(self._held) + 1 == faults.stop_at:
            os.kill(self._child, signal.SIGKILL)
        self._held.append(found)
        late = 0 < faults.refuse_from <= len(self._held)
        return -errno.EROFS if late and name not in HARMLESS else 0


def _changed(caller: int, name: str, arguments: Sequence[int]) -> Held | None:
    """The call and its file; of a path beside a handle, the folder; None if nothing changes, or
    nobody may look into the caller."""
    if name == "openat" and not arguments[2] & TO_WRITE:
        return None
    if name in BY_HANDLE or name in ("unlinkat", "mkdirat", "openat"):
        handle = arguments[0]
    elif name in ("linkat", "renameat", "renameat2"):
        handle = arguments[2]
    else:  # a path alone
        handle = HERE
    try:
        if handle & 0xFFFFFFFF == HERE:
            return name, _path(caller, arguments, name)
        return name, os.readlink(f"/proc/{caller}/fd/{handle & 0xFFFFFFFF}")
    except OSError:
        return None


def _path(caller: int, arguments: Sequence[int], name: str) -> str:
    """The path that is changed, read from the caller's memory."""
    places = {"linkat": 3, "renameat": 3, "renameat2": 3, "link": 1, "rename": 1}
    place = places.get(name, 1 if name.endswith("at") else 0)
    with open(f"/proc/{caller}/mem", "rb") as memory:
        memory.seek(arguments[place])
        content = memory.read(1)
        while not content.endswith(b"\0"):
            content += memory.read(1)
    path = os.fsdecode(content[:-1])
    return path if os.path.isabs(path) else os.path.join(os.readlink(f"/proc/{caller}/cwd"), path)


# Lives.


class Nursery:
    """Starts one life at a time, and ends it.

    A life is a command of krand, or a function of a module that is loaded beforehand.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def command(self, *words: object, at: Path | None = None, held: Faults | None = None) -> int:
        """Begin with a command as it would be typed in a folder; the number of the process."""
        return self._begin("krand", held, words=typed(*words), at=str(at or Path.cwd()))

    def call(self, function: str, held: Faults | None = None, **arguments: Any) -> int:
        """Begin with a function, `module:name`; the number of the process."""
        return self._begin(function, held, **arguments)

    def kill(self) -> int:
        """kill -9; how it ended: -9, or its exit code if it was faster."""
        return self._ask({"do": "end", "signal": signal.SIGKILL})

    def stop(self) -> int:
        """Ask it to stop, as systemd does; how it ended."""
        return self._ask({"do": "end", "signal": signal.SIGTERM})

    def wait(self) -> int:
        """Let it end by itself; how it ended."""
        return self._ask({"do": "end", "signal": 0})

    def _begin(self, task: str, held: Faults | None, **arguments: Any) -> int:
        faults = None if held is None else asdict(held)
        state = os.environ["XDG_STATE_HOME"]
        return self._ask(
            {"do": "start", "task": task, "held": faults, "state": state, "with": arguments}
        )

    def _ask(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def nursery(errors: Path, *modules: str) -> Iterator[Nursery]:
    """A nursery that has loaded these modules; what its children say goes into a file."""
    require_held_calls()
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    with (
        errors.open("ab") as stream,
        subprocess.Popen(
            [sys.executable, __file__, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        ) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()  # everything is loaded
        yield Nursery(process)
        assert process.stdin is not None
        process.stdin.close()


class Repeated:
    """A command again and again, each time from the same folder, with faults where it writes."""

    def __init__(self, home: Nursery, folder: Path, words: Sequence[object]) -> None:
        """`words`: the command, typed in the folder; all in it is put back as it is now."""
        self._home, self._folder, self._words = home, folder, words
        self._full, self._note = folder.with_name("full"), folder.with_name("note")
        shutil.copytree(folder, self._full, symlinks=True)

    def begin_again(self) -> None:
        """As it was at first."""
        shutil.rmtree(self._folder)
        shutil.copytree(self._full, self._folder, symlinks=True)

    def run(self, **faults: Any) -> int:
        """The command, with these `Faults`; how it ended."""
        self._note.unlink(missing_ok=True)
        held = Faults(under=str(self._folder), note=str(self._note), **faults)
        self._home.command(*self._words, at=self._folder, held=held)
        return self._home.wait()

    def calls(self) -> list[Held]:
        """What the last run has changed."""
        return calls_noted(self._note)


def calls_noted(note: Path) -> list[Held]:
    """What a guard has written down; it ends a little later than its child."""
    until(lambda: note.exists() and note.read_bytes().endswith(b"]"), what="the guard's note")
    return [(name, path) for name, path in json.loads(note.read_bytes())]


def main() -> None:
    """The nursery itself: one request a line, one number in answer."""
    for module in ("krand.cli.main", *sys.argv[1:]):
        importlib.import_module(module)
    for name in krand.__all__:  # each loads its home
        getattr(krand, name)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    child = 0
    for line in sys.stdin:
        request = json.loads(line)
        if request.pop("do") == "start":
            child = os.fork()
            if child == 0:
                _live(request)
            answer = child
        else:
            if request["signal"]:
                os.kill(child, request["signal"])
            answer = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _live(request: dict[str, Any]) -> None:
    """A child's whole life."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1):  # those of the nursery
        os.dup2(nothing, handle)
    os.environ["XDG_STATE_HOME"] = request["state"]
    code = 70
    try:
        if request["held"] is not None:
            guard_writes(Faults(**request["held"]))
        if request["task"] == "krand":
            os.chdir(request["with"]["at"])
            sys.modules["krand.cli.main"].krand(args=request["with"]["words"], prog_name="krand")
        else:
            module, _, name = request["task"].partition(":")
            getattr(sys.modules[module], name)(**request["with"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
