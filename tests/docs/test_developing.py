"""The pages for developers name files that exist, and their pictures show the rooms there are."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from docs.pages import ROOT

HERE = ROOT / "docs" / "developing"
NAMED = re.compile(r"`((?:src|tests|docs|benchmarks|deploy|examples)/[\w./-]+)`")
PLACES = 10
MOST_FILES = 6


def named_in(text: str) -> list[str]:
    """The paths in a text; a name with a * or a blank is none."""
    return NAMED.findall(text)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def drawing() -> ModuleType:
    return script("draw_rooms")


def test_the_list_of_sentences_has_those_of_every_room() -> None:
    """`make sentences`: of the report, of what rooms share, of the planner and of its templates."""
    _, *rooms = script("write_sentences").sentences_page().split("\n## ")
    assert len(rooms) == 4
    assert min(room.count("\n- ") for room in rooms) > 50
    assert "\n- `` Skip to the content ``\n" in rooms[0]
    assert "\n- `` States of a batch ``\n" in rooms[3]


@pytest.mark.parametrize("page", sorted(HERE.glob("*.md")), ids=lambda page: page.name)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    """Moved files take the page with them."""
    missing = [path for path in named_in(page.read_text("utf-8")) if not (ROOT / path).exists()]
    assert missing == []


def test_where_to_change_what_has_ten_examples_with_paths() -> None:
    """Each row begins with a place in the source."""
    text = (HERE / "index.md").read_text(encoding="utf-8")
    part = text[text.index("## Where do I change") : text.index("## Decisions")]
    rows = [line.split("|") for line in part.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= PLACES
    for row in rows:
        assert any(path.startswith("src/krand") for path in named_in(row[2])), row[1]


@pytest.mark.parametrize("addition", ["A new estimator", "A new store"])
def test_an_addition_has_a_counted_list_of_at_most_six_files(addition: str) -> None:
    """Each step begins with one file that exists; a step that names none is no file."""
    text = (HERE / "index.md").read_text(encoding="utf-8")
    part = re.split(r"^##", text.partition(f"### {addition}\n")[2], flags=re.MULTILINE)[0]
    steps = re.findall(r"^(\d+)\. `([^`]+)`", part, re.MULTILINE)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert len(re.findall(r"^\d+\. ", part, re.MULTILINE)) == len(steps)
    assert 3 <= len(steps) <= MOST_FILES
    assert [path for _, path in steps if not (ROOT / path).is_file()] == []


def test_the_pictures_are_drawn_from_the_contracts(drawing: ModuleType) -> None:
    """Otherwise run docs/developing/draw_rooms.py."""
    for name, drawn in drawing.pictures().items():
        assert (HERE / name).read_text(encoding="utf-8") == drawn, f"docs/developing/{name} is old"


def test_every_room_is_in_the_picture_and_exists(drawing: ModuleType) -> None:
    layers, device = drawing.contracts()
    picture = drawing.rooms_svg(layers, device)
    for layer in layers:
        assert f">{layer}</text>" in picture
        place = ROOT / "src" / "krand" / layer
        assert place.is_dir() or place.with_suffix(".py").is_file()
    assert device < set(layers)
    assert picture.count('class="device"') == len(device) + 1  # the legend has one too
