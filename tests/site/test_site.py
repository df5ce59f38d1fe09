"""What `krand run` says before it runs anything: survey files, site files, folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import done, refused, run, told
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
[site]
name = "The works council"

[[survey]]
folder = "team.krand"
roles = ["collector", "analyst"]
listen = "127.0.0.1:8080"
"""


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    file = tmp_path / "team.toml"
    file.write_text(SURVEY, encoding="utf-8")
    return file


MISTAKEN: dict[str, str] = {
    "nothing in it": "",
    "a misspelt key": SITE.replace("name", "nam"),
    "a misspelt table": SITE + "[sight]\n",
    "one survey, not a list": SITE.replace("[[survey]]", "[survey]"),
    "a misspelt role": SITE.replace(', "analyst"', ', "analist"'),
    "a role twice": SITE.replace(', "analyst"', ', "collector"'),
    "no port": SITE.replace("8080", "80800"),
    "nowhere to listen": SITE.replace('listen = "127.0.0.1:8080"\n', ""),
    "one port for two": SITE.replace("[site]\n", '[site]\nstatus = "127.0.0.1:8080"\n'),
    "a survey twice": SITE + SITE.partition("\n\n")[2],
    "keys of another time": SITE + "round = 2\norigins = ['x']\n",
    "half a certificate": SITE + '[receiver]\nlisten = "a:1"\ntls_key = "k"\n',
    "a receiver nowhere": SITE + "[receiver]\n",
    "a cut": SITE + "[",
}


def test_mistakes_in_a_site_file_are_all_named_with_their_lines(
    tmp_path: Path, golden: Golden
) -> None:
    file, found = tmp_path / "site.toml", []
    for name, text in MISTAKEN.items():
        file.write_text(text, encoding="utf-8")
        result = run("run", file, "--check")
        assert result.exit_code == 2, name
        found.append(f"{name}:\n{result.stderr}")
    golden("site/mistakes", "\n".join(found))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site.toml"]


def test_what_a_survey_needs_is_told_before_it_runs(survey: Path, golden: Golden) -> None:
    """The same for the survey's file, its folder and the folder's site; and what is missing."""
    found = told("run", survey, "--check")
    (folder,) = map(Path, found["surveys"])
    for named in (folder, folder / "site.toml"):
        assert told("run", named, "--check")["surveys"] == found["surveys"]
    for path in ("collector/identity.pem", "analyst/key.pem", "signatures/1.sig.json"):
        (folder / path).rename(folder / "away")
        error = refused("run", folder / "site.toml", "--check")
        missing = "signature" if path.startswith("sig") else path
        assert missing in str(error["problems"]), error["problems"]
        (folder / "away").rename(folder / path)
    signature = folder / "signatures" / "1.sig.json"
    kept = signature.read_text(encoding="utf-8")
    signature.write_text(kept.replace(kept[-40:-30], "0" * 10), encoding="utf-8")
    said = run("run", folder / "site.toml", "--check").stderr
    signature.write_text(kept, encoding="utf-8")
    site = folder / "site.toml"
    site.write_text(site.read_text() + "\n[[survey]]\nfolder = 'x'\nroles = ['analyst']\n")
    said += run("run", site, "--check").stderr
    golden("site/incomplete", said)


UNFIT: dict[str, str] = {
    "three mixers alone": SURVEY.replace('"mixers"', '"mixers"\nmixers = 3'),
    "an impossible promise": SURVEY.replace("epsilon = 2.0", "epsilon = -1"),
    "nothing": "",
    "a remark": "# to be written\n",
    "no questions": SURVEY.partition("[[question]]")[0],
}


def test_a_survey_that_cannot_run_here_leaves_nothing(survey: Path, golden: Golden) -> None:
    found = []
    for name, text in UNFIT.items():
        survey.write_text(text, encoding="utf-8")
        found.append(f"{name}:\n{run('run', survey).stderr}")
        assert [path.name for path in survey.parent.iterdir()] == ["team.toml"], name
    found.append(f"a folder without a site:\n{run('run', survey.parent).stderr}")
    golden("site/unfit", "\n".join(found))


def test_missing_invitations_are_named_with_the_command_that_makes_them(survey: Path) -> None:
    """Then the same command runs."""
    survey.write_text(f"invitations = true\n{SURVEY}", encoding="utf-8")
    (problem,) = refused("run", survey, "--check")["problems"]
    assert problem["rule"] == "must have invitations.json"
    done(problem["hint"].removeprefix("krand "))
    assert told("run", survey, "--check")["surveys"]


def test_a_site_is_named_after_its_survey(survey: Path) -> None:
    """As far as a name may be long; whatever it is, the file is read again."""
    title = 'Say \\"hello\\", ü, ' + "é" * 150
    survey.write_text(SURVEY.replace("How we treat each other", title), encoding="utf-8")
    text = SURVEY.replace('organiser = "The works council"\n', "")
    survey.write_text(text.replace("How we treat each other", title), encoding="utf-8")
    (folder,) = told("run", survey, "--check")["surveys"]
    site = Path(folder) / "site.toml"
    assert "hello" in site.read_text(encoding="utf-8")
    assert told("run", site, "--check")["surveys"] == [folder]
