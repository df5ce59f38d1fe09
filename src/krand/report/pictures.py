"""Charts as pictures to keep: SVG documents in links, so that a page needs no script and no server.

A picture says by itself what it shows, of how many people, and whether these are simulated.
"""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import escape

from krand.analysis.results import Results
from krand.batches.provenance import Provenance
from krand.report.answers import AnswerRow
from krand.report.figures import WIDTH, Part
from krand.report.joint import SHADES, Crossed
from krand.report.languages import Language
from krand.report.questions import QuestionView

ACROSS, MARGIN, LINE = 760, 20, 24
LABELS, BARS = 240, 330
"""Where labels end, and how long bars are."""
INK, FAINT, GROUND, BLUE = "#1c2128", "#57606a", "#eef0f3", "#0072b2"
TONES = {
    "low-strong": "#d9a27f",
    "low": "#ebcdba",
    "mid": "#d5d9de",
    "high": "#b8d9eb",
    "high-strong": "#80b9d9",
    "silent": "#eef0f3",
}
TITLE, BELOW, LABEL = 62, 100, 34
"""Characters of a line."""


@dataclass(frozen=True, slots=True)
class Drawer:
    """Draws charts of one page."""

    survey: str
    results: Results
    language: Language

    def question(self, view: QuestionView) -> str:
        """A link's address: the answers of a question; empty if there are none."""
        answers = view.answers
        if answers is None:
            return ""
        boxes = " · ".join(f"{box.share} {box.name}" for box in view.boxes if box.values)
        drawn = _Drawing(view.title, boxes or view.caption)
        if answers.parts:
            drawn.stack(answers.parts)
        drawn.rows(answers.rows, bars=not answers.parts)
        return self._link(drawn)

    def crossed(self, table: Crossed) -> str:
        """The same for the answers to a question by the answers to another."""
        drawn = _Drawing(table.summary, table.caption)
        drawn.grid(table)
        return self._link(drawn)

    def name(self, anchor: str) -> str:
        """Of the file that a browser keeps."""
        survey = re.sub(r"[^\w.-]+", "-", self.results.plan.survey.id, flags=re.ASCII)
        return f"{survey}-{anchor}.svg"

    def _link(self, drawn: _Drawing) -> str:
        own, whole = self.language.texts.pictures, self.language.numbers.whole
        simulated = self.results.provenance is Provenance.SIMULATION
        mark = self.language.texts.badges.simulation if simulated else ""
        source = own.source.format(survey=self.survey, people=whole(self.results.people))
        encoded = base64.b64encode(drawn.document(source, mark).encode()).decode()
        return f"data:image/svg+xml;base64,{encoded}"


class _Drawing:
    """An SVG document that grows downwards."""

    def __init__(self, title: str, below: str) -> None:
        self.parts: list[str] = []
        self.down: float = MARGIN
        for line in textwrap.wrap(title, TITLE, max_lines=4, placeholder=" …"):
            self.text(MARGIN, line, 'font-size="20" font-weight="600"', 27)
        for line in textwrap.wrap(below, BELOW, max_lines=2, placeholder=" …"):
            self.text(MARGIN, line, f'font-size="13" fill="{FAINT}"', 20)
        self.down += 8

    def text(self, left: float, text: str, style: str = "", height: float = 0) -> None:
        """A line of text; the next one is so much lower."""
        place = f'x="{left:g}" y="{self.down + 17:g}"'
        self.parts.append(f"<text {place} {style}>{escape(text)}</text>")
        self.down += height

    def box(self, left: float, width: float, fill: str, height: float = 16) -> None:
        """A filled box on the line."""
        size = f'width="{width:.4g}" height="{height:g}"'
        self.parts.append(f'<rect x="{left:.4g}" y="{self.down + 4:g}" {size} fill="{fill}"/>')

    def stack(self, parts: Sequence[Part]) -> None:
        """All answers as one bar."""
        length, left = ACROSS - 2 * MARGIN, float(MARGIN)
        for part in parts:
            width = length * part.width / 100
            self.box(left, width, TONES[part.tone], 30)
            said = next((t for t in (part.whole, part.share) if width > 8 * len(t)), "")
            self.down += 7
            self.text(left + width / 2, said, 'text-anchor="middle"')
            self.down -= 7
            left += width
        self.down += 44

    def rows(self, rows: Sequence[AnswerRow], *, bars: bool) -> None:
        """A line for each answer, with its bar or its colour in the bar above."""
        for row in rows:
            fill = FAINT if row.aside or not row.readable else INK
            for line in _wrapped(row.label):
                self.text(MARGIN + 22 * (not bars), line, f'fill="{fill}"')
                self.down += LINE
            self.down -= LINE
            if bars:
                self._bar(row)
            else:
                self.box(MARGIN, 14, TONES[row.tone], 14)
            self.text(LABELS + BARS + 40, row.share, f'font-weight="600" fill="{fill}"')
            self.text(LABELS + BARS + 110, row.interval, f'font-size="12" fill="{FAINT}"', LINE)

    def _bar(self, row: AnswerRow) -> None:
        left, unit, drawn = LABELS + 30, BARS / WIDTH, row.bar
        self.box(left, BARS, GROUND)
        self.box(left, drawn.length * unit, "#9aa4af" if row.aside else "#73b0d3")
        y, low, high = self.down + 12, left + drawn.low * unit, left + drawn.high * unit
        ends = f"M{low:.4g} {y - 5:g}v10M{low:.4g} {y:g}H{high:.4g}M{high:.4g} {y - 5:g}v10"
        self.parts.append(f'<path d="{ends}" stroke="{INK}" fill="none"/>')

    def grid(self, table: Crossed) -> None:
        """Shares of each row, with its tints."""
        width = (ACROSS - 2 * MARGIN - LABELS) / len(table.columns)
        for place, name in enumerate(table.columns):
            self._cell(place, width, name, f'font-size="11" fill="{FAINT}"')
        self.down += LINE
        for label, cells in table.rows:
            self.text(MARGIN, _cut(label, LABELS), "")
            for place, cell in enumerate(cells):
                shade = cell.shade * cell.readable
                tint = f'{BLUE}" fill-opacity="{shade * 0.45 / SHADES:.2f}'
                self.box(MARGIN + LABELS + place * width, width - 2, tint, LINE - 2)
                self.down += 3
                self._cell(place, width, cell.text, "" if cell.readable else f'fill="{FAINT}"')
                self.down -= 3
            self.down += LINE

    def _cell(self, place: int, width: float, text: str, style: str) -> None:
        centre = MARGIN + LABELS + (place + 0.5) * width
        self.text(centre, _cut(text, width), f'text-anchor="middle" {style}')

    def document(self, source: str, mark: str) -> str:
        """The whole picture; a mark stands across it and below it."""
        self.down += 10
        below = f"{source} · {mark}" if mark else source
        for line in textwrap.wrap(below, BELOW, max_lines=2, placeholder=" …"):
            self.text(MARGIN, line, f'font-size="12" fill="{FAINT}"', 18)
        height = self.down + 12
        across = ""
        if mark:
            turned = f'transform="rotate(-8 {ACROSS / 2:g} {height / 2:g})" text-anchor="middle"'
            style = f'font-size="40" font-weight="700" fill="{INK}" fill-opacity=".13"'
            place = f'x="{ACROSS / 2:g}" y="{height / 2:g}"'
            across = f"<text {place} {turned} {style}>{escape(mark)}</text>"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {ACROSS} {height:g}"'
            f' width="{ACROSS}" height="{height:g}" font-family="system-ui, sans-serif"'
            f' font-size="14" fill="{INK}"><rect width="100%" height="100%" fill="#fff"/>'
            f"{''.join(self.parts)}{across}</svg>"
        )


def _wrapped(label: str) -> Iterator[str]:
    """Up to two lines; at least one."""
    yield from textwrap.wrap(label, LABEL, max_lines=2, placeholder=" …") or [""]


def _cut(text: str, width: float) -> str:
    most = max(4, int(width / 7))
    return text if len(text) <= most else f"{text[: most - 1]}…"
