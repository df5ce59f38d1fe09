"""What operators copy: nginx's example and the units run as they are, as another user."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

import steps
import world
from chaos import free_port, until
from command_line import done
from components import require, require_program

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


CONFIGURATION = """
daemon off;
pid {place}/nginx.pid;
error_log stderr;
{user}
events {{}}
http {{
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
{server}
}}
"""
"""Around the example of the guide: what lies elsewhere on a system that is installed."""


@contextmanager
def nginx(behind: str, place: Path) -> Iterator[int]:
    """nginx with the guide's example: only ports and files are of this test. Its port."""
    (example,) = re.findall(r"^```nginx\n(.*?)^```", GUIDE.read_text("utf-8"), re.DOTALL | re.M)
    certificate = [require_program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
    files = {name: str(place / f"collector.{name}") for name in ("pem", "key")}
    where = ["-keyout", files["key"], "-out", files["pem"], "-subj", "/CN=localhost"]
    subprocess.run([*certificate, *where], check=True, capture_output=True)
    port = free_port()
    for there, here in {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/etc/ssl/collector.pem": files["pem"],
        "/etc/ssl/collector.key": files["key"],
        "http://127.0.0.1:8080;": f"{behind};",
    }.items():
        assert there in example
        example = example.replace(there, here)
    user = "user root;" if os.geteuid() == 0 else ""
    text = CONFIGURATION.format(place=place, user=user, server=example)
    (place / "nginx.conf").write_text(text, encoding="utf-8")
    command = [require_program("nginx"), "-c", str(place / "nginx.conf"), "-p", str(place)]
    with (place / "nginx.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            until(lambda: process.poll() is not None or answer(port, "GET", "/")[0])
            assert process.poll() is None, (place / "nginx.log").read_text(encoding="utf-8")
            yield port
        finally:
            process.terminate()
            process.wait(60)


def answer(port: int, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    """Status and content; 0 where nobody listens."""
    anybody = ssl._create_unverified_context()
    client = http.client.HTTPSConnection("127.0.0.1", port, timeout=300, context=anybody)
    try:
        client.request(method, path, body, {"Content-Type": "application/octet-stream"})
        found = client.getresponse()
        return found.status, found.read()
    except ConnectionRefusedError:
        return 0, b""
    finally:
        client.close()


def test_the_unit_behind_the_proxy_serves_all_that_people_need_and_nothing_else(
    study: steps.Study, place: Path
) -> None:
    """As another user: form, client, plan, signatures, submissions; no page of operators."""
    with collecting(place) as root, nginx(root, place) as port:
        assert urlopen(f"{root}/readyz").status == 200
        page = urlopen(f"{root}/").read()
        names = re.findall(r'(?:href|src)="([\w.-]+)" integrity', page.decode())
        assert len(names) >= 2, page[:2000]
        for name in ("", "index.html", "krand.js", "plan.json", "signatures.json", *names):
            content = urlopen(f"{root}/{name}").read()
            assert answer(port, "GET", f"/{name}") == (200, content), name
        assert answer(port, "GET", "/plan.json")[1] == study.plan.bytes
        way = f"/v1/plans/{study.plan.hash}"
        signatures, status = (answer(port, "GET", f"{way}/{n}")[1] for n in ("signatures", "open"))
        assert len(json.loads(signatures)) == len(SIGNERS)
        assert json.loads(status)["invitations"] is True
        body = uninvited(study)
        assert answer(port, "POST", f"{way}/submissions", body)[0] == 403, "not invited"
        assert answer(port, "OPTIONS", f"{way}/submissions")[0] == 405
        for path in ("/healthz", "/readyz", "/nowhere.js", "/metrics"):
            assert answer(port, "GET", path)[0] == 404, path
        assert answer(port, "POST", "/")[0] == 403
    assert "127.0.0.1" not in (place / "nginx.log").read_text(encoding="utf-8")
    if os.geteuid() == 0:
        for file in ("krand/spool/spool.sqlite", "krand-id-key/spool.key"):
            assert (place / "state" / file).stat().st_uid == NOBODY, file


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
        study.client(transport=collector).submit(collector.url, person, invitation=code)
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
