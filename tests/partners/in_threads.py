"""Mixers' services in threads of this process, whoever stands between them, and signed requests.

Services are commands, and what a test asks of them goes over HTTP, signed by hand.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib
import json
import signal
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

import chaos
import krand
from chaos import free_port
from command_line import done
from command_line import krand as program
from krand.testing import UnsafeMemoryLedger
from mixing.by_hand import during

EVERYBODY = """\
accept = "everybody"

[limits]
largest_epsilon = 4
largest_delta = 1e-3
fewest_mixers = 2
most_positions = 100
most_rounds = 2
most_messages = 1_000_000
latest_closing = 60
"""
SURVEY = """\
id = "team"
organiser = "The works council"
title = "Fair?"
rounds = 2

[policy]
epsilon = 2.0
delta = 1e-4

[trust]
noise = "mixers"
mixers = MIXERS

[schedule]
every = "day"
starts = 2027-02-01

[[question]]
name = "fair"
type = "yes_no"
"""
until = partial(chaos.until, seconds=40.0)
"""Nothing here takes more than some seconds, so that whoever waits in vain soon says so."""
START = datetime(2027, 1, 1, 12, tzinfo=UTC).timestamp()
"""When tests of partners begin; the survey's last day is 2 February."""
DAY = 86_400.0
Answer = tuple[int, dict[str, Any]]
"""A status, and the JSON of an answer."""

with suppress(ImportError):  # Arrow loads it, which takes minutes while a test's clock is set
    importlib.import_module("pandas")

_handlers: dict[threading.Thread, Callable[..., None]] = {}
_signal = signal.signal


def _registered(number: int, handler: Any) -> Any:
    """A service in a thread hears of signals from its test."""
    thread = threading.current_thread()
    if thread is threading.main_thread():
        return _signal(number, handler)
    if callable(handler):
        _handlers[thread] = handler
    return signal.SIG_DFL


signal.signal = _registered


@dataclass
class Service:
    """`krand mix serve`, which can be stopped and started again at its address."""

    store: Path
    options: str = "--no-anchor"
    policy: str = EVERYBODY
    proxied: bool = True
    """Whether a proxy would have TLS; otherwise it has its identity's own certificate."""
    port: int = field(default_factory=free_port)
    ended: list[BaseException] = field(default_factory=list)

    def start(self, more: str = "") -> None:
        """Returns when it answers."""
        self.begin(more)
        assert not self.ended, f"{self.store.name} has ended: {self.ended}"

    def begin(self, more: str = "") -> None:
        """Returns when it answers, or has ended with an error."""
        policy = self.store.with_suffix(".toml")
        policy.write_text(self.policy, encoding="utf-8")
        words = ["mix", "serve", "--store", str(self.store), "--name", self.store.name, "--quiet"]
        words += f"--port {self.port} {self.options} {more}".split()
        words += ["--policy", str(policy)] if self.policy else []
        words += ["--behind-proxy"] if self.proxied else ["--host", "127.0.0.1"]
        self.ended.clear()
        self._thread = threading.Thread(target=self._run, args=(words,), daemon=True)
        self._thread.start()
        until(lambda: self.ended or self._answers(), what=f"{self.store.name} serves")

    def _run(self, words: list[str]) -> None:
        try:
            program.main(words, standalone_mode=False)
        except BaseException as error:
            self.ended.append(error.with_traceback(None))

    def _answers(self) -> bool:
        with suppress(OSError):
            return bool(self._about())
        return False

    def _about(self) -> dict[str, Any]:
        context = None if self.proxied else ssl._create_unverified_context()
        with urlopen(f"{self.url}/v1/about", timeout=5, context=context) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def stop(self) -> None:
        """As SIGTERM does."""
        if self._thread.is_alive():
            until(lambda: self._thread in _handlers or not self._thread.is_alive())
            _handlers.pop(self._thread, lambda: None)()
        self._thread.join()

    def restart(self, more: str = "") -> None:
        self.stop()
        self.start(more)

    @property
    def url(self) -> str:
        return f"{'http' if self.proxied else 'https'}://127.0.0.1:{self.port}"

    @cached_property
    def identity(self) -> str:
        """By which others know it."""
        found: str = self._about()["identity"]
        return found

    @property
    def link(self) -> str:
        """What organisers pair with."""
        return f"{self.url}/#{self.identity}"

    def accept(self, *options: object) -> Any:
        """What its operator decides."""
        return done("mix accept", *options, "--store", self.store)


@contextmanager
def serving(*services: Service) -> Iterator[None]:
    """Until the block ends."""
    with ExitStack() as stack:
        for service in services:
            service.start()
            stack.callback(service.stop)
        yield


def asked(
    port: int, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> Answer:
    """One request, on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before the whole body came
            connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        content = answer.read()
        found = json.loads(content) if content.startswith(b"{") else {"text": content.decode()}
        return answer.status, found
    finally:
        connection.close()


def canonical(values: Mapping[str, Any]) -> bytes:
    """As it is signed."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


@dataclass(frozen=True)
class Asking:
    """Somebody with an identity, who asks services."""

    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    @property
    def public(self) -> str:
        return self.key.public_key().public_bytes_raw().hex()

    def signed(self, purpose: bytes, values: dict[str, Any]) -> dict[str, Any]:
        """The same with a signature for this purpose."""
        return {**values, "signature": self.key.sign(purpose + canonical(values)).hex()}

    def headers(
        self, to: Service, method: str, path: str, body: bytes = b"", **changes: str
    ) -> dict[str, str]:
        """Of a request; `changes` are what is signed instead."""
        request = {
            "format": "krand-request-1",
            "method": method,
            "recipient": to.identity,
            "path": path,
            "body": hashlib.sha256(body).hexdigest(),
            "nonce": asked(to.port, "POST", "/v1/nonce")[1]["nonce"],
            **changes,
        }
        signature = self.signed(b"krand request\0", request)["signature"]
        return {
            "krand-identity": self.public,
            "krand-nonce": request["nonce"],
            "krand-body": request["body"],
            "krand-signature": signature,
        }

    def ask(
        self, to: Service, method: str, path: str, body: bytes | Mapping[str, Any] = b""
    ) -> Answer:
        """A request as it should be."""
        content = body if isinstance(body, bytes) else canonical(body)
        return asked(to.port, method, path, content, self.headers(to, method, path, content))


def rule(answer: Answer) -> str:
    """How a request was refused, in a line."""
    status, values = answer
    error = values.get("error", {"field": "", "rule": values})
    return f"{status} {error['field']}: {error['rule']}"


Change = Callable[[str, Answer], Answer]


class Between:
    """Somebody between two parties, who may change every answer."""

    def __init__(self, port: int) -> None:
        """`port` is where the real service is."""
        self.real, self.change, self.asked = port, unchanged, list[str]()
        self.lost = ""
        """The path of requests that never arrive."""
        between = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                between.asked.append(f"{self.command} {self.path.partition('?')[0]}")
                if self.path == between.lost:
                    return
                try:
                    headers = {k: v for k, v in self.headers.items() if k.startswith("krand-")}
                    answer = asked(between.real, self.command, self.path, body, headers)
                    status, values = between.change(self.path, answer)
                except OSError:
                    return
                content = json.dumps(values).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port

    def __enter__(self) -> Between:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def unchanged(_: str, answer: Answer) -> Answer:
    return answer


def down(_: str, __: Answer) -> Answer:
    """Nobody answers."""
    raise ConnectionError


@dataclass
class Organiser:
    """Whoever pairs a survey, and collects answers; batches are sent by hand."""

    folder: Path
    text: str = ""

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.survey = self.folder / "team.toml"

    def pair(self, *links: str, options: str = "", run: Callable[..., Any] = done) -> Any:
        """What the command says."""
        text = self.text or SURVEY.replace("MIXERS", str(1 + len(links)))
        self.survey.write_text(text, encoding="utf-8")
        named = " ".join(f"--mixer {link}" for link in links)
        return run("pair --no-anchor --form-at 127.0.0.1:0", named, self.survey, options)

    @property
    def own(self) -> Path:
        """The survey's folder."""
        return self.folder / "team.krand"

    @property
    def plan(self) -> krand.Plan:
        return krand.read_plan(self.own / "plan.json")

    @property
    def asking(self) -> Asking:
        pem = (self.own / "collector" / "identity.pem").read_bytes()
        key = load_pem_private_key(pem, None)
        assert isinstance(key, Ed25519PrivateKey)
        return Asking(key)

    def collected(self, people: int = 3, number: int = 1) -> Path:
        """The batch of a round, as it leaves the collector."""
        plan, spool = self.plan, self.folder / f"spool-{number}"
        signatures = [krand.read_signature(path) for path in self.own.rglob("*.sig.json")]
        now = during(plan, number)
        with krand.run_collector(plan, spool, round_number=number) as url:
            for each in range(people):
                ledger, name = UnsafeMemoryLedger(), plan.hash
                device = krand.Client(
                    plan, ledger, expected_hash=name, url=url, signatures=signatures, now=now
                )
                device.submit({"fair": each % 2 == 0}, number)
        to = self.folder / f"collected-{number}"
        store = f"--mixer-store {self.own / 'collector' / 'store'} -o {to}"
        done(
            "release --close --yes",
            "--plan",
            self.own / "plan.json",
            "--spool",
            spool,
            store,
            f"--round {number}",
        )
        (batch,) = to.glob("*.batch")
        return batch

    def send(self, batch: Path, to: Service, share: float = 1.0) -> Answer:
        """A batch, or the first part of it; what is answered last."""
        path, content = f"/v1/plans/{self.plan.hash}/batches", batch.read_bytes()
        chain = batch.with_suffix(".chain.json").read_bytes()
        begun = self.asking.ask(to, "POST", path, chain)
        if begun[0] != 200 or begun[1]["complete"]:
            return begun
        number, start = batch.name.split("-")[1], begun[1]["offset"]
        name = hashlib.sha256(f"{self.plan.hash} {number}".encode()).hexdigest()[:32]
        part = content[start : max(start, int(share * len(content)))]
        return self.asking.ask(to, "PATCH", f"{path}/{name}?offset={start}", part)
