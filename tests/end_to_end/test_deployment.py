"""What operators copy: nginx's example and the units run as they are, as another user."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import shutil
import signal
import socket
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

from collecting import Running, body_of, object_told, running, until
from components import require, require_program
from docs.pages import ROOT, blocks
from krand.collector.invitations import KEY_BYTES, AllRounds, write_invitations
from krand.collector.opening import config_of
from krand.planning.making import make_plan
from krand.survey import mechanisms
from krand.survey.survey import Survey, Trust
from krand.web.form.site import site_of
from krand.wire.plan_signatures import PlanSignature, signature_bytes
from mixed_plans import Party, party_of
from mixing.chains import POLICY, QUESTIONS, random_answers, sealed_people, stores_of
from mixing.test_chain_of_mixers import Chain

require("uvicorn")
require("starlette")

pytestmark = pytest.mark.check

DEPLOY = ROOT / "deploy"
GUIDE = ROOT / "docs" / "howto" / "deploy-a-collector.md"
NOBODY = 65_534
CODES = [bytes([number]) * 16 for number in range(3)]
SIGNERS = ("collector", "university")


@pytest.fixture(scope="module")
def party() -> Party:
    """A survey with everything: two mixers, and invitations."""
    trust = Trust(noise=mechanisms.MIXERS, mixers=2)
    survey = Survey(id="s", policy=POLICY, questions=QUESTIONS, trust=trust, invitations=True)
    return party_of(make_plan(survey))


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that another user can reach."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def written(party: Party, folder: Path) -> tuple[PlanSignature, ...]:
    """Everything that lies in /etc/krand."""
    folder.mkdir()
    plan = party.plan
    (folder / "plan.json").write_bytes(plan.bytes)
    with (folder / "invitations.json").open("wb") as stream:
        write_invitations(stream, plan, CODES, AllRounds(bytes(KEY_BYTES), (), len(CODES)))
    for name, signature in zip(SIGNERS, party.signatures, strict=True):
        (folder / f"{name}.sig.json").write_bytes(signature_bytes(signature))
    return party.signatures


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
    places["/mnt/other-disk"] = "disk"
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
def started(unit: Unit, place: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The unit's command as another user, in an empty environment."""
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **unit.environment()}
    with (place / "log").open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*as_nobody(), *unit.command(), *more],
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


@pytest.mark.parametrize("files", [1, 2], ids=["the unit", "with krand-collector.conf"])
def test_the_collectors_unit_serves_the_form_and_the_plan(
    party: Party, place: Path, files: int
) -> None:
    """As another user, who has the folders that systemd gives; with all files of the survey."""
    signatures = written(party, place / "etc")
    plan = party.plan
    if files == 1:
        signatures = ()
    unit = unit_of(place, *("krand-collector.service", "krand-collector.conf")[:files])
    if files == 1:  # a survey that needs no other files
        survey = Survey(id="s", policy=POLICY, questions=QUESTIONS[:1])
        plan = make_plan(survey).sealed_for(party.analyst.public_key())
        (place / "etc" / "plan.json").write_bytes(plan.bytes)
    else:
        (place / "credentials").mkdir()
        shutil.move(place / "etc" / "invitations.json", place / "credentials")
        given_to_nobody(place / "credentials")
    for name in unit.settings["StateDirectory"].split():
        given_to_nobody(place / "state" / name)
    with started(unit, place, "--port", "0", "--json") as process:
        url = json.loads(object_told(process, place / "log"))["url"]
        root = url.partition("/v1/")[0]
        assert urlopen(f"{root}/readyz").status == 200
        assert urlopen(f"{root}/").read() == site_of(plan, signatures)["index.html"].content
        status = json.load(urlopen(url.replace("/submissions", "/status")))
        served = json.load(urlopen(url.replace("/submissions", "/signatures")))
    assert status["invitations"] is (files == 2)
    assert len(served) == len(signatures)
    if os.geteuid() == 0:
        assert (place / "state" / "krand" / "spool" / "spool.sqlite").stat().st_uid == NOBODY
        assert (place / "state" / "krand-id-key" / "spool.key").stat().st_uid == NOBODY


def test_the_mixers_unit_mixes_what_arrives(party: Party, place: Path) -> None:
    """As another user: a batch of the collector comes in, and leaves it mixed and signed."""
    written(party, place / "etc")
    first, second = place / "first", place / "second"
    for folder in (first, second):
        folder.mkdir()
    chain = Chain(party, stores_of(party, first), place / "out")
    _, made = stores_of(party, second, anchored=True)
    unit = unit_of(place, "krand-mixer.service")
    command = unit.command()
    store, anchor = (Path(command[command.index(name) + 1]) for name in ("--store", "--anchor"))
    for folder in (store.parent, anchor.parent):
        folder.mkdir(parents=True)
    shutil.move(made, store)
    shutil.move(second / "anchor-2", anchor)
    incoming, mixed = place / "srv" / "incoming", place / "srv" / "mixed"
    for folder in (store.parent, anchor.parent, incoming, mixed):
        given_to_nobody(folder)
    files = chain.first(sealed_people(chain.plan, random_answers(4)))
    for path in (files.data, files.chain):
        shutil.copy(path, incoming)
    with started(unit, place):
        until(lambda: list(mixed.glob("*.chain.json")))
    assert "error" not in (place / "log").read_text(encoding="utf-8")


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
def nginx(collector: Running, place: Path) -> Iterator[int]:
    """nginx with the guide's example: only ports and files are of this test. Its port."""
    (example,) = (block.text for block in blocks(GUIDE) if block.language == "nginx")
    certificate = [require_program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
    files = {name: str(place / f"collector.{name}") for name in ("pem", "key")}
    where = ["-keyout", files["key"], "-out", files["pem"], "-subj", "/CN=localhost"]
    subprocess.run([*certificate, *where], check=True, capture_output=True)
    port = free_port()
    for there, here in {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/etc/ssl/collector.pem": files["pem"],
        "/etc/ssl/collector.key": files["key"],
        "http://127.0.0.1:8080;": f"http://127.0.0.1:{collector.port};",
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


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


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


def test_nginx_passes_on_all_that_people_need_and_nothing_else(party: Party, place: Path) -> None:
    """The form, the client for pages of one's own, the plan, submissions; no page of operators."""
    signatures = written(party, place / "etc")
    invited = ("--invitations", str(place / "etc" / "invitations.json"))
    options = ["--form", *invited]
    for name in SIGNERS:
        options += ["--signature", str(place / "etc" / f"{name}.sig.json")]
    files = (place / "etc" / "plan.json", place / "spool", place / "log")
    with running(*files, options=options) as collector, nginx(collector, place) as port:
        site = site_of(party.plan, signatures)
        assert set(site) >= {"krand.js", "signatures.json"}
        for name, page in site.items():
            assert answer(port, "GET", f"/{name}") == (200, page.content), name
        assert answer(port, "GET", "/") == (200, site["index.html"].content)
        root = f"/v1/{party.plan.hash}"
        for name in ("plan", "signatures", "status"):
            assert answer(port, "GET", f"{root}/{name}")[0] == 200, name
        body = body_of(1, config_of(party.plan).format)
        assert answer(port, "POST", f"{root}/submissions", body)[0] == 403  # not invited
        assert answer(port, "OPTIONS", f"{root}/submissions")[0] == 405
        for path in ("/healthz", "/readyz", "/nowhere.js"):
            assert answer(port, "GET", path)[0] == 404, path
        assert answer(port, "POST", "/")[0] == 403
    assert "127.0.0.1" not in (place / "nginx.log").read_text(encoding="utf-8")
