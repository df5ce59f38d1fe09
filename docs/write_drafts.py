"""Write docs/drafts.md from what `krand drafts` finds: `make drafts`."""

from __future__ import annotations

from pathlib import Path

from krand.drafts.reproduction.entries import Section
from krand.drafts.reproduction.findings import findings_of
from krand.drafts.reproduction.markdown import drafts_markdown
from krand.drafts.reproduction.tasks import reproduce, tasks
from krand.drafts.reproduction.values import document

PAGE = Path(__file__).with_name("drafts.md")


def main() -> None:
    """Compute everything, then replace the page."""
    sections = tuple(Section)
    result = reproduce(sections, tasks(sections))
    PAGE.write_text(drafts_markdown(document(result, findings_of(result))), encoding="utf-8")
    print(f"wrote docs/{PAGE.name}")


if __name__ == "__main__":  # the worker processes import this file too
    main()
