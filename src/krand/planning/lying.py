"""How far people who lie could move a count, known before anybody is asked.

A submission has a fixed number of messages, and what is in them is sealed.

* Bit linkage: a device can put the same token into all of its messages. Nobody can tell, for after
  the shuffle messages of one submission are like any others. m people thus add up to m·r tokens to
  one position, r the messages of a submission. By sending nothing they take away at most m ones.
* Record linkage: a device sends k vectors, each with one bit at every position, so it moves a count
  by at most k in either direction: one person's worth, at every position at once.

A one more or less moves the estimate by 1/(p-q) people, for each copy. The shift is against what
the same people would have sent honestly, at its worst: it bounds every case, however the flips
fell. It is that of one position; what is left when several counts are taken from the crowd, such as
"unanswered", moves by the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable

from krand.promise import Linkage
from krand.survey.layout import Block
from krand.survey.plan import WorstShift

__all__ = ["worst_shifts"]


def worst_shifts(
    linkage: Linkage, messages: int, blocks: Iterable[tuple[Block, float]], corrupted: int
) -> tuple[WorstShift, ...]:
    """For every block and its noise: what so many people together can do."""
    each = messages if linkage is Linkage.BIT else 1
    return tuple(
        WorstShift(block.name, corrupted, corrupted * each / (1 - 2 * q), corrupted / (1 - 2 * q))
        for block, q in blocks
    )
