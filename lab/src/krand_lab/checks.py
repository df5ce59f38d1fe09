"""What every computation of the lab asks of noise, crowd and reports."""

from __future__ import annotations

from krand.errors import InvalidInput

MAX_CROWD, MAX_BITS, MAX_COPIES = 10**12, 10**6, 10**4


def check_noise(q: float) -> None:
    """0 < q < 1/2, or an error that says so."""
    if not 0 < q < 0.5:
        raise InvalidInput("noise", "must be between 0 and 0.5, both excluded", q)


def check_crowd(crowd: int) -> None:
    """2 … 10^12 people, or an error that says so."""
    if not 2 <= crowd <= MAX_CROWD:
        raise InvalidInput("crowd", f"must be a whole number from 2 to {MAX_CROWD:,}", crowd)


def check_bits(bits: int, copies: int = 1) -> None:
    """Up to 10^6 bits in up to 10^4 copies, or an error that says so."""
    for field, value, most in (("bits", bits, MAX_BITS), ("copies", copies, MAX_COPIES)):
        if not 1 <= value <= most:
            raise InvalidInput(field, f"must be a whole number from 1 to {most:,}", value)
