"""The documentation as a whole: built without a warning, complete, and true to what it names."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

import world
from command_line import command_named, done
from components import require
from real.docs.pages import ROOT, blocks, commands, name_of, pages, without_fences
from real.docs.running import krand_calls, parse

if TYPE_CHECKING:
    from real.browser.visiting import Visit

DOCS = ROOT / "docs"
PAGES = pages()
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
LOADING = {"link": "href", "script": "src", "img": "src", "source": "src", "iframe": "src"}
LOADING |= {"object": "data", "embed": "src", "video": "src", "audio": "src", "form": "action"}
NAMED = re.compile(r"`((?:src|tests|docs|benchmarks|deploy|examples|clients)/[\w./-]+)`")
TESTS = re.compile(r"`(?:tests/)?((?:\w+/)*test_\w+\.py)?(?:::(test_\w+))?`")


def lines_of(help_text: str) -> list[str]:
    """The names of commands that `krand --help` lists."""
    return re.findall(r"^ {2,4}([a-z]+) {2,}\S", help_text, re.M)


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name."""
    for name in lines_of(done("--help").stdout):
        command = command_named(name)
        yield f"krand {name}", command
        if isinstance(command, click.Group):
            for child in command.list_commands(click.Context(command)):
                yield f"krand {name} {child}", command.commands[child]


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of pages, built as `make docs` does it: a warning is an error."""
    for module in ("sphinx", "furo", "myst_parser"):
        require(module)
    return world.once("docs", _build) / "html"


def _build(folder: Path) -> None:
    arguments = ["-q", "-W", "--keep-going", "-c", "docs", "-d", str(folder / "doctrees")]
    result = subprocess.run(
        [sys.executable, "-m", "sphinx", *arguments, ".", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


class Read(HTMLParser):
    """What a page would fetch, its ids, and the text of each section."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.text: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids.add(known.get("id") or "")
        self.loads += [known.get(LOADING.get(tag, "")) or "", known.get("srcset") or ""]
        if tag == "section":
            self._open.append(known.get("id") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self._open.pop()

    def handle_data(self, data: str) -> None:
        for name in self._open[-1:]:
            straight = data.translate(str.maketrans("“”‘’", "\"\"''"))
            self.text[name] = self.text.get(name, "") + straight


def test_pages_load_nothing_from_another_host(built: Path) -> None:
    """Scripts, styles, fonts and pictures are all within the built folder; formulas are MathML."""
    checked = 0
    for page in built.rglob("*.html"):
        for target in filter(lambda target: target not in ("", "#"), Read(page).loads):
            assert not target.startswith(("http:", "https:", "//")), f"{page.name}: {target}"
            assert target.startswith("data:") or (page.parent / target.split("?")[0]).exists()
            checked += 1
    assert checked > 100
    for style in built.rglob("*.css"):
        text = style.read_text(encoding="utf-8").replace('"', "").replace("'", "")
        assert "url(http" not in text
        assert "@import" not in text
    drafts = (built / "docs" / "lab" / "drafts.html").read_text(encoding="utf-8")
    assert drafts.count("<math") > 500
    assert "\\frac" not in drafts


def test_every_page_is_built_and_reachable(built: Path) -> None:
    """The first page leads to each, and every link leads somewhere."""
    first = (built / "docs" / "index.html").read_text(encoding="utf-8")
    for page in PAGES:
        if page.is_relative_to(DOCS):
            place = page.relative_to(ROOT).with_suffix(".html")
            assert (built / place).exists(), place
            assert page.stem == "index" or str(place.relative_to("docs")) in first, place
    checked = subprocess.run(
        [sys.executable, str(DOCS / "check_links.py")], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


def test_every_command_and_option_is_in_the_reference(built: Path) -> None:
    """Each command has a section with its help and an example that click takes."""
    page = Read(built / "docs" / "reference" / "commands.html")
    shared = {"--json", "--quiet", "--no-color", "--help"}
    for name, command in all_commands():
        text = " ".join(page.text[name.replace(" ", "-")].split())
        for option in command.get_params(click.Context(command)):
            for spelling in (*option.opts, *option.secondary_opts):
                shown = spelling if isinstance(option, click.Option) else spelling.upper()
                assert shown.lower() in text.lower(), f"{name} {spelling}"
            if isinstance(option, click.Option) and not shared.intersection(option.opts):
                assert " ".join((option.help or "").split()) in text, f"{name} {option.opts}"
        assert f"$ {name}" in text, f"{name} has no example"
        examples = (command.help or "").partition("Examples:")[2].replace("\\\n", " ")
        for line in re.findall(r"^ *(krand .*)$", examples, re.M):
            for arguments in krand_calls(line):
                parse(arguments)


@pytest.mark.parametrize("module", ["krand", "krand.simulation", "krand.testing"])
def test_every_public_name_is_in_the_reference(built: Path, module: str) -> None:
    """Each has an entry with a link to it."""
    ids = Read(built / "docs" / "reference" / "python.html").ids
    home = import_module(module)
    names = [n for n in home.__all__ if not inspect.ismodule(getattr(home, n)) and n[0] != "_"]
    assert [name for name in names if f"{module}.{name}" not in ids] == []


def keys_of(value: Any) -> Iterator[str]:
    """All keys of an object, but for names that a survey gives."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


@pytest.mark.parametrize("name", ["branches", "records", "mixers", "weeks"])
def test_every_key_of_the_files_is_in_the_reference(tmp_path: Path, name: str) -> None:
    """Plan and tally hold nothing that the pages do not name."""
    reference = "".join(p.read_text("utf-8") for p in (DOCS / "reference").glob("*.md"))
    at, own = world.files(name, tmp_path), world.survey_file(name).read_text("utf-8")
    for file in ("plan.json", "tally.json"):
        keys = {key for key in keys_of(json.loads((at / file).read_bytes())) if key not in own}
        keys -= {"krand", "python", "numpy", "scipy"}
        missing = {key for key in keys if not re.search(rf"\b{re.escape(key)}\b", reference)}
        assert missing == set(), f"{file} of {name}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_names_exists(page: Path) -> None:
    """A sentence first; commands in console blocks or sentences, targets of make, paths, tests."""
    text = page.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip()]
    assert lines[0].startswith("# ")
    assert lines[1][0].isalpha() or lines[1].startswith(("**", "`", "<!--")), lines[1]
    for number, line in without_fences(page):
        assert not re.match(r"( {4,}|\t)\s*\$?\s*krand\s", line), f"{number}: {line}"
        for span in re.findall(r"`krand ([^`]+)`", line):
            _check_span(span, f"{number}: krand {span}")
    for block in blocks(page):
        if block.language not in ("console", "python"):
            hidden = re.findall(r"^\s*\$?\s*krand [a-z]+ .*--.*$", block.text, re.M)
            assert not hidden, f"{block}: {hidden}"
        assert block.marks.get("parsed") != "", f"{block}: no reason why it is not run"
    for target in re.findall(r"(?:^ *(?:\$ )?|`)make ([a-z]+)", text, re.M):
        assert target in TARGETS, target
    if "developing" in page.parts:
        assert [path for path in NAMED.findall(text) if not (ROOT / path).exists()] == []
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for extra in re.findall(r"krand\[([a-z,]+)\]", text):
        assert set(extra.split(",")) <= set(extras["optional-dependencies"]), extra


def _check_span(span: str, place: str) -> None:
    """`krand tally --joint` in a sentence names a command and options that there are."""
    name, *words = span.split()
    if not re.fullmatch("[a-z]+", name):
        return
    command = command_named(name)
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    options = command.get_params(click.Context(command))
    known = {spelling for option in options for spelling in (*option.opts, *option.secondary_opts)}
    given = {word.rstrip(",.;:").partition("=")[0] for word in words if word.startswith("-")}
    assert given <= known | {"--help"}, place


@pytest.mark.parametrize("page", ["reliability.md", "threat-model.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    """Who doubts a row can run its test; a name without a file is of the file named before it."""
    text = ""
    for file, test in TESTS.findall((DOCS / "explanation" / page).read_text(encoding="utf-8")):
        if file:
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in text, f"{file}::{test}"


def test_every_command_is_used_on_a_page() -> None:
    """A command that no tutorial and no guide shows is not documented."""
    shown = {
        " ".join(arguments[:2])
        for page in PAGES
        for block in blocks(page)
        if block.language == "console"
        for command in commands(block)
        for arguments in krand_calls(command.text)
    }
    for name, command in all_commands():
        own = name.removeprefix("krand ")
        used = any(f"{each} ".startswith(f"{own} ") for each in shown)
        assert used or isinstance(command, click.Group), name


@pytest.mark.parametrize("name", ["index", "explanation/threat-model", "explanation/faq"])
def test_a_page_is_for_everybody(visit: Callable[..., Visit], built: Path, name: str) -> None:
    """Those that people read before they decide."""
    begun = visit("file:")
    begun.page.goto((built / "docs" / f"{name}.html").as_uri())
    begun.is_for_everybody(f"documentation-{Path(name).name}")
