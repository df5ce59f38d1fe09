"""Draw rooms.svg and data.svg of this folder: `.venv/bin/python docs/developing/draw_rooms.py`.

The rooms, their order and what a device needs come from import-linter's contracts in
pyproject.toml; a test fails when the pictures are older than the contracts.
"""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1] / "pyproject.toml"

# A background of its own: readable on any page, also where the reader changes the page's colours.
STYLE = """
  text { font: 14px system-ui, sans-serif; fill: #1b1f24 }
  .note { font-size: 12px; fill: #57606a }
  .mono { font-family: ui-monospace, monospace }
  .paper { fill: #ffffff }
  .room { fill: #eef1f4; stroke: #8c959f }
  .device { fill: #d7ecdd; stroke: #3d8b57 }
  .line { stroke: #57606a; stroke-width: 1.5; fill: none }
  .head { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e8eb }
    .note { fill: #a3abb5 }
    .paper { fill: #14181d }
    .room { fill: #262c33; stroke: #6b7480 }
    .device { fill: #1d3d29; stroke: #57b377 }
    .line { stroke: #a3abb5 }
    .head { fill: #a3abb5 }
  }
"""

WAY = (
    ("survey.toml", "krand plan"),
    ("plan.json", "devices flip: and seal"),
    ("messages", "krand serve: krand release"),
    ("batch.parquet", "krand tally"),
    ("tally.json", "krand estimate"),
    ("results.json", "krand report"),
    ("report.html", ""),
)
"""Each file or stream, and what makes the next one of it; a colon breaks the line."""


def contracts() -> tuple[list[str], set[str]]:
    """The rooms, highest first, and those that run on a device."""
    found = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    named = {contract["id"]: contract for contract in found}
    device = {module.removeprefix("krand.") for module in named["devices"]["source_modules"]}
    return list(named["rooms"]["layers"]), device


def rooms_svg(layers: list[str], device: set[str]) -> str:
    """A stack: each room imports only what lies below it."""
    row, width = 30, 620
    parts = []
    for place, layer in enumerate(layers):
        top = 44 + row * place
        kind = "device" if layer in device else "room"
        parts += [_box(90, top, 240, row - 6, kind), _text(210, top + 17, layer, "mono")]
    height = 44 + row * len(layers) + 16
    parts += [
        _text(90, 26, "src/krand, highest first", "note", "start"),
        f'<path class="line" d="M60 48V{height - 34}"/>',
        f'<path class="head" d="M55 {height - 34}h10l-5 10z"/>',
        _text(40, height / 2, "imports", "note", turn=True),
        _box(360, 44, 18, 18, "device"),
        _text(386, 58, "bound by the contract for devices", "note", "start"),
        _box(360, 72, 18, 18, "room"),
        _text(386, 86, "other rooms", "note", "start"),
    ]
    return _svg(width, height, "The rooms of krand, each above those that it may import", parts)


def data_svg() -> str:
    """From a survey to a report, in two rows."""
    wide, step, parts = 130, 240, []
    for place, (name, done_by) in enumerate(WAY):
        row, column = divmod(place, 4)
        left, top = 20 + column * step, 40 + row * 110
        parts += [_box(left, top, wide, 40, "room"), _text(left + 65, top + 25, name, "mono")]
        words = done_by.split(": ")
        if place == len(WAY) - 1:
            continue
        if column < 3:
            parts += _arrow(left + wide + 6, top + 20, step - wide - 18)
            for line, word in enumerate(words):
                parts.append(_text(left + wide + 54, top + 12 - 14 * (len(words) - 1 - line), word))
        else:
            x, below = left + 65, top + 75
            parts.append(f'<path class="line" d="M{x} {top + 40}V{below}H85V{below + 22}"/>')
            parts.append(f'<path class="head" d="M80 {below + 22}h10l-5 10z"/>')
            parts.append(_text(x - 240, below - 6, done_by))
    return _svg(890, 210, "The data's way: " + ", ".join(name for name, _ in WAY), parts)


def _arrow(x: float, y: float, length: float) -> list[str]:
    end = x + length - 10
    return [
        f'<path class="line" d="M{x} {y}H{end}"/>',
        f'<path class="head" d="M{end} {y - 5}v10l10 -5z"/>',
    ]


def _box(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="4"/>'


def _text(
    x: float, y: float, text: str, kind: str = "note", anchor: str = "middle", *, turn: bool = False
) -> str:
    turned = f' transform="rotate(-90 {x:g} {y:g})"' if turn else ""
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"{turned}'
    return f'<text class="{kind}" {place}>{escape(text)}</text>'


def _svg(width: int, height: int, title: str, parts: list[str]) -> str:
    head = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {head}>',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        *parts,
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def pictures() -> dict[str, str]:
    """Both files, by their names."""
    return {"rooms.svg": rooms_svg(*contracts()), "data.svg": data_svg()}


if __name__ == "__main__":
    for name, drawn in pictures().items():
        (HERE / name).write_text(drawn, encoding="utf-8")
        print(f"wrote docs/developing/{name}")
