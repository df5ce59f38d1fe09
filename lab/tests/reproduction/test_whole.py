"""`krand-lab drafts` from the command line: complete, repeatable, and the documentation agrees.

`make check` runs them all. The tests beside this file look at numbers and figures of the same run.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
import re
from collections import Counter
from collections.abc import Iterable
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from components import require
from krand.errors import InternalError
from krand_lab import statements
from krand_lab.commands.drafts import SECTIONS
from krand_lab.reproduction.entries import Number, Section
from krand_lab.reproduction.findings import FINDINGS, findings_of
from krand_lab.reproduction.markdown import drafts_markdown
from krand_lab.reproduction.pictures import PICTURES_OF
from krand_lab.reproduction.statements import MODULES, STATEMENTS_OF
from krand_lab.reproduction.tasks import Reproduction
from krand_lab.statements.verdict import keys_of, known_keys
from reproduction.conftest import run
from statements.test_verdicts import check_formulas

PAGE = Path(__file__).parents[3] / "docs" / "lab" / "drafts.md"


def only(sections: Iterable[Section]) -> list[str]:
    """The arguments that choose sections."""
    return [word for section in sections for word in ("--only", str(section))]


def entries(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [*values["numbers"], *values["figures"], *values["statements"]]


@pytest.mark.nightly
def test_everything_is_there_with_its_source(values: dict[str, Any]) -> None:
    """Every figure and statement of every section; each names document, place and key."""
    counts = values["counts"]
    assert values["sections"] == [str(section) for section in Section]
    assert counts["numbers"] >= 60
    assert counts["figures"] == sum(len(PICTURES_OF[section]) for section in Section)
    assert counts["statements"] == sum(len(STATEMENTS_OF[section]) for section in Section)
    for entry in entries(values):
        assert re.match(r"00[0-4] ", entry["source"]), entry["key"]
    assert [key for key, n in Counter(e["key"] for e in entries(values)).items() if n > 1] == []


@pytest.mark.nightly
def test_every_statement_of_the_drafts_has_a_verdict(values: dict[str, Any]) -> None:
    """The range is stated, a failure has a counterexample, a correction holds without exception."""
    for entry in values["statements"]:
        assert entry["covered"], entry["key"]
        assert entry["cases"] >= 30, entry["key"]
        for name in (
            "source",
            "says",
            "covered",
            "comment",
            "corrected",
            "smallest_counterexample",
        ):
            check_formulas(entry[name] or "")
        if entry["verdict"] == "fails":
            assert entry["smallest_counterexample"], entry["key"]
            assert entry["corrected"], entry["key"]
            assert entry["correction"]["failures"] == 0, entry["key"]
            assert entry["correction"]["cases"] >= 30, entry["key"]
        else:
            assert entry["smallest_counterexample"] is None
            assert entry["correction"] is None
            assert not entry["corrected"], entry["key"]


@pytest.mark.nightly
def test_a_second_run_gives_the_same_numbers(values: dict[str, Any], tmp_path: Path) -> None:
    """Bit for bit; `--only` computes nothing else. `test_pictures` repeats a simulated one."""
    sections = {Section.PRECISION, Section.TAIL}
    done = run("--json", *only(sections), "--output", str(tmp_path))
    again = json.loads(done.stdout)
    assert again.pop("written") == {
        "page": str(tmp_path / "drafts.html"),
        "numbers": str(tmp_path / "drafts.json"),
    }
    assert again == json.loads((tmp_path / "drafts.json").read_text(encoding="utf-8"))
    assert {entry["section"] for entry in entries(again)} == sections
    for kind in ("numbers", "figures", "statements"):
        expected = [e for e in values[kind] if e["section"] in sections]
        assert again[kind] == expected


@pytest.mark.nightly
def test_the_documentation_says_what_is_computed(values: dict[str, Any]) -> None:
    """docs/lab/drafts.md is written from the same values; `make drafts` brings it up to date."""
    assert PAGE.read_text(encoding="utf-8") == drafts_markdown(values)


class Page(HTMLParser):
    """What the page holds, what it would load, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.links: set[str] = set()
        self.loads: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            if name == "id" and value:
                self.ids[value] += 1
            elif name in ("href", "src", "xlink:href") and value:
                (self.links.add if value.startswith("#") else self.loads.append)(value)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.nightly
def test_the_page_shows_everything_and_needs_nothing(written: Path, values: dict[str, Any]) -> None:
    """Formulas are formulas, every entry can be linked to, nothing is fetched."""
    require("matplotlib")
    source = (written / "drafts.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(source)
    assert page.loads == []
    assert page.tags["script"] == 0
    assert page.tags["svg"] == len(values["figures"])
    assert page.tags["math"] > 500
    assert "$" not in page.text
    assert "\\frac" not in page.text
    assert [key for key, n in page.ids.items() if n > 1] == []
    assert {f"#{entry['key']}" for entry in entries(values)} <= {f"#{i}" for i in page.ids}
    assert {link[1:] for link in page.links} <= page.ids.keys()


@pytest.mark.nightly
def test_every_finding_is_in_the_summary(values: dict[str, Any]) -> None:
    """The run has the evidence for all, and no placeholder is left."""
    told, known = [entry["source"] for entry in values["summary"]], [f.source for f in FINDINGS]
    assert told == known
    assert not any("[[" in entry["text"] for entry in values["summary"])


def test_a_finding_that_the_numbers_contradict_is_refused() -> None:
    """The summary cannot say that something falls while its evidence agrees."""
    kept = [
        Number(key, Section.SINGLE_BIT, "000", "kept", "99.98", 99.98)
        for key in ("000-kept", "003-kept")
    ]
    with pytest.raises(InternalError, match="contradicts 000-kept"):
        findings_of(Reproduction((Section.SINGLE_BIT,), tuple(kept), (), ()))


def test_no_statement_is_left_out() -> None:
    """Every test has words, in exactly one section, and all words have a test."""
    listed = Counter(key for section in Section for key in keys_of(section))
    assert set(listed.values()) == {1}
    assert listed.keys() == known_keys()
    modules = {module.__name__ for module in MODULES}
    for module in pkgutil.walk_packages(statements.__path__, f"{statements.__name__}."):
        if re.search(
            r"^@(statement|printed)\(", inspect.getsource(import_module(module.name)), re.MULTILINE
        ):
            assert module.name in modules


def test_the_command_knows_every_section() -> None:
    """Its choices are spelt out so that help is quick; they are the sections."""
    assert list(SECTIONS) == [str(section) for section in Section]


def test_an_unknown_section_is_refused_by_name() -> None:
    """With the sections that there are, and exit code 2."""
    done = run("--only", "nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr
    assert "single-bit" in done.stderr


def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(tmp_path: Path) -> None:
    """Not after a minute of computing."""
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    done = run("--output", str(blocked / "below"))
    assert done.returncode == 2
    assert "output" in done.stderr
