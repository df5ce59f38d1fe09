"""Benchmarks find what they take from krand: most of them run for minutes and by hand."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_takes_from_krand_is_there(path: Path) -> None:
    """A name that has moved would be found late."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for taken in ast.walk(tree):
        if isinstance(taken, ast.ImportFrom) and (taken.module or "").split(".")[0] == "krand":
            module = importlib.import_module(str(taken.module))
            for name in taken.names:
                found = hasattr(module, name.name)
                assert found or importlib.import_module(f"{taken.module}.{name.name}"), name.name


def test_the_page_names_every_script_and_every_result() -> None:
    """And no other."""
    text = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    runnable = {
        path.name
        for path in BENCHMARKS.glob("*.py")
        if "run_benchmark(__doc__" in path.read_text("utf-8")
    }
    assert runnable == {"accuracy.py", "collector.py", "mixing.py", "planning.py", "randomizing.py"}
    results = {path.name for path in BENCHMARKS.glob("*.md")} - {"README.md"}
    assert not [name for name in runnable | results if name not in text]
