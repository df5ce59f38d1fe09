"""Every command of the documentation is run, and does what the page shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click
import pytest

from components import require
from docs.pages import ROOT, Block, blocks, commands, pages, without_fences
from docs.running import Page, check_parses, difference, krand_calls, parse
from krand.cli.main import krand

PAGES = pages()
RUN = [page for page in PAGES if any(b.language in ("console", "python") for b in blocks(page))]
RUN.remove(ROOT / "docs" / "gallery.md")  # test_gallery runs it
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


def block(text: str, **marks: str) -> Block:
    """A console block as a page might have it."""
    return Block(ROOT / "README.md", 1, "console", text, marks, None)


def test_a_wrong_page_is_noticed(tmp_path: Path) -> None:
    """An exit code, an output or an option that is not as shown fails the page."""
    with Page(tmp_path) as running:
        running.run(block("$ echo one\none\n"))
        running.run(block("$ cd / && false || exit_code() { return 3; }\n$ exit_code\n", exit="3"))
        with pytest.raises(AssertionError, match="exit code 1"):
            running.run(block("$ false\n"))
        with pytest.raises(AssertionError, match="but it printed"):
            running.run(block("$ echo one\ntwo\n"))
    with pytest.raises(click.NoSuchOption):
        check_parses(block("$ krand tally a --plan p -o o --engin spark\n", parsed="a test"))
    with pytest.raises(click.UsageError):
        check_parses(block("$ time krand taly a | cat\n", parsed="a test"))


def test_what_a_page_needs_is_a_module_or_a_program(tmp_path: Path) -> None:
    """Without it the commands are parsed, and the page says what it missed."""
    with Page(tmp_path) as running:
        running.run(block("$ echo one\none\n", needs="bash"))
        running.run(block("$ echo one\ntwo\n", needs="bash no-such-thing"))
        assert running.missing == ["no-such-thing"]


def test_outputs_are_compared_as_the_page_says() -> None:
    """`…` hides what varies in a line or between lines; numbers vary only where that is said."""
    assert difference("a …\n…\nz\n", "a 1\nb\nc\nz\n", numbers_vary=False) is None
    assert difference("a …\nz\n", "a 1\nb\nz\n", numbers_vary=False) is not None
    assert difference("│ 12 │\n", "│ 1,234 │\n", numbers_vary=True) is None
    assert difference("│ 12 │\n", "│ 1,234 │\n", numbers_vary=False) is not None
    assert difference("12 people\n", "12 reports\n", numbers_vary=True) is not None


def test_continued_lines_belong_to_their_command() -> None:
    """`> ` goes on with a command, and what follows it is the output."""
    [only] = commands(block("$ cat <<'EOF' \\\n>   | sort\n> b\n> a\n> EOF\na\nb\n"))
    assert only.text.splitlines()[-1] == "EOF"
    assert only.output == "a\nb\n"


def test_calls_of_krand_are_found_in_shell() -> None:
    """Behind variables, in pipes, in brackets; and help is not an error."""
    line = "A=1 krand plan s.toml && (krand demo | head) > out; echo krand verify"
    assert list(krand_calls(line)) == [["plan", "s.toml"], ["demo"]]
    parse(["noise", "--help"])
    parse(["--version"])
