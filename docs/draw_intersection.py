"""Draw static/intersection.svg: `.venv/bin/python docs/draw_intersection.py`.

What somebody learns who has two outputs of one input. The numbers are those of one run of
tests/site/test_once.py::test_intersection: the dummies are drawn anew in each, what came is not.
"""

from __future__ import annotations

from pathlib import Path

CAME, OUTPUTS = 255, (500, 502)
HERE = Path(__file__).resolve().parent / "static"
STYLE = """
  text { font: 14px system-ui, sans-serif; fill: #57606a; text-anchor: middle }
  .number { font-size: 22px; font-weight: 600; fill: #1b1f24 }
  .paper { fill: #ffffff }
  .output { fill: none; stroke: #b34700; stroke-width: 2; stroke-dasharray: 5 3 }
  .both { fill: #0072b2; fill-opacity: .18; stroke: #0072b2; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #a9b2bc }
    .number { fill: #e6e8eb }
    .paper { fill: #14181d }
    .output { stroke: #ff9a57 }
    .both { fill: #5cb8f0; stroke: #5cb8f0 }
  }
"""


def _label(x: int, number: int, *lines: str) -> list[str]:
    """A number, and what it counts."""
    found = [f'<text class="number" x="{x}" y="105">{number:,}</text>']
    return found + [
        f'<text x="{x}" y="{130 + 20 * n}">{line}</text>' for n, line in enumerate(lines)
    ]


def drawn() -> str:
    """Two outputs, each with dummies of its own around what they have in common."""
    first, second = OUTPUTS
    title = (
        f"Two outputs of one batch, with {first} and {second} messages, have {CAME} in common:"
        " exactly those that came"
    )
    parts = [
        '<rect class="paper" width="720" height="220" rx="6"/>',
        '<rect class="output" x="20" y="45" width="440" height="140" rx="10"/>',
        '<rect class="output" x="260" y="35" width="440" height="160" rx="10"/>',
        '<rect class="both" x="260" y="45" width="200" height="140" rx="10"/>',
        '<text x="120" y="30">the first output</text>',
        '<text x="600" y="24">the second output</text>',
        *_label(140, first - CAME, "in the first alone:", "dummies"),
        *_label(360, CAME, "in both: what came,", "everybody's messages"),
        *_label(580, second - CAME, "in the second alone:", "other dummies"),
    ]
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 220" role="img">'
    return "\n".join([head, f"<title>{title}</title><style>{STYLE}</style>", *parts, "</svg>\n"])


if __name__ == "__main__":
    (HERE / "intersection.svg").write_text(drawn(), encoding="utf-8")
