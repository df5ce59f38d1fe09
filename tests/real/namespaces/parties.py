"""Organisations on one machine that share nothing: each has its own network, disk and user.

A party is a network namespace and a mount namespace, in which its home is a file system that nobody
else can see, and a user. Parties reach each other by their names alone: public addresses, port 443,
and nginx with TLS before each of them, by a certificate that all of them trust.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaos import until
from components import require_program
from proxies import nginx_file, running

ROOT = Path(__file__).parents[3]
FIRST_USER = 70_001
NETWORK = "11.77.0"
"""Public addresses, which nobody reaches from here."""


@dataclass
class Party:
    """One organisation."""

    name: str
    number: int
    process: int
    """Whose namespaces are the party's."""
    home: Path
    """The same path for all of them, and another file system for each."""

    trusted: Path
    """The certificate of all parties."""

    @property
    def url(self) -> str:
        return f"https://{self.name}.example"

    def words(self, *command: object) -> list[str]:
        """A command as this party's user runs it, in the party's home."""
        user = f"--reuid={FIRST_USER + self.number}", f"--regid={FIRST_USER + self.number}"
        entered = ["nsenter", "-t", str(self.process), "-n", "-m", "setpriv", *user]
        there = ["--clear-groups", "sh", "-c", 'cd "$0" && exec "$@"', str(self.home)]
        return [
            *entered,
            *there,
            "env",
            "-u",
            "XDG_STATE_HOME",
            f"HOME={self.home}",
            f"SSL_CERT_FILE={self.trusted}",
            *map(str, command),
        ]

    def run(self, *command: object) -> str:
        """Run a command to its end; its output."""
        done = subprocess.run(self.words(*command), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def krand(self, text: str) -> str:
        """Somebody types a command of krand, and waits for its end."""
        return self.run(sys.executable, "-m", "krand", *text.split())

    def write(self, name: str, text: str) -> None:
        """A file that somebody writes with an editor."""
        words = self.words("tee", name)
        subprocess.run(words, input=text, text=True, check=True, stdout=subprocess.DEVNULL)

    def read(self, name: str) -> str:
        return self.run("cat", name)

    def has(self, name: str) -> bool:
        return not subprocess.run(self.words("test", "-e", name), check=False).returncode


@dataclass
class Service:
    """A command that runs until it is stopped, and what it has printed."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def waits_for(self, text: str) -> str:
        """What it has printed, as soon as it contains this."""
        try:
            until(lambda: text in self.said or self.process.poll() is not None)
        finally:
            assert text in self.said, self.said
        return self.said


@contextmanager
def typed_service(party: Party, text: str) -> Iterator[Service]:
    """Somebody types a command that runs until it is stopped; so does the test at its end."""
    with tempfile.NamedTemporaryFile() as log:
        words = party.words(sys.executable, "-m", "krand", *text.split())
        with subprocess.Popen(words, stdout=log, stderr=log) as process:
            try:
                yield Service(process, Path(log.name))
            finally:
                process.terminate()
                process.wait(60)


@contextmanager
def parties(*names: str) -> Iterator[tuple[Party, ...]]:
    """Organisations with these names, connected by a switch."""
    for program in ("ip", "nsenter", "setpriv", "unshare"):
        require_program(program)
    allowed = subprocess.run(["unshare", "-n", "-m", "true"], check=False, capture_output=True)
    if os.geteuid() or allowed.returncode:
        pytest.skip("skipped: only root can give each party a network and a disk of its own")
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "home"
        home.parent.chmod(0o755)
        home.mkdir()
        certificate, hosts = _certified(home.parent, names), home.with_name("hosts")
        lines = (f"{NETWORK}.{number} {name}.example" for number, name in enumerate(names, 1))
        hosts.write_text("127.0.0.1 localhost\n" + "\n".join(lines) + "\n", encoding="ascii")
        switch = stack.enter_context(_namespaces())
        _in(switch, "ip", "link", "add", "switch", "type", "bridge")
        _in(switch, "ip", "link", "set", "switch", "up")
        found = []
        for number, name in enumerate(names, 1):
            own = stack.enter_context(_namespaces())
            _connect(switch, own, number)
            _mount(own, home, number)
            _in(own, "mount", "--bind", hosts, "/etc/hosts")
            for needed in {Path(sys.base_prefix), Path(sys.prefix), ROOT}:
                _open_way(own, needed)
            place = home.with_name(name)
            place.mkdir()
            stack.enter_context(proxied(own, place, certificate))
            found.append(Party(name, number, own, home, certificate))
        yield tuple(found)


@contextmanager
def proxied(own: int, place: Path, certificate: Path) -> Iterator[None]:
    """nginx as deploy/ shows it, in a party's network."""
    file = nginx_file(place, "443 ssl", 8080, certificate)
    entered = ["nsenter", "-t", str(own), "-n", "-m"]
    words = [require_program("nginx"), "-c", str(file), "-p", str(place), "-e", f"{place}/log"]
    with running([*entered, *words], place / "nginx.log", lambda: (place / "nginx.pid").exists()):
        yield


@contextmanager
def _namespaces() -> Iterator[int]:
    """A process with a network and mounts of its own; all that is in them ends with it."""
    words = ["unshare", "--net", "--mount", "sleep", "infinity"]
    with subprocess.Popen(words) as process:
        try:
            until(lambda: os.readlink(f"/proc/{process.pid}/ns/mnt") != os.readlink(_OWN))
            yield process.pid
        finally:
            process.kill()


_OWN = "/proc/self/ns/mnt"


def _in(process: int, *words: object) -> None:
    entered: Sequence[str] = ["nsenter", "-t", str(process), "-n", "-m"]
    subprocess.run([*entered, *map(str, words)], check=True)


def _connect(switch: int, own: int, number: int) -> None:
    """A cable from the party to the switch."""
    peer = ("peer", "name", "eth0", "netns", own)
    _in(switch, "ip", "link", "add", f"port{number}", "type", "veth", *peer)
    _in(switch, "ip", "link", "set", f"port{number}", "master", "switch", "up")
    _in(own, "ip", "address", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
    for link in ("eth0", "lo"):
        _in(own, "ip", "link", "set", link, "up")


def _mount(own: int, home: Path, number: int) -> None:
    """A home."""
    user = f"mode=0700,uid={FIRST_USER + number},gid={FIRST_USER + number}"
    _in(own, "mount", "-t", "tmpfs", "-o", user, "tmpfs", home)


def _certified(place: Path, names: Sequence[str]) -> Path:
    """A certificate of all parties, and its key beside it."""
    pem = place / "survey.pem"
    hosts = ",".join(f"DNS:{name}.example" for name in names)
    made = [require_program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
    made += ["-keyout", str(place / "survey.key"), "-out", str(pem), "-subj", "/CN=example"]
    subprocess.run([*made, "-addext", f"subjectAltName={hosts}"], check=True, capture_output=True)
    pem.chmod(0o644)
    return pem


def _open_way(own: int, needed: Path) -> None:
    """Show a program below a folder that other users may not enter, and nothing else of that."""
    closed = [each for each in needed.parents if not each.stat().st_mode & stat.S_IXOTH]
    if not closed:
        return
    _in(own, "mount", "--bind", needed, "/mnt")
    _in(own, "mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", closed[-1])
    _in(own, "mkdir", "-p", needed)
    _in(own, "mount", "--move", "/mnt", needed)
