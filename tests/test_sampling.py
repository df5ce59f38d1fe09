"""The suite leaves out variants of slow tests, never a test with one variant, and says how many."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sampling import LONG_FILE, LONG_PAGES, SAMPLED, beyond_the_sample

TESTS = Path(__file__).parent


def place(file: str) -> Path:
    """Those of krand-lab are named from the top, the others from here."""
    return (TESTS.parent if file.startswith("lab/") else TESTS) / file


def left_out(*names: str) -> list[str]:
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    return [item.nodeid for item in beyond_the_sample(items)]


def test_the_first_of_every_three_variants_stays() -> None:
    file = f"tests/{SAMPLED[0]}"
    variants = [f"{file}::test_a[{number}]" for number in range(7)]
    others = [f"{file}::test_b", f"{file}::test_c[only]", "tests/a/test_fast.py::test_a[1]"]
    assert left_out(*variants, *others) == [variants[number] for number in (1, 2, 4, 5)]


def test_what_is_named_exists() -> None:
    """A renamed file would be tried in full, and nobody would notice why the suite is slow."""
    assert all(place(file).is_file() for file in (*SAMPLED, LONG_FILE))
    assert all((TESTS.parent / f"{page}.md").is_file() for page in LONG_PAGES)


def test_make_long_tries_what_is_left_out() -> None:
    makefile = (TESTS.parent / "Makefile").read_text(encoding="utf-8")
    lines = [line for line in makefile.splitlines() if line.startswith("\tKRAND_LONG=1")]
    named = [Path(word) for line in lines for word in line.split() if "tests" in word]
    for file in (*SAMPLED, LONG_FILE, "docs/test_pages_run.py"):
        path = place(file).relative_to(TESTS.parent)
        assert any(name == path or name in path.parents for name in named), file
