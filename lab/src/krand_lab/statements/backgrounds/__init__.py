"""The worst background of one bit, outcome by outcome: 002 §1, §3–4, 003 §4.2, §5.2, §9."""

from __future__ import annotations

from collections.abc import Callable

from krand_lab.statements.backgrounds import counts, ratios_of_sums
from krand_lab.statements.verdict import Verdict

__all__ = ["STATEMENTS"]

STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    *ratios_of_sums.STATEMENTS,
    *counts.STATEMENTS,
)
