"""Mixers' services as people run them: processes of their own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from collecting import WAIT_SECONDS, object_told
from components import require

POLICY = """\
accept = "everybody"

[limits]
largest_epsilon = 4
largest_delta = 1e-3
fewest_mixers = 2
most_positions = 100
most_rounds = 2
most_messages = 1_000_000
latest_closing = 1000
"""


@dataclass(frozen=True, slots=True)
class Served:
    """A service that runs."""

    process: subprocess.Popen[str]
    address: str
    """As organisers write it."""
    url: str
    words: str
    store: Path
    log: Path


@contextmanager
def mixer_serving(store: Path, *options: object, port: int = 0) -> Iterator[Served]:
    """`krand mix serve` on this machine, until the block ends; what it says goes to a file."""
    require("uvicorn")
    require("starlette")
    log = store.with_suffix(".log")
    words = ["mix", "serve", "--store", store, "--host", "127.0.0.1", "--port", port, "--json"]
    with log.open("a", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "krand", *map(str, (*words, *options))],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            stderr=errors,
            text=True,
        )
        try:
            told = json.loads(object_told(process, log))
            yield Served(
                process,
                told["address"],
                told["address"].partition("/#")[0],
                told["words"],
                store,
                log,
            )
        finally:
            process.terminate()
            process.communicate(timeout=WAIT_SECONDS)


@contextmanager
def free_ports(count: int) -> Iterator[list[int]]:
    """Ports that nobody has now; they are let go when the block begins to use them."""
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)
        ]
        found = [each.getsockname()[1] for each in sockets]
    yield found
