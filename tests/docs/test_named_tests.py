"""Pages that claim something name its test: there must be such a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.claims import prose
from docs.pages import pages

TESTS = Path(__file__).parents[1]
PAGES = TESTS.parent / "docs" / "explanation"
PAGES_ON_TRUST = [
    *(page for page in pages() if page.name != "words.md"),  # it lists old wordings
    TESTS.parent / "SECURITY.md",
]
NAMED = re.compile(r"`(?:tests/)?((?:\w+/)*test_\w+\.py)?(?:::(test_\w+))?`")


def named_in(page: str) -> list[tuple[str, str]]:
    """File and test of every name; one without a file is of the file named before it."""
    found, last = [], ""
    for match in NAMED.finditer((PAGES / page).read_text(encoding="utf-8")):
        file, test = match[1] or "", match[2] or ""
        if not file and not test:
            continue
        last = file or last
        found.append((last, test))
    return found


@pytest.mark.parametrize(("page", "least"), [("reliability.md", 40), ("threat-model.md", 50)])
def test_every_test_that_a_page_names_exists(page: str, least: int) -> None:
    names = named_in(page)
    assert len(names) >= least
    for file, test in names:
        content = (TESTS / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in content, f"{file}::{test}"


def test_every_row_of_reliability_names_a_test() -> None:
    """Whatever is said to have been tried can be tried again."""
    text = (PAGES / "reliability.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    heads = ("| fault ", "| what was tried ", "| attack ")
    for row in rows:
        assert row.startswith(heads) or NAMED.search(row.rsplit("|", 2)[1]), row


def test_every_rule_of_a_mixer_names_tests_of_that_rule() -> None:
    """Nine rules, each with a test whose name has its number."""
    text = (PAGES / "threat-model.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d)\. \*\*.*$", text, re.M)
    assert rows == [str(number) for number in range(1, 10)]
    for row in re.findall(r"^\| \d\. \*\*.*$", text, re.M):
        names = NAMED.findall(row.rsplit("|", 2)[1])
        assert any(test.startswith(f"test_rule_{row[2]}_") for _, test in names), row


@pytest.mark.parametrize("page", PAGES_ON_TRUST, ids=lambda page: page.stem)
def test_who_warns_of_collector_and_analyst_names_mixers(page: Path) -> None:
    """A promise need not fall if the two work together: the survey can let mixers add the noise."""
    if re.search(r"[Cc]ollector and (an )?analyst", prose(page)):
        assert "ixer" in prose(page)
