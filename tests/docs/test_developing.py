"""The pages for developers name files that exist, and their pictures show the rooms there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from babel.messages.pofile import read_po

from docs.pages import ROOT, pages, script, without_fences

HERE = ROOT / "docs" / "developing"
NAMED = re.compile(r"`((?:src|tests|docs|benchmarks|deploy|examples|clients)/[\w./-]+)`")
PLACES = 10
CHANGES = (
    *("A question kind", "A field of the plan", "A store", "A mechanism", "An estimator"),
    *("A figure", "A command", "A language", "An exit code"),
    *("A tally engine", "A transport between mixers"),
)
PROSE = [
    page
    for page in pages()
    if page.name not in ("words.md", "drafts.md") and "benchmarks" not in page.parts
]
"""Pages whose words are krand's own; the drafts speak in theirs."""
OPTIONS = re.compile(
    r"--corrupted|(--assurance |\[default: )(certified|outlier|\[certified\|outlier\])"
    r"|[Cc]olluding participants?"
)
"""What may be said: names of options and their values, and one term."""
TRACED = ("src/krand", "clients/js/src")
"""Where a list has to name every file that knows its example."""


def named_in(text: str) -> list[str]:
    """The paths in a text; a name with a * or a blank is none."""
    return NAMED.findall(text)


@pytest.fixture
def drawing() -> SimpleNamespace:
    return script("developing/draw_rooms.py")


def test_the_list_of_sentences_has_those_of_every_room(sentences: str) -> None:
    """`make sentences`: of texts, of the templates of krand web, and of commands."""
    rooms = {room.partition("\n")[0]: room for room in sentences.split("\n## ")[1:]}
    assert all("\n- " in room for room in rooms.values())
    assert "\n- `` Skip to the content ``\n" in rooms["The report"]
    assert "\n- `` States of a batch ``\n" in rooms["Pages of krand web"]
    assert "### krand mix serve\n" in rooms["Commands"]


@pytest.fixture(scope="module")
def sentences() -> str:
    page: str = script("developing/write_sentences.py").sentences_page()
    return page


def retired(table: int) -> dict[str, list[str]]:
    """Words that a table of docs/developing/words.md lists, and the places that keep them."""
    rows = (HERE / "words.md").read_text(encoding="utf-8").split("\n|---|")[table].splitlines()
    cells = [row.strip("| ").split(" | ") for row in rows if row.startswith("| ")]
    return {
        word: re.findall("`([^`]+)`", row[-1]) if len(row) > 2 else []
        for row in cells
        if row[0] != "not"
        for word in row[0].split(", ")
    }


def used(words: dict[str, list[str]], place: str, text: str) -> list[str]:
    """Which of the words a text has, apart from those that this place keeps."""
    kept = OPTIONS.sub("", " ".join(text.split()))
    return [
        f"{place}: {word}"
        for word, places in words.items()
        if place not in places and re.search(rf"(?<![\w-]){re.escape(word)}(?!\w)", kept, re.I)
    ]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_pages_have_no_words_that_were_retired(page: Path) -> None:
    """Outside of code: docs/developing/words.md says which, and what to write instead."""
    text = "\n".join(line for _, line in without_fences(page))
    text = re.sub(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->", " ", text, flags=re.DOTALL)
    assert used(retired(1), str(page.relative_to(ROOT)), text) == []


def test_no_sentence_has_a_word_that_was_retired(sentences: str) -> None:
    """Reports, forms, the console, commands; in German, whatever is translated."""
    english = "\n".join(line for line in sentences.splitlines() if line.startswith("- "))
    assert used(retired(1), "make sentences", english) == []
    catalog = read_po((ROOT / "src/krand/languages/de.po").open("rb"), locale="de")
    german = "\n".join(str(entry.string) for entry in catalog if entry.id)
    assert len(retired(2)) > 10
    assert used(retired(2), "de.po", german) == []


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


def change(name: str) -> tuple[list[str], str]:
    """The files of a list, and the pattern by which its example is found."""
    text = (HERE / "changes.md").read_text(encoding="utf-8")
    part = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^(\d+)\. (.*(?:\n +.*)*)", part, re.MULTILINE)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert all(named_in(step) or "`README.md`" in step or "`pyproject" in step for _, step in steps)
    return named_in("\n".join(step for _, step in steps)), part.split("<!-- trace: ")[1].split(
        " -->"
    )[0]


def knowing(pattern: str) -> set[str]:
    """The files of the product, JavaScript included, whose name or content has the pattern.

    One catalog stands for all of them.
    """
    files = (path for folder in TRACED for path in (ROOT / folder).rglob("*.*"))
    return {
        name
        for path in files
        if (path.suffix in {".py", ".pyi", ".toml", ".html", ".ts"} or path.name == "de.po")
        and re.search(
            pattern, f"{(name := str(path.relative_to(ROOT)))}:\n{path.read_text(encoding='utf-8')}"
        )
    }


def test_the_page_has_these_changes() -> None:
    text = (HERE / "changes.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^## (.*)$", text, re.MULTILINE)) == CHANGES


@pytest.mark.parametrize("name", CHANGES)
def test_a_list_names_every_file_that_knows_its_example_and_no_other(name: str) -> None:
    """Of the product; tests and pages, too, stand on it and exist."""
    files, pattern = change(name)
    assert len(files) == len(set(files))
    assert {path for path in files if path.startswith(TRACED)} == knowing(pattern)
    assert {path.partition("/")[0] for path in files} >= {"src", "docs"}
    assert [path for path in files if not (ROOT / path).is_file()] == []


def test_a_mechanism_of_another_package_registers_the_listed_parts() -> None:
    """`tests/mechanisms/laplace.py` goes the whole way with these, and changes no file of src."""
    files, _ = change("A mechanism")
    listed = {path.split("/")[2] for path in files if path.endswith("mechanisms/__init__.py")}
    tree = ast.parse((ROOT / "tests" / "mechanisms" / "laplace.py").read_text(encoding="utf-8"))
    rooms = {
        name.asname: name.name.split(".")[1]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
        if name.asname
    }
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    registered = {call.partition(".")[0] for call in called if call.endswith(".register")}
    assert {rooms[name] for name in registered} == listed
    assert len(listed) == 4


def test_the_pictures_are_drawn_from_the_contracts(drawing: SimpleNamespace) -> None:
    """Otherwise run docs/developing/draw_rooms.py."""
    for name, drawn in drawing.pictures().items():
        assert (HERE / name).read_text(encoding="utf-8") == drawn, f"docs/developing/{name} is old"


def test_every_room_is_in_the_picture_and_exists(drawing: SimpleNamespace) -> None:
    layers, device = drawing.contracts()
    picture = drawing.rooms_svg(layers, device)
    for layer in layers:
        assert f">{layer}</text>" in picture
        place = ROOT / "src" / "krand" / layer
        assert place.is_dir() or place.with_suffix(".py").is_file()
    assert device < set(layers)
    assert picture.count('class="device"') == len(device) + 1  # the legend has one too
