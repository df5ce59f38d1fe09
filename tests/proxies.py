"""The proxies of deploy/, as operators copy them: only ports and files are of a test."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path

from chaos import free_port, until
from components import require_program

DEPLOY = Path(__file__).parents[1] / "deploy"


@contextmanager
def nginx(behind: int, place: Path) -> Iterator[str]:
    """nginx before a port of this machine, with TLS by a certificate of its own; its address."""
    pem, key, port = place / "survey.pem", place / "survey.key", free_port()
    made = [require_program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
    made += ["-keyout", str(key), "-out", str(pem), "-subj", "/CN=localhost"]
    subprocess.run(made, check=True, capture_output=True)
    file = nginx_file(place, f"127.0.0.1:{port} ssl", behind, pem)
    log = str(place / "nginx.log")
    command = [require_program("nginx"), "-c", str(file), "-p", str(place), "-e", log]
    with running(command, place / "nginx.log", partial(_listens, port)):
        yield f"https://127.0.0.1:{port}"


def nginx_file(place: Path, listen: str, behind: int, certificate: Path) -> Path:
    """The example of nginx, for these ports; the key is beside the certificate."""
    text = _changed(
        (DEPLOY / "nginx.conf").read_text(encoding="utf-8"),
        {
            "listen 443 ssl;": f"listen {listen};",
            "/etc/ssl/survey.pem": str(certificate),
            "/etc/ssl/survey.key": str(certificate.with_suffix(".key")),
            "127.0.0.1:8080": f"127.0.0.1:{behind}",
            "http {\n": "http {\n"
            + "".join(
                f"    {kind}_temp_path {place}/{kind};\n"
                for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            ),
        },
    )
    own = f"daemon off;\npid {place}/nginx.pid;\n{'user root;' if os.geteuid() == 0 else ''}\n"
    file = place / "nginx.conf"
    file.write_text(own + text, encoding="utf-8")
    return file


@contextmanager
def caddy(behind: int, place: Path) -> Iterator[str]:
    """Caddy before a port of this machine, without TLS, for which it would ask the world."""
    port = free_port()
    text = _changed(
        (DEPLOY / "Caddyfile").read_text(encoding="utf-8"),
        {
            "survey.example.org {": f"http://127.0.0.1:{port} {{",
            "127.0.0.1:8080": f"127.0.0.1:{behind}",
            "\n{\n": "\n{\n\tadmin off\n",
        },
    )
    file = place / "Caddyfile"
    file.write_text(text, encoding="utf-8")
    command = [require_program("caddy"), "run", "--adapter", "caddyfile", "--config", str(file)]
    beside = partial(_listens, port)
    with running(command, place / "caddy.log", beside, {"HOME": str(place)}):
        yield f"http://127.0.0.1:{port}"


PROXIES: dict[str, Callable[[int, Path], AbstractContextManager[str]]] = {
    "nginx": nginx,
    "caddy": caddy,
}


def _changed(text: str, changes: dict[str, str]) -> str:
    for there, here in changes.items():
        assert text.count(there) == 1, f"{there!r} must be in the example once"
        text = text.replace(there, here)
    return text


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
        return True
    return False


@contextmanager
def running(
    command: list[str],
    log: Path,
    is_there: Callable[[], bool],
    more: dict[str, str] | None = None,
) -> Iterator[None]:
    """A proxy, from when it is there to the end of the block."""
    with log.open("w", encoding="utf-8") as stream:
        environment = {**os.environ, **(more or {})}
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)
    try:
        until(lambda: process.poll() is not None or is_there())
        assert process.poll() is None, log.read_text(encoding="utf-8")
        yield
    finally:
        process.terminate()
        process.wait(60)
