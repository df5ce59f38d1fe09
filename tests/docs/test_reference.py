"""The built reference is complete: commands, options, names, exit codes, keys of files."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pytest

from analysis.simulated_surveys import tally_of
from components import require
from docs.pages import ROOT, blocks, commands, pages, script
from docs.running import krand_calls, parse
from krand import errors
from krand.analysis import results_file
from krand.analysis import tally as tallies
from krand.analysis.results import make_results
from krand.batches import chain
from krand.batches import responses as responses
from krand.batches import sealed as batches
from krand.batches.sealed import FILE_EXTRA, GROUP_EXTRA, ROW_EXTRA
from krand.cli.exit_codes import EXIT_CODES
from krand.cli.main import krand
from krand.collector import invitations
from krand.mixing import keys as mixer_keys
from krand.partners.documents import DOCUMENTS
from krand.partners.requests import Request
from krand.partners.uploads import MOST_CHUNK
from krand.survey import plan as plans
from krand.survey.about import ABOUT_KEYS
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.kinds.words import WHITE_SPACE
from krand.survey.layout import layout_of
from krand.survey.plan import Mixer
from krand.survey.questions import Choice, YesNo
from krand.survey.survey import Together
from krand.testing import small_plan
from krand.wire.keys import generate_private_key
from krand.wire.messages import REPEATED, Rejection

DOCS = ROOT / "docs"
FORMATS = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
SHARED = {"--json", "--quiet", "--no-color", "--help"}
"""Options that every command has: explained once, named in every section."""


def all_commands(
    group: click.Group = krand, name: str = "krand"
) -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name."""
    context = click.Context(group, info_name=name)
    for child in group.list_commands(context):
        command = group.get_command(context, child)
        yield f"{name} {child}", command
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{name} {child}")


class Sections(HTMLParser):
    """The text of each section of a page, by its id, and all ids."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: dict[str, str] = {}
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids.add(known.get("id") or "")
        if tag == "section":
            self.open.append(known.get("id") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self.open.pop()

    def handle_data(self, data: str) -> None:
        for name in self.open[-1:]:
            self.text[name] = self.text.get(name, "") + data


def sections(page: Path) -> Sections:
    """A built page, read."""
    found = Sections()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def straight(text: str) -> str:
    """Without the quotes and apostrophes of print."""
    return text.translate(str.maketrans("“”‘’", "\"\"''"))


@pytest.mark.check
def test_every_command_and_option_is_in_the_reference(built: Path) -> None:
    """Each command has a section with its help, every option with its own help."""
    page = sections(built / "docs" / "reference" / "commands.html")
    for name, command in all_commands():
        text = straight(" ".join(page.text[name.replace(" ", "-")].split()))
        for option in command.get_params(click.Context(command, **krand.context_settings)):
            for spelling in (*option.opts, *option.secondary_opts):
                shown = spelling if isinstance(option, click.Option) else spelling.upper()
                assert shown.lower() in text.lower(), f"{name} {spelling}"
            if isinstance(option, click.Option) and not SHARED.intersection(option.opts):
                assert " ".join((option.help or "").split()) in text, f"{name} {option.opts}"
        first = (command.help or "").split("\n\n")[0]
        assert " ".join(first.split()) in text, name
        assert f"$ {name}" in text, f"{name} has no example"
        assert "\b" not in text


def test_the_reference_can_be_read_in_the_repository() -> None:
    """Each name and command has a line on its page; otherwise run docs/write_reference.py."""
    require("sphinx")
    for page, written in script("write_reference.py").pages().items():
        assert page.read_text(encoding="utf-8") == written, f"{page.name} is old"
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    assert all(f"- `{name}`: " in page for name, _ in all_commands())


def test_every_command_is_used_on_a_page() -> None:
    """A command that no tutorial and no guide shows is not documented."""
    used = {
        arguments[0]
        for page in pages()
        if page.parent.name in ("tutorial", "howto")
        for block in blocks(page)
        if block.language == "console"
        for command in commands(block)
        for arguments in krand_calls(command.text)
        if arguments
    }
    assert {name.split()[1] for name, _ in all_commands()} <= used


@pytest.mark.parametrize("named", list(all_commands()), ids=lambda named: named[0])
def test_examples_in_help_parse(named: tuple[str, click.Command]) -> None:
    """What `--help` shows as an example is a command line that click takes."""
    name, command = named
    text = (command.help or "").replace("\\\n", " ")
    found = [line.strip() for line in text.splitlines() if line.strip().startswith(f"{name}")]
    assert found, name
    for line in found:
        for arguments in krand_calls(line):
            parse(arguments)


@pytest.mark.check
@pytest.mark.parametrize("module", ["krand", "krand.simulation", "krand.testing"])
def test_every_public_name_is_in_the_reference(built: Path, module: str) -> None:
    """Each has an entry with a link to it and words of its own."""
    page = sections(built / "docs" / "reference" / "python.html")
    home = import_module(module)
    for name in home.__all__:
        if name == "__version__":
            continue
        value = getattr(home, name)
        place = f"module-{module}.{name}" if inspect.ismodule(value) else f"{module}.{name}"
        assert place in page.ids, name
        assert (value.__doc__ or "").strip(), name


def test_every_exit_code_is_in_the_reference() -> None:
    """Code, meaning and exception stand in the tables."""
    text = (DOCS / "reference" / "exit-codes.md").read_text(encoding="utf-8")
    for code, meaning in EXIT_CODES.items():
        [row] = re.findall(rf"^\| {code} \|.*$", text, re.M)
        assert meaning.partition(";")[0].removeprefix("krand verify: ") in row
    kinds = errors.KrandError.__subclasses__()
    for kind in (kind for kind in kinds if kind.__module__ == errors.__name__):
        row = rf"^\| `{kind.__name__}`.*\| {kind.exit_code} \|$"
        assert re.search(row, text, re.M), kind


def test_every_key_of_the_files_is_in_the_reference() -> None:
    """Plan, tally and results hold nothing that the page does not name."""
    plan = small_plan().sealed_for(generate_private_key().public_key())
    counts = np.full(plan.layout.positions, 50)
    tally = tally_of(plan, 100, counts)
    results = make_results(plan, tally).values()
    block, promise = results["plan"]["blocks"][0], results["plan"]["promise"]
    for keys in (results["plan"], block, promise, tally.values(), results, results["questions"][0]):
        assert not {key for key in keys if f"`{key}`" not in FORMATS}
    for module in (plans, tallies, results_file, responses, batches, chain, mixer_keys):
        assert f"`{module.FORMAT}`" in FORMATS
    assert f"`{chain.MANIFEST_FORMAT}`" in FORMATS
    for value in (chain.Manifest, chain.Link, chain.LaneCounts, Mixer, Request, *DOCUMENTS):
        assert not {field.name for field in fields(value) if f"`{field.name}`" not in FORMATS}


def test_every_document_of_partners_is_in_the_reference() -> None:
    """With the bytes that are signed before it."""
    lines = FORMATS.splitlines()
    for kind in DOCUMENTS:
        shown = kind.purpose.decode().replace("\0", "\\0")
        assert any(line.startswith(f'| `{kind.form}` | `"{shown}"` |') for line in lines)
    assert f"`{Request.form}`" in FORMATS
    assert f"{MOST_CHUNK:,} bytes" in FORMATS
    allowed = f"{ROW_EXTRA} bytes more for each message", f"{GROUP_EXTRA:,} for each row group"
    assert all(text in " ".join(FORMATS.split()) for text in (*allowed, f"{FILE_EXTRA:,} in all"))


def test_what_a_client_needs_is_in_the_reference() -> None:
    """Each key of its vectors, of what a survey says for people, and the file of invitations."""
    vectors = json.loads((ROOT / "tests" / "vectors.json").read_text(encoding="utf-8"))
    (case, *_), (refused, *_), (sealed, *_) = (vectors[k] for k in ("cases", "refused", "sealed"))
    parts = (case, case["messages"][0], case["keys"][0], refused, sealed)
    named = {key for part in parts for key in part} - {"private_key"}
    named |= {*ABOUT_KEYS, "invitations", "help", "required", "unit", invitations.FORMAT}
    assert not {key for key in named if f"`{key}`" not in FORMATS}


def test_the_spaces_around_words_are_all_in_the_reference() -> None:
    """One by one, or as ranges."""
    (listed,) = re.findall(r"U\+(0009 to .*?3000)\.", " ".join(FORMATS.split()))
    ends = [[int(end, 16) for end in part.split(" to ")] for part in re.split(", | and ", listed)]
    found = [chr(code) for first, *last in ends for code in range(first, (last or [first])[0] + 1)]
    assert "".join(found) == WHITE_SPACE


@pytest.mark.parametrize(
    ("smokes", "pet"), [(True, "dog"), (False, None), (None, "cat"), (None, None)]
)
def test_the_example_of_a_group_is_right(smokes: bool | None, pet: str | None) -> None:
    """The page gives the position of each pair of answers."""
    asked = (YesNo(name="smokes"), Choice(name="pet", choices=Choices(["cat", "dog", "none"])))
    group = Together(("smokes", "pet"))
    layout = layout_of(replace(small_plan().survey, questions=asked, together=(group,)))
    assert f"= {layout.positions} positions" in " ".join(FORMATS.split())
    positions = encode(layout, {"smokes": smokes, "pet": pet})
    said = {True: "yes", False: "no", None: "unanswered"}[smokes]
    (row,) = re.findall(rf"^\| {said} \| {pet or 'unanswered'} \|.*\| (.*) \|$", FORMATS, re.M)
    assert row.rpartition(" ")[2] == (str(positions[0]) if positions else "none")


def test_every_rejection_is_in_the_reference() -> None:
    """Why a message may be refused."""
    for rejection in (*Rejection, REPEATED):
        assert f"`{rejection}`" in FORMATS
