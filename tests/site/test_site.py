"""What `krand run` says before it runs anything: survey files, site files, folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import done, on_a_terminal, refused, run, told
from components import require
from golden import Golden

require("uvicorn")

SURVEY = """\
id = "team"
title = "How we treat each other"
organiser = "The works council"

[policy]
epsilon = 2.0
delta = 1e-3

[trust]
noise = "mixers"

[[question]]
name = "fair"
type = "yes_no"
"""
SITE = """\
name = "The works council"
folder = "council"
address = "https://survey.council.example"
behind_proxy = true
surveys = ["team.toml"]
"""
IDENTITY = "ab" * 32
LINK = f"https://collector.example/{IDENTITY}/"
MISTAKEN: dict[str, str] = {
    "nothing in it": "",
    "a misspelt key": SITE.replace("name", "nam"),
    "a table that is none": SITE + "[sight]\n",
    "a misspelt role": SITE + 'roles = ["collector", "analist"]\n',
    "a role twice": SITE + 'roles = ["collector", "collector"]\n',
    "no port": SITE + 'listen = "127.0.0.1:80800"\n',
    "others reach it without TLS": 'name = "a"\nlisten = "0.0.0.0:8080"\n',
    "a proxy nowhere": 'name = "a"\nbehind_proxy = true\n',
    "an address that is none": SITE.replace("https://survey.council", "http://council"),
    "a console for others": SITE + 'console = "0.0.0.0:8090"\n',
    "one port for two": SITE + 'console = "127.0.0.1:8080"\n',
    "a policy of nobody": SITE + '[policy]\naccept = "ask"\n',
    "counted by nobody": SITE.replace("team.toml", LINK) + 'roles = ["collector"]\n',
    "collected by nobody": SITE + 'roles = ["analyst"]\n',
    "an address of nobody": SITE + '[addresses]\nunion = "http://10.0.0.2:8080"\n',
    "a page nowhere": SITE + 'origins = ["x"]\n',
    "a cut": SITE + "[",
}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    file = tmp_path / "team.toml"
    file.write_text(SURVEY, encoding="utf-8")
    return file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_mistakes_in_a_site_file_are_all_named_with_their_lines(
    tmp_path: Path, golden: Golden
) -> None:
    """Also where it would run: nothing is made."""
    file, found = tmp_path / "site.toml", []
    for name, text in MISTAKEN.items():
        file.write_text(text, encoding="utf-8")
        for more in ("--check", "--yes"):
            result = run("run", file, more)
            assert result.exit_code == 2, name
        found.append(f"{name}:\n{result.stderr}")
    golden("site/mistakes", "\n".join(found))
    assert names(tmp_path) == ["site.toml"]


UNFIT: dict[str, str] = {
    "an impossible promise": SURVEY.replace("epsilon = 2.0", "epsilon = -1"),
    "nothing": "",
    "a remark": "# to be written\n",
    "no questions": SURVEY.partition("[[question]]")[0],
}


def test_a_survey_that_cannot_run_leaves_nothing(survey: Path, golden: Golden) -> None:
    found = []
    for name, text in UNFIT.items():
        survey.write_text(text, encoding="utf-8")
        found.append(f"{name}:\n{run('run', survey, '--yes').stderr}")
        assert names(survey.parent) == ["team.toml"], name
    golden("site/unfit", "\n".join(found))


def test_a_check_and_a_look_write_nothing(survey: Path) -> None:
    """Of a survey, and of a site that names it."""
    site = survey.with_name("site.toml")
    site.write_text(SITE, encoding="utf-8")
    for file in (survey, site, site.parent):
        assert told("run", file, "--check")["surveys"] == ["team"]
        assert told("run", file, "--status") == {"surveys": []}
        assert "No survey is published" in done("run", file, "--status").stdout
        assert refused("run", file, "--close --yes")["field"] == "close"
    assert names(survey.parent) == ["site.toml", "team.toml"]


def test_nothing_is_published_unasked(survey: Path) -> None:
    """Whoever says no, or cannot be asked, finds everything as it was."""
    assert refused("run", survey)["field"] == "yes"
    for typed in ("n\n", "\n"):
        code, text = on_a_terminal("run", survey, typed=typed)
        assert (code, "Publish? [y/N]" in text) == (130, True), text
    assert names(survey.parent) == ["team.toml"]
