"""What every statement put to the test is held to."""

from __future__ import annotations

from krand.drafts.statements.verdict import Verdict

__all__ = ["check_verdict"]


def check_verdict(verdict: Verdict, key: str, least_cases: int, counterexample: str | None) -> None:
    """It meets the expected fate, and a correction holds without exception."""
    assert verdict.statement.key == key
    assert verdict.printed.cases >= least_cases
    assert verdict.printed.first_failure == counterexample
    assert verdict.holds == (counterexample is None)
    assert (verdict.correction is None) == verdict.holds == (not verdict.statement.corrected)
    if verdict.correction is not None:
        assert verdict.correction.cases > 0
        assert verdict.correction.failures == 0
