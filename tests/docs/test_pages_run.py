"""Every command of the documentation is run, and does what the page shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click
import pytest

from components import require
from docs.pages import ROOT, blocks, pages, without_fences
from docs.running import Page
from krand.cli.main import krand

PAGES = pages()
RUN = [page for page in PAGES if any(b.language in ("console", "python") for b in blocks(page))]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def name_of(page: Path) -> str:
    """How a test is called."""
    return str(page.relative_to(ROOT).with_suffix(""))


@pytest.mark.check
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_a_page_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty folder, with nothing but the files that the page itself makes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    for survey in (ROOT / "examples").glob("*.toml"):
        shutil.copy(survey, tmp_path / "examples")
    with Page(tmp_path) as running:
        for block in blocks(page):
            running.run(block)
    for component in running.missing:
        require(component)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_command_hides_from_the_tests(page: Path) -> None:
    """Commands stand in console blocks; nothing indented, nothing in another language."""
    for number, line in without_fences(page):
        assert not re.match(r"( {4,}|\t)\s*\$?\s*krand\s", line), f"{page.name}:{number}: {line}"
    for block in blocks(page):
        if block.language not in ("console", "python"):
            hidden = re.findall(r"^\s*\$?\s*krand [a-z]+ .*--.*$", block.text, re.M)
            assert not hidden, f"{block}: {hidden}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_within_sentences_exist(page: Path) -> None:
    """`krand tally --joint` in a sentence names a command and options that there are."""
    context = click.Context(krand)
    for number, line in without_fences(page):
        for span in re.findall(r"`krand ([^`]+)`", line):
            command, *words = span.split()
            if not re.fullmatch("[a-z]+", command):
                continue
            found = krand.get_command(context, command)
            assert found is not None, f"{page.name}:{number}: krand {command}"
            while isinstance(found, click.Group) and words and words[0] in found.commands:
                found = found.commands[words.pop(0)]
            known = {name for option in found.get_params(context) for name in option.opts}
            for word in words:
                option = word.rstrip(",.;:")
                if option.startswith("-"):
                    assert option in known, f"{page.name}:{number}: krand {span}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_targets_of_make_exist(page: Path) -> None:
    """`make docs` on a page is a target of the Makefile."""
    for target in re.findall(r"(?:^ *(?:\$ )?|`)make ([a-z]+)", page.read_text("utf-8"), re.M):
        assert target in TARGETS, target


def test_commands_that_are_not_run_say_why() -> None:
    """A reason stands beside each, and there are few of them."""
    unrun = [block for page in PAGES for block in blocks(page) if "parsed" in block.marks]
    assert all(block.marks["parsed"] for block in unrun)
    run = [b for page in PAGES for b in blocks(page) if b.language == "console" and b not in unrun]
    assert len(run) >= 4 * len(unrun)


def test_extras_that_pages_name_exist() -> None:
    """`krand[serve]` is an extra of the package."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    for page in PAGES:
        for names in re.findall(r"(?:krand|\.)\[([a-z,]+)\]", page.read_text(encoding="utf-8")):
            assert set(names.split(",")) <= extras, page
