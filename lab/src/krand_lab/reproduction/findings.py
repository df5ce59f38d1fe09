"""What a reader of the drafts can act on: what stands, what falls, what to use instead.

Every finding names the numbers and statements that show it, and is refused if they do not: the
summary cannot say what the computation does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from krand.errors import InternalError
from krand.wording.phrases import number
from krand_lab.reproduction.entries import Number
from krand_lab.reproduction.tasks import Reproduction
from krand_lab.texts import filled_in, tables


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of the drafts and what became of it; `[[key]]` in a text is a computed number.

    `[[key %]]` is the same number in per cent.
    """

    source: str
    stands: bool
    text: str
    evidence: tuple[str, ...]
    """Keys of numbers and statements: all agree where it stands, none does where it falls."""
    instead: str = ""


FINDINGS = tuple(
    Finding(
        entry["source"],
        entry["stands"],
        filled_in(entry["text"], {}, entry["source"]),
        tuple(entry["evidence"]),
        filled_in(entry.get("instead", ""), {}, entry["source"]),
    )
    for entry in tables(__package__)["findings"]["findings"]
)


def findings_of(result: Reproduction) -> tuple[Finding, ...]:
    """The findings whose evidence was computed, with the computed numbers in their texts."""
    numbers = {entry.key: entry for entry in result.numbers}
    holds = {entry.key: entry.agrees for entry in result.numbers}
    holds |= {verdict.statement.key: verdict.holds for _, verdict in result.verdicts}
    found = [finding for finding in FINDINGS if set(finding.evidence) <= holds.keys()]
    for finding in found:
        for key in finding.evidence:
            if holds[key] is not finding.stands:
                raise InternalError(f"the summary of {finding.source} contradicts {key}")
    return tuple(replace(finding, text=_filled_in(finding.text, numbers)) for finding in found)


def _filled_in(text: str, numbers: Mapping[str, Number]) -> str:
    def value(found: re.Match[str]) -> str:
        computed = numbers[found["key"]].computed
        return f"{number(100 * computed, 3)} %" if found["percent"] else number(computed, 3)

    return re.sub(r"\[\[(?P<key>[^\]]+?)(?P<percent> %)?\]\]", value, text)
