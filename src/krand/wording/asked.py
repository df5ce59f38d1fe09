"""Questions with a condition: whom they were asked, and what their shares are shares of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from krand.wording.phrases import listed
from krand.wording.texts import SPOKEN, Texts

if TYPE_CHECKING:
    from krand.analysis.estimates.values import AskedEstimate


def condition_text(gate: str, answers: Sequence[str], texts: Texts = SPOKEN) -> str:
    """Whom a question was asked."""
    own = texts.asked
    named = listed([own.answer.format(answer=answer) for answer in answers], own.either)
    return own.condition.format(question=gate, answers=named)


def asked_texts(found: AskedEstimate | None, texts: Texts = SPOKEN) -> Iterator[str]:
    """How many were asked or answered, and why no share of them is given, if none is."""
    own, numbers = texts.asked, texts.numbers
    if found is None:
        yield own.unknown
        return
    low, high = found.interval.low, found.interval.high
    yield own.people[found.base].format(
        people=numbers.count(found.consistent), low=numbers.count(low), high=numbers.count(high)
    )
    if found.withheld:
        yield own.withheld[found.base]
