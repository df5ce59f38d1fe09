"""One page is run from top to bottom in a folder of its own: files, shell and Python."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

import click

from command_line import command_named
from components import require
from real.docs.pages import ROOT, Block, Command, blocks, commands

END = "end-of-command-5f1e"
NUMBER = re.compile(r"\b[0-9a-f]{16,}\b|[-−+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
OPERATORS = {"|", "||", "&&", ";", "&", "(", ")", "{", "}"}
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
PATIENCE = 600
"""Seconds after which a command counts as stuck."""
BROWSER = f"{sys.executable} {Path(__file__).with_name('answering.py')} %s"
"""What `python -m webbrowser` opens a link with."""


class Page:
    """Where a page's blocks are run; what it started ends with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""
        self.missing: list[str] = []
        self.ports: dict[str, str] = {}
        self.running: list[subprocess.Popen[str]] = []
        self.shell = self._start(["bash", "--noprofile", "--norc"], subprocess.PIPE)

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for process in (*self.running, self.shell):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def run(self, block: Block) -> None:
        """Do what the block's language and marks say."""
        for port in block.marks.get("port", "").split():
            self.ports.setdefault(port, _free_port())
        if block.file is not None:
            target = self.folder / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        elif block.language in ("console", "python"):
            gone = [each for each in block.marks.get("needs", "").split() if not _is_there(each)]
            self.missing += gone
            if gone or "parsed" in block.marks:
                check_parses(block)
            elif block.language == "console":
                self._console(block)
            else:
                self._python(block)
        elif "output" in block.marks:
            self._compare(block, block.text, self.printed)

    def _console(self, block: Block) -> None:
        found = commands(block)
        for command in found:
            if "background" in block.marks:
                self._background(command)
                continue
            code, printed = self._command(self._with_ports(command.text))
            wanted = int(block.marks.get("exit", 0)) if command is found[-1] else 0
            assert code == wanted, f"{block}: exit code {code} of: {command.text}\n{printed}"
            self._compare(block, self._with_ports(command.output), printed)

    def _command(self, text: str) -> tuple[int, str]:
        """Run it in the page's one shell, so that `cd` and `export` last."""
        self.shell.stdin.write(f"{{\n{text}\n}} </dev/null\nprintf '\\n{END} %d\\n' $?\n")
        self.shell.stdin.flush()
        lines: list[str] = []
        timer = threading.Timer(PATIENCE, self.shell.kill)
        timer.start()
        try:
            for line in self.shell.stdout:
                if line.startswith(END):
                    return int(line.split()[1]), "".join(lines).removesuffix("\n")
                lines.append(line)
        finally:
            timer.cancel()
        raise AssertionError(f"the shell ended or hung in: {text}\n{''.join(lines)}")

    def _background(self, command: Command) -> None:
        """Start it, and wait until it has printed what the page shows."""
        text = self._with_ports(command.text).removesuffix("&")
        log = self.folder / f".background-{len(self.running)}"
        with log.open("w") as output:
            process = self._start(["bash", "-c", f"exec {text}"], subprocess.DEVNULL, output)
        self.running.append(process)
        shown = self._with_ports(command.output)
        late = time.monotonic() + PATIENCE / 2
        while difference(f"{shown}…\n", log.read_text(), numbers_vary=False) is not None:
            assert process.poll() is None, f"{command.block}: it ended\n{log.read_text()}"
            assert time.monotonic() < late, f"{command.block}: not seen\n{log.read_text()}"
            time.sleep(0.05)

    def _python(self, block: Block) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            if ">>>" in block.text:
                _run_doctest(block, self.names)
            else:
                code = "\n" * block.line + self._with_ports(block.text)
                exec(compile(code, str(block.page), "exec"), self.names)
        self.printed = out.getvalue()

    def _compare(self, block: Block, shown: str, printed: str) -> None:
        said = difference(shown, printed, numbers_vary="numbers vary" in block.marks)
        assert said is None, f"{block}: {said}"

    def _with_ports(self, text: str) -> str:
        for port, free in self.ports.items():
            text = re.sub(rf"\b{port}\b", free, text)
        return text

    def _start(
        self, arguments: list[str], stdin: int, stdout: int | Any = subprocess.PIPE
    ) -> subprocess.Popen[str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("KRAND_", "PYTEST"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        return subprocess.Popen(
            arguments,
            cwd=self.folder,
            env=inherited | {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "BROWSER": BROWSER},
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def _is_there(needed: str) -> bool:
    """A module, or a program on the path."""
    return find_spec(needed) is not None or shutil.which(needed) is not None


def _run_doctest(block: Block, names: dict[str, Any]) -> None:
    """Examples with their results; `…` and `...` stand for anything."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    text = re.sub("…", "...", block.text)
    test = doctest.DocTestParser().get_doctest(text, names, str(block), str(block.page), block.line)
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test, out=said.write, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, said.getvalue()


def check_parses(block: Block) -> None:
    """What is not run is at least shell or Python, and click takes every call of krand."""
    if block.language == "python":
        compile(block.text, str(block.page), "exec")
        return
    for command in commands(block):
        done = subprocess.run(["bash", "-n"], input=command.text, text=True, capture_output=True)
        assert done.returncode == 0, f"{block}: {done.stderr}"
        for arguments in krand_calls(command.text):
            parse(arguments)


def _free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def krand_calls(line: str) -> Iterator[list[str]]:
    """The arguments of every call of krand in a line of shell."""
    words = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars="|&;()<>")
    words.whitespace_split = True
    call: list[str] = []
    for word in [*words, ";"]:
        if word not in OPERATORS and set(word) - set("|&;()<>"):
            call.append(word)
            continue
        while call and (ASSIGNMENT.fullmatch(call[0]) or call[0] in ("exec", "time", "sudo")):
            call.pop(0)
        if call and call[0].rsplit("/", 1)[-1] == "krand":
            yield call[1:]
        call = []


def parse(arguments: list[str]) -> None:
    """Let click read the arguments: an unknown command, option or choice is an error."""
    if not arguments or arguments[0].startswith("-"):
        return
    name, *rest = arguments
    command, parent = command_named(name), click.Context(click.Group("krand"))
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        parent = click.Context(command, parent=parent, info_name=command.name)
        name, *rest = rest
        found = command.get_command(parent, name)
        if found is None:
            raise click.UsageError(f"no such command: {name}")
        command = found
    with contextlib.suppress(click.exceptions.Exit):  # --help and --version end here
        command.make_context(command.name, rest, parent=parent)


def difference(shown: str, printed: str, *, numbers_vary: bool) -> str | None:
    """What to tell if what is shown and what was printed differ, and nothing if they agree.

    `…` stands for anything within a line; alone on its line, for any lines.
    """
    if not shown.strip():
        return None
    want, have = _tidy(shown, numbers_vary), _tidy(printed, numbers_vary)
    if re.fullmatch("".join(map(_pattern, want)), "".join(f"{line}\n" for line in have)):
        return None
    return "\n".join(["the page shows", *want, "but it printed", *have])


def _tidy(text: str, numbers_vary: bool) -> list[str]:
    lines = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").splitlines()
    if not numbers_vary:
        return lines
    return [_shape(line) for line in lines if not _is_rule(line)]


def _shape(line: str) -> str:
    """A line without what varies: numbers, widths of columns, bars."""
    return re.sub(r"[\s─━█▏▎▍▌▋▊▉]+", " ", NUMBER.sub("#", line)).strip()


def _is_rule(line: str) -> bool:
    """Lines of a table that only separate, or hold nothing but bars."""
    return not re.search(r"\w|…", line)


def _pattern(line: str) -> str:
    if line.strip(" │") == "…":
        return "(?:.*\n)*?"
    return ".*?".join(map(re.escape, line.split("…"))) + "\n"


def run_page(page: Path, folder: Path) -> None:
    """From top to bottom in an empty folder, with the examples and what the page itself makes."""
    (folder / "examples").mkdir()
    for survey in (ROOT / "examples").glob("*.toml"):
        shutil.copy(survey, folder / "examples")
    with contextlib.chdir(folder), Page(folder) as running:
        for block in blocks(page):
            running.run(block)
    for component in running.missing:
        require(component)
