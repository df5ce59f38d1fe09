"""The notebooks in examples/ run from top to bottom, and show what is committed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from components import require
from rounded_texts import same_but_for_rounding

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NAMES = ("first_survey", "telemetry", "method")
MOST_BYTES = 700_000


@pytest.fixture(scope="module")
def making() -> ModuleType:
    for component in ("nbformat", "nbclient", "ipykernel", "pandas", "matplotlib"):
        require(component)
    sys.path.insert(0, str(FOLDER))
    try:
        import make
    finally:
        sys.path.pop(0)
    found: ModuleType = make
    return found


def committed(name: str) -> Any:
    return require("nbformat").read(FOLDER / f"{name}.ipynb", as_version=4)


def shown(cell: Any) -> list[str]:
    """What a cell shows, as text; a figure by its title."""
    outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    texts = (output.get("text") or output.data["text/plain"] for output in outputs)
    return ["".join(text) for text in texts]


def warnings(cell: Any) -> list[str]:
    """What a cell warns of; that matplotlib looks for fonts the first time is no warning."""
    texts = (output.text for output in cell.outputs if output.get("name") == "stderr")
    return [text for text in texts if "font cache" not in text]


def test_there_is_no_other_notebook(making: ModuleType) -> None:
    """Each has a source, and all are made and tested."""
    assert making.NAMES == NAMES
    assert {file.stem for file in FOLDER.glob("*.ipynb")} == set(NAMES)
    assert {file.stem for file in FOLDER.glob("*.py")} == {*NAMES, "make"}


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_made_from_its_source(name: str, making: ModuleType) -> None:
    """Cell by cell; nothing was changed in one of the two alone."""
    source, made = making.notebook_of(name), committed(name)
    assert [(c.cell_type, c.source) for c in source.cells] == [
        (c.cell_type, c.source) for c in made.cells
    ]
    require("nbformat").validate(made)


@pytest.mark.check
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_what_is_committed(
    name: str, making: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a kernel of its own. Cells whose noise has no seed may show other numbers."""
    for variable in ("XDG_STATE_HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    done = making.run(making.notebook_of(name))
    compared = 0
    for cell, before in zip(done.cells, committed(name).cells, strict=True):
        if cell.cell_type != "code":
            continue
        assert len(shown(cell)) == len(shown(before)), cell.source
        assert warnings(cell) == warnings(before) == [], cell.source
        if "varies" not in cell.metadata.get("tags", ()):
            pairs = zip(shown(cell), shown(before), strict=True)
            assert all(same_but_for_rounding(*pair) for pair in pairs), cell.source
            compared += len(shown(cell))
    assert compared >= 5


def test_notebooks_have_figures_and_are_small() -> None:
    """Somebody who does not run them sees all of it; nothing of the machine that ran them."""
    for name in NAMES:
        cells = [cell for cell in committed(name).cells if cell.cell_type == "code"]
        figures = [o for c in cells for o in c.outputs if "image/svg+xml" in o.get("data", {})]
        assert len(figures) >= 2
        text = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
        assert "/tmp/" not in text
        assert "site-packages" not in text
    assert sum(file.stat().st_size for file in FOLDER.glob("*.ipynb")) <= MOST_BYTES
