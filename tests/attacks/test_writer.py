"""The one writer of the spool: nothing stops it, and if it stops all the same, nobody is misled."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import pytest

from collecting import served, spool_config, until
from components import require
from krand.collector.sqlite.spool import Spool
from krand.errors import InvalidInput

require("starlette")
require("uvicorn")

from krand.collector import intake as queue  # noqa: E402

CONNECTION_SECONDS = 30.0
DAMAGED = partial(InvalidInput, "spool", "must be undamaged")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError, "ValueError"),
        (MemoryError, "MemoryError"),
        (OSError, "OSError"),
        (DAMAGED, "spool: must be undamaged, found 'kanarienvogel'"),
    ],
)
def test_whatever_happens_while_tidying_the_writer_goes_on(
    error: Callable[[str], Exception],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is logged by its kind, or as krand's own sentence, and the next submission is stored."""
    monkeypatch.setattr(queue, "QUIET_SECONDS", 0.01)
    tried, tidy = threading.Event(), Spool.tidy

    def fail(spool: Spool, **options: bool) -> None:
        if options or tried.is_set():
            tidy(spool, **options)
            return
        tried.set()
        raise error("kanarienvogel")

    monkeypatch.setattr(Spool, "tidy", fail)
    with served(spool_config(100)) as collector:
        assert tried.wait(CONNECTION_SECONDS)
        assert collector.submit().status == 202
        assert collector.ask("GET", "/readyz").status == 200
        said = [line.getMessage() for line in caplog.records if line.name == "krand.collector"]
        assert collector.people() == 1
    assert said == [f"the spool could not be tidied: {told}"]


def test_a_writer_that_has_ended_is_told_to_everybody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """503 for whoever waits, for whoever comes, and for whoever asks whether it is ready."""
    caplog.set_level(logging.ERROR)

    async def break_down(*_: object) -> None:
        raise RuntimeError("kanarienvogel")

    with served(spool_config(100)) as collector:
        assert collector.ask("GET", "/readyz").status == 200
        monkeypatch.setattr(queue.Intake, "_store", break_down)
        assert collector.submit().status == 503
        until(lambda: collector.ask("GET", "/readyz").status == 503)
        assert collector.submit().status == 503
        said = [line.getMessage() for line in caplog.records if line.name == "krand.collector"]
        assert collector.people() == 0
    assert said == ["the writer of the spool has ended: RuntimeError"]


def test_many_who_ask_how_far_it_is_do_not_hold_up_the_writer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The spool is asked once for all of them, not once for each, before the next is stored."""
    asked, go_on, usual = [0], threading.Event(), Spool.batches

    def batches(spool: Spool) -> object:
        asked[0] += 1
        go_on.wait(CONNECTION_SECONDS)
        return usual(spool)

    with served(spool_config(100)) as collector, ExitStack() as stack:
        monkeypatch.setattr(Spool, "batches", batches)
        address = ("127.0.0.1", collector.port)
        clients = [stack.enter_context(socket.create_connection(address)) for _ in range(50)]
        for client in clients:
            client.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
        until(lambda: asked[0] > 0)
        # Answered after all of those have been read.
        assert collector.ask("GET", "/healthz").status == 200
        go_on.set()
        assert [each.recv(15) for each in clients] == [b"HTTP/1.1 200 OK"] * 50
        assert asked[0] <= 3
        monkeypatch.undo()
        assert collector.submit().status == 202
