"""How much dishonest people can change a count, known before anybody is asked.

A submission has a fixed number of messages, and their content is sealed.

* Bit linkage: a device can put the same token into all messages of the token's lane. Nobody can
  detect this, because after the shuffle the messages of one submission look like any others. In a
  lane of r messages, m people can thus add up to m·r tokens to one position. By sending nothing
  they remove at most m ones.
* Record linkage: a device sends k vectors, each with one bit at every position, so it changes a
  count by at most k in either direction: one person's worth, at all positions at once.

One more or one less changes the estimate by 1/(p-q) people, for each copy. The shift is relative to
what the same people would have sent honestly, in the worst case: it bounds every outcome of the
flips. It applies to one position. A number that is computed from several counts, such as
"unanswered", changes by the sum of their shifts.
"""

from __future__ import annotations

from krand.survey.plan import WorstShift

__all__ = ["worst_shift"]


def worst_shift(name: str, noise: float, room: int, corrupted: int) -> WorstShift:
    """The most that so many people together can do to a block with this noise and these messages.

    Whole records, which have no room, count as one message for each position.
    """
    each = corrupted / (1 - 2 * noise)
    return WorstShift(name, corrupted, corrupted * max(1, room) / (1 - 2 * noise), each)
