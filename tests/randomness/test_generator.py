"""The source of randomness: what it is made of, when it refuses, and what it makes of bytes."""

from __future__ import annotations

import builtins
import itertools
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from krand.errors import InvalidInput, NoEntropy
from krand.randomness.generator import SMALL, ZEROS, SecureRandom, secure_random
from oracle import follows

URANDOM, LARGE = os.urandom, 100_000
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@pytest.fixture
def random() -> SecureRandom:
    return SecureRandom()


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What the operating system gives."""
    asked: list[bytes] = []
    monkeypatch.setattr(os, "urandom", lambda count: asked.append(URANDOM(count)) or asked[-1])
    return asked


def stream(key: bytes, count: int) -> bytes:
    """AES-256 in counter mode: the keystream of a key, counted from 0."""
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(count))


def test_small_requests_are_the_systems_large_ones_have_a_key_of_their_own(
    given: list[bytes], random: SecureRandom
) -> None:
    for count in (0, 1, 16, SMALL):
        assert random.bytes(count) == given[-1]
    for count in (SMALL + 1, LARGE, LARGE, len(ZEROS), len(ZEROS) + 1):
        found = random.bytes(count)
        assert len(given[-1]) == 32
        assert found == stream(given[-1], count)
    assert len(given) == 9
    assert len(set(given)) == 9


@pytest.mark.parametrize(
    ("urandom", "said"),
    [
        (lambda _: (_ for _ in ()).throw(OSError("no device")), "no device"),
        (lambda _: (_ for _ in ()).throw(NotImplementedError("nothing here")), "nothing here"),
        (lambda count: bytes(count - 1), "bytes instead of"),
        (lambda _: b"", "0 bytes instead of"),
    ],
)
@pytest.mark.parametrize("count", [16, LARGE])
def test_a_source_that_fails_or_is_short_stops_everything(
    urandom: Callable[[int], bytes], said: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", urandom)
    with pytest.raises(NoEntropy, match=said) as caught:
        secure_random().bytes(count)
    assert "source of randomness" in str(caught.value)


class Stuck(SecureRandom):
    """Gives the same byte for ever."""

    def bytes(self, count: int) -> bytes:
        return builtins.bytes([0xFF]) * count


@pytest.mark.parametrize(
    "draw",
    [lambda random: random.below(5), lambda random: random.permutation(9)],
    ids=["below", "permutation"],
)
def test_a_source_that_is_stuck_ends_every_loop(draw: Callable[[SecureRandom], object]) -> None:
    """What would be drawn again for ever is an error that names the source of randomness."""
    with pytest.raises(NoEntropy, match="not random"):
        draw(Stuck())


def test_requests_of_any_size_never_repeat(random: SecureRandom) -> None:
    """Small ones, large ones, the parts of very large ones, and those of many threads."""
    text = random.bytes(len(ZEROS) + 80_000)[len(ZEROS) - 80_000 :]
    assert len({text[i : i + 8] for i in range(0, 160_000, 8)}) == 20_000
    sizes = [16 if number % 50 else LARGE for number in range(3000)]
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(random.bytes, sizes))
    assert len({part[:8] for part in parts} | {part[-8:] for part in parts}) == 2 * len(parts)


@needs_fork
def test_a_fork_goes_its_own_way(random: SecureRandom) -> None:
    """Nothing is shared that both could draw from."""

    def drawn() -> bytes:
        return random.bytes(SMALL) + random.bytes(2 * SMALL)

    drawn()
    reader, writer = os.pipe()
    if not (child := os.fork()):
        with suppress(BaseException):
            os.write(writer, drawn())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    runs = [{text[i : i + 8] for i in range(len(text) - 7)} for text in (drawn(), theirs)]
    assert len(theirs) == 3 * SMALL
    assert not runs[0] & runs[1]


# --- numbers and orders -------------------------------------------------------------------------


class Replay(SecureRandom):
    """Gives prepared bytes: only a subclass can."""

    __slots__ = ("left",)

    def __init__(self, left: bytes) -> None:
        super().__init__()
        self.left = left

    def bytes(self, count: int) -> bytes:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "the prepared bytes are used up"
        return taken


def test_integers_below_a_bound_are_alike(random: SecureRandom) -> None:
    """What is too large is drawn again, not folded back."""
    for bound in (1, 2, 3, 6, 255, 257):
        counts = Counter(random.below(bound) for _ in range(10_000))
        assert set(counts) <= set(range(bound))
        seen = np.array([counts[value] for value in range(bound)])
        assert follows(seen, np.full(bound, 1 / bound)), f"below {bound}: {seen}"
    assert Replay(bytes([0b1110_0000, 0b1011_1111, 0b1001_1111])).below(5) == 4
    assert Replay(b"").below(1) == 0
    for wrong in (lambda: random.bytes(-1), lambda: random.below(0), lambda: random.words(1, "i4")):
        with pytest.raises(InvalidInput):
            wrong()


class FewKeys(SecureRandom):
    """Keys are often equal, so that they have to be drawn again."""

    def words(self, count: int, dtype: object) -> np.ndarray:
        return super().words(count, np.uint64) >> np.uint64(61 if count < 10 else 0)


@pytest.mark.parametrize("make", [SecureRandom, FewKeys])
def test_all_orders_are_alike(make: type[SecureRandom]) -> None:
    """The 24 of four things; every size is complete; rows move as wholes."""
    random = make()
    found = Counter(tuple(random.permutation(4).tolist()) for _ in range(6000))
    orders = list(itertools.permutations(range(4)))
    assert set(found) == set(orders)
    assert follows(np.array([found[order] for order in orders]), np.full(24, 1 / 24)), found
    for count in (0, 1, 2, 3, 1000, 2**16 + 1):
        assert np.array_equal(np.sort(random.permutation(count)), np.arange(count))
    rows = np.arange(3000).reshape(1000, 3)
    moved = random.shuffled(rows)
    assert np.array_equal(moved[np.argsort(moved[:, 0])], rows)
    assert not np.array_equal(moved, rows)
