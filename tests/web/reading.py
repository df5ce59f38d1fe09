"""Numbers and words read back from a page of `krand web`."""

from __future__ import annotations

import html
import re


def value_of(page: str, name: str) -> float:
    """The exact number behind what an element shows."""
    found = re.search(rf'id="{re.escape(name)}"[^>]* data-value="([^"]*)"', page)
    assert found is not None, f"no number {name}"
    return float(found[1])


def text_of(page: str, name: str) -> str:
    """The words of an element, without tags; apostrophes as texts have them."""
    found = re.search(rf'<(\w+)[^>]*\bid="{re.escape(name)}"[^>]*>(.*?)</\1>', page, re.DOTALL)
    assert found is not None, f"no element {name}"
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", found[2])).replace("’", "'").split())
