"""A console that shows text literally: no markup, no control sequences.

Labels, titles, names, paths and values come from files and users. All output of krand passes
through here, so that no caller has to escape it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import TextColumn
from rich.segment import Segment
from rich.text import Text

from krand.mistakes import visible
from krand.showing import NO_BREAK, unbroken

JOINT = "\ue000"
"""A character for private use, as wide as a space, that stands for one within a line."""


class PlainConsole(Console):
    """rich's console without markup; styles are set on `Text` objects."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich's own, before anything is measured."""
        return super().render_str(_joined(visible(text)), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As rich's own, but control characters in `Text` objects become visible too."""
        if isinstance(renderable, Text):
            renderable = renderable.copy()
            renderable.plain = _joined(renderable.plain)
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else visible(segment.text.replace(JOINT, " "))
            yield segment if shown == segment.text else segment._replace(text=shown)


def _joined(text: str) -> str:
    """A text whose pairs of number and sign are one word while rich divides it into lines.

    rich ends lines at no-break spaces too. What is printed has spaces, which people search for.
    """
    return unbroken(text, JOINT).replace(NO_BREAK, JOINT)


def plain_column(text: str) -> TextColumn:
    """A column of a progress bar, without markup."""
    return TextColumn(text, markup=False)
