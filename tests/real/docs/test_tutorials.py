"""Every command of the tutorials is run, and does what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from real.docs.pages import name_of, run_pages
from real.docs.running import run_page


@pytest.mark.parametrize("page", run_pages(tutorials=True), ids=name_of)
def test_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    """In an empty folder, with nothing but the files that the page itself makes."""
    run_page(page, tmp_path)
