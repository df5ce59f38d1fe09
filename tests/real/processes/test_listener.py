"""The process that strangers talk to: what it can do once it is somebody else's, and when it ends.

The listener runs as always until it has shut itself in. Then code of an attacker goes on in its
place, as after a hole in the HTTP parser: it tries everything, says what it was refused, and sends
the worker whatever comes to its mind.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chaos import is_alive, until
from components import missing, require
from real.processes.team import PEOPLE, Team, listener_of

require("uvicorn")
require("starlette")

HOSTILE = r"""
import ctypes, json, os, random, signal, socket, struct, sys
from pathlib import Path

listening, pipe, public = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
worker, folder = os.getppid(), public.parent

RARELY = 1e-5  # of errors that end the pipe

def tried(name, attempt):
    try:
        attempt()
    except (PermissionError, BrokenPipeError, ConnectionResetError):
        print(json.dumps({"refused": name}), file=sys.stderr, flush=True)
    except BaseException as error:
        print(json.dumps({"failed": f"{name}: {error!r}"}), file=sys.stderr, flush=True)
    else:
        print(json.dumps({"done": name}), file=sys.stderr, flush=True)

def called(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

def connect(kind, where):
    with socket.socket(kind) as client:
        client.connect(where)

for path in PATHS:
    tried(f"read {path}", lambda: open(path, "rb").read(1))
    tried(f"write {path}", lambda: open(path, "r+b"))
    tried(f"remove {path}", lambda: os.unlink(path))
tried("read what is not krand's", lambda: open("/etc/passwd", "rb").read(1))
for path in (folder, folder / "keys", folder / "rounds", "/etc", "/proc"):
    tried(f"list {path}", lambda: os.listdir(path))
for path in ("mem", "environ", "maps"):
    tried(f"read the worker's {path}", lambda: open(f"/proc/{worker}/{path}", "rb").read(1))
about = next(public.glob("*/about.json"))
tried("change about.json", lambda: about.write_text("{}"))
tried("replace about.json", lambda: os.rename(about, about.with_name("other")))
tried("make a file", lambda: (public / "new").write_text(""))
tried("make a folder", lambda: (public / "more").mkdir())
tried("write elsewhere", lambda: (folder.parent / "elsewhere").write_text(""))
tried("trace the worker", lambda: called("ptrace", 16, worker, None, None))

def look():
    here, there = ctypes.create_string_buffer(8), (ctypes.c_size_t * 2)(id(about), 8)
    own = (ctypes.c_size_t * 2)(ctypes.addressof(here), 8)
    called("process_vm_readv", worker, own, 1, there, 1, 0)

tried("look into the worker", look)
if LANDLOCK >= 6:
    tried("signal the worker", lambda: os.kill(worker, signal.SIGUSR1))
if LANDLOCK >= 4:
    tried("connect", lambda: connect(socket.AF_INET, ("127.0.0.1", 9)))

def ask_control():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(folder / "control"))
        for key in ("", "0" * 64):
            content = json.dumps({"ask": "close", "key": key, "plan": about.parent.name}).encode()
            client.sendall(struct.pack(">IB", len(content), 4) + content)
        if not client.recv(1):
            raise PermissionError

tried("ask as the operator", ask_control)
print(json.dumps({"done": "read about.json"}) if about.read_bytes() else "", file=sys.stderr)

draw = random.Random()
plan = bytes.fromhex(about.parent.name)
length = json.loads(about.read_text())["length"]
end = socket.socket(fileno=pipe)

def anything():
    "Most are whole frames of a kind that there is: one that is none ends the pipe."
    kind, rest = draw.choice((1, 1, 2, 3, 3)), draw.randbytes(draw.choice((0, 1, 16, 600)))
    if kind == 1:
        bodies = draw.randbytes(length * draw.choice((0, 1, 2, 9)) + (draw.random() < RARELY))
        numbered = draw.choice((b"\0\0", b"\0\2", b"\xff\xff", b"\0\1"))
        if bodies and numbered == b"\0\1":
            bodies = b"\2" + bodies[1:] if len(bodies) == length else b""
        rest = (plan if draw.random() > RARELY else draw.randbytes(32)) + numbered + bodies
    elif kind == 2 and draw.random() > RARELY:
        rest = plan + draw.randbytes(16)
    elif kind == 3:
        path = draw.choice((f"/v1/plans/{about.parent.name}/rounds/1/link/1?nonce=" + "0" * 64,
            "/v1/identity?nonce=" + draw.choice(("", "1", "0" * 64)), "/v1/keys", "/v1/plans", ""))
        header = draw.choice(("", "Krand", f"Krand {'0' * 64} 1 {'0' * 128}", "Krand x y z"))
        rest = f"{draw.choice(('GET', 'POST', ''))}\n{path}\n{header}\n".encode() + rest
        rest = rest if draw.random() > RARELY else draw.randbytes(40)
    kind = kind if draw.random() > RARELY else draw.randrange(256)
    size = len(rest) if draw.random() > RARELY else draw.randrange(2**32)
    return struct.pack(">IB", size, kind) + rest

def exactly(size):
    found = b""
    while len(found) < size:
        part = end.recv(size - len(found))
        if not part:
            raise EOFError
        found += part
    return found

while True:
    for _ in range(500):
        end.sendall(anything())
        size, kind = struct.unpack(">IB", exactly(5))
        exactly(size)
    print(json.dumps({"sent": 500}), file=sys.stderr, flush=True)
"""

FRAMES = 100_000
LANDLOCK = """
import ctypes
print(ctypes.CDLL(None).syscall(444, None, 0, 1))
"""


class TakenOver:
    """Every listener that starts between `begin` and `end` is the attacker's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(
            "import os, sys\n"
            f"attack = {str(folder / 'attack')!r}\n"
            "if 'krand.site.listener' in sys.orig_argv and os.path.exists(attack):\n"
            "    import uvicorn\n"
            "    code = compile(open(attack).read(), 'attack', 'exec')\n"
            "    async def serve(self, sockets=None): exec(code, {})\n"
            "    uvicorn.Server.serve = serve\n",
            encoding="utf-8",
        )

    def environment(self) -> dict[str, str]:
        """In a folder of its own: the listener may read what Python imports."""
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self._folder), *filter(None, sys.path)]),
        }

    def begin(self, **values: object) -> None:
        """`values` are those that the attacker knows."""
        lines = [f"{name} = {value!r}\n" for name, value in values.items()]
        (self._folder / "attack.new").write_text("".join(lines) + HOSTILE, encoding="utf-8")
        (self._folder / "attack.new").rename(self._folder / "attack")

    def end(self) -> None:
        (self._folder / "attack").unlink()

    def said(self, errors: Path) -> list[dict[str, Any]]:
        """What attackers have told so far, in the log of the program."""
        lines = errors.read_text(encoding="utf-8").splitlines()
        told = re.compile(r'\{"(refused|done|failed|sent)"')
        return [json.loads(line) for line in lines if told.match(line)]

    def has_sent(self, frames: int, errors: Path) -> bool:
        """Whether they have got so many answers."""
        return sum(each.get("sent", 0) for each in self.said(errors)) >= frames


@pytest.fixture(autouse=True)
def processes() -> None:
    if not Path("/proc/self/stat").exists():
        missing("/proc", "processes are found in it")


def _has_ended(process: int) -> bool:
    return not is_alive(process)


def walls() -> int:
    """The version of Landlock here."""
    said = subprocess.run([sys.executable, "-c", LANDLOCK], capture_output=True, text=True)
    return int(said.stdout)


def test_whoever_takes_over_the_listener_gets_and_changes_nothing(tmp_path: Path) -> None:
    """Files, memory, signals, connections, the operator's socket; a hundred thousand frames."""
    version = walls()
    if version < 1:
        missing("Landlock", "the listener is not separated here, as the worker says")
    attacker = TakenOver(tmp_path / "attacker")
    team = Team(tmp_path, attacker)
    with team.running() as program:
        team.answer(7)
        paths = [str(path) for path in team.folder.rglob("*") if path.is_file()]
        private = [path for path in paths if f"{team.folder}/public/" not in path]
        assert {"state.sqlite", "identity.pem", "spool.sqlite"} <= {Path(p).name for p in private}
        private += [str(team.survey)]  # nothing else: without walls all of them are lost
        attacker.begin(PATHS=private, LANDLOCK=version)
        os.kill(listener_of(program), signal.SIGKILL)
        for frames in (1, FRAMES):
            program.wait_until(partial(attacker.has_sent, frames, team.errors), "frames")
            said = [each for each in attacker.said(team.errors) if "sent" not in each]
            assert sum("refused" in each for each in said) > 3 * len(private)
            allowed = [each for each in said if "refused" not in each]
            assert allowed == [{"done": "read about.json"}] * len(allowed), allowed
        attacker.end()
        os.kill(listener_of(program), signal.SIGKILL)
        until(team.is_served)
        team.answer(7)
        assert team.close(program) == PEOPLE


def test_a_listener_that_dies_is_started_again(tmp_path: Path) -> None:
    team = Team(tmp_path)
    with team.running() as program:
        team.answer(7)
        first = listener_of(program)
        os.kill(first, signal.SIGKILL)
        until(lambda: not is_alive(first) and team.is_served())
        team.answer(7)
        assert team.close(program) == PEOPLE


def test_children_end_with_the_worker(tmp_path: Path) -> None:
    """However it ends, and though nobody asks anything; then the same command goes on."""
    team = Team(tmp_path)
    for how, count in ((signal.SIGKILL, 7), (signal.SIGTERM, 7)):
        with team.running() as program:
            team.answer(count)
            listener = listener_of(program)
            program.end(how)
            until(partial(_has_ended, listener))
    with team.running() as program:
        assert team.close(program) == PEOPLE
