"""What the theme leaves out: for readers, and for people with a keyboard or a screen reader.

Lines end within "ε = 1" and "± 7 people". Its captions have no level as headings, its two sidebars
no names, and blocks of code and tables that are wider than the page cannot be scrolled without a
pointer.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from krand.showing import unbroken_html

MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
    '<div class="highlight"><pre>': '<div class="highlight"><pre tabindex="0">',
    '<table class="docutils': '<table tabindex="0" class="docutils',
}


def mend(app: Sphinx, failed: Exception | None) -> None:
    """Change every page that was written."""
    if failed is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for found, better in MENDED.items():
            text = text.replace(found, better)
        page.write_text(unbroken_html(text), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Run at the end of a build; a page that was not written anew stays as it is."""
    app.connect("build-finished", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
