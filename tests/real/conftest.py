"""One browser for all tests with real parts, and visits that watch what a page does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from components import missing, require
from real.browser.visiting import Visit, visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BUILD = Path(__file__).parents[2] / "build"
AXE = Path(os.environ.get("KRAND_AXE") or BUILD / "node_modules" / "axe-core" / "axe.min.js")
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",  # for machines where tests run as root; the pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # whatever a page tries
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, once: a second playwright of one process would not start beside the first."""
    require("playwright")
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        missing("chromium", f"none of {', '.join(PROGRAMS)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Begins a visit; each is checked when the test is over."""
    with ExitStack() as visits:

        def begin(*place: Any, **options: Any) -> Visit:
            return visits.enter_context(visiting(browser, axe, *place, **options))

        yield begin


def axe() -> str:
    """The source of axe-core, which is no part of krand."""
    if not AXE.is_file():
        missing("axe-core", "npm install --prefix build axe-core@4")
    return AXE.read_text(encoding="utf-8")
