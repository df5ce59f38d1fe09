"""Make the notebooks from their sources, run them, and keep what they show.

    python examples/notebooks/make.py

A source is a Python file in the percent format: `# %%` begins a cell of code, `# %% [markdown]` a
cell of text. Notebooks are made with their outputs, so that they can be read without running them.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
NAMES = ("first_survey", "telemetry", "method")
CELL = re.compile(r"^# %%(?P<kind> \[markdown\])?(?: tags=(?P<tags>\[.*\]))?$", re.M)
PATIENCE = 120
"""Seconds after which a cell counts as stuck."""


def notebook_of(name: str) -> Any:
    """The notebook that a source describes, without outputs."""
    text = (HERE / f"{name}.py").read_text(encoding="utf-8")
    found = list(CELL.finditer(text))
    ends = [cell.start() for cell in found[1:]] + [len(text)]
    cells = [
        _cell(f"cell-{place}", head, text[head.end() : end].strip("\n"))
        for place, (head, end) in enumerate(zip(found, ends, strict=True))
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=about)


def _cell(name: str, head: re.Match[str], text: str) -> Any:
    if head["kind"]:
        lines = (line.removeprefix("#").removeprefix(" ") for line in text.splitlines())
        return nbformat.v4.new_markdown_cell("\n".join(lines), id=name)
    tags = re.findall(r'"(\w+)"', head["tags"] or "")
    return nbformat.v4.new_code_cell(text, id=name, metadata={"tags": tags} if tags else {})


def run(notebook: Any) -> Any:
    """The notebook with what its cells show; an error in a cell is an error here."""
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=PATIENCE,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        return client.execute()


def main() -> None:
    """Make all of them anew."""
    for name in NAMES:
        made = run(notebook_of(name))
        made.metadata = notebook_of(name).metadata  # not of the machine that ran it
        path = HERE / f"{name}.ipynb"
        nbformat.write(made, path)
        print(f"{path.name}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
