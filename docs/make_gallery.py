"""Draw the figures of docs/gallery.md by running the code of the page itself.

    python docs/make_gallery.py

A figure is the value of the last line of a block, and is saved under the name of the picture below
the block. What was drawn is written down in drawn.json, which a test compares with what the code
draws: pictures and code cannot drift apart.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from krand.figures import Plot

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "gallery.md"
DRAWN = DOCS / "static" / "gallery" / "drawn.json"
PART = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n!\[.*?\]\((?P<picture>.*?)\)\n)?", re.M | re.S
)


def plots(page: Path) -> Iterator[tuple[str, Plot]]:
    """The pictures of a page and what its code draws for them, from top to bottom."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for part in PART.finditer(page.read_text(encoding="utf-8")):
        value = _run(part["code"], names)
        if part["picture"] is None:
            continue
        if not isinstance(value, Plot):
            raise SystemExit(f"{part['picture']}: the block above it does not end with a figure")
        yield part["picture"], value


def _run(code: str, names: dict[str, Any]) -> object:
    """Run a block as a notebook does: the value of a last expression is what it shows."""
    tree = ast.parse(code)
    if not isinstance(tree.body[-1], ast.Expr):
        exec(compile(tree, PAGE.name, "exec"), names)
        return None
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, PAGE.name, "exec"), names)
    return eval(compile(last, PAGE.name, "eval"), names)


def described(figure: Figure) -> dict[str, Any]:
    """What a figure shows, whatever draws it: its texts, and sums over its points and bars."""
    axes = figure.axes[0]
    points = [np.asarray(line.get_xydata(), dtype=float).ravel() for line in axes.lines]
    corners = [
        patch.get_patch_transform().transform(patch.get_path().vertices).ravel()
        for patch in axes.patches
    ]
    legends = [legend.get_texts() for legend in figure.legends]
    texts = [*axes.texts, *axes.get_yticklabels(), *(text for part in legends for text in part)]
    return {
        "texts": sorted({text.get_text() for text in texts if text.get_text()}),
        "points": _sums(points),
        "shapes": [len(axes.patches), *_sums(corners)],
    }


def _sums(parts: list[Any]) -> list[float]:
    """How many numbers there are, their sum, and that of their squares."""
    numbers = np.concatenate([np.empty(0), *parts])
    return [len(numbers), float(numbers.sum()), float((numbers**2).sum())]


def main() -> None:
    """Draw everything anew."""
    DRAWN.parent.mkdir(parents=True, exist_ok=True)
    for old in DRAWN.parent.glob("*.svg"):
        old.unlink()
    drawn = {}
    with TemporaryDirectory() as folder, chdir(folder):  # for the files that the page writes
        for picture, plot in plots(PAGE):
            plot.save(DOCS / picture)
            drawn[picture] = described(plot.figure)
            print(f"{picture}  {(DOCS / picture).stat().st_size:,} bytes")
    about = {"matplotlib": matplotlib.__version__, "pictures": drawn}
    DRAWN.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
