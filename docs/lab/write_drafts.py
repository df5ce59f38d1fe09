"""Write docs/lab/drafts.md from what `krand-lab drafts` finds: `make drafts`."""

from __future__ import annotations

from pathlib import Path

from krand_lab.reproduction.entries import Section
from krand_lab.reproduction.findings import findings_of
from krand_lab.reproduction.markdown import drafts_markdown
from krand_lab.reproduction.tasks import reproduce, tasks
from krand_lab.reproduction.values import document

PAGE = Path(__file__).with_name("drafts.md")


def main() -> None:
    """Compute everything, then replace the page."""
    sections = tuple(Section)
    result = reproduce(sections, tasks(sections))
    PAGE.write_text(drafts_markdown(document(result, findings_of(result))), encoding="utf-8")
    print(f"wrote docs/lab/{PAGE.name}")


if __name__ == "__main__":  # the worker processes import this file too
    main()
