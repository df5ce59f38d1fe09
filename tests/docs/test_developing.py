"""Pages name files and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.pages import ROOT

HERE = ROOT / "docs" / "developing"
EXPLAINED = ROOT / "docs" / "explanation"
NAMED = re.compile(r"`((?:src|tests|docs|benchmarks|deploy|examples|clients)/[\w./-]+)`")
"""A path; a name with a * or a blank is none."""
TESTS = re.compile(r"`(?:tests/)?((?:\w+/)*test_\w+\.py)?(?:::(test_\w+))?`")


@pytest.mark.parametrize("page", sorted(HERE.glob("*.md")), ids=lambda page: page.name)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    """Moved files take the page with them."""
    named = NAMED.findall(page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["reliability.md", "threat-model.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    """Who doubts a row can run its test; a name without a file is of the file named before it."""
    text = ""
    for file, test in TESTS.findall((EXPLAINED / page).read_text(encoding="utf-8")):
        if file:
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in text, f"{file}::{test}"
