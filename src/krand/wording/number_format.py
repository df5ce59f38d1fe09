"""How a language writes numbers: its signs for thousands, decimals and percent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from krand import showing
from krand.languages.cldr import ENGLISH, number_signs


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """krand's formatters with the signs of a language; without arguments, those of English.

    >>> NumberFormat().count(-1234.5), NumberFormat(thousands=".", decimal=",").number(12.5)
    ('−1,234', '12,5')
    """

    thousands: str = ","
    decimal: str = "."
    percent: str = "{number} %"

    def signs(self, text: str) -> str:
        """A number as Python writes it, with the signs of the language."""
        return text.translate({ord(","): self.thousands, ord("."): self.decimal})

    def written(self, value: float | Decimal, spec: str) -> str:
        """A number by one of Python's formats: 1,234 or 0.02."""
        return self.signs(format(value, spec))

    def whole(self, value: int) -> str:
        """1,234."""
        return self.written(value, ",")

    def number(self, value: float, digits: int = 4) -> str:
        """12,726, 0.3509, 2.09×10⁻⁵."""
        return self.signs(showing.number(value, digits))

    def at_most(self, value: float, digits: int = 4) -> str:
        """A proven bound, rounded up."""
        return self.signs(showing.at_most(value, digits))

    def bound(self, value: float, digits: int = 4) -> str:
        """The same with space around the sign of multiplication: 1.049 × 10⁻⁷."""
        return self.spaced(self.at_most(value, digits))

    def spaced(self, text: str) -> str:
        """A text with space around the signs of multiplication in it."""
        return text.replace("×", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}")

    def count(self, value: float) -> str:
        """People, whole ones: −1,234, and never −0."""
        return self.signed(showing.fixed(value))

    def signed(self, text: str) -> str:
        """The same text with a minus sign that is as wide as a digit and is read as minus."""
        return self.signs(text).replace("-", "\N{MINUS SIGN}")

    def edge(self, edge: float) -> str:
        """An end of a range with all of its digits, as the survey has them: 1,000 or −0.5."""
        return self.signed(f"{int(edge):,}" if edge == int(edge) else f"{edge:,}")

    def share(self, share: float, decimals: int = 2) -> str:
        """A share as a percentage without its sign, for columns that have it in their heading."""
        return self.rounded(100 * share, decimals)

    def rounded(self, value: float, decimals: int) -> str:
        """With this many decimals, usually those of `decimals`: 1,234.5, and never −0."""
        return self.signed(showing.fixed(value, decimals))

    def margin(self, value: float, decimals: int) -> str:
        """Half of an interval, rounded up: what is written contains the interval."""
        step = 10.0**decimals
        return self.rounded(math.ceil(value * step - 1e-9) / step, decimals)

    def decimals(self, low: float, high: float) -> int:
        """Decimals of an estimate with this interval: up to the first digit of its half-width."""
        return showing.decimals_for((high - low) / 2)

    def with_percent(self, text: str) -> str:
        """A number that is written already, with the sign of percent."""
        return self.percent.format(number=text)

    def percent_of(self, share: float, spec: str) -> str:
        """A share as a percentage by one of Python's formats: 95 %."""
        return self.with_percent(self.written(100 * share, spec))

    def confidence(self, confidence: float) -> str:
        """With all its digits, so that 0.9999999 is not shown as certain: 95 %."""
        percent = (100 * Decimal(repr(confidence))).normalize()
        return self.with_percent(self.written(percent, "f"))

    def short_percent(self, value: float) -> str:
        """Two significant digits without an exponent: 0.00028 %."""
        if value == 0 or not math.isfinite(value):
            return self.with_percent(f"{value:g}")
        decimals = min(12, max(0, 1 - math.floor(math.log10(abs(value)))))
        text = f"{value:,.{decimals}f}"
        shown = text.rstrip("0").rstrip(".") if "." in text else text
        return self.with_percent(self.signs(shown))


@cache
def number_format(language: str) -> NumberFormat:
    """How a language writes numbers."""
    return NumberFormat() if language == ENGLISH else NumberFormat(**number_signs(language))


def with_unit(number: str, unit: str) -> str:
    """A number and what it counts or measures, if that is known: 30 m²."""
    return f"{number}\N{NO-BREAK SPACE}{unit}" if unit else number


def heading(name: str, unit: str) -> str:
    """What stands above numbers: area (m²)."""
    return f"{name} ({unit})" if unit else name
