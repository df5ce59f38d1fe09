"""The client in node and in a browser, asked the same questions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from components import missing, require
from javascript import FOLDER, asked, built_internals
from origin import running_origin

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Ask = Callable[[list[dict[str, Any]]], list[Any]]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
ARGUMENTS += ["--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.*"]
IN_PAGE = """async (text) => {
  const krand = await import("/internals.js");
  const { ABOUT_VECTORS } = await import("/cases.mjs");
  const told = [];
  for (const { ask, ...given } of JSON.parse(text)) {
    told.push(await ABOUT_VECTORS[ask](krand, given));
  }
  return JSON.stringify(told);
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; it ends with its module, because nothing else can start an event loop meanwhile."""
    require("playwright")
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        missing("chromium", f"none of {', '.join(PROGRAMS)} is installed")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(params=["node", "chromium"])
def ask(request: pytest.FixtureRequest) -> Iterator[Ask]:
    """Puts questions to the client, there."""
    if request.param == "node":
        yield asked
        return
    running: Browser = request.getfixturevalue("browser")
    files = (built_internals(), FOLDER / "test" / "cases.mjs")
    with running_origin({path.name: path.read_bytes() for path in files}) as origin:
        page = running.new_page()
        page.goto(origin.url)
        # As text: JSON can say lone surrogates, which a browser's protocol cannot.
        yield lambda questions: json.loads(page.evaluate(IN_PAGE, json.dumps(questions)))
        page.close()
