"""Numbers that pages print: where each of them comes from.

A claim is a piece of a page with `{}` for every number that something else gives: a computation, or
the file of a benchmark's results; `…` stands for anything. What is given (a definition, a setting,
a citation, a measurement that has no file) is listed as it stands. Whatever number is left on a
page has no source.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

from docs.pages import ROOT, without_fences

NUMBER = r"([\d.,·⁻⁰¹²³⁴⁵⁶⁷⁸⁹e-]*[\d⁰¹²³⁴⁵⁶⁷⁸⁹])"
NOT_NUMBERS = (
    r"`[^`]*`",  # code
    r"\$\$.*?\$\$",  # formulas
    r"\]\([^)]*\)",  # where links go
    r"<!--.*?-->",
    r"</?[a-z][^>]*>",  # elements
    r"## References.*",
    r"\b(?:19|20)\d\d(?:[-–]\d\d)?\b",  # years
)
"""What may hold digits that are no claim."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A text whose numbers krand computes; `values` are they as the page must print them."""

    text: str
    values: Callable[[], Sequence[str]]
    slow: bool = False
    """Takes seconds: computed by `make check`."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A text whose numbers stand in a file of benchmarks/, up to rounding and a change of unit."""

    text: str
    file: str
    source: str
    unit: float = 1.0


@dataclass(frozen=True, slots=True)
class Given:
    """Texts whose numbers are definitions, settings, citations, or measured without a file."""

    reason: str
    texts: tuple[str, ...]


def measured(file: str, *pairs: tuple[str, str]) -> tuple[Measured, ...]:
    """Texts of a page, each with that of the file."""
    return tuple(Measured(text, file, source) for text, source in pairs)


Claim = Computed | Measured | Given
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def up(value: float, digits: int) -> str:
    """Rounded up to significant digits, as a bound is printed."""
    exact = Decimal(repr(value))
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{exact.quantize(unit, ROUND_CEILING):f}"


def power(value: float) -> str:
    """2.3·10⁻⁴, rounded up."""
    exponent = math.floor(math.log10(value))
    digits = Decimal(up(value / 10.0**exponent, 2))
    if digits >= 10:
        digits, exponent = digits / 10, exponent + 1
    return f"{digits:.1f}·10{str(exponent).translate(SUPERSCRIPTS)}"


def prose(page: Path) -> str:
    """The page in one line, without what is run: fenced blocks."""
    return _one_line("\n".join(line for _, line in without_fences(page)))


def found(text: str, template: str) -> tuple[str, ...]:
    """The numbers that stand for `{}` where the template is found in the text."""
    match = re.search(_pattern(template), text)
    assert match is not None, f"not there: {template}"
    return match.groups()


def numbers_left(page: Path, claims: Sequence[Claim]) -> list[str]:
    """Numbers of the page that no claim covers, each with some words around it."""
    text = prose(page)
    patterns = [_pattern(template) for claim in claims for template in _templates(claim)]
    for pattern in patterns:
        assert re.search(pattern, text), f"{page.relative_to(ROOT)} no longer says: {pattern}"
    spans = [m.span() for pattern in (*patterns, *NOT_NUMBERS) for m in re.finditer(pattern, text)]
    return [
        text[max(0, one.start() - 40) : one.end() + 30]
        for one in re.finditer(r"\d[\d.,]*", text)
        if not any(start <= one.start() < end for start, end in spans)
    ]


def _templates(claim: Claim) -> tuple[str, ...]:
    return claim.texts if isinstance(claim, Given) else (claim.text,)


def _pattern(template: str) -> str:
    pieces = _one_line(template).split("{}")
    return NUMBER.join(".*?".join(map(re.escape, piece.split("…"))) for piece in pieces)


def _one_line(text: str) -> str:
    return " ".join(text.split())
