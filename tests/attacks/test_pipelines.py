"""Requests in a row without reading an answer: they must cost neither memory nor anybody's time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from attacks.under_attack import Attacked, Honest, attacked, flood, get, post
from collector.crowds import body_of

CONNECTIONS = 24
SECONDS = 4.0
MEGABYTES = 80
"""More memory than before, at most; an unbounded pipeline takes hundreds in that time."""


@pytest.fixture
def collector() -> Iterator[Attacked]:
    with attacked() as found:
        yield found


def withstands(collector: Attacked, content: bytes, connections: int = CONNECTIONS) -> None:
    """Memory stays within bounds and an honest client is answered, during the flood and after."""
    before = collector.memory
    with Honest(collector) as honest, ExitStack() as stack:
        clients = [stack.enter_context(collector.connect()) for _ in range(connections)]
        flood(clients, content, SECONDS)
    print(  # seen when a test fails
        f"{before:.0f} -> {honest.peak:.0f} MB; slowest honest answer {honest.slowest:.2f} s;"
        f" {len(honest.statuses)} answers"
    )
    assert honest.failure == ""
    assert set(honest.statuses) == {202}
    assert honest.peak - before < MEGABYTES
    assert collector.status("/readyz") == 200


@pytest.mark.check
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/nowhere"])
def test_pages_in_a_row(collector: Attacked, path: str) -> None:
    """Thousands of requests for a page on each connection, and no answer is read."""
    withstands(collector, get(path) * 5_000)


@pytest.mark.check
def test_the_shortest_requests_in_a_row(collector: Attacked) -> None:
    """As many requests per byte as HTTP allows."""
    withstands(collector, b"GET / HTTP/1.1\r\n\r\n" * 10_000)


def test_submissions_in_a_row(collector: Attacked) -> None:
    """Whole submissions, all of one person."""
    withstands(collector, post(collector.path, body_of(10**9)) * 150, connections=300)


@pytest.mark.check
def test_wrong_submissions_in_a_row(collector: Attacked) -> None:
    """Bodies that are refused one by one."""
    withstands(collector, post(collector.path, b"\x07" * 100) * 2_000)


@pytest.mark.check
def test_bodies_that_nobody_reads(collector: Attacked) -> None:
    """Pages do not read bodies: what is sent to them is not kept."""
    withstands(collector, post("/readyz", bytes(2**18)), connections=200)
