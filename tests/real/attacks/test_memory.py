"""Whoever reads the memory of a process looks for numbers that were drawn before.

The numbers decide what is noise in an answer, and in which order messages lie. The attacker here
knows what was drawn, and looks for any trace of it: the numbers themselves, or a cipher's key that
makes them again. A real attacker, who does not know them, can do no better.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from chaos import until

LARGE = 100_000
DRAWING = f"""
import ctypes, gc, os, sys
from krand.randomness.generator import secure_random

def drawn(count):
    given = secure_random().bytes(count)
    os.write(1, given)
    ctypes.memset(id(given) + bytes.__basicsize__ - 1, 0, len(given))  # the caller's own copy

for count in [16] * 40 + [{LARGE}] + [16] * 40:
    drawn(count)
gc.collect()
sys.stdin.read()
"""
KEEPING = """
import os, sys
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
stream = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(bytes(16))).encryptor()
os.write(1, stream.update(bytes(1024)))
sys.stdin.read()
"""

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/mem").exists(), reason="memory can be read by the kernel's files only"
)


def makes(key: bytes, numbers: bytes) -> bool:
    """Whether the numbers end with what AES makes of a counter under the key."""
    decryptor = Cipher(algorithms.AES(key), modes.ECB()).decryptor()
    for shift in range(16):
        whole = numbers[shift : shift + (len(numbers) - shift) // 16 * 16]
        plain = decryptor.update(whole)
        counters = [int.from_bytes(plain[i : i + 16]) for i in range(0, len(plain), 16)]
        if len(counters) > 1 and (counters[1] - counters[0]) % 2**128 == 1:
            return True
    return False


def memory(pid: int) -> Iterator[bytes]:
    """Everything that a process can write to."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for line in maps:
            place, rights, *_ = line.split()
            if rights.startswith("rw") and "[v" not in line:
                start, end = (int(edge, 16) for edge in place.split("-"))
                mem.seek(start)
                yield mem.read(end - start)


def schedules(text: bytes) -> set[bytes]:
    """Keys of AES-256 that lie in memory with their round keys behind them, as OpenSSL has them."""
    words = np.frombuffer(text[: len(text) // 4 * 4], np.uint32)
    if words.size < 60:
        return set()
    fit = np.ones(words.size - 60, bool)
    for place in (9, 10, 11, 17, 18, 19, 25, 26, 27):  # words that are the XOR of two others
        there = words[place : place + fit.size]
        fit &= there == words[place - 8 :][: fit.size] ^ words[place - 1 :][: fit.size]
    fit &= words[: fit.size] != words[1 : 1 + fit.size]
    return {words[at : at + 8].tobytes() for at in np.flatnonzero(fit)}


def spied(program: str, count: int) -> tuple[bytes, list[bytes]]:
    """What a program reported, and all of its memory while it waits after that."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            told = child.stdout.read(count)
            state = Path(f"/proc/{child.pid}/stat")
            until(lambda: state.read_text().split()[2] == "S", what="it waits for its input")
            return told, list(memory(child.pid))
        finally:
            os.kill(child.pid, signal.SIGKILL)


def test_the_memory_of_a_process_holds_nothing_that_was_drawn() -> None:
    """All of it, read by the kernel, after numbers were drawn, reported and dropped."""
    told, parts = spied(DRAWING, 80 * 16 + LARGE)
    large = told[640 : 640 + LARGE]
    places = [*range(0, 640, 16), *range(640, LARGE, 5000), *range(640 + LARGE, len(told), 16)]
    assert sum(map(len, parts)) > 2**22
    assert [at for at in places if any(told[at : at + 16] in part for part in parts)] == []
    keys = set().union(*map(schedules, parts))
    assert [key for key in keys if makes(key, large[-64:])] == []


def test_the_search_finds_a_key_that_is_kept() -> None:
    """Otherwise the attack above would prove nothing: a cipher in use has its key in memory."""
    numbers, parts = spied(KEEPING, 1024)
    keys = set().union(*map(schedules, parts))
    assert len([key for key in keys if makes(key, numbers[-64:])]) == 1
