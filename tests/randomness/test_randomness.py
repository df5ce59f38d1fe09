"""The source of randomness: what it is made of, and when it refuses."""

from __future__ import annotations

import builtins
import copy
import math
import multiprocessing
import os
import pickle
import signal
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy import stats

from flip_checks import (
    ALPHA,
    Replay,
    aes_stream,
    fork_complaints,
    in_wilson,
    keystream_complaints,
    recorded_entropy,
    shared_blocks,
    stream_head,
)
from krand.errors import InvalidInput, NoEntropy
from krand.randomness import generator as randomness
from krand.randomness.binomial import draw_flips
from krand.randomness.generator import PIECE, SMALL, SecureRandom, secure_random
from krand.randomness.sparse import _places

URANDOM = os.urandom
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@pytest.fixture
def random() -> SecureRandom:
    return SecureRandom()


def mixed(stream: bytes, entropy: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(stream[:48], entropy, strict=True))


def test_numbers_are_a_keystream() -> None:
    """AES-256 in counter mode under what the system gave, and nothing else."""
    assert keystream_complaints(SecureRandom) == []


def test_fresh_entropy_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its share of bytes a key makes way for one from old stream and fresh entropy."""
    monkeypatch.setattr(randomness, "REKEY_AFTER", 2000)
    with recorded_entropy() as asked:
        random = SecureRandom()
        first, second = random.bytes(2000), random.bytes(2000)
    old = aes_stream(asked[-2], 4096)
    assert first == old[48:2048]
    assert second == aes_stream(mixed(old, asked[-1]), 4096)[48:2048]


def test_fresh_entropy_on_request() -> None:
    """A refresh mixes in fresh entropy, and drops what the pool still held."""
    with recorded_entropy() as asked:
        random = SecureRandom()
        first = random.bytes(16)
        random.refresh()
        second = random.bytes(16)
    old = aes_stream(asked[-2], 4096)
    assert first == old[48:64]
    assert second == aes_stream(mixed(old, asked[-1]), 4096)[48:64]


def test_fresh_entropy_every_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that has moved, forwards or back, brings fresh entropy; one that stands does not."""
    with recorded_entropy() as asked:
        random, seconds = SecureRandom(), []
        for now in (0, 0, 1, 1, 7, 3, 3):
            monkeypatch.setattr(randomness, "_second", lambda now=now: now)
            before = len(asked)
            random.bytes(16)
            seconds.append(len(asked) - before)
    assert seconds == [0, 0, 1, 0, 1, 1, 0]


@needs_fork
def test_a_refresh_in_a_child(random: SecureRandom) -> None:
    """A forked child that begins with a refresh goes another way than its parent too."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        random.refresh()
        os.write(writer, random.bytes(480) + random.bytes(4000))
        os._exit(0)
    os.close(writer)
    mine = random.bytes(480) + random.bytes(4000)
    with os.fdopen(reader, "rb") as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    assert not shared_blocks(mine, theirs)


def test_the_device_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first key is more than what os.urandom gave; without the device it is just that."""
    monkeypatch.setattr(randomness, "_second", lambda: 0)
    monkeypatch.setattr(os, "urandom", lambda count: URANDOM(32) + bytes(count - 32))
    monkeypatch.setattr(randomness, "DEVICE", os.devnull)
    assert bytes(SecureRandom()._key[32:]) == bytes(16)
    monkeypatch.setattr(randomness, "DEVICE", "/nowhere/urandom")
    assert bytes(SecureRandom()._key[32:]) == bytes(16)
    monkeypatch.setattr(randomness, "DEVICE", "/dev/urandom")
    assert bytes(SecureRandom()._key[32:]) != bytes(16)


def test_large_requests(random: SecureRandom) -> None:
    """Requests of any size give that many bytes, and parts do not repeat each other."""
    for count in (0, 1, 511, 4048, 4049, SMALL, SMALL + 1, PIECE - 1, PIECE, PIECE + 1):
        assert len(random.bytes(count)) == count
    text = random.bytes(PIECE + 80_000)[PIECE - 80_000 :]
    assert len({text[i : i + 8] for i in range(0, 160_000, 8)}) == 20_000


def test_pool_never_repeats(random: SecureRandom) -> None:
    """Small requests of changing sizes never overlap."""
    parts = [random.bytes(16 + i % 40) for i in range(5000)]
    assert len({part[:8] for part in parts} | {part[-8:] for part in parts}) == 10_000


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_words(random: SecureRandom, dtype: type) -> None:
    """Words have every bit set half of the time."""
    words = random.words(200_000, dtype)
    assert words.dtype == dtype
    assert words.shape == (200_000,)
    for bit in range(8 * words.itemsize):
        assert in_wilson(int((words >> dtype(bit) & dtype(1)).sum()), 200_000, 0.5)
    assert random.words(0, dtype).size == 0


def test_no_repeated_keys(random: SecureRandom) -> None:
    """A generator and another one share nothing."""
    other = SecureRandom()
    assert not shared_blocks(random.bytes(4480), other.bytes(4480))


def test_one_generator_per_process() -> None:
    """Everyone in a process gets the same generator."""
    assert secure_random() is secure_random()


@needs_fork
def test_forks(random: SecureRandom) -> None:
    """A forked child goes another way than its parent."""
    assert fork_complaints(random) == []
    assert fork_complaints(secure_random()) == []


@needs_fork
def test_forks_python_does_not_see(random: SecureRandom, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the hook the changed process number tells a fork."""
    monkeypatch.setattr(SecureRandom, "_forget", lambda self: None)
    assert fork_complaints(random) == []


@needs_fork
def test_hook_without_process_number(random: SecureRandom, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a changed process number (a new namespace) the hook tells a fork."""
    number = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: number)
    assert fork_complaints(random) == []


@needs_fork
def test_fork_without_entropy(random: SecureRandom) -> None:
    """A child whose new key fails gives no numbers, again and again."""
    if not (child := os.fork()):
        refused = 0
        os.urandom = lambda n: b""
        for _ in range(3):
            try:
                random.bytes(8)
            except NoEntropy:
                refused += 1
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


@needs_fork
def test_fork_while_drawing(random: SecureRandom) -> None:
    """A fork while another thread holds the lock leaves the child able to draw."""
    random._lock.acquire()
    if not (child := os.fork()):
        signal.alarm(20)  # a child that waits for ever must not make the test wait too
        os._exit(len(random.bytes(8)))
    random._lock.release()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 8


@pytest.mark.check
def test_processes() -> None:
    """Spawned processes have streams of their own."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        heads = [pool.apply(stream_head), *pool.starmap(stream_head, [()] * 2, chunksize=1)]
    heads.append(stream_head())
    assert not any(shared_blocks(*pair) for pair in pairwise(heads))


def test_threads(random: SecureRandom) -> None:
    """Threads that share a generator never get the same bytes."""
    start = threading.Barrier(4)

    def work(_: int) -> list[bytes]:
        start.wait()
        return [random.bytes(16) for _ in range(5000)] + [
            random.bytes(1000)[:16] for _ in range(99)
        ]

    with ThreadPoolExecutor(4) as pool:
        found = [block for blocks in pool.map(work, range(4)) for block in blocks]
    assert len(set(found)) == len(found)


def failing(error: Exception) -> object:
    def urandom(count: int) -> bytes:
        raise error

    return urandom


@pytest.mark.parametrize(
    ("urandom", "said"),
    [
        (failing(OSError("no device")), "no device"),
        (failing(NotImplementedError("nothing here")), "nothing here"),
        (lambda count: bytes(count - 1), "47 bytes instead of 48"),
        (lambda count: b"", "0 bytes instead of 48"),
        (lambda count: bytes(count), "same key twice"),
        (lambda count: bytes(32) + URANDOM(count - 32), "same key twice"),
    ],
)
def test_no_entropy(urandom: object, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that fails, is short or repeats itself stops everything, and is named."""
    monkeypatch.setattr(SecureRandom, "_last_key", b"")
    monkeypatch.setattr(os, "urandom", urandom)
    with pytest.raises(NoEntropy, match=said) as caught:
        SecureRandom()
    assert "source of randomness" in str(caught.value)


class Stuck(SecureRandom):
    """Gives the same byte for ever."""

    __slots__ = ("byte",)

    def __init__(self, byte: int) -> None:
        super().__init__()
        self.byte = byte

    def bytes(self, count: int) -> bytes:
        return builtins.bytes([self.byte]) * count


@pytest.mark.parametrize(
    ("byte", "draw"),
    [
        (0xFF, lambda random: random.below(5)),
        (0xFF, lambda random: random.permutation(9)),
        (0xFF, lambda random: draw_flips(20, 2**10, random)),
        (0x00, lambda random: _places(3, 10, random)),
    ],
    ids=["below", "permutation", "number of flips", "places"],
)
def test_a_source_that_is_stuck_ends_every_loop(
    byte: int, draw: Callable[[SecureRandom], object]
) -> None:
    """What would be drawn again for ever is an error that names the source of randomness."""
    with pytest.raises(NoEntropy, match="not random"):
        draw(Stuck(byte))


def test_entropy_fails_later(random: SecureRandom, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that fails when a new key is due stops the stream and keeps it stopped."""
    random.bytes(2000)
    monkeypatch.setattr(randomness, "REKEY_AFTER", 1000)
    monkeypatch.setattr(os, "urandom", failing(OSError("gone")))
    for _ in range(3):
        with pytest.raises(NoEntropy, match="gone"):
            random.refresh()
        with pytest.raises(NoEntropy, match="gone"):
            random.bytes(2000)


def test_cannot_be_copied(random: SecureRandom) -> None:
    """A copy would repeat its original, so there is none."""
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            way(random)


def test_refusals(random: SecureRandom) -> None:
    """Requests without meaning are refused; a negative count would wind the pool back."""
    random.bytes(16)
    for wrong in (lambda: random.bytes(-1), lambda: random.below(0), lambda: random.words(1, "i4")):
        with pytest.raises(InvalidInput):
            wrong()
    with pytest.raises(TypeError):
        SecureRandom(1)  # type: ignore[call-arg]


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 255, 256, 257])
def test_below(random: SecureRandom, bound: int) -> None:
    """Every integer below the bound is equally likely."""
    counts = Counter(random.below(bound) for _ in range(20_000))
    assert set(counts) <= set(range(bound))
    if bound > 1:
        observed = [counts[value] for value in range(bound)]
        assert stats.chisquare(observed).pvalue > ALPHA


def test_below_draws_again() -> None:
    """A draw that is too large is drawn again, not folded back."""
    assert Replay(bytes([0b1110_0000, 0b1011_1111, 0b1001_1111])).below(5) == 4
    assert Replay(b"").below(1) == 0


def orders(random: SecureRandom, count: int, draws: int) -> float:
    found = Counter(tuple(random.permutation(count).tolist()) for _ in range(draws))
    assert sum(found[order] for order in permutations(range(count))) == draws
    return float(stats.chisquare([found[order] for order in permutations(range(count))]).pvalue)


def test_permutation(random: SecureRandom) -> None:
    """Every order is equally likely, and every size works."""
    assert orders(random, 4, 10_000) > ALPHA
    for count in (0, 1, 2, 3, 1000, 2**16 + 1):
        assert np.array_equal(np.sort(random.permutation(count)), np.arange(count))


class FewKeys(SecureRandom):
    """Words with one random bit: almost all keys are equal."""

    __slots__ = ()

    def words(self, count: int, dtype: object) -> np.ndarray:
        return super().words(count, np.uint64) & np.uint64(1 << 63)


class FirstFewKeys(SecureRandom):
    """Equal keys at first, good ones to break the ties."""

    __slots__ = ("calls",)

    def words(self, count: int, dtype: object) -> np.ndarray:
        self.calls = getattr(self, "calls", 0) + 1
        words = super().words(count, np.uint64)
        return words & np.uint64(1 << 63) if self.calls % 2 else words


@pytest.mark.check
def test_equal_keys() -> None:
    """Orders stay uniform when keys are equal, and even when the keys that break ties are."""
    assert orders(FirstFewKeys(), 4, 10_000) > ALPHA
    assert orders(FewKeys(), 2, 10_000) > ALPHA


def test_shuffled(random: SecureRandom) -> None:
    """Rows move as wholes, all of them are kept, and the original stays."""
    rows = np.arange(3000).reshape(1000, 3)
    moved = random.shuffled(rows)
    assert np.array_equal(moved[np.argsort(moved[:, 0])], rows)
    assert not np.array_equal(moved, rows)
    correlation = float(np.corrcoef(moved[:, 0], np.arange(1000))[0, 1])
    assert abs(correlation) * math.sqrt(1000) < 5
