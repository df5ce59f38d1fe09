"""The client in node and in a browser, asked the same questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from javascript import FOLDER, asked, built_internals
from origin import running_origin

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Ask = Callable[[list[dict[str, Any]]], list[Any]]
IN_PAGE = """async (text) => {
  const krand = await import("/internals.js");
  const { ABOUT_VECTORS } = await import("/cases.mjs");
  const told = [];
  for (const { ask, ...given } of JSON.parse(text)) {
    told.push(await ABOUT_VECTORS[ask](krand, given));
  }
  return JSON.stringify(told);
}"""


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
