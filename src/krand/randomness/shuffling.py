"""A uniform shuffle of more rows than fit into memory.

Each row is put into one of 256 piles at random. Then each pile is shuffled separately, and they are
concatenated. All orders of all rows are equally likely: a random pile for each row and a random
order within each pile is the same as sorting by random keys. A pile that is still too large is
shuffled in the same way.

The piles are files without names, so nothing is left of them, however the program ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from krand.randomness.generator import SecureRandom

Rows = NDArray[np.uint8]

PILES = 256
MOST_BYTES = 2**24
"""A pile up to this size is shuffled in memory."""


def shuffled_chunks(
    chunks: Iterator[Rows], width: int, random: SecureRandom, directory: Path
) -> Iterator[Rows]:
    """The rows of all chunks, `width` bytes each, in uniform random order; again in chunks."""
    with ExitStack() as stack:
        piles = open_piles(directory, stack)
        for rows in chunks:
            throw(rows, random.words(len(rows), np.uint8), piles)
        sizes = [pile.tell() for pile in piles]
        for pile in piles:
            pile.seek(0)
        if sum(sizes) <= MOST_BYTES:
            rows = _rows(b"".join(pile.read() for pile in piles), width)
            yield random.shuffled(rows)
            return
        for pile, size in zip(piles, sizes, strict=True):
            if size <= MOST_BYTES:
                yield random.shuffled(_rows(pile.read(), width))
            else:
                yield from shuffled_chunks(_reread(pile, width), width, random, directory)
            pile.close()  # frees its space before the next one is written


def open_piles(directory: Path, stack: ExitStack) -> list[IO[bytes]]:
    """Files without a name, which `stack` closes."""
    return [stack.enter_context(tempfile.TemporaryFile(dir=directory)) for _ in range(PILES)]


def throw(rows: Rows, chosen: NDArray[np.uint8], piles: Sequence[IO[bytes]]) -> None:
    """Write each row to its pile; within a pile rows keep their order."""
    order = np.argsort(chosen, kind="stable")
    ends = np.cumsum(np.bincount(chosen, minlength=PILES))
    for pile, part in zip(piles, np.split(rows[order], ends[:-1]), strict=True):
        pile.write(part.tobytes())


def _reread(pile: IO[bytes], width: int) -> Iterator[Rows]:
    size = max(1, MOST_BYTES // width) * width
    while content := pile.read(size):
        yield _rows(content, width)


def _rows(content: bytes, width: int) -> Rows:
    return np.frombuffer(content, np.uint8).reshape(-1, width)
