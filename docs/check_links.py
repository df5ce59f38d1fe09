"""Check that every relative link in the Markdown pages leads to a file, and to a heading in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


def pages() -> list[Path]:
    """Every page of the repository that people read."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return top + sorted((ROOT / "benchmarks").glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    found: dict[str, int] = {}
    names = set()
    for heading in HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        names.add(slug if slug not in found else f"{slug}-{found[slug]}")
        found[slug] = found.get(slug, 0) + 1
    return names


def broken(page: Path) -> list[str]:
    """Every relative link of the page that leads nowhere."""
    text = INLINE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))
    bad = []
    for target in (unquote(a or b) for a, b in LINK.findall(text)):
        if re.match(r"[a-z][a-z0-9+.-]*:|//", target, re.IGNORECASE):
            continue
        path, _, anchor = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        if not goal.exists() or (anchor and goal.suffix == ".md" and anchor not in anchors(goal)):
            bad.append(f"{page.relative_to(ROOT)}: {target} leads nowhere")
    return bad


def main() -> int:
    checked = pages()
    bad = [line for page in checked for line in broken(page)]
    for line in bad:
        print(line, file=sys.stderr)
    print(f"{len(checked)} pages, {len(bad)} broken links")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
