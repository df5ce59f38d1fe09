"""Signals that end a service in an orderly way."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def until_stopped(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM, and Ctrl-C, end the service."""
    wanted = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(one, lambda *_: stop()) for one in wanted]
    try:
        yield
    finally:
        for one, handler in zip(wanted, before, strict=True):
            signal.signal(one, handler)
