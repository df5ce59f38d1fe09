"""What every statement put to the test is held to."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from krand_lab.reproduction.entries import Section
from krand_lab.reproduction.markdown import drafts_markdown
from krand_lab.reproduction.tasks import Reproduction
from krand_lab.reproduction.values import document
from krand_lab.statements.verdict import Verdict

__all__ = ["check_documented", "check_verdict"]

PAGE = Path(__file__).parents[2] / "docs" / "lab" / "drafts.md"
HEADING = "### Statements\n\n"


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


def check_documented(verdict: Verdict) -> None:
    """docs/lab/drafts.md says all of it; `make drafts` brings it up to date."""
    section = Section.SINGLE_BIT  # of any section: only what stands below the heading is compared
    result = Reproduction((section,), (), (), ((section, verdict),))
    _, _, folded = drafts_markdown(document(result, ())).partition(HEADING)
    words = folded.partition("</summary>\n")[2].partition("</details>")[0].strip()
    assert verdict.statement.says in words
    assert words in _page()


@cache
def _page() -> str:
    return PAGE.read_text(encoding="utf-8")
