"""Free words become positions by hashing: the same word always the same few.

The hash depends on the survey and the question, so that tables made for one survey are of no use
in another. It is written down to the byte, because every client must agree:

    SHA-256( "krand words 1" 0x00, id, question, word, hash index, counter )

The three texts are UTF-8, each after its length as 4 bytes; both numbers are 4 bytes; all integers
are big-endian. The first 8 bytes of the digest are a number u. It is used if it lies below the
largest multiple of the number of positions P, so that no position is more likely than another, and
if u mod P is not yet a position of this word; otherwise the counter, which begins at 0, moves on.
"""

from __future__ import annotations

import hashlib
import unicodedata

from krand.errors import InternalError, InvalidInput
from krand.survey.questions import Words

__all__ = ["normalized", "word_positions"]

MAX_WORD_LENGTH = 1_000
MAX_COUNTER = 2**32
DOMAIN = b"krand words 1\x00"
RANGE = 2**64


def normalized(field: str, word: str) -> str:
    """The word as it is counted: compatibility forms, case and outer spaces do not matter."""
    if len(word) > MAX_WORD_LENGTH:
        rule = f"must be at most {MAX_WORD_LENGTH:,} characters long"
        raise InvalidInput(field, rule, f"{word[:20]}…")
    # Folding can leave characters that must be normalized again.
    folded = unicodedata.normalize("NFKC", word).casefold()
    plain = unicodedata.normalize("NFKC", folded).strip()
    if not plain:
        raise InvalidInput(field, "must not be an empty word", word, "leave the answer out")
    if not plain.isascii() and any("\ud800" <= letter <= "\udfff" for letter in plain):
        raise InvalidInput(field, "must be valid Unicode text", ascii(word))
    return plain


def word_positions(survey_id: str, question: Words, word: str) -> tuple[int, ...]:
    """The positions of a word inside its block, one for each hash, all different."""
    plain = normalized(question.name, word)
    prefix = hashlib.sha256(DOMAIN)
    for text in (survey_id, question.name, plain):
        encoded = text.encode()
        prefix.update(len(encoded).to_bytes(4, "big") + encoded)
    found: list[int] = []
    for index in range(question.hashes):
        found.append(_next_position(prefix, index, question.size, found))
    return tuple(found)


def _next_position(prefix: hashlib._Hash, index: int, size: int, taken: list[int]) -> int:
    limit = RANGE - RANGE % size
    for counter in range(MAX_COUNTER):
        digest = prefix.copy()
        digest.update(index.to_bytes(4, "big") + counter.to_bytes(4, "big"))
        number = int.from_bytes(digest.digest()[:8], "big")
        if number < limit and number % size not in taken:
            return number % size
    raise InternalError("a word found no free position")
