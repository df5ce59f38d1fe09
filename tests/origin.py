"""One address with scripts and a collector; its policy allows the page's own scripts alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from krand.testing import FakeCollector

POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types worker"
)
PAGE = b"<!doctype html><html lang=en><meta charset=utf-8><title>krand</title></html>"
TYPES = {"js": "text/javascript", "mjs": "text/javascript", "": "text/html"}


@dataclass(kw_only=True)
class Origin:
    """Scripts by their names and, where there is one, a collector of a plan of `steps.named`."""

    scripts: Mapping[str, bytes]
    collector: FakeCollector | None = None
    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    """What was sent to the collector, in its order."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    silent: bool = False
    """Whether submissions are taken and never answered."""
    taken: threading.Event = field(default_factory=threading.Event)
    """Whether a submission has been taken."""
    ended: threading.Event = field(default_factory=threading.Event)

    def fetched(self, path: str) -> tuple[int, str, bytes]:
        """Status, type and content."""
        name = path.strip("/")
        if self.collector and name.startswith("v1/plans/"):
            reply = self.collector.get(f"{self.collector.url}/{name}")
            return reply.status, "application/json", reply.content
        if name in self.scripts:
            return 200, TYPES[name.rpartition(".")[2]], self.scripts[name]
        return (404, "text/plain", b"") if name else (200, TYPES[""], PAGE)

    def posted(self, path: str, body: bytes) -> tuple[int, bytes]:
        """What the collector says; one submission at a time."""
        assert self.collector is not None
        with self.lock:
            self.bodies.append(body)
            reply = self.collector.post(path, body)
        return reply.status, b'{"status": "%s"}' % (b"known" if reply.known else b"accepted")


@contextmanager
def running_origin(
    scripts: Mapping[str, bytes], collector: FakeCollector | None = None
) -> Iterator[Origin]:
    """The origin on a free port; browsers trust addresses of the same machine as they do https."""
    origin = Origin(scripts=scripts, collector=collector)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(*origin.fetched(self.path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            is_silent = origin.silent
            status, told = origin.posted(self.path, body)
            origin.taken.set()
            if is_silent:
                origin.ended.wait()
                self.close_connection = True
            else:
                self.answer(status, "application/json", told)

        def answer(self, status: int, kind: str, content: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.send_header("content-security-policy", POLICY)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Tests print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    origin.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield origin
    finally:
        origin.ended.set()
        server.shutdown()
        server.server_close()
