"""What operators copy: the proxies' examples and the unit run as they are, as another user."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

import world
from chaos import free_port
from components import require, require_program
from proxies import PROXIES

require("uvicorn")
require("starlette")

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
GUIDE = ROOT / "docs" / "howto" / "deploy-a-collector.md"
NOBODY = 65_534


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that another user can reach."""
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        here.chmod(0o755)
        yield here


@dataclass(frozen=True)
class Unit:
    """A unit's settings, with the places of a test instead of the system's."""

    settings: Mapping[str, str]
    places: Mapping[str, str]

    def command(self) -> list[str]:
        """What systemd would run: variables and specifiers replaced, words apart."""
        words = shlex.split(self.settings["ExecStart"])
        found: list[str] = []
        for word in words[1:]:
            given = self.environment().get(word.removeprefix("$"), "") if word[0] == "$" else None
            found += [word] if given is None else given.split()
        return [sys.executable, "-m", "krand", *map(self.placed, found)]

    def environment(self) -> dict[str, str]:
        """What the unit sets; the last one counts."""
        words = shlex.split(self.settings.get("Environment", ""))
        return dict(word.split("=", 1) for word in words)

    def placed(self, word: str) -> str:
        for there, here in self.places.items():
            word = word.replace(there, here)
        return word


def unit_of(place: Path, *files: str) -> Unit:
    """Later files add to earlier ones, as systemd reads a unit and its drop-ins."""
    found: dict[str, str] = {}
    for file in files:
        for line in (DEPLOY / file).read_text(encoding="utf-8").splitlines():
            name, equals, value = line.partition("=")
            if equals and name.isalpha():
                before = found.get(name, "") if name == "Environment" else ""
                found[name] = f"{before} {value}".strip()
    return Unit(found, {"%S": str(place / "state")})


def given_to_nobody(folder: Path) -> None:
    """A folder of the service's user, as systemd makes it: nobody else may look into it."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)


def as_nobody() -> list[str]:
    """Runs what follows as another user, if we may; who can read krand, wherever it lies."""
    if os.geteuid() != 0:
        return []
    other = [require_program("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    again = "import krand, subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"
    tried = [*other, sys.executable, "-c", again]
    if subprocess.run(tried, cwd="/", capture_output=True).returncode == 0:
        return other
    return [*other, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


@contextmanager
def started(unit: Unit, place: Path, event: str) -> Iterator[dict[str, str]]:
    """The unit's command as another user, in an empty environment, once it says this."""
    known = ("PATH", "PYTHONPATH")
    environment = {name: os.environ[name] for name in known if name in os.environ}
    environment |= {"LANG": "C.UTF-8", **unit.environment()}
    with (place / "log").open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*as_nobody(), *unit.command(), "--json"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd="/",
            env=environment,
        )
        try:
            assert process.stdout is not None
            said: list[str] = []
            while not said or f'"event": "{event}"' not in said[-1]:
                said.append(process.stdout.readline())
                assert said[-1], "".join(said) + (place / "log").read_text(encoding="utf-8")
            yield json.loads(said[-1])
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=300)


@contextmanager
def collecting(place: Path) -> Iterator[tuple[str, str]]:
    """The unit with a site of one survey, on a free port: its address, and the plan's hash."""
    unit, port = unit_of(place, "krand.service"), free_port()
    site = place / "state" / "krand"
    site.mkdir(parents=True)
    (site / "team.toml").write_text(world.survey_file("tiny").read_text("utf-8"), encoding="utf-8")
    lines = [
        'name = "The works council"',
        'address = "https://survey.example.org"',
        f'listen = "127.0.0.1:{port}"',
        "behind_proxy = true",
        f'console = "127.0.0.1:{free_port()}"',
        'surveys = ["team.toml"]',
    ]
    (site / "site.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    given_to_nobody(site)
    with started(unit, place, "published") as told:
        yield f"http://127.0.0.1:{port}", told["form"].strip("/").rpartition("/")[2]


def answer(url: str, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    """Status and content of what anybody may ask, with everything that tells who asks."""
    where = urlsplit(url)
    host, port, source = where.hostname or "", where.port, ("127.9.8.7", 0)
    client = http.client.HTTPConnection(host, port, timeout=300, source_address=source)
    if where.scheme == "https":
        anybody = ssl._create_unverified_context()
        client = http.client.HTTPSConnection(
            host, port, timeout=300, source_address=source, context=anybody
        )
    with closing(client):
        client.request(method, path, body, {**TELLING, "Content-Type": "application/octet-stream"})
        found = client.getresponse()
        return found.status, found.read()


TELLING = dict.fromkeys(("Cookie", "User-Agent", "X-Forwarded-For", "Referer"), "kanarienvogel")


@pytest.mark.parametrize("proxy", PROXIES)
def test_the_unit_behind_a_proxy_serves_all_that_people_need(place: Path, proxy: str) -> None:
    """As another user: form, client, plan, signatures, submissions; the guide has the example."""
    example = (DEPLOY / {"nginx": "nginx.conf", "caddy": "Caddyfile"}[proxy]).read_text("utf-8")
    assert example in GUIDE.read_text(encoding="utf-8")
    with (
        collecting(place) as (root, plan),
        PROXIES[proxy](urlsplit(root).port or 0, place) as url,
    ):
        page = urlopen(f"{root}/{plan}/").read()
        names = re.findall(r'(?:href|src)="([\w.-]+)" integrity', page.decode())
        assert len(names) >= 2, page[:2000]
        for name in ("", "index.html", "krand.js", "plan.json", "signatures.json", *names):
            content = urlopen(f"{root}/{plan}/{name}").read()
            assert answer(url, "GET", f"/{plan}/{name}") == (200, content), name
        way = f"/v1/plans/{plan}"
        assert answer(url, "GET", way)[1] == urlopen(f"{root}/{plan}/plan.json").read()
        signatures, told = (answer(url, "GET", f"{way}/{n}")[1] for n in ("signatures", "open"))
        assert len(json.loads(signatures)) == 1
        assert json.loads(told) == {"open": True, "round": 1}
        length = json.loads((public(place) / plan / "about.json").read_bytes())["length"]
        body = b"\1\0\1" + bytes(length - 3)
        assert answer(url, "POST", f"{way}/submissions", body)[0] == 202
        assert answer(url, "POST", f"{way}/submissions", body + b"x")[0] == 413
        assert answer(url, "GET", "/nowhere.js")[0] == 404
    if os.geteuid() == 0:
        for path in (place / "state").rglob("*"):
            assert path.stat().st_uid == NOBODY, path


def public(place: Path) -> Path:
    """What the listener of the unit's site reads."""
    return place / "state" / "krand" / "krand" / "public"


@pytest.mark.parametrize("proxy", PROXIES)
def test_a_proxy_passes_on_and_logs_nothing_of_a_person(tmp_path: Path, proxy: str) -> None:
    """Neither address nor cookie, agent or page; not even where nobody is behind it any more."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as behind:

        def run() -> None:
            client, _ = behind.accept()
            with client:
                asked.append(client.recv(65_536))
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        thread = threading.Thread(target=run)
        thread.start()
        with PROXIES[proxy](behind.getsockname()[1], tmp_path) as url:
            assert answer(url, "GET", "/page") == (200, b"ok")
            thread.join()
            behind.close()
            assert answer(url, "GET", "/page")[0] == 502
    assert asked[0].startswith(b"GET /page HTTP/1.1\r\n")
    said = asked[0] + (tmp_path / f"{proxy}.log").read_bytes()
    assert not re.search(rb"kanarienvogel|127\.9\.8\.7", said), said


def test_the_mixers_unit_mixes_for_others(place: Path) -> None:
    """Its folder is made as its comment says; then it is reached at its link."""
    unit, folder = unit_of(place, "krand.service", "krand-mixer.conf"), place / "state" / "krand"
    given_to_nobody(folder)
    words = ["--name", "University", "--url", "https://mix.university.example"]
    words += ["--listen", f"127.0.0.1:{free_port()}"]
    command = Unit(
        {**unit.settings, "ExecStart": f"{unit.settings['ExecStart']} {shlex.join(words)}"},
        unit.places,
    )
    with started(command, place, "serving"):
        pass
    with started(unit, place, "serving") as told:
        said = json.loads(urlopen(f"{told['address']}/v1/identity?nonce={'0' * 64}").read())
    assert (said["name"], said["url"]) == ("University", "https://mix.university.example")
