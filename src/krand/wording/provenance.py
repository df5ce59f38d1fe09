"""What may be said about a result depends on where the answers became noisy.

On devices nobody but the person saw an answer. A data holder saw all answers, so the promise covers
only those who see the responses and the results. In a simulation there are no people to protect.
"""

from __future__ import annotations

from collections.abc import Iterator

from krand.batches.provenance import DistinctPeople
from krand.wording.plan_texts import PLANS
from krand.wording.texts import ENGLISH, Texts

__all__ = ["TRUSTED", "declared"]

TRUSTED = PLANS.trusted_holder
"""Shown with a guarantee on the terminal."""


def declared(who: DistinctPeople | None, files: int, texts: Texts = ENGLISH) -> Iterator[str]:
    """Who declared that the files are about different people; empty if nobody had to."""
    if who is not None:
        yield texts.provenance.declared[who].format(files=texts.numbers.whole(files))
