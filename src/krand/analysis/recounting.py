"""Counting the batches of a tally again: by a second holder of the analyst's key.

Counts are not in any signature but those of holders, because nobody else can open messages. Where
responses are not sealed, whoever has them can count again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from krand.analysis.engines import Options
from krand.analysis.engines.source import Source
from krand.analysis.tally import Tally
from krand.analysis.tallying import tally_sources
from krand.analysis.verification.comparing import differences
from krand.batches.provenance import DistinctPeople
from krand.errors import InvalidInput
from krand.survey.plan import Plan

if TYPE_CHECKING:
    from krand.wire.suites import OpeningKey

__all__ = ["recount"]


def recount(
    plan: Plan,
    tally: Tally,
    sources: Sequence[Source],
    *,
    key: OpeningKey | None = None,
    options: Options | None = None,
) -> tuple[str, ...]:
    """Every place at which a tally differs from what is in these sources; none if it is right."""
    for entry in tally.signatures:
        if not entry.is_valid(tally.sha256):
            rule, hint = "must be valid for this tally", "get the tally again from who signed it"
            raise InvalidInput("signature", rule, entry.shown, hint)
    again = tally_sources(
        plan,
        sources,
        key=key,
        bits=tuple(tally.joint),
        options=options,
        different_people=tally.distinct_people is DistinctPeople.ANALYST,
    )
    return tuple(differences(tally.counted(), again.counted()))
