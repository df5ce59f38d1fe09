"""The same words in two surveys, compared."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from krand.analysis.estimates.comparison import (
    Difference,
    difference_row,
    largest_chance,
    largest_quantile,
)
from krand.analysis.estimates.difference_tests import Laws
from krand.analysis.estimates.intervals import check_confidence
from krand.analysis.estimates.values import Interval
from krand.analysis.words.decoding import WordCount

__all__ = ["compare_words"]


def compare_words(
    words: Sequence[tuple[WordCount, WordCount]],
    people: tuple[int, int],
    laws: Laws,
    confidence: float = 0.95,
    comparisons: int = 1,
) -> tuple[Difference, ...]:
    """The same words in two surveys, earlier and later; all of them have standard errors.

    These contain the noise and what other words add, but no sampling.
    """
    z = largest_quantile(laws, check_confidence(confidence))
    found = []
    for pair in words:
        before, after = (row.unclipped / n for row, n in zip(pair, people, strict=True))
        shown = pair[1].count / people[1] - pair[0].count / people[0]
        error = math.hypot(
            *((row.standard_error or 0.0) / n for row, n in zip(pair, people, strict=True))
        )
        difference = after - before
        (chance,) = largest_chance(laws, np.array([difference]), np.array([error])).tolist()
        found.append(
            difference_row(
                label=pair[1].word,
                difference=difference,
                shown=shown,
                error=error,
                interval=Interval(difference - z * error, difference + z * error),
                p_value=chance,
                together=len(words),
                comparisons=comparisons,
            )
        )
    return tuple(found)
