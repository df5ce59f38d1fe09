"""words: free words become positions by hashing, the same word always the same few.

The hash depends on the survey and the question, so that tables made for one survey are of no use
in another. It is written down to the byte, because every client must agree:

    SHA-256( "krand words 2" 0x00, id, question, word, hash index, counter )

The three texts are UTF-8, each after its length as 4 bytes; both numbers are 4 bytes; all integers
are big-endian. The word is normalised: NFKC of the lower case of its NFKC, without White_Space at
its ends. Lower case is Unicode's full one without a locale; JavaScript has it too, and has no case
folding. Python's strip and JavaScript's trim each remove other characters than Unicode's
White_Space, so neither is used.

Hash i of k has a table of its own: of P positions those from ⌊i·P/k⌋ to just before
⌊(i+1)·P/k⌋. The first 8 bytes of the digest are a number u. If it lies below the largest multiple
of the table's size s, so that no position is more likely than another, the word's position in the
table is u mod s; otherwise the counter, which begins at 0, moves on.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from krand.errors import InternalError, InvalidInput
from krand.mistakes import Broken
from krand.survey.kinds.question import Several, is_nan
from krand.survey.rules import MAX_CHOICES

MAX_HASHES = 16
MAX_WORDS = 100
MAX_WORD_LENGTH = 1_000
MAX_COUNTER = 2**32
DOMAIN = b"krand words 2\x00"
RANGE = 2**64
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The characters with Unicode's property White_Space, all of them."""


class Words(Several):
    """Free words, hashed: to be counted later for candidates thought of by then.

    >>> from krand import Words
    >>> Words(name="browser", size=1024, hashes=2).positions
    1024
    """

    type: Literal["words"] = "words"
    size: Annotated[int, Field(ge=2, le=MAX_CHOICES, examples=[1024])] = Field(
        validation_alias="positions", serialization_alias="positions"
    )
    """Into how many positions words are hashed."""
    hashes: Annotated[int, Field(ge=1, le=MAX_HASHES, examples=[2])]
    """How many positions each word sets, each in a table of its own."""
    at_most: Annotated[int, Field(ge=1, le=MAX_WORDS, examples=[1])] = 1
    """The most words that one person may give."""

    def _rules(self) -> Iterator[Broken]:
        if self.hashes > self.size:
            rule = f"must not be more than the positions, {self.size:,}"
            hint = "2 hashes into 1024 positions are a good start"
            yield Broken(("hashes",), rule, self.hashes, hint)

    @property
    def positions(self) -> int:
        return self.size

    @property
    def tables(self) -> tuple[range, ...]:
        """The positions of every hash function inside the block."""
        ends = [place * self.size // self.hashes for place in range(self.hashes + 1)]
        return tuple(map(range, ends, ends[1:]))

    @property
    def most_ones(self) -> int:
        return sum(min(self.at_most, len(table)) for table in self.tables)

    @property
    def most_answers(self) -> int:
        return self.at_most

    @property
    def separated(self) -> bool:
        return self.at_most > 1

    def encode(self, survey_id: str, answer: object) -> set[int]:
        words = [answer] if isinstance(answer, str) else answer
        if not isinstance(words, (list, tuple, set, frozenset)):
            raise InvalidInput(self.name, "must be a word or a list of words", answer)
        for word in words:
            if not isinstance(word, str):
                raise InvalidInput(self.name, "must be a word or a list of words", word)
        different = {normalized(self.name, word) for word in words}
        if len(different) > self.at_most:
            rule = f"must be at most {self.at_most} words"
            raise InvalidInput(self.name, rule, f"{len(different)} words")
        return {place for word in different for place in plain_positions(survey_id, self, word)}

    def position_name(self, position: int) -> str:
        return f"position {position}"

    def find(self, label: str) -> int | None:
        raise InvalidInput("question", "must not be of type words", self.name)

    def read_cell(self, value: Any) -> Any:
        """Numbers are words as they stand in a text file."""
        if is_nan(value) or (isinstance(value, str) and not value.strip()):
            return None
        return str(value) if type(value) in (int, float) else value

    def identity(self, answer: object) -> object:
        return normalized(self.name, str(answer))


def normalized(field: str, word: str) -> str:
    """The word as it is counted: compatibility forms, case and outer spaces do not matter."""
    if len(word) > MAX_WORD_LENGTH:
        rule = f"must be at most {MAX_WORD_LENGTH:,} characters long"
        raise InvalidInput(field, rule, f"{word[:20]}…")
    # Lower case can leave characters that must be normalized again.
    lower = unicodedata.normalize("NFKC", word).lower()
    plain = unicodedata.normalize("NFKC", lower).strip(WHITE_SPACE)
    if not plain:
        raise InvalidInput(field, "must not be an empty word", word, "leave the answer out")
    if not plain.isascii() and any("\ud800" <= letter <= "\udfff" for letter in plain):
        raise InvalidInput(field, "must be valid Unicode text", ascii(word))
    return plain


def plain_positions(survey_id: str, question: Words, plain: str) -> tuple[int, ...]:
    """Of a normalised word, which may be longer than people may write."""
    prefix = hashlib.sha256(DOMAIN)
    for text in (survey_id, question.name, plain):
        encoded = text.encode()
        prefix.update(len(encoded).to_bytes(4, "big") + encoded)
    return tuple(
        table[_place(prefix, index, len(table))] for index, table in enumerate(question.tables)
    )


def _place(prefix: hashlib._Hash, index: int, size: int) -> int:
    limit = RANGE - RANGE % size
    for counter in range(MAX_COUNTER):
        digest = prefix.copy()
        digest.update(index.to_bytes(4, "big") + counter.to_bytes(4, "big"))
        number = int.from_bytes(digest.digest()[:8], "big")
        if number < limit:
            return number % size
    raise InternalError("a word found no position")
