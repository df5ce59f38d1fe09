"""The one writer of the spool: nothing stops it, and if it stops all the same, nobody is misled."""

from __future__ import annotations

import http.client
import logging
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from collecting import PLAN, body_of, people_in, quick_folder, serving, spool_config, until
from components import require
from krand.collector.sqlite.spool import Spool

require("starlette")
require("uvicorn")

from krand.collector import intake as queue  # noqa: E402

CONNECTION_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Served:
    """A spool, and the port where it is served from this process."""

    spool: Spool
    port: int

    def status(self, number: int | None = None) -> int:
        """Of a submission, or of /readyz."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=CONNECTION_SECONDS)
        try:
            if number is None:
                client.request("GET", "/readyz")
            else:
                body = body_of(number, self.spool.config.format)
                headers = {"Content-Type": "application/octet-stream"}
                client.request("POST", f"/v1/{PLAN}/submissions", body, headers)
            return client.getresponse().status
        finally:
            client.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as found:
        yield found


@pytest.mark.parametrize("error", [ValueError, MemoryError, OSError])
def test_whatever_happens_while_tidying_the_writer_goes_on(
    folder: Path,
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is logged by its kind, and the next submission is stored."""
    monkeypatch.setattr(queue, "QUIET_SECONDS", 0.01)
    spool, tried = Spool(folder / "spool", spool_config(100)), threading.Event()
    tidy = spool.tidy

    def fail(**options: bool) -> None:
        if options or tried.is_set():
            tidy(**options)
            return
        tried.set()
        raise error("kanarienvogel")

    monkeypatch.setattr(spool, "tidy", fail)
    with serving(spool) as port:
        served = Served(spool, port)
        assert tried.wait(CONNECTION_SECONDS)
        assert served.status(1) == 202
        assert served.status() == 200
        said = [line.getMessage() for line in caplog.records if line.name == "krand.collector"]
    assert said == [f"the spool could not be tidied: {error.__name__}"]
    with Spool(folder / "spool", spool_config(100)) as again:
        assert people_in(again) == 1


def test_a_writer_that_has_ended_is_told_to_everybody(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """503 for whoever waits, for whoever comes, and for whoever asks whether it is ready."""
    caplog.set_level(logging.ERROR)

    async def break_down(*_: object) -> None:
        raise RuntimeError("kanarienvogel")

    spool = Spool(folder / "spool", spool_config(100))
    with serving(spool) as port:
        served = Served(spool, port)
        assert served.status() == 200
        monkeypatch.setattr(queue.Intake, "_store", break_down)
        assert served.status(1) == 503
        until(lambda: served.status() == 503)
        assert served.status(2) == 503
        said = [line.getMessage() for line in caplog.records if line.name == "krand.collector"]
    assert said == ["the writer of the spool has ended: RuntimeError"]
    with Spool(folder / "spool", spool_config(100)) as again:
        assert people_in(again) == 0


def test_many_who_ask_how_far_it_is_do_not_hold_up_the_writer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spool is asked once for all of them, not once for each, before the next is stored."""
    spool, asked, go_on = Spool(folder / "spool", spool_config(100)), [0], threading.Event()
    usual = spool.batches

    def batches() -> object:
        asked[0] += 1
        go_on.wait(CONNECTION_SECONDS)
        return usual()

    with serving(spool) as port:
        served = Served(spool, port)
        monkeypatch.setattr(spool, "batches", batches)
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
        for client in clients:
            client.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
        until(lambda: asked[0] > 0)
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=CONNECTION_SECONDS)
        client.request("GET", "/healthz")  # answered after all of those have been read
        assert client.getresponse().status == 200
        client.close()
        go_on.set()
        assert [each.recv(15) for each in clients] == [b"HTTP/1.1 200 OK"] * 50
        assert asked[0] <= 3
        for each in clients:
            each.close()
        monkeypatch.undo()
        assert served.status(1) == 202
