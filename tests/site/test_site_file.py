"""The site file: all mistakes at once, each with its line; what krand writes, it reads."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from docs.pages import ROOT
from krand.site.site_file import (
    ReceiverTable,
    Site,
    SiteTable,
    SurveyTable,
    read_site,
    site_in,
    site_text,
)
from krand.survey.rules import SurveyErrors
from krand.survey.toml_file import TomlFile
from krand.terminal.places import Place

PAGE = (ROOT / "docs" / "reference" / "site-file.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.partition("```toml\n")[2].partition("```")[0]
HERE = Path("/srv/council")
GOOD = """\
[site]
name = "The works council"

[[survey]]
folder = "team.krand"
roles = ["collector", "analyst"]
listen = "127.0.0.1:8080"
"""


def site_of(text: str) -> Site:
    return site_in(TomlFile("site.toml", text), HERE)


def mistakes(text: str) -> list[tuple[int | None, str]]:
    """The line and the path of each."""
    with pytest.raises(SurveyErrors) as caught:
        site_of(text)
    assert all(problem.rule for problem in caught.value.problems)
    return [(problem.line, problem.path) for problem in caught.value.problems]


def test_the_page_has_an_example_and_every_key() -> None:
    site = site_of(EXAMPLE)
    assert site.receiver is not None
    assert [survey.folder.path for survey in site.surveys] == [
        HERE / "team.krand",
        HERE / "canteen.krand",
    ]
    for table in (SiteTable, ReceiverTable, SurveyTable):
        for key in table.model_fields:
            assert re.search(rf"^\| .*`{key}`", PAGE, re.MULTILINE), key


def test_defaults_are_those_of_the_page() -> None:
    site = site_of(GOOD)
    assert site.status == Place("127.0.0.1", 8090)
    assert (site.folder, site.receiver) == (HERE / "state", None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [(1, "site.name")]),
        (GOOD.replace('name = "', 'name = "' + "x" * 100), [(2, "site.name")]),
        (GOOD.replace("name", "nam"), [(1, "site.name"), (2, "site.nam")]),
        (GOOD + "[sight]\n", [(8, "sight")]),
        (GOOD.replace("[[survey]]", "[survey]"), [(4, "survey")]),
        (GOOD.replace(', "analyst"', ', "analist"'), [(6, "survey[0].roles[1]")]),
        (GOOD.replace(', "analyst"', ', "collector"'), [(6, "survey[0].roles")]),
        (GOOD.replace("8080", "80800"), [(7, "survey[0].listen")]),
        (GOOD.replace('listen = "127.0.0.1:8080"\n', ""), [(4, "survey[0].listen")]),
        (
            GOOD.replace("[site]\n", '[site]\nstatus = "127.0.0.1:8080"\n'),
            [(8, "survey[0].listen")],
        ),
        (
            GOOD + GOOD.partition("\n\n")[2],
            [(9, "survey[1].folder"), (11, "survey[1].listen")],
        ),
        (GOOD + "round = 2\norigins = ['x']\n", [(8, "survey[0].round"), (9, "survey[0].origins")]),
        (GOOD + '[receiver]\nlisten = "a:1"\ntls_key = "k"\n', [(10, "receiver.tls_key")]),
        (GOOD + "[receiver]\n", [(8, "receiver.listen")]),
        (GOOD + "[", [(8, "")]),
    ],
)
def test_every_mistake_is_named_with_its_line(
    text: str, expected: list[tuple[int | None, str]]
) -> None:
    assert mistakes(text) == expected


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Also with everything that may be left out."""
    for text in (
        GOOD,
        EXAMPLE,
        EXAMPLE.replace('"receiver"', '"r"\ntls_cert = "c"\ntls_key = "k"'),
    ):
        site = site_in(TomlFile("site.toml", text), tmp_path)
        site = replace(site, name='Say "hello", \\ and ü')
        (tmp_path / "site.toml").write_text(site_text(site, tmp_path), encoding="utf-8")
        assert read_site(tmp_path / "site.toml") == site
