"""A terminal that shows text as it is: never markup, never a command to the terminal.

Labels, titles, names, paths and values come from files and from users. Everything that krand shows
passes here, so nobody has to remember to escape them.
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
    """rich's console without its markup; styles are given to `Text`, not written into texts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich's own, before anything is measured."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As rich's own; what came as `Text` is made harmless too, and may be cut off."""
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else visible(segment.text)
            yield segment if shown == segment.text else segment._replace(text=shown)


def plain_column(text: str) -> TextColumn:
    """A column of a progress bar whose text is no markup."""
    return TextColumn(text, markup=False)
