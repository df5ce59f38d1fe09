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

from krand.survey.rules import visible

__all__ = ["PlainConsole", "plain_column"]


class PlainConsole(Console):
    """rich's console without markup; styles are set on `Text` objects."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich's own, before anything is measured."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As rich's own, but control characters in `Text` objects become visible too."""
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else visible(segment.text)
            yield segment if shown == segment.text else segment._replace(text=shown)


def plain_column(text: str) -> TextColumn:
    """A column of a progress bar, without markup."""
    return TextColumn(text, markup=False)
