"""The reproduction as plain JSON objects; the page shows the same."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from krand import __version__
from krand_lab.reproduction.entries import Number, Picture, Section
from krand_lab.reproduction.findings import Finding
from krand_lab.reproduction.tasks import Reproduction
from krand_lab.statements.verdict import Verdict

DOCUMENTS = {
    "000": "K-Randomization, 15 January 2016",
    "001": "Sufficient Differential Privacy",
    "002": "K-Randomization, 12 January 2016",
    "003": "K-Randomization, 9 February 2016",
    "004": "K-Randomization, 7 January 2016",
}
"""The drafts, all by Maxim Zhilyaev and David Zeber."""


def document(result: Reproduction, findings: tuple[Finding, ...]) -> dict[str, Any]:
    """Everything, in the order of the page; the same on every run."""
    return {
        "krand": __version__,
        "documents": DOCUMENTS,
        "sections": [str(section) for section in result.sections],
        "counts": counts(result),
        "summary": [asdict(finding) for finding in findings],
        "numbers": [_number(entry) for entry in result.numbers],
        "figures": [_picture(picture) for picture in result.pictures],
        "statements": [_verdict(section, verdict) for section, verdict in result.verdicts],
    }


def counts(result: Reproduction) -> dict[str, int]:
    """How many there are of everything."""
    errata = [entry for entry in result.numbers if not entry.agrees]
    failing = [verdict for _, verdict in result.verdicts if not verdict.holds]
    return {
        "numbers": len(result.numbers),
        "errata": len(errata),
        "errata_that_expose": sum(entry.exposes for entry in errata),
        "figures": len(result.pictures),
        "statements": len(result.verdicts),
        "statements_that_fail": len(failing),
        "cases": sum(verdict.printed.cases for _, verdict in result.verdicts),
    }


def _number(entry: Number) -> dict[str, Any]:
    return {
        "key": entry.key,
        "section": str(entry.section),
        "source": entry.source,
        "what": entry.what,
        "draft": entry.draft,
        "draft_as_written": entry.shown,
        "draft_is_implied": entry.implied,
        "computed": entry.computed,
        "verdict": "agrees" if entry.agrees else "erratum",
        "exposes": entry.exposes and not entry.agrees,
        "why": "" if entry.agrees else entry.why,
        "note": entry.note,
        "seed": entry.seed,
    }


def _picture(picture: Picture) -> dict[str, Any]:
    return {**asdict(picture), "section": str(picture.section)}


def _verdict(section: Section, verdict: Verdict) -> dict[str, Any]:
    return {
        **asdict(verdict.statement),
        "covered": verdict.statement.tested,
        "section": str(section),
        "verdict": "holds" if verdict.holds else "fails",
        "cases": verdict.printed.cases,
        "failures": verdict.printed.failures,
        "smallest_counterexample": verdict.printed.first_failure,
        "correction": None if verdict.correction is None else asdict(verdict.correction),
    }
