"""Write what people see of the generated reference where they read it in the repository.

    python docs/write_reference.py

Names and commands, each with the first line about it. Built pages have the whole text instead.
"""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parent
WRITERS = ("api_reference", "command_reference")


def pages() -> dict[Path, str]:
    """The pages of the reference as they should be."""
    found = {page: page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md")}
    for name in WRITERS:
        names = runpy.run_path(str(DOCS / "extensions" / f"{name}.py"))
        found = {page: names["PLACE"].sub(names["listed"], text) for page, text in found.items()}
    return found


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
