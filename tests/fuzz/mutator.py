"""Changes bytes at random: flips, splices, cuts, and words that stand elsewhere in the corpus."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|[{}\[\],:]')
"""Of JSON."""
ODD = [b"0", b"-1", b"1", b"0.5", b"1e400", b"-0", b"9007199254740993", b"4294967296", b"null"]
ODD += [b"true", b"[]", b"{}", b'""', b'"\\ud800"', b'"__proto__"', b"NaN", b'"\xc3\xa9"', b"65536"]
NUMBERS = [bytes(4), b"\xff" * 4, b"\0\0\0\1", b"\1\0\0\0", b"\x7f\xff\xff\xff", b"\x80\0\0\0"]


class Mutator:
    """Makes new inputs of a corpus; the same for the same seed."""

    def __init__(self, corpus: Sequence[bytes], seed: int | str) -> None:
        self.corpus, self.chance = list(corpus), Random(seed)
        self.words = sorted({token for each in corpus for token in TOKENS.findall(each)[:2000]})
        self.changes: tuple[Callable[[bytes], bytes], ...] = (
            *(self.flip, self.cut, self.repeat, self.splice, self.number, self.exchange),
            *(self.exchange, self.token, self.token, self.token),
        )

    def next(self) -> bytes:
        """One of the corpus with one change, or with several."""
        content = self.chance.choice(self.corpus)
        for _ in range(self.chance.choice((1, 1, 1, 2, 3, 8))):
            content = self.chance.choice(self.changes)(content)
        return content

    def place(self, content: bytes) -> int:
        return self.chance.randrange(len(content) + 1)

    def flip(self, content: bytes) -> bytes:
        if not content:
            return content
        found = bytearray(content)
        found[self.chance.randrange(len(found))] ^= 1 << self.chance.randrange(8)
        return bytes(found)

    def cut(self, content: bytes) -> bytes:
        start = self.place(content)
        return content[:start] + content[start + self.chance.choice((1, 2, 4, 16, 1000)) :]

    def repeat(self, content: bytes) -> bytes:
        start = self.place(content)
        part = content[start : start + self.chance.choice((1, 4, 48, 500))]
        return content[:start] + part * self.chance.choice((2, 2, 9)) + content[start + len(part) :]

    def splice(self, content: bytes) -> bytes:
        other = self.chance.choice(self.corpus)
        return content[: self.place(content)] + other[self.place(other) :]

    def number(self, content: bytes) -> bytes:
        start = self.place(content)
        return content[:start] + self.chance.choice(NUMBERS) + content[start + 4 :]

    def exchange(self, content: bytes) -> bytes:
        other = self.chance.choice(self.corpus)
        start, size = self.place(content), self.chance.choice((1, 4, 16, 32))
        taken = self.place(other)
        return content[:start] + other[taken : taken + size] + content[start + size :]

    def token(self, content: bytes) -> bytes:
        """A piece of JSON instead of another one, mostly of its own kind."""
        found = list(TOKENS.finditer(content))
        if not found or not self.words:
            return self.flip(content)
        old = self.chance.choice(found)
        alike = [word for word in self.words if word[:1].isdigit() == old[0][:1].isdigit()]
        kinds = (alike, alike, alike, ODD, [b""])
        new = self.chance.choice(self.chance.choice(kinds) or ODD)
        return content[: old.start()] + new + content[old.end() :]
