"""Draw static/flow.svg and static/flow-narrow.svg: `.venv/bin/python docs/draw_flow.py`.

The same five steps twice: side by side for a screen, one below the other for a phone. A test fails
when the pictures are not those that this file draws.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent / "static"

# A background of its own: readable on any page, also where the reader changes the page's colours.
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #57606a }
  .name { font-size: 15px; font-weight: 600; fill: #1b1f24 }
  .sees { fill: #00694f; font-weight: 600 }
  .paper { fill: #ffffff }
  .thing { fill: #eef1f4; stroke: #57606a; stroke-width: 1.5 }
  .on { fill: #0072b2 }
  .off { fill: #ffffff; stroke: #8c959f }
  .flip { fill: #ffd9bf; stroke: #b34700; stroke-width: 2 }
  .dummy { fill: none; stroke: #b34700; stroke-width: 1.5; stroke-dasharray: 3 2 }
  .line { stroke: #57606a; stroke-width: 1.5; fill: none }
  .head { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    text { fill: #a9b2bc }
    .name { fill: #e6e8eb }
    .sees { fill: #4fd3a8 }
    .paper { fill: #14181d }
    .thing { fill: #262c33; stroke: #a3abb5 }
    .on { fill: #5cb8f0 }
    .off { fill: #14181d; stroke: #6b7480 }
    .flip { fill: #59341c; stroke: #ff9a57 }
    .dummy { stroke: #ff9a57 }
    .line { stroke: #a3abb5 }
    .head { fill: #a3abb5 }
  }
"""


class Step(NamedTuple):
    """What is drawn, who does it, what is done, and what this party cannot see."""

    icon: str
    name: str
    does: tuple[str, ...]
    sees: tuple[str, ...]


STEPS = (
    Step(
        "survey", "Survey", ("You write questions", "and a promise."), ("krand plans the", "noise")
    ),
    Step(
        "device",
        "Device",
        ("Flips some bits at", "random, seals them all."),
        ("nobody can tell", "which ones"),
    ),
    Step(
        "collector",
        "Collector",
        ("Drops names and order,", "waits for the crowd."),
        ("cannot open", "anything"),
    ),
    Step(
        "analyst",
        "Analyst",
        ("Counts, and corrects", "for the noise."),
        ("gets no names,", "no order"),
    ),
    Step(
        "report", "Report", ("Totals with margins", "of error."), ("states the proven", "promise")
    ),
)
MIXERS = (
    "Or mixers add the noise, as dummy messages:",
    "one honest mixer is enough, in a crowd of any size.",
)
TITLE = "How krand works: " + "; ".join(
    f"{step.name}: {' '.join(step.does)} {' '.join(step.sees)}" for step in STEPS
)


def _rect(x: float, y: float, width: float, height: float, kind: str, round_: float = 3) -> str:
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect class="{kind}" {place} rx="{round_:g}"/>'


def _path(kind: str, drawn: str) -> str:
    return f'<path class="{kind}" d="{drawn}"/>'


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(text)}</text>'


def _bits(x: float, y: float, kinds: tuple[str, ...]) -> list[str]:
    return [_rect(x + 13 * place, y, 10, 10, kind, 2) for place, kind in enumerate(kinds)]


def _envelope(x: float, y: float, kind: str = "thing") -> list[str]:
    flap = "line" if kind == "thing" else kind
    return [_rect(x, y, 26, 17, kind), _path(flap, f"M{x:g} {y + 1:g}l13 9 13 -9")]


def _survey(x: float, y: float) -> list[str]:
    """A sheet with questions."""
    parts = [_rect(x + 22, y, 56, 72, "thing")]
    for row, kind in enumerate(("on", "off", "off")):
        top = y + 12 + 20 * row
        parts += [_rect(x + 30, top, 10, 10, kind, 2), _path("line", f"M{x + 47:g} {top + 5:g}h23")]
    return parts


def _device(x: float, y: float) -> list[str]:
    """A phone; of four bits one is flipped."""
    return [
        _rect(x + 18, y - 2, 64, 76, "thing", 8),
        *_bits(x + 25, y + 12, ("on", "off", "off", "on")),
        _path("line", f"M{x + 50:g} {y + 27:g}v12"),
        _path("head", f"M{x + 45:g} {y + 38:g}h10l-5 7z"),
        *_bits(x + 25, y + 50, ("on", "off", "flip", "on")),
    ]


def _collector(x: float, y: float) -> list[str]:
    """Envelopes that change places; one of them is nobody's."""
    parts = [*_envelope(x, y + 2), *_envelope(x, y + 28), *_envelope(x, y + 54)]
    for begin, end in ((10, 37), (36, 63), (62, 10)):
        parts.append(
            _path(
                "line",
                f"M{x + 31:g} {y + begin:g}C{x + 52:g} {y + begin:g} "
                f"{x + 48:g} {y + end:g} {x + 69:g} {y + end:g}",
            )
        )
    return [
        *parts,
        *_envelope(x + 74, y + 2),
        *_envelope(x + 74, y + 28),
        *_envelope(x + 74, y + 54),
    ]


def _analyst(x: float, y: float) -> list[str]:
    """Counts whose part that is noise is taken off."""
    parts = [_path("line", f"M{x + 10:g} {y + 72:g}h80")]
    for place, (true, noise) in enumerate(((46, 14), (22, 14), (34, 14))):
        left = x + 18 + 24 * place
        parts.append(_rect(left, y + 72 - true, 16, true, "on", 1))
        parts.append(_rect(left, y + 72 - true - noise, 16, noise, "dummy", 1))
    return parts


def _report(x: float, y: float) -> list[str]:
    """A page with bars and their intervals."""
    parts = [_rect(x + 10, y, 80, 72, "thing")]
    for row, width in enumerate((50, 26, 38)):
        top, end = y + 12 + 19 * row, x + 20 + width
        parts += [
            _rect(x + 20, top, width, 10, "on", 1),
            _path("line", f"M{end - 7:g} {top + 5:g}h14m0 -4v8m-14 0v-8"),
        ]
    return parts


ICONS = {
    "survey": _survey,
    "device": _device,
    "collector": _collector,
    "analyst": _analyst,
    "report": _report,
}


def wide() -> str:
    """Side by side."""
    width, column = 800, 160
    parts = []
    for place, step in enumerate(STEPS):
        middle = column * place + column / 2
        parts += ICONS[step.icon](middle - 50, 22)
        parts.append(_text(middle, 122, step.name, "name", "middle"))
        for kind, top, lines in (("", 143, step.does), ("sees", 181, step.sees)):
            for row, line in enumerate(lines):
                parts.append(_text(middle, top + 17 * row, line, kind, "middle"))
        if place:
            left = column * place
            parts.append(_path("line", f"M{left - 18:g} 58h26"))
            parts.append(_path("head", f"M{left + 7:g} 52v12l10 -6z"))
    parts += _mixers(214, 222)
    return _svg(width, 270, parts)


def narrow() -> str:
    """One below the other."""
    width, row_height = 340, 118
    parts = []
    for place, step in enumerate(STEPS):
        top = row_height * place + 16 + (52 if place > 2 else 0)
        parts += ICONS[step.icon](12, top)
        lines = [(step.name, "name"), *((line, "") for line in step.does)]
        lines.append((" ".join(step.sees), "sees"))
        for row, (line, kind) in enumerate(lines):
            parts.append(_text(128, top + 14 + 19 * row, line, kind, "start"))
        if place:
            parts.append(_path("line", f"M62 {top - 34:g}v12"))
            parts.append(_path("head", f"M56 {top - 23:g}h12l-6 9z"))
    parts += _mixers(
        12,
        row_height * 3 - 8,
        ("Or mixers add noise, as dummies:", "one honest mixer is enough."),
    )
    return _svg(width, row_height * len(STEPS) + 36, parts)


def _mixers(x: float, y: float, lines: tuple[str, ...] = MIXERS) -> list[str]:
    parts = [*_envelope(x, y), *_envelope(x + 18, y + 12, "dummy"), *_envelope(x + 36, y, "dummy")]
    for row, line in enumerate(lines):
        parts.append(_text(x + 76, y + 12 + 18 * row, line, "", "start"))
    return parts


def _svg(width: int, height: int, parts: list[str]) -> str:
    head = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {head}>',
        f"<title>{escape(TITLE)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}" rx="8"/>',
        *parts,
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def pictures() -> dict[str, str]:
    """Both files, by their names."""
    return {"flow.svg": wide(), "flow-narrow.svg": narrow()}


if __name__ == "__main__":
    for name, drawn in pictures().items():
        (HERE / name).write_text(drawn, encoding="utf-8")
        print(f"wrote docs/static/{name}")
