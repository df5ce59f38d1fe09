"""What operators copy: the proxies' examples and the units run as they are, as another user."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
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

import steps
import world
from chaos import until
from command_line import done
from components import require, require_program
from proxies import PROXIES

require("uvicorn")
require("starlette")

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
GUIDE = ROOT / "docs" / "howto" / "deploy-a-collector.md"
NOBODY = 65_534
SIGNERS = ("collector", "university")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> steps.Study:
    """A survey with everything: two mixers, and invitations."""
    text = world.survey_file("trio").read_text(encoding="utf-8")
    asked = f"invitations = true\n{text.replace('mixers = 3', 'mixers = 2')}"
    made = steps.published(tmp_path_factory.mktemp("deployed"), asked)
    line = "invite plan.json --count 40 --url https://form.example/ -o invitations.csv"
    done(line, at=made.at)
    return made


@pytest.fixture
def place(study: steps.Study) -> Iterator[Path]:
    """A folder that another user can reach, with everything that lies in /etc/krand."""
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        here.chmod(0o755)
        for folder in ("etc", "credentials"):
            (here / folder).mkdir()
        shutil.copy(study.at / "plan.json", here / "etc")
        shutil.copy(study.at / "invitations.json", here / "credentials")
        for number, signer in enumerate(SIGNERS, 1):
            signature = here / "etc" / f"{signer}.sig.json"
            shutil.copy(study.at / f"mixer-{number}.sig.json", signature)
        given_to_nobody(here / "credentials")
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
    places = {"%S": "state", "%d": "credentials", "/etc/krand": "etc", "/srv/krand": "srv"}
    return Unit(found, {there: str(place / here) for there, here in places.items()})


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
    reads = [*other, sys.executable, "-c", "import krand"]
    if subprocess.run(reads, cwd="/", capture_output=True).returncode == 0:
        return other
    return [*other, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


@contextmanager
def started(unit: Unit, command: list[str], place: Path) -> Iterator[subprocess.Popen[str]]:
    """The unit's command as another user, in an empty environment."""
    known = ("PATH", "PYTHONPATH")
    environment = {name: os.environ[name] for name in known if name in os.environ}
    environment |= {"LANG": "C.UTF-8", **unit.environment()}
    with (place / "log").open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*as_nobody(), *command],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd="/",
            env=environment,
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=300)


@contextmanager
def collecting(place: Path) -> Iterator[str]:
    """The collector's unit with its drop-in, on a free port; its address."""
    unit = unit_of(place, "krand-collector.service", "krand-collector.conf")
    for name in unit.settings["StateDirectory"].split():
        given_to_nobody(place / "state" / name)
    with started(unit, [*unit.command(), "--port", "0", "--json"], place) as process:
        assert process.stdout is not None
        said = ""
        while not said.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, (place / "log").read_text(encoding="utf-8")
            said += line
        yield str(json.loads(said)["url"]).partition("/v1/")[0]


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
def test_the_unit_behind_a_proxy_serves_all_that_people_need(
    study: steps.Study, place: Path, proxy: str
) -> None:
    """As another user: form, client, plan, signatures, submissions; the guide has the example."""
    example = (DEPLOY / {"nginx": "nginx.conf", "caddy": "Caddyfile"}[proxy]).read_text("utf-8")
    assert example in GUIDE.read_text(encoding="utf-8")
    with collecting(place) as root, PROXIES[proxy](urlsplit(root).port or 0, place) as url:
        page = urlopen(f"{root}/").read()
        names = re.findall(r'(?:href|src)="([\w.-]+)" integrity', page.decode())
        assert len(names) >= 2, page[:2000]
        for name in ("", "index.html", "krand.js", "plan.json", "signatures.json", *names):
            content = urlopen(f"{root}/{name}").read()
            assert answer(url, "GET", f"/{name}") == (200, content), name
        way = f"/v1/plans/{study.plan.hash}"
        assert answer(url, "GET", way)[1] == study.plan.bytes
        signatures, told = (answer(url, "GET", f"{way}/{n}")[1] for n in ("signatures", "open"))
        assert len(json.loads(signatures)) == len(SIGNERS)
        assert json.loads(told) == {"open": True, "round": 1}
        body = uninvited(study)
        assert answer(url, "POST", f"{way}/submissions", body)[0] == 403, "not invited"
        assert answer(url, "POST", f"{way}/submissions", body + b"x")[0] == 413
        assert answer(url, "GET", "/nowhere.js")[0] == 404
    if os.geteuid() == 0:
        for path in (place / "state" / "krand" / "spool").rglob("*"):
            assert path.stat().st_uid == NOBODY, path


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


def uninvited(study: steps.Study) -> bytes:
    """What the device of somebody without an invitation sends: version, round, id, messages."""
    code = (study.at / "invitations.csv").read_text(encoding="utf-8").partition("#")[2][:22]
    made = study.client().prepare({}, invitation=code)
    return bytes([1]) + (1).to_bytes(2) + bytes(16) + b"".join(made.messages)


def test_the_mixers_unit_mixes_what_arrives(study: steps.Study, place: Path) -> None:
    """As another user: a batch of the collector comes in, and leaves it mixed and signed."""
    collector = study.collector()
    codes = re.findall(r"#(\S{22})", (study.at / "invitations.csv").read_text(encoding="utf-8"))
    for person, code in zip(world.people("trio", 4), codes, strict=False):
        study.client(url=collector.url, transport=collector).submit(person, invitation=code)
    with study.opened_store(1) as store:
        batch = collector.release(place / "first", store)
    unit = unit_of(place, "krand-mixer.service")
    command = unit.command()
    anchor = command.index("--anchor")
    del command[anchor : anchor + 2]  # the store of this test has none
    shutil.copytree(study.at / "mixer-2", Path(command[command.index("--store") + 1]))
    incoming, mixed = place / "srv" / "incoming", place / "srv" / "mixed"
    incoming.mkdir(parents=True)
    for path in batch.parent.iterdir():
        shutil.copy(path, incoming)
    for folder in (place / "state" / "krand-mixer", incoming, mixed):
        given_to_nobody(folder)
    with started(unit, command, place):
        until(lambda: list(mixed.glob("*.chain.json")))
    assert "error" not in (place / "log").read_text(encoding="utf-8")
