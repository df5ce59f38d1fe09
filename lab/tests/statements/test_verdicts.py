"""Every statement fares as docs/lab/drafts.md says: verdict, range, cases and counterexample.

Those that take long are in `lab/tests/reproduction`, which compares the complete page; those on
the worst collection also run over fewer users beside this file.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from latex2mathml.converter import convert

from krand_lab.reproduction.entries import Section
from krand_lab.reproduction.markdown import drafts_markdown
from krand_lab.reproduction.statements import verdict as verdict_of
from krand_lab.reproduction.tasks import Reproduction
from krand_lab.reproduction.values import document
from krand_lab.statements.verdict import Verdict, keys_of

PAGE = Path(__file__).parents[3] / "docs" / "lab" / "drafts.md"
HEADING = "### Statements\n\n"
LONG = ("001-1.2-claim-1", "001-5.", "001-5-set-bits")
SLOW = ("001-3.1-", "001-3.13", "001-3.17", "001-5-remark", "002-3.1", "002-3.5", "002-maximal")
SLOW += ("003-3-record-taken", "003-4.2", "003-4.5", "003-5.5-products")
SLOW += ("003-6.17", "003-7.2", "003-9.3", "003-theorem-4.1", "001-8.20", "001-1.2-claim-2")
SLOW += ("002-lemma-4.2", "000-1.2-1.3")
KEYS = [key for section in Section for key in keys_of(section) if not key.startswith(LONG + SLOW)]


@pytest.mark.parametrize("key", KEYS)
def test_verdict(key: str) -> None:
    """A false one has a right correction, and the page says all of it and can set all texts."""
    verdict = verdict_of(key)
    assert verdict.statement.key == key
    assert verdict.statement.source.startswith(key[:3])
    assert verdict.printed.cases >= 30
    assert verdict.holds == (verdict.printed.first_failure is None)
    assert verdict.holds == (not verdict.statement.corrected) == (verdict.correction is None)
    if verdict.correction is not None:
        assert verdict.correction.cases >= 30
        assert verdict.correction.failures == 0, verdict.correction.first_failure
    check_texts(verdict)
    check_documented(verdict)


def check_documented(verdict: Verdict) -> None:
    """docs/lab/drafts.md says all of it; `make drafts` brings it up to date."""
    section = Section.SINGLE_BIT  # of any section: only what stands below the heading is compared
    result = Reproduction((section,), (), (), ((section, verdict),))
    _, _, folded = drafts_markdown(document(result, ())).partition(HEADING)
    words = folded.partition("</summary>\n")[2].partition("</details>")[0].strip()
    assert verdict.statement.says in words
    assert words in _page()


def check_texts(verdict: Verdict) -> None:
    said, printed = verdict.statement, verdict.printed
    assert said.says
    assert said.covered
    for text in (said.source, said.says, said.covered, said.comment, said.corrected):
        check_formulas(text)
    check_formulas(printed.first_failure or "")


def check_formulas(text: str) -> None:
    """Dollars come in pairs, what is between them is LaTeX, what is not has no backslash."""
    pieces = text.split("$")
    assert len(pieces) % 2 == 1, text
    assert not any(set("\\_^{}") & set(prose) for prose in pieces[::2]), text
    assert "  " not in text
    for formula in pieces[1::2]:
        assert "\\" not in re.sub(r"<[^>]*>", "", convert(formula)), formula


@cache
def _page() -> str:
    return PAGE.read_text(encoding="utf-8")
