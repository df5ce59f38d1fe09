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

__all__ = ["FINDINGS", "Finding", "findings_of"]


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


FINDINGS = (
    Finding(
        "000 §0–1, 001 §4",
        True,
        "Hiding in a crowd needs far less noise than hiding alone: one bit among 1000 people needs"
        " [[000-noise-ratio]] times less, and the closed forms (0.19) and (4.45) give the digits"
        " that the drafts print. Estimates and their deviations are exact, whatever the answers.",
        ("000-noise-ratio", "000-0.19", "003-4.45", "001-4-long-sigma", "000-1.2-1.3"),
    ),
    Finding(
        "001 §3, §7",
        True,
        "The ratio of whole vectors depends on a report only through its number of set bits; its"
        " law, its mean and variance, and the noise of (3.12) and (3.16) are right.",
        ("000-2.1.1-sufficient", "001-3.1-moments", "001-7.9", "001-3.16", "001-3.3-2-1000-noise"),
    ),
    Finding(
        "002 §1 and §4, 001 §1.2 claim 2, 001 §5 remark",
        True,
        "Proposition 1.1 and Lemmas 4.1 to 4.3 are true, and so are the two symmetries: the law of"
        " R is the same for all homogeneous collections, and positions on which everybody agrees"
        " do not matter.",
        (
            "002-proposition-1.1",
            "002-lemma-4.1",
            "002-lemma-4.2",
            "002-lemma-4.3",
            "001-1.2-claim-2",
            "001-5-remark",
        ),
    ),
    Finding(
        "002 §3, 003 §4.2 and §5.2",
        True,
        "For one bit and one given outcome the ratio is largest when everybody else is alike. The"
        " open question of 002 has the same answer by symmetry, and with k copies it stays true.",
        ("002-claim-3.2", "002-maximal-ones", "002-maximal-zeros", "003-theorem-4.1"),
    ),
    Finding(
        "001 §3.2–3.3",
        False,
        "Three deviations are not a probability: the exact tails of the draft's own table lie"
        " between [[001-3.3-e2-1000-tail]] and [[001-3.3-2-5000-tail]], nearly all of them above"
        " what it prints. The noise for N = 5000 and λ = 2 must be [[001-3.3-2-5000-noise]]; the"
        " printed one exceeds λ ten times as often as reported.",
        (
            "001-3.3-2-1000-tail",
            "001-3.3-2-3000-tail",
            "001-3.3-2-5000-tail",
            "001-3.3-2-5000-noise",
            "001-3.3-e2-5000-tail",
        ),
        "krand noise, which works from the exact law and takes η or δ as the promise.",
    ),
    Finding(
        "000 §0.1, 003 §4.3",
        False,
        "One direction is not enough, and 99.98 % is not what is kept: (4.45) keeps"
        " [[003-kept]] % in the direction it looks at, and far less in the other one.",
        ("000-kept", "003-kept"),
        "the larger of both directions, as every guarantee of krand does.",
    ),
    Finding(
        "001 §3.4",
        False,
        "As printed (3.17) bounds neither tail: it starts from an inequality about the harmless"
        " lower one, and its last line does not follow. Its printed values follow from no line,"
        " and the table is labelled λ = 2 where λ = e² is meant.",
        (
            "001-3.17",
            "001-3.17-upper",
            "001-3.17-step",
            "001-3.4-bound-1000",
            "001-3.4-tail-1000",
        ),
        "the exact tail; krand privacy prints it with proven ends.",
    ),
    Finding(
        "001 §5",
        False,
        "Vectors with few set bits need more noise than the draft says. With one set bit, the noise"
        " of two free bits leaves a tail of [[001-5-set-bits-1]] where everybody else gives a third"
        " answer.",
        ("001-5-set-bits-1", "001-5-set-bits-2", "001-5-set-bits-3"),
        "krand noise --max-set-bits, which takes the worst background.",
    ),
    Finding(
        "001 §6 and §8",
        False,
        "Copies buy precision, but not with less noise. The printed moments lose a factor k! and"
        " the covariances, so that (6.3) lets the noise fall: at k = 16 the promise is broken in"
        " [[001-6.3-failure-16 %]] of all outcomes, at k = 200 in [[001-6.3-failure-200 %]].",
        (
            "001-8.21",
            "001-6.1",
            "001-6.2",
            "001-8.38",
            "001-6.3-failure-4",
            "001-6.3-failure-16",
            "001-6.3-failure-50",
            "001-6.3-failure-200",
        ),
        "krand noise --linkage record --copies k, which composes the exact law of one copy.",
    ),
    Finding(
        "000 (1.20)–(1.23)",
        False,
        "The noise for k copies of one bit is derived from an upper bound where a lower one is"
        " needed: the ratio can exceed λ inside the three deviations.",
        ("000-1.20",),
        "003 (5.24) for the other direction, or krand noise --bits 1 --copies k for both.",
    ),
    Finding(
        "001 §1.2 claim 1, 003 §4.3",
        False,
        "The outlier in a uniform crowd is not always the worst case, neither for η nor for δ: in"
        " small crowds other backgrounds and other pairs expose more. It is the worst to leading"
        " order in N.",
        (
            "001-1.2-claim-1-eta",
            "001-1.2-claim-1-delta",
            "003-theorem-4.1-tail",
            "003-theorem-4.1-delta",
            "001-1.2-one-bit",
        ),
        "the certified assurance, krand's default: a proof for every background.",
    ),
    Finding(
        "003 §3, 004 §2",
        False,
        "Taking a record away changes the number of reports, so that the definition there can"
        " never be met; its factor ε should read e^ε; and the anonymity A_p does not bound the"
        " ratio.",
        ("003-3-factor", "003-3-record-taken-away", "003-3-anonymity"),
        "neighbours that replace one person's answers, as in 001 and 002.",
    ),
    Finding(
        "003 (9.3)",
        False,
        "The conjectured ordering holds only further than about one deviation from the mean, and"
        " is reversed inside.",
        ("003-9.3", "003-9.4"),
        "the exact condition α(α+1) > pqN for the two binomials (9.4) and (9.5).",
    ),
    Finding(
        "002 (3.6), 003 (4.29) and (5.5)",
        False,
        "Three proofs have gaps although their conclusions stand (up to strictness): Lemma 4.2 is"
        " used with a zero, a step of Lemma 1 is false as printed, and coefficients of a power"
        " are not products.",
        ("002-3.6-by-lemma-4.2", "003-4.29", "003-5.5-products"),
        "the short proofs given with each statement.",
    ),
    Finding(
        "000 (0.24)–(0.29), 001 §4, 003 (4.52)",
        False,
        "Slips that harm nobody: intervals three times too wide, a deviation of"
        " [[000-sigma]] printed as 5.6, a thousand where 999 is meant, 7.5 for"
        " [[001-4-local-sigma]], a mean rounded too early.",
        (
            "000-0.26-low",
            "000-0.27-high",
            "000-sigma",
            "000-0.29-low",
            "001-4-local-sigma",
            "000-0.24",
            "003-4.52-low",
        ),
    ),
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
