"""The source of randomness: what it is made of, when it refuses, and what it leaves behind."""

from __future__ import annotations

import builtins
import copy
import gc
import itertools
import os
import pickle
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from krand.errors import InvalidInput, NoEntropy
from krand.randomness import generator
from krand.randomness.binomial import draw_flips
from krand.randomness.generator import PIECE, REKEY_AFTER, SMALL, SecureRandom, secure_random
from krand.randomness.sparse import flipped_positions
from oracle import follows

URANDOM, LARGE = os.urandom, 100_000
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@pytest.fixture
def random() -> SecureRandom:
    return SecureRandom()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A clock that stands still until it is set."""

    def set_to(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: seconds)

    set_to(0.0)
    return set_to


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What the operating system gives, all of it by `os.urandom`."""
    asked: list[bytes] = []
    monkeypatch.setattr(os, "urandom", lambda count: asked.append(URANDOM(count)) or asked[-1])
    monkeypatch.setattr(generator, "DEVICE", "/nowhere")
    return asked


def stream(seed: bytes, count: int) -> bytes:
    """AES-256 in counter mode: the keystream of a 32-byte key and a 16-byte nonce."""
    encryptor = Cipher(algorithms.AES(seed[:32]), modes.CTR(seed[32:48])).encryptor()
    return encryptor.update(bytes(count))


def mixed(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one[:48], other[:48], strict=True))


@pytest.mark.usefixtures("now")
def test_numbers_are_a_keystream_of_what_the_system_gave(given: list[bytes]) -> None:
    """The first 48 bytes of a stretch are the next key and nonce; a large request is its own."""
    random = SecureRandom()
    small, large = random.bytes(10) + random.bytes(20), random.bytes(LARGE)
    first = stream(given[-1], 4096)
    assert small == first[48:78]
    assert large == stream(first, 48 + LARGE)[48:]


@pytest.mark.usefixtures("now")
def test_fresh_entropy_on_request_and_after_a_while(given: list[bytes]) -> None:
    """It is mixed into the key, and what the pool still held is dropped."""
    random = SecureRandom()
    random.bytes(16)
    old = stream(given[-1], 4096)
    random.refresh()
    second = random.bytes(16)
    expected = stream(mixed(old, given[-1]), 4096)
    assert second == expected[48:64]
    random.bytes(REKEY_AFTER)
    before = len(given)
    random.bytes(16)
    assert len(given) == before + 1, "a key makes way after its share of bytes"


def test_fresh_entropy_every_second(given: list[bytes], now: Callable[[float], None]) -> None:
    """A clock that has moved, forwards or back, brings it; one that stands does not."""
    random, found = SecureRandom(), []
    for seconds in (0, 0.5, 1, 1, 7, 3, 3):
        now(seconds)
        before = len(given)
        random.bytes(16)
        found.append(len(given) - before)
    assert found == [0, 0, 1, 0, 1, 1, 0]


@pytest.mark.skipif(not Path("/dev/urandom").exists(), reason="no device here")
@pytest.mark.usefixtures("now")
def test_the_device_is_a_second_source(given: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are not those of what `os.urandom` gave alone, though they are without a device."""
    for device, alone in (("/nowhere", True), (os.devnull, True), ("/dev/urandom", False)):
        monkeypatch.setattr(generator, "DEVICE", device)
        found = SecureRandom().bytes(16)
        assert (found == stream(given[-1], 64)[48:]) is alone, device


@pytest.mark.parametrize(
    ("urandom", "said"),
    [
        (lambda _: (_ for _ in ()).throw(OSError("no device")), "no device"),
        (lambda _: (_ for _ in ()).throw(NotImplementedError("nothing here")), "nothing here"),
        (lambda count: bytes(count - 1), "47 bytes instead of 48"),
        (lambda _: b"", "0 bytes instead of 48"),
        (lambda count: bytes(count), "same key twice"),
        (lambda count: bytes(32) + URANDOM(count - 32), "same key twice"),
    ],
)
def test_a_source_that_fails_is_short_or_repeats_itself_stops_everything(
    urandom: Callable[[int], bytes], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = SecureRandom()
    random.bytes(16)
    monkeypatch.setattr(os, "urandom", urandom)
    with suppress(NoEntropy):
        random.refresh()  # a repeated key is only known from the second one on
    for draw in (random.refresh, SecureRandom):
        with pytest.raises(NoEntropy, match=said) as caught:
            draw()
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
        (0x70, lambda random: flipped_positions(1000, 2**25, random)),
    ],
    ids=["below", "permutation", "number of flips", "places"],
)
def test_a_source_that_is_stuck_ends_every_loop(
    byte: int, draw: Callable[[SecureRandom], object]
) -> None:
    """What would be drawn again for ever is an error that names the source of randomness."""
    with pytest.raises(NoEntropy, match="not random"):
        draw(Stuck(byte))


def test_requests_of_any_size_never_repeat(random: SecureRandom) -> None:
    """Small ones from the pool, large ones, and the parts of very large ones."""
    for count in (0, 1, 511, 4048, 4049, SMALL, SMALL + 1, PIECE - 1, PIECE, PIECE + 1):
        assert len(random.bytes(count)) == count
    text = random.bytes(PIECE + 80_000)[PIECE - 80_000 :]
    assert len({text[i : i + 8] for i in range(0, 160_000, 8)}) == 20_000
    parts = [random.bytes(16 + i % 40) for i in range(5000)]
    parts += [random.bytes(16) for _ in range(5) for random in (SecureRandom(), secure_random())]
    assert len({part[:8] for part in parts} | {part[-8:] for part in parts}) == 2 * len(parts)
    assert secure_random() is secure_random()


def test_threads_never_get_the_same_bytes(random: SecureRandom) -> None:
    start = threading.Barrier(4)

    def work(_: int) -> list[bytes]:
        start.wait()
        return [random.bytes(16 if i % 50 else 1000)[:16] for i in range(3000)]

    with ThreadPoolExecutor(4) as pool:
        found = [block for blocks in pool.map(work, range(4)) for block in blocks]
    assert len(set(found)) == len(found)


# --- forks --------------------------------------------------------------------------------------


def in_a_child(work: Callable[[], bytes]) -> bytes:
    """What a forked child reports."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        signal.alarm(60)  # a child that waits for ever must not make the test wait too
        with suppress(BaseException):
            os.write(writer, work())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def shared(left: bytes, right: bytes) -> int:
    """Runs of eight bytes that occur in both, at any place."""
    assert len(left) == len(right) == 4480, (len(left), len(right))
    runs = [{text[i : i + 8] for i in range(len(text) - 7)} for text in (left, right)]
    return len(runs[0] & runs[1])


@needs_fork
@pytest.mark.usefixtures("now")
@pytest.mark.parametrize("sign", ["both", "number", "hook"])
@pytest.mark.parametrize("begins_with_refresh", [False, True])
def test_a_fork_goes_its_own_way(
    sign: str, begins_with_refresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From pool and cipher; by its process number or by Python's hook alone; without a clock."""
    random = SecureRandom()
    if sign == "number":  # a fork that Python does not see
        monkeypatch.setattr(SecureRandom, "_forget", lambda _: None)
    if sign == "hook":  # a new namespace, where a child may have its parent's number
        number = os.getpid()
        monkeypatch.setattr(os, "getpid", lambda: number)

    def drawn(refreshed: bool = False) -> bytes:
        if refreshed:
            random.refresh()
        return random.bytes(480) + random.bytes(4000)

    random.bytes(8)
    theirs = in_a_child(lambda: drawn(begins_with_refresh))
    assert not shared(drawn(), theirs)


@needs_fork
def test_a_fork_without_entropy_gives_no_numbers(random: SecureRandom) -> None:
    """Neither at first nor when it is asked again."""
    random.bytes(8)

    def work() -> bytes:
        os.urandom = lambda _: b""
        for _ in range(3):
            with suppress(NoEntropy):
                return random.bytes(8)
        return b"refused"

    assert in_a_child(work) == b"refused"


@needs_fork
def test_a_fork_while_another_thread_draws_can_draw(random: SecureRandom) -> None:
    """The lock, which nobody in the child will open, is a new one there."""
    reading, ending = threading.Event(), threading.Event()

    def draw() -> None:
        while not ending.is_set():
            random.bytes(SMALL)
            reading.set()

    with ThreadPoolExecutor(1) as pool:
        drawing = pool.submit(draw)
        reading.wait()
        try:
            told = [len(in_a_child(lambda: random.bytes(8))) for _ in range(10)]
        finally:
            ending.set()
        drawing.result()
    assert told == [8] * 10


def test_a_generator_cannot_be_copied(random: SecureRandom) -> None:
    """A copy would repeat its original."""
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            way(random)
    with pytest.raises(TypeError):
        SecureRandom(1)  # type: ignore[call-arg]


# --- what is left in memory ---------------------------------------------------------------------


def held(start: object) -> Iterator[bytes]:
    """The bytes of everything that a generator leads to, however deep."""
    waiting = [getattr(start, slot) for slot in SecureRandom.__slots__ if slot != "__weakref__"]
    found = set(map(id, waiting))
    while waiting:
        item = waiting.pop()
        if isinstance(item, bytes | bytearray | memoryview | np.ndarray):
            yield bytes(item)
        for other in gc.get_referents(item):
            if id(other) not in found and not isinstance(other, type):
                found.add(id(other))
                waiting.append(other)


def makes(key: bytes, numbers: bytes) -> bool:
    """Whether the numbers end with what AES makes of a counter under the key."""
    decryptor = Cipher(algorithms.AES(key), modes.ECB()).decryptor()
    for shift in range(16):
        plain = decryptor.update(numbers[shift : shift + (len(numbers) - shift) // 16 * 16])
        counters = [int.from_bytes(plain[i : i + 16]) for i in range(0, len(plain), 16)]
        if len(counters) > 1 and (counters[1] - counters[0]) % 2**128 == 1:
            return True
    return False


def test_the_state_holds_nothing_that_was_drawn(random: SecureRandom) -> None:
    """Whoever reads it finds neither numbers that were handed out nor a key that makes them."""
    assert makes(b"k" * 32, stream(b"k" * 32 + bytes(16), 64)), "such a key would be found"

    def runs(text: bytes) -> set[bytes]:
        return {text[start : start + 12] for start in range(0, len(text) - 11)}

    for count in (16, 300, 5000, LARGE, 16, 30_000, 64):
        numbers = random.bytes(count)
        state = list(held(random))
        assert sum(map(len, state)) > 48, "it is looked at the right place"
        for part in state:
            assert not runs(numbers) & runs(part), f"{count} numbers are kept"
            for start in range(0, min(len(part) - 31, 256)):
                assert not makes(part[start : start + 32], numbers[-64:]), "a key is kept"


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
    """Sort keys are equal at first, so that they have to be told apart by more."""

    __slots__ = ("calls",)

    def words(self, count: int, dtype: object) -> np.ndarray:
        self.calls = getattr(self, "calls", 0) + 1
        words = super().words(count, np.uint64)
        return words & np.uint64(1 << 63) if self.calls % 2 else words


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
