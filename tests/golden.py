"""Golden texts: what people read, kept word for word; a change of wording is a diff to be read.

    golden("report/kinds", text)        # in a test: equal to tests/golden/texts/report/kinds.txt
    pytest --update-golden              # writes what is there now

A text is kept without what differs from run to run: `hide` says what is hidden by what name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import unified_diff
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden" / "texts"
EVERYWHERE = {
    r"\b[0-9a-f]{64}\b": "<sha256>",
    r"\b[0-9a-f]{32}\b": "<id>",
    r"/tmp/[^\s\"'<>:,]*": "<folder>",
    r"127\.0\.0\.1:\d+": "127.0.0.1:<port>",
}
"""What differs from run to run in most texts."""

Golden = Callable[..., None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden texts anew")


def hidden(text: str, hide: Mapping[str, str]) -> str:
    """The text with a name in place of everything that matches; no space at the end of a line."""
    for pattern, name in {**hide, **EVERYWHERE}.items():
        text = re.sub(pattern, name, text)
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a text with the kept one, or writes it."""

    def compare(name: str, text: str, hide: Mapping[str, str] | None = None) -> None:
        path, found = FOLDER / f"{name}.txt", hidden(text, hide or {})
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"no golden text {name}: pytest --update-golden writes it", pytrace=False)
        kept = path.read_text(encoding="utf-8")
        if found != kept:
            lines = unified_diff(
                kept.splitlines(), found.splitlines(), "kept", "now", n=1, lineterm=""
            )
            head = f"golden text {name} differs (pytest --update-golden writes it):"
            pytest.fail("\n".join([head, *lines]), pytrace=False)

    return compare
