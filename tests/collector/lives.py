"""Processes that are there to be killed, a new one every few milliseconds.

Loading krand takes a second, and a thousand lives would take a quarter of an hour. So one process,
the nursery, loads everything and forks a child for every life. It also kills them: only a parent
knows that a number still belongs to its child.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

USUAL_POPULATION = 200
TESTS = Path(__file__).resolve().parents[1]


def _place_of(name: str) -> str:
    """The file of a module, or the folder of a package."""
    found = find_spec(name)
    assert found is not None, name
    assert found.origin is not None, name
    return found.origin.removesuffix("__init__.py")


WATCHED = (_place_of("krand.collector"), _place_of("krand.files"))
"""Where the code lies at whose calls a life may end."""


class Nursery:
    """Starts one life at a time, and ends it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, task: str, **arguments: Any) -> int:
        """Begin a life; its number."""
        return self._ask({"do": "start", "task": task, **arguments})

    def kill(self) -> int:
        """kill -9; how it ended: -9, or its exit code if it was faster."""
        return self._ask({"do": "end", "signal": signal.SIGKILL})

    def stop(self) -> int:
        """Ask it to stop, as systemd does; how it ended."""
        return self._ask({"do": "end", "signal": signal.SIGTERM})

    def wait(self) -> int:
        """Let it end by itself; how it ended."""
        return self._ask({"do": "end", "signal": 0})

    def _ask(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def nursery(errors: Path, *modules: str) -> Iterator[Nursery]:
    """A nursery that has loaded these modules too; what its children say goes into a file."""
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
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


def main() -> None:
    """The nursery itself: one request a line, one number in answer."""
    _load()
    for module in sys.argv[1:]:
        importlib.import_module(module)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    child = 0
    for line in sys.stdin:
        request = json.loads(line)
        if request.pop("do") == "start":
            child = os.fork()
            if child == 0:
                _live(**request)
            answer = child
        else:
            if request["signal"]:
                os.kill(child, request["signal"])
            answer = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _load() -> None:
    import uvicorn.lifespan.on
    import uvicorn.loops.auto
    import uvicorn.protocols.http.auto  # noqa: F401

    import krand.cli.main
    import krand.collector.http
    import krand.collector.opening
    import krand.collector.release
    import krand.collector.serving
    import krand.survey.plan_file
    import krand.wire.keys  # noqa: F401
    from collector.crowds import config_for, crowd_of
    from krand.promise import Linkage

    for linkage in Linkage:  # once, and not in every life
        with crowd_of(linkage):
            config_for(USUAL_POPULATION)


def _live(
    task: str,
    stop_at: int = 0,
    count_into: str = "",
    held: dict[str, Any] | None = None,
    **arguments: Any,
) -> None:
    """A child's whole life. `stop_at`: it dies at that call of the collector's code.

    `held`: its system calls meet `halting.Faults`.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1):  # those of the nursery
        os.dup2(nothing, handle)
    code = 70
    calls = _Calls(stop_at)
    try:
        if held is not None:
            from collector.halting import Faults, guard_writes

            guard_writes(Faults(**held))
        if stop_at or count_into:
            sys.setprofile(calls)
        TASKS[task](**arguments)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        sys.setprofile(None)
        if count_into:
            Path(count_into).write_text(str(calls.count), encoding="utf-8")
        sys.stderr.flush()
        os._exit(code)


class _Calls:
    """Counts what the collector's code calls, and dies at the chosen one."""

    def __init__(self, stop_at: int) -> None:
        self.count, self.stop_at = 0, stop_at

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if name.startswith(WATCHED):
            self.count += 1
            if self.count == self.stop_at:
                os.kill(os.getpid(), signal.SIGKILL)


def _command(arguments: list[str], changed: dict[str, Any] | None = None) -> None:
    """A krand command, as it would be typed; `changed` are constants of its modules."""
    from krand.cli.main import krand

    for name, value in (changed or {}).items():
        module, _, constant = name.rpartition(".")
        setattr(importlib.import_module(module), constant, value)
    krand(args=arguments, prog_name="krand")


def _add(
    folder: str,
    crowd: int,
    first: int,
    last: int,
    group: int,
    told: str,
    linkage: str = "record",
) -> None:
    """Store people in groups, and note whom one would have told so."""
    from collector.crowds import config_for, crowd_of, people
    from krand.collector.sqlite.spool import Spool
    from krand.promise import Linkage

    note = os.open(told, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with crowd_of(Linkage(linkage)), Spool(Path(folder), config_for(crowd)) as spool:
        for start in range(first, last, group):
            numbers = range(start, min(start + group, last))
            spool.add(people(numbers))
            os.write(note, "".join(f"{number}\n" for number in numbers).encode())


TASKS: dict[str, Callable[..., None]] = {"command": _command, "add": _add}

if __name__ == "__main__":
    main()
