"""What the collector keeps: sealed messages and how many people, nothing about whom or when."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sqlite3
import struct
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from numpy.typing import NDArray

from collecting import Running, body_of, exact_plan, running
from command_line import done
from krand.collector.opening import config_of
from krand.collector.sqlite.disk import PAGE_BYTES
from krand.collector.sqlite.mixing import KEY_BYTES
from krand.collector.store import SpoolConfig
from krand.promise import Linkage
from krand.wire.keys import generate_signing_key, write_key_pair

pytestmark = pytest.mark.loop
PIECE = 6
"""So many bytes in a row are no coincidence."""
REQUESTS = int(os.environ.get("KRAND_PRIVACY_REQUESTS", "1000"))
MARK = "kanarienvogel"
"""In every canary: one search finds them all."""
FAMILIES = ("valid", "valid", "valid", "valid", "path", "type", "round", "long", "cut", "garbage")


@dataclass(slots=True)
class Seen:
    """Everything that the collector left behind, byte by byte, and what to look for in it."""

    files: dict[str, bytes] = field(default_factory=dict)
    addresses: list[str] = field(default_factory=list)
    ports: set[int] = field(default_factory=set)
    own_ports: set[int] = field(default_factory=set)
    began: float = 0.0
    ended: float = 0.0
    random: set[bytes] = field(default_factory=set)
    """Keys, tags and digests, which are random: what is found within them is chance."""
    random_bytes: bytes = b""
    statuses: Counter[str] = field(default_factory=Counter)


def address(number: int) -> str:
    """A source of its own for everybody; its bytes are like no offset, page number or message."""
    parts = (number, number // 87, 31 * number + number // 87**2)
    return "127." + ".".join(str(144 + part % 87) for part in parts)


def canary(number: int, where: str) -> str:
    return f"{MARK}-{where}-{number:06x}"


def head_of(number: int, plan: str, family: str, length: int) -> bytes:
    """A request that tells who sends it wherever it can."""
    path = f"/v1/{plan}/submissions"
    if family == "path":
        path = f"/v1/{canary(number, 'path')}/submissions"
    kind = canary(number, "type") if family == "type" else "application/octet-stream"
    lines = [
        f"POST {path}?who={canary(number, 'query')} HTTP/1.1",
        f"Host: {canary(number, 'host')}",
        f"Content-Type: {kind}",
        f"Content-Length: {length}",
        f"Cookie: session={canary(number, 'cookie')}",
        f"User-Agent: {canary(number, 'agent')}",
        f"X-Forwarded-For: {address(number)}, {canary(number, 'forwarded')}",
        f"Forwarded: for={address(number)};by={canary(number, 'by')}",
        f"X-Real-IP: {address(number)}",
        f"Authorization: Bearer {canary(number, 'secret')}",
        f"Referer: http://{address(number)}/{canary(number, 'referer')}",
        f"X-Request-Id: {canary(number, 'request')}",
    ]
    if family == "garbage":
        lines.insert(1, f"{canary(number, 'broken')}\x01 : \x02")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def ask(number: int, port: int, config: SpoolConfig) -> tuple[str, int]:
    """One request from an address of its own; the status it got, and its port."""
    family = FAMILIES[number % len(FAMILIES)]
    body = body_of(number, config.format)
    if family == "round":
        body = body[:1] + b"\x7e\x7e" + canary(number, "body").encode()
    elif family == "long":
        body += canary(number, "body").encode() * 200
    head = head_of(number, config.plan_hash, family, len(body))
    source = (address(number), 0)
    with socket.create_connection(("127.0.0.1", port), 60, source) as connection:
        own = connection.getsockname()[1]
        connection.sendall(head + (body[:-7] if family == "cut" else body))
        if family == "cut":
            return "gone", own
        answer = connection.recv(65536)
    status = answer.split(b" ", 2)[1].decode() if answer else "gone"
    assert (status == "202") == (family == "valid"), (family, answer)
    return status, own


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """A collector is asked by many; everything it writes is looked at, at four moments."""
    try:
        socket.create_server((address(1), 0)).close()
    except OSError:
        pytest.skip("this system has only one loopback address")
    at = tmp_path_factory.mktemp("privacy")
    valid = sum(FAMILIES[n % len(FAMILIES)] == "valid" for n in range(REQUESTS))
    plan = exact_plan(valid, Linkage.BIT)
    config = config_of(plan)
    (at / "plan.json").write_bytes(plan.bytes)
    write_key_pair(generate_signing_key(), at / "key.pem", at / "key.pub.pem")
    found = Seen(addresses=[address(n) for n in range(REQUESTS)], began=time.time())
    assert len(set(found.addresses)) == REQUESTS
    files = (at / "plan.json", at / "spool", at / "log")
    with running(*files) as collector:
        _ask_all(collector, config, at / "spool", found)
    found.files["log"] = (at / "log").read_bytes()
    _keep(found, at / "spool", "stopped", config.format.message_length)
    released = done(
        "release --plan plan.json --spool spool --key key.pem --close --yes -o out", at=at
    )
    found.files["told"] = released.output.encode()
    _keep(found, at / "spool", "wiped", config.format.message_length)
    for path in (at / "out").iterdir():
        found.files[path.name] = path.read_bytes()
    found.ended = time.time()
    found.random_bytes = b"".join(found.random)
    return found


def _ask_all(collector: Running, config: SpoolConfig, spool: Path, found: Seen) -> None:
    found.own_ports = {collector.port}
    half = REQUESTS // 2
    with ThreadPoolExecutor(8) as threads:
        for name, numbers in (("half", range(half)), ("full", range(half, REQUESTS))):
            for status, port in threads.map(lambda n: ask(n, collector.port, config), numbers):
                found.statuses[status] += 1
                found.ports.add(port)
            with urlopen(f"{collector.url}/v1/{config.plan_hash}/status") as answer:
                found.files[f"{name}/status"] = answer.read()
            _keep(found, spool, name, config.format.message_length)


def _keep(found: Seen, spool: Path, name: str, length: int) -> None:
    """The spool's files as they lie there; its random values are read from a copy."""
    copy = spool.parent / f"copy-{name}"
    shutil.copytree(spool, copy)
    for path in copy.iterdir():
        found.files[f"{name}/{path.name}"] = path.read_bytes()
    connection = sqlite3.connect(copy / "spool.sqlite")
    for (table,) in connection.execute("SELECT name FROM sqlite_schema").fetchall():
        for row in connection.execute(f"SELECT * FROM {table}"):
            values = [value for value in row if isinstance(value, bytes)]
            found.random.update(value for value in values if len(value) in (8, 16, 32))
            if table.startswith("messages_"):
                places = range(0, len(values[1]), KEY_BYTES + length)
                found.random.update(values[1][at : at + KEY_BYTES] for at in places)
    connection.close()


def test_the_requests_did_what_they_should(seen: Seen) -> None:
    """Most were taken, the others refused each in its way: there was something to keep."""
    assert seen.statuses["202"] == sum(
        FAMILIES[n % len(FAMILIES)] == "valid" for n in range(REQUESTS)
    )
    assert {"202", "400", "404", "413", "415", "422"} <= set(seen.statuses)
    assert not any(status.startswith("5") for status in seen.statuses)
    assert {"half/spool.sqlite-wal", "half/spool.sqlite-shm", "log"} <= set(seen.files)
    batch = json.loads(seen.files["batch-000001.manifest.json"])
    assert batch["submissions"] == seen.statuses["202"]


def test_no_canary_is_found_anywhere(seen: Seen) -> None:
    """No header, cookie, agent, path, query or broken line, in no file, in no encoding of text."""
    for encoding in ("ascii", "utf-16-le", "utf-16-be"):
        for name, content in seen.files.items():
            assert MARK.encode(encoding) not in content, name
    for name, content in seen.files.items():
        assert MARK.encode().hex().encode() not in content.lower(), name


def test_no_address_is_found_as_text(seen: Seen) -> None:
    """Neither dotted nor as a number; the only one is where the collector listens."""
    numbers = {struct.unpack(">I", socket.inet_aton(a))[0] for a in seen.addresses}
    for name, content in seen.files.items():
        dotted = set(re.findall(rb"127\.\d+\.\d+\.\d+", content))
        assert dotted <= {b"127.0.0.1"}, name
        for digits in re.findall(rb"(?<!\d)21\d{8}(?!\d)", content):
            assert int(digits) not in numbers, name


def test_no_port_is_found_in_what_is_told(seen: Seen) -> None:
    """Behind a colon stands a port that the collector itself listens on, or none."""
    for name in ("log", "told", "half/status", "full/status"):
        found = {int(p) for p in re.findall(rb":(\d{4,5})\b", seen.files[name])}
        assert not (found - seen.own_ports) & seen.ports, name


def test_no_address_is_found_as_bytes(seen: Seen) -> None:
    """Four bytes in either order; what random keys look like by chance does not count."""
    wanted = np.array([struct.unpack(">I", socket.inet_aton(a))[0] for a in seen.addresses])
    for name, content in seen.files.items():
        for order in (">u4", "<u4"):
            values = windows(content, 4, order)
            places = np.flatnonzero(np.isin(values, wanted))
            assert not meant(seen, name, content, places, 4), (name, order)


def windows(content: bytes, width: int, kind: str) -> NDArray[np.generic]:
    """The numbers that begin at each byte."""
    if len(content) < width:
        return np.zeros(0, kind)
    view = np.lib.stride_tricks.sliding_window_view(np.frombuffer(content, np.uint8), width)
    return np.ascontiguousarray(view).reshape(-1).view(kind)


def meant(
    seen: Seen, name: str, content: bytes, places: NDArray[np.int64], width: int
) -> list[int]:
    """Those places that do not lie in a value that is random anyway."""
    return [
        int(place)
        for place in places
        if not by_chance(seen, content, int(place), width)
        and not (name.endswith("-wal") and in_frame_head(int(place), width))
    ]


def by_chance(seen: Seen, content: bytes, place: int, width: int) -> bool:
    """Whether a value that is random anyway covers some of these bytes.

    Or a piece of one: SQLite leaves parts of old cells in the gap of a page that it has split.
    """
    for size in (8, 16, 32):
        for start in range(max(0, place - size + 1), place + width):
            if content[start : start + size] in seen.random:
                return True
    around = content[max(0, place - 2) : place + width + 2]
    pieces = (around[start : start + PIECE] for start in range(len(around) - PIECE + 1))
    return any(piece in seen.random_bytes for piece in pieces)


def in_frame_head(place: int, width: int) -> bool:
    """Salts and checksums of SQLite's journal: 32 bytes at its beginning, 24 before each page."""
    offset = (place - 32) % (24 + PAGE_BYTES)
    return place < 32 or offset < 24 or offset + width > 24 + PAGE_BYTES


def test_no_time_is_found(seen: Seen) -> None:
    """No seconds, milliseconds, microseconds or nanoseconds, as integer, float or text."""
    low, high = seen.began - 5, seen.ended + 5
    for name, content in seen.files.items():
        for scale, width in ((1, 4), (1, 8), (10**3, 8), (10**6, 8), (10**9, 8)):
            for order in (">", "<"):
                values = windows(content, width, f"{order}u{width}").astype(np.uint64)
                hits = np.flatnonzero((values >= int(low * scale)) & (values <= int(high * scale)))
                assert not meant(seen, name, content, hits, width), (name, scale, order)
        for order in (">f8", "<f8"):
            values = windows(content, 8, order)
            hits = np.flatnonzero((values >= low) & (values <= high))
            assert not meant(seen, name, content, hits, 8), (name, order)
        # SQLite keeps milliseconds in six bytes.
        millis = windows(b"\0\0" + content, 8, ">u8").astype(np.uint64) & np.uint64(2**48 - 1)
        hits = np.flatnonzero((millis >= int(low * 1e3)) & (millis <= int(high * 1e3)))
        assert not meant(seen, name, content, hits, 6), name
        for digits in re.findall(rb"(?<!\d)\d{10,19}(?!\d)", content):
            assert not low <= float(digits[:10]) <= high, name
        today = time.strftime("%Y-%m-%d", time.gmtime(low)).encode()
        assert today not in content, name


def test_nothing_is_left_in_the_spool_after_the_release(seen: Seen) -> None:
    """The messages are overwritten, not only forgotten."""
    messages = b"\xe7" * 16  # the end of every message
    assert seen.files["full/spool.sqlite"].count(messages) + seen.files[
        "full/spool.sqlite-wal"
    ].count(messages)
    assert messages in seen.files["batch-000001.parquet"]
    for name, content in seen.files.items():
        if name.startswith("wiped/"):
            assert messages not in content, name


def test_the_batch_says_nothing_but_its_messages(seen: Seen) -> None:
    """Lanes and messages, a random id and no other metadata, the same creator for everybody."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.ParquetFile(pa.BufferReader(seen.files["batch-000001.parquet"]))
    assert table.schema_arrow.names == ["lane", "message"]
    assert set(table.metadata.metadata or {}) <= {b"ARROW:schema", b"krand"}
    carried = json.loads(table.schema_arrow.metadata[b"krand"])
    manifest = json.loads(seen.files["batch-000001.manifest.json"])
    assert carried == {"format": "krand-batch-1", "id": manifest["batch_id"]}
    assert set(json.loads(seen.files["batch-000001.manifest.json"])) == {
        *("format", "plan", "round", "submissions", "messages", "batch_sha256", "signature"),
        "batch_id",
    }
