"""Numbers as text, and values that show themselves on consoles and in notebooks.

A proven bound is rounded up, so that nothing that people read promises more than the proof.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from importlib import import_module

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MOST_DECIMALS = 8
LONGEST_LINE = 100
"""The most characters of a value on a console."""

NO_BREAK = "\N{NO-BREAK SPACE}"
PAIRS = re.compile(
    r"(?<!\w)(?:ε₀|ε|δ|η|σ|λ|q|k|N) [=≤≥≈<>] (?=[\d−-])"  # ε = 1
    r"|± (?=[\d−])"
    r"|(?<=\d) (?=%)"
    r"|(?<=\d) (?=(?:people|person|Personen|Person|personnes?|personas?)\b)"
    r"|(?<=\d) (?=(?:mixers?|points?|rounds?|bytes|Mischern?|Punkte|Runden?|Bytes|mélangeurs?)\b)"
    r"|(?<=\d) (?:to|bis|à|a) (?=\d)"
    r"| (?=· )"
)
"""What belongs to a number; a line must not end within it."""
QUOTED = re.compile(r"(?<!\w)('|&#39;).*?\1(?!\w)|(?<=[^\W\d_])(?P<apostrophe>'|&#39;)")
"""A value between straight quotes, which stays as it is, or an apostrophe."""
NO_PROSE = re.compile(r"<(textarea|script|style|pre|code|svg)\b.*?</\1>|<[^>]*>", re.DOTALL)
"""Tags, and elements whose text is not told but shown as it is."""


class Shown:
    """A value that a notebook shows as a table.

    `krand.notebook` builds the table. It is imported by name, because it is a higher layer.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module("krand.notebook").html_of(self)
        return html


def one_line(kind: str, *parts: str) -> str:
    """A value on a console: its type and what matters most, never more than one short line."""
    text = f"<{kind}: {', '.join(part for part in parts if part)}>".replace("\n", " ")
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 2]}…>"


def some(count: int, thing: str) -> str:
    """1 question, 2 questions; 1 person, 2 people."""
    if count == 1:
        return f"1 {thing}"
    return f"{count:,} people" if thing == "person" else f"{count:,} {thing}s"


def number(value: float, digits: int = 4) -> str:
    """A number for people: 12,726, 0.3509, 2.09×10⁻⁵, 10⁻⁶."""
    if value == 0 or not math.isfinite(value):
        return f"{abs(value) if value == 0 else value:g}"
    if abs(value) >= 1e9 or abs(value) < 1e-3:
        return _power_of_ten(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _power_of_ten(text: str) -> str:
    """2.09e-05 as 2.09×10⁻⁵, 1e-06 as 10⁻⁶; text without an exponent stays."""
    digits, exponent, power = text.partition("e")
    if not exponent:
        return text
    raised = f"10{str(int(power)).translate(SUPERSCRIPT)}"
    return raised if digits == "1" else f"-{raised}" if digits == "-1" else f"{digits}×{raised}"


def fixed(value: float, decimals: int = 0) -> str:
    """A number with this many decimals, and never -0."""
    text = f"{value:,.{decimals}f}"
    return text if text.strip("-0.,") else text.removeprefix("-")


def decimals_for(half_width: float) -> int:
    """Decimals of an estimate: up to the first digit of its interval's half-width."""
    if not 0 < half_width < math.inf:
        return 0
    return min(MOST_DECIMALS, max(0, -math.floor(math.log10(half_width))))


def at_most(value: float, digits: int = 4) -> str:
    """A bound, rounded up: what is shown must not promise more than what is proven."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return number(rounded_up(value, digits), digits)


def total(bounds: Iterable[float]) -> float:
    """The sum of bounds as they are written, never below it; without the last bits of floats.

    >>> total([0.0001] * 3), sum([0.0001] * 3)
    (0.0003, 0.00030000000000000003)
    """
    with localcontext(rounding=ROUND_CEILING):
        least = sum(Decimal(repr(float(each))) for each in bounds)
    found = float(least)
    return found if Decimal(repr(found)) >= least else math.nextafter(found, math.inf)


def rounded_up(value: float, digits: int) -> float:
    """The least number with so many significant digits that is not below the value.

    >>> rounded_up(0.00123401, 4), rounded_up(0.1234, 4), rounded_up(0.0, 4)
    (0.001235, 0.1234, 0.0)
    """
    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(float(value))))


def rounded_down(value: float, digits: int) -> float:
    """The largest number with so many significant digits that is not above the value.

    >>> rounded_down(0.00123499, 4), rounded_down(1e-06, 4)
    (0.001234, 1e-06)
    """
    return float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(repr(float(value))))


def unbroken(text: str, space: str = NO_BREAK) -> str:
    """A text in which no line ends between a number and its sign or unit.

    >>> unbroken("ε = 1: ± 7 people at 95 %", "_")
    'ε_=_1: ±_7_people at 95_%'
    """
    return PAIRS.sub(lambda found: found[0].replace(" ", space), text)


def unbroken_html(page: str) -> str:
    """The same for the texts of a page or of a part of one, with curly apostrophes.

    >>> unbroken_html("<p title='± 7'>± 7<code>± 7</code>").count(NO_BREAK)
    1
    >>> unbroken_html("<code>mixer's</code> the mixer's, mixers&#39; own 'word'")
    "<code>mixer's</code> the mixer’s, mixers’ own 'word'"
    """
    parts, end = [], 0
    for found in NO_PROSE.finditer(page):
        parts += [typeset(page[end : found.start()]), found[0]]
        end = found.end()
    return "".join((*parts, typeset(page[end:])))


def typeset(text: str) -> str:
    """A plain text as people read it: unbroken, and with curly apostrophes.

    >>> typeset("the person's own device").replace(NO_BREAK, "_")
    'the person’s own device'
    """
    return QUOTED.sub(lambda found: "’" if found["apostrophe"] else found[0], unbroken(text))
