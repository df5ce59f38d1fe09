"""Fakes for those who test a program that uses krand: no network, no waiting, little time.

    >>> from krand.testing import FakeChain, small_plan
    >>> chain = FakeChain(small_plan())
    >>> sent = chain.client().submit({"smokes": False, "pet": "cat"})
    >>> chain.collector.people
    1

Whatever would protect nobody in earnest has "unsafe" in its name. Noise is real and
has no seed, here as everywhere else, except in `unsafe_simulated_tally`. Simulated people are those
of `krand.simulation`.
"""

from __future__ import annotations

from krand.simulation import simulated_people, simulated_table, unsafe_simulated_tally
from krand.testing.chain import FakeChain, UnsafeMemoryLedger
from krand.testing.collector import FakeCollector
from krand.testing.surveys import (
    MIXED_SURVEY,
    SMALL_SURVEY,
    small_plan,
    small_survey,
    unsafe_exact_plan,
)

__all__ = [
    "MIXED_SURVEY",
    "SMALL_SURVEY",
    "FakeChain",
    "FakeCollector",
    "UnsafeMemoryLedger",
    "simulated_people",
    "simulated_table",
    "small_plan",
    "small_survey",
    "unsafe_exact_plan",
    "unsafe_simulated_tally",
]
