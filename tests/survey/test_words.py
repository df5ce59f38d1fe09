"""Words: what counts as the same word, and which positions it has."""

from __future__ import annotations

import hashlib
import struct
import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.survey.kinds.words import WHITE_SPACE, _place, normalized, word_positions
from krand.survey.questions import Words

TOWN = Words(name="town", size=1024, hashes=2)
FOREVER = (51, 862)


def by_the_book(survey: str, question: str, word: str, size: int, hashes: int) -> list[int]:
    """The published rule, written a second time."""
    texts = b"".join(
        struct.pack(">I", len(t.encode())) + t.encode() for t in (survey, question, word)
    )
    found: list[int] = []
    for index in range(hashes):
        start, end, counter = index * size // hashes, (index + 1) * size // hashes, 0
        own = end - start
        while True:
            content = b"krand words 2\0" + texts + struct.pack(">II", index, counter)
            (number,) = struct.unpack(">Q", hashlib.sha256(content).digest()[:8])
            counter += 1
            if number // own < 2**64 // own:
                found.append(start + number % own)
                break
    return found


@given(st.text("abcäß ", min_size=1).filter(str.strip), st.integers(2, 5), st.integers(1, 2))
def test_positions_follow_the_published_rule(word: str, size: int, hashes: int) -> None:
    """Anybody can compute the positions of a word; all of them differ."""
    question = Words(name="q", size=size, hashes=hashes)
    plain = normalized("q", word)
    assert list(word_positions("id", question, word)) == by_the_book("id", "q", plain, size, hashes)
    assert len(set(word_positions("id", question, word))) == hashes


def test_positions_of_a_word_never_change() -> None:
    """Reports already collected keep their meaning: these numbers are for ever."""
    assert word_positions("homepages-2026", TOWN, "Zürich") == FOREVER


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zürich", "zu\u0308rich"),
        (" STRASSE\n", "strasse"),
        ("ﬁsh", "FISH"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("K", "\u212a"),
        ("１２", "12"),
    ],
)
def test_writing_does_not_matter(one: str, other: str) -> None:
    """Case, width, ligatures, composition and outer spaces do not make another word."""
    assert word_positions("s", TOWN, one) == word_positions("s", TOWN, other)


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("Straße", "straße"),  # case folding would make ss of it
        ("STRAẞE", "straße"),
        ("İzmir", "i\u0307zmir"),
        ("ΟΔΟΣ", "οδος"),  # the last sigma has a form of its own
        ("ΟΔΟΣ.", "οδος."),
        ("ΣΑΣ Σ", "σας σ"),
        ("ﬁn", "fin"),
        ("ǅ", "dž"),
        ("Ω\u0345", "ῳ"),
        ("\u00a0a b\u3000", "a b"),
        ("\u0085a\u2029", "a"),
        ("\ufeffa", "\ufeffa"),  # JavaScript's trim would remove it
        ("\x1ca\x1f", "\x1ca\x1f"),  # Python's strip would remove them
        ("\u200ba", "\u200ba"),
        ("\u00a8", "\u0308"),  # a space and a mark, once it is normalized
    ],
)
def test_words_are_normalized_to_the_character(word: str, plain: str) -> None:
    """Where case folding, strip and trim would give something else."""
    assert normalized("w", word) == plain


def test_white_space_is_that_of_unicode() -> None:
    """All of category Zs, Zl and Zp, and six controls; no character more."""
    separators = {
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp")
    }
    assert set(WHITE_SPACE) == separators | set("\t\n\v\f\r\x85")
    assert len(WHITE_SPACE) == 25


@pytest.mark.parametrize("word", ["", " ", "\u3000\n", "a\ud800", "\udc00", "a" * 1001])
def test_what_is_no_word_is_refused(word: str) -> None:
    """Nothing but spaces, half characters, and texts."""
    with pytest.raises(InvalidInput):
        normalized("w", word)


def test_the_length_counts_before_normalizing() -> None:
    """U+FDFA becomes 18 characters; a thousand of them are a word all the same."""
    word = "\ufdfa" * 1000
    assert len(normalized("w", word)) > 1000
    assert TOWN.encode("s", word) == set(word_positions("s", TOWN, word))


@example("\u01f0")  # J with a caron, which must be put together again
@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_normalizing_twice_changes_nothing(word: str) -> None:
    """A normalized word is its own normal form."""
    try:
        plain = normalized("w", word)
    except InvalidInput:
        return
    assert unicodedata.is_normalized("NFKC", plain)
    assert normalized("w", plain) == plain


def test_survey_and_question_matter() -> None:
    """A table of words made for one survey or question is of no use for another."""
    other = Words(name="city", size=1024, hashes=2)
    positions = {
        word_positions("a", TOWN, "basel"),
        word_positions("b", TOWN, "basel"),
        word_positions("a", other, "basel"),
    }
    assert len(positions) == 3


class Digests:
    """Stands in for SHA-256: gives these digests one after the other."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = list(numbers)

    def copy(self) -> Digests:
        return self

    def update(self, content: bytes) -> None:
        """What is hashed does not matter here."""

    def digest(self) -> bytes:
        return struct.pack(">Q", self.numbers.pop(0)) + bytes(24)


def test_numbers_beyond_the_last_whole_multiple_are_drawn_again() -> None:
    """2⁶⁴ = 1 mod 3, so the last number would give position 0 a little too often."""
    last = 2**64 - 1
    assert _place(Digests(last, 7), 0, 3) == 1  # type: ignore[arg-type]
    assert _place(Digests(last - 1, 7), 0, 3) == 2  # type: ignore[arg-type]


def test_positions_are_evenly_used() -> None:
    """20,000 words over 10 positions: no position far from its tenth (χ², 1 in 10⁷)."""
    question = Words(name="q", size=10, hashes=1)
    counts = Counter(word_positions("s", question, f"w{number}")[0] for number in range(20_000))
    assert sum((counts[position] - 2000) ** 2 / 2000 for position in range(10)) < 49
