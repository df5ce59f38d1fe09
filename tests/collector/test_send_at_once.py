"""Nagle's algorithm is off: with it, the second part of every answer waits some 40 ms."""

from __future__ import annotations

import http.client
import socket
import threading

import pytest

from collecting import quick_folder, serving, spool_config, until
from components import require
from krand.collector.sqlite.spool import Spool

require("starlette")
require("uvicorn")

from krand.collector import connection  # noqa: E402
from krand.collector.serving import listen  # noqa: E402


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each connection, whether it sends at once when its first bytes arrive."""
    found: list[bool] = []
    usual = connection.BoundedConnection.data_received

    def data_received(self: connection.BoundedConnection, data: bytes) -> None:
        accepted = self.transport.get_extra_info("socket")
        found.append(bool(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        usual(self, data)

    monkeypatch.setattr(connection.BoundedConnection, "data_received", data_received)
    return found


def ask(port: int) -> None:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    client.request("GET", "/healthz")
    client.getresponse().read()
    client.close()


def test_the_collector_sends_at_once(seen: list[bool]) -> None:
    """On every connection."""
    with quick_folder() as folder, serving(Spool(folder / "spool", spool_config(100))) as port:
        ask(port)
        ask(port)
    assert seen == [True, True]


def test_the_pages_are_sent_at_once(seen: list[bool]) -> None:
    """`krand web` too."""
    from krand.web.access import Address
    from krand.web.serving import make_server

    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    server = make_server(Address("127.0.0.1", port, None), None)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        until(lambda: server.started)
        ask(port)
    finally:
        server.should_exit = True
        thread.join()
    assert seen == [True]
