"""Opening and sealing, shared by as many processes as there are cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from krand.errors import InternalError
from krand.mixing.dummies import NULL
from krand.processes import Workers
from krand.wire.layers import LayerSealer, open_layers, plan_layer_info
from krand.wire.messages import Null, Token

if TYPE_CHECKING:
    from krand.survey.plan import Plan

AT_A_TIME = 2**11
"""Messages that a process opens in less than a second."""
WORTH_A_PROCESS = 2 * AT_A_TIME
"""For fewer messages, starting processes takes longer than the work."""

Rows = NDArray[np.uint8]
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What a process needs to know to remove a mixer's layer, and to seal its dummies."""

    plan: Plan
    round_number: int
    hop: int
    key: bytes | None = field(repr=False)
    """The opening key; None for the collector, which removes no layer."""


class Worker:
    """Opens and seals in one process."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._sealer = LayerSealer(layer.plan, layer.round_number, after=layer.hop)
        self._key = None if layer.key is None else X25519PrivateKey.from_private_bytes(layer.key)

    def open(self, lane: int, rows: Rows) -> tuple[Rows, int]:
        """What is inside, without what was refused, and how many that is.

        The collector removes no layer and refuses nothing.
        """
        if self._key is None:
            return rows, 0
        layer = self._layer
        info = plan_layer_info(layer.plan, layer.hop, layer.round_number, lane)
        opened, kept = open_layers(self._key, info, rows)
        return opened, len(rows) - int(kept.sum())

    def seal(self, lane: int, positions: NDArray[np.int64]) -> Rows:
        """Dummies with these positions, in the layers that other messages have when they leave."""
        place = self._layer.plan.lanes[lane]
        payloads = (Null() if at == NULL else Token(at) for at in positions.tolist())
        joined = b"".join(self._sealer.seal(place, payload) for payload in payloads)
        return np.frombuffer(joined, np.uint8).reshape(-1, self._sealer.length)


class Crew:
    """As many processes as there are cores, or this one alone where there is little to do."""

    def __init__(self, layer: Layer, messages: int, workers: int | None) -> None:
        cores = os.cpu_count() or 1 if workers is None else workers
        self._alone = Worker(layer)
        count = cores if messages >= WORTH_A_PROCESS else 1
        self._workers = Workers(count, _start, layer) if count > 1 else None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *reason: object) -> None:
        if self._workers is not None:
            self._workers.__exit__(*reason)

    def opened(self, lane: int, chunks: Iterable[Rows]) -> Iterator[tuple[Rows, int]]:
        """Opened chunks in their order, each with the number of messages that were refused."""
        starts = ((rows, start) for rows in chunks for start in range(0, len(rows), AT_A_TIME))
        return self._shared(
            Worker.open, lane, (rows[start : start + AT_A_TIME] for rows, start in starts)
        )

    def sealed(self, lane: int, chunks: Iterable[NDArray[np.int64]]) -> Iterator[Rows]:
        """Sealed dummies."""
        return self._shared(Worker.seal, lane, chunks)

    def _shared(
        self,
        method: Callable[[Worker, int, NDArray[Any]], Done],
        lane: int,
        chunks: Iterable[NDArray[Any]],
    ) -> Iterator[Done]:
        if self._workers is None:
            return (method(self._alone, lane, chunk) for chunk in chunks)
        return self._workers.in_order(partial(_work, method, lane), chunks)


_worker: Worker | None = None
"""Of a process that works for a crew."""


def _start(layer: Layer) -> None:
    global _worker
    _worker = Worker(layer)


def _work(
    method: Callable[[Worker, int, NDArray[Any]], Done], lane: int, chunk: NDArray[Any]
) -> Done:
    if _worker is None:
        raise InternalError("a process was asked to work before it had a key")
    return method(_worker, lane, chunk)
