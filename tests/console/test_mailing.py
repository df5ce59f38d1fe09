"""Mails from the console: looked at first, sent by krand invite, and in no file who got what."""

from __future__ import annotations

import re
import time
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from components import require
from inviting.smtp import Inbox, serving
from krand.collector.invitations import Followed, read_invitations
from krand.console.folder import FILE
from krand.console.published import links_files
from krand.inviting.journal import Journal
from krand.inviting.templates import INVITATION
from krand.site.checks import publish
from krand.site.making import folder_of
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from krand.wire.invitations import invited_id, read_code
from site_processes import MIXED, WAIT_SECONDS
from web.conftest import opened

if TYPE_CHECKING:
    from starlette.testclient import TestClient

MAIL, PASSWORD = "/surveys/team/mail", "s3cret-passw0rd"
PEOPLE = [f"person{number:02}@example.org" for number in range(35)]


@pytest.fixture
def folder(console: TestClient, tmp_path: Path) -> SurveyFolder:
    """A survey with invitations, open as if it ran."""
    file = tmp_path / "team" / FILE
    file.parent.mkdir()
    file.write_text(f"invitations = true\n{MIXED}", encoding="utf-8")
    found = folder_of(file)
    publish(found, read_plan(found.plan))
    return found


def made(console: TestClient, count: str, name: str) -> None:
    assert console.post("/surveys/team/invite", data={"count": count, "file": name}).is_success


def plain(page: str) -> str:
    return unescape(page).replace("\u00a0", " ").replace("\u202f", " ")


def looked(console: TestClient, inbox: Inbox, **more: str) -> str:
    form = {"kind": "invitation", "addresses": "\n".join(PEOPLE), "from": "us@example.org"}
    form["smtp"] = f"smtp://us@127.0.0.1:{inbox.port}"
    return plain(console.post(MAIL, data={**form, **more}).text)


def sent(console: TestClient) -> str:
    """The page when everything has left."""
    page = console.post(f"{MAIL}/send", data={"password": PASSWORD}).text
    end = time.monotonic() + WAIT_SECONDS
    while 'id="sending"' in page and time.monotonic() < end:
        page = console.get(f"{MAIL}/now").text
    return plain(page)


@pytest.mark.check
def test_everybody_is_mailed_once_and_no_file_has_a_code(
    console: TestClient, folder: SurveyFolder, tmp_path: Path
) -> None:
    """Looking sends nothing; the password is in no file; a reminder has no link."""
    made(console, "", "invitations.csv")
    console.post("/surveys/team/address", data={"address": "https://form.example/"})
    with serving(Inbox(), password=PASSWORD) as inbox:
        page = looked(console, inbox)
        assert "35 people are to be mailed" in page
        assert "How we treat each other" in page
        assert not inbox.messages
        assert console.post(f"{MAIL}/send", data={}).status_code == 422
        page = sent(console)
        assert "35 people were mailed" in page
        assert "krand invite team/survey.krand/plan.json --send" in page
        plan = read_plan(folder.plan)
        known, codes = Followed(folder.invitations, plan, 1), inbox.pairs()
        assert sorted(codes) == PEOPLE
        assert all(known.admit(invited_id(plan.hash, 1, read_code(c))) for c in codes.values())
        for path in tmp_path.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert PASSWORD.encode() not in content
            assert not any(code.encode() in content for code in codes.values())
        with opened(tmp_path) as later:  # a console that began nothing itself
            assert "35 people were mailed" in plain(later.get(MAIL).text)
            with Journal(folder.invitations.with_suffix(".sent"), INVITATION, plan.hash):
                assert "35 mailed so far" in plain(later.get(MAIL).text)
        assert "0 people are to be mailed" in looked(console, inbox)
        for again, number in (({}, 35), ({}, 0), ({"again": "yes"}, 35)):
            page = looked(console, inbox, kind="reminder", **again)
            assert f"{number} people are to be mailed" in page
            if number:
                assert f"{number} people were mailed" in sent(console)
    assert len(inbox.messages) == 3 * 35
    assert not any(b"form.example" in message for _, message in inbox.messages[35:])


def test_mistakes_are_named_before_anything_is_sent(
    console: TestClient, folder: SurveyFolder
) -> None:
    """Of addresses, server and text; and nobody is mailed for a survey without links."""
    inbox = Inbox(port=9)
    assert "must be open, and have personal links" in looked(console, inbox)
    made(console, "", "invitations.csv")
    for more, said in (
        ({"addresses": "nobody"}, "nobody"),
        ({"smtp": "mail.example"}, "must begin with smtps://"),
        ({"template": "Hello {link}"}, "Subject"),
        ({"kind": "poem"}, "must be one of"),
    ):
        assert said in looked(console, inbox, **more)
    assert not folder.invitations.with_suffix(".sent").exists()
    assert (folder.path / "people.csv").stat().st_mode & 0o777 == 0o600  # the list is its owner's


def test_links_and_slips_are_added_to_those_of_the_collector(
    console: TestClient, folder: SurveyFolder
) -> None:
    """One that runs admits them without being started again."""
    require("fpdf")
    require("segno")
    made(console, "2", "invitations.csv")
    plan = read_plan(folder.plan)
    running = Followed(folder.invitations, plan, 1)
    for name, invited in (("invitations.csv", 5), ("invitations.pdf", 8)):
        made(console, "3", name)
        assert read_invitations(folder.invitations, plan, 1).invited == invited
    nothing = console.post("/surveys/team/invite", data={"count": "", "file": "invitations.csv"})
    assert "must be how many more links to make" in nothing.text  # and the table stays
    tables = [name for name in links_files(folder) if name.endswith("csv")]
    assert tables == ["invitations.csv", "invitations-1.csv"]
    found = [console.get(f"/surveys/team/files/{name}").text for name in tables]
    codes = [code for table in found for code in re.findall('#([^"]+)"', table)]
    assert len(set(codes)) == 5  # the first two are still there
    assert all(running.admit(invited_id(plan.hash, 1, read_code(code))) for code in codes)
    assert not running.admit(bytes(16))
    assert console.get("/surveys/team/files/invitations.pdf").content.startswith(b"%PDF")


def test_a_journal_that_has_just_been_made_says_nothing_yet(tmp_path: Path) -> None:
    """The console may look between its making and its first line."""
    path = tmp_path / "reminder-1.sent"
    path.touch()
    assert Journal.states_in(path, INVITATION, "0" * 64) == {}
    assert not Journal.is_open(path)
    with Journal(path, INVITATION, "0" * 64):
        assert Journal.is_open(path)
    assert not Journal.is_open(path)
    assert not Journal.is_open(tmp_path / "missing.sent")
