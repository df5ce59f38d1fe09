"""Invitations: each address once or reported, and no file that tells who got which code."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import krand
import world
from command_line import done, refused, run, told
from components import require
from golden import Golden
from html_pages import read_page
from krand.testing import FakeChain
from mailing import (
    PLAN,
    SENDER,
    STEPS,
    URL,
    Known,
    Mailbox,
    folder_with,
    mailed,
    people,
    sending,
    serving,
)

MINIMUM_GROUP = 32


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with serving(Mailbox()) as found:
        yield found


# ---- Who is mailed what


def test_everybody_gets_a_code_of_their_own_that_the_collector_knows(
    tmp_path: Path, box: Mailbox
) -> None:
    """In a message of plain text, whose headers have no code; sending again sends nothing."""
    folder_with(tmp_path, people(40))
    first = mailed(tmp_path, box)
    assert (first["sent"], first["refused"], first["doubtful"], first["left"]) == (40, [], [], 0)
    known, codes = Known(tmp_path / "invitations.json", PLAN), box.codes
    assert sorted(codes) == people(40)
    assert len(set(codes.values())) == len(known.digests) == known.invited == 40
    assert known.admits(*codes.values())
    for address, message in box.parsed.items():
        assert (message["To"], message["Subject"]) == (address, "Lärm in der Stadt")
        assert message["From"] == "The council <noreply@example.org>"
        assert message["Auto-Submitted"] == "auto-generated"
        assert not any(codes[address] in str(value) for value in message.values())
        assert not message.is_multipart()
    again = mailed(tmp_path, box)
    assert (again["sent"], again["earlier"], len(box.messages)) == (0, 40, 40)


@pytest.mark.parametrize("kind", ["mail", "remind"])
def test_messages_in_every_language(tmp_path: Path, golden: Golden, kind: str) -> None:
    """Of krand, naming the survey as the survey does; shown, with nothing sent or written."""
    tags = ("de-at", "fr", "es", "ar", "en", "it", "")
    folder_with(tmp_path, ["email,language", *(f"{tag}@example.org,{tag}" for tag in tags[:-1])])
    mode = f"--mail people.csv --url {URL}" if kind == "mail" else "--remind people.csv -o x.sent"
    line = f"invite plan.json {mode} --from us@example.org --smtp smtp://localhost --dry-run"
    golden(f"inviting/{kind}", done(line, at=tmp_path).stdout)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "plan.json"]


def test_a_text_of_ones_own_names_the_survey_in_each_language(tmp_path: Path, box: Mailbox) -> None:
    """It goes to everybody, whatever their language; other alphabets arrive as they are."""
    folder_with(tmp_path, ["email;language", "anna@x.org;de-at", "bob@x.org;", "яна@Bücher.de;bg"])
    text = "Subject: {title}, ✓\n\nHallo, hello, здравей\n{link}\n{organiser}\n"
    (tmp_path / "own.txt").write_text(text, encoding="utf-8")
    assert mailed(tmp_path, box, more="--template own.txt")["sent"] == 3
    texts = {to: (text["Subject"], text.get_content()) for to, text in box.parsed.items()}
    assert [subject for subject, _ in texts.values()] == [
        "Leiser wohnen, ✓",
        "Lärm in der Stadt, ✓",
        "Lärm in der Stadt, ✓",
    ]
    assert list(texts) == ["anna@x.org", "bob@x.org", "яна@xn--bcher-kva.de"]
    assert all("здравей" in body for _, body in texts.values())
    assert texts["anna@x.org"][1].endswith("Der Rat\r\n")


def test_reminders_go_to_everybody_once_and_have_no_link(tmp_path: Path, box: Mailbox) -> None:
    """Nobody knows who has answered; another name is another reminder."""
    folder_with(tmp_path, people(5))
    for name, sent in (("first.sent", 5), ("first.sent", 0), ("second.sent", 5)):
        assert mailed(tmp_path, box, to=name)["sent"] == sent
    assert len(box.messages) == 10
    assert not any(b"form.example" in message for _, message in box.messages)
    assert not (tmp_path / "invitations.json").exists()
    (tmp_path / "first.sent").rename(tmp_path / "invitations.sent")
    assert "another survey or message" in refused(sending(box), at=tmp_path)["hint"]
    (tmp_path / "notes.sent").write_text("what I must not forget")
    assert refused(sending(box, to="notes.sent"), at=tmp_path)["field"] == "journal"
    assert (tmp_path / "notes.sent").read_text() == "what I must not forget"


# ---- Servers that refuse, fail and quote


def test_what_the_server_refuses_is_reported_by_its_number_alone(
    tmp_path: Path, golden: Golden
) -> None:
    """Some quote the message, with the link in it; those who were refused may be mailed later."""
    answers = {
        ("rcpt", "person001@example.org"): "550 5.1.1 no such user",
        ("rcpt", "person002@example.org"): "450 4.7.1 greylisted",
        ("data", "person003@example.org"): "554 5.7.1 spam: https://form.example/#QUOTED",
        ("rcpt", "person004@example.org"): "421 4.3.2 good bye",
    }
    folder_with(tmp_path, people(40))
    with serving(Mailbox(lambda step, _, address: answers.get((step, address)))) as box:
        first = run(sending(box), at=tmp_path)
        assert first.exit_code == 75
        assert "QUOTED" not in first.output + (tmp_path / "invitations.sent").read_text()
        assert Known(tmp_path / "invitations.json", PLAN).invited == 36
        box.say = lambda *_: None
        second = run(sending(box), at=tmp_path)
        golden("inviting/refused", f"{first.output}\n{second.output}")
        known = Known(tmp_path / "invitations.json", PLAN)
        assert known.admits(*box.codes.values())
        assert (known.invited, len(known.digests)) == (40, 40 + MINIMUM_GROUP)


def test_a_server_without_other_alphabets_refuses_only_those(tmp_path: Path) -> None:
    """Everybody else is mailed."""
    folder_with(tmp_path, ["anna@example.org", "яна@example.org", "bob@example.org"])
    with serving(Mailbox(extensions=("8BITMIME",))) as box:
        first = mailed(tmp_path, box, code=1)
        assert [one["code"] for one in first["refused"]] == ["no SMTPUTF8"]
        assert box.addresses == ["anna@example.org", "bob@example.org"]


@pytest.mark.parametrize("step", STEPS)
def test_a_connection_that_ends_leaves_nobody_out_and_nobody_twice(
    tmp_path: Path, step: str
) -> None:
    """Before the message is handed over it is sent again; afterwards the address is in doubt."""
    dropped: list[int] = []

    def say(now: str, stored: int, _: str) -> str | None:
        if now == step and stored in (10, 21) and stored not in dropped:
            dropped.append(stored)
            return "drop"
        return None

    folder_with(tmp_path, people(30))
    is_sure = step in ("mail", "rcpt")
    with serving(Mailbox(say)) as box:
        first = mailed(tmp_path, box, code=0 if is_sure else 1)
        doubtful = {one["address"] for one in first["doubtful"]}
        assert len(dropped) == 2
        assert len(doubtful) == (0 if is_sure else 2)
        assert len(box.addresses) == len(set(box.addresses))
        assert {*box.addresses} | doubtful == set(people(30))
        before = len(box.messages)
        again = mailed(tmp_path, box, code=0 if is_sure else 1)
        assert {one["address"] for one in again["doubtful"]} == doubtful
        assert len(box.messages) == before


def test_a_server_that_always_fails_is_left_alone(tmp_path: Path) -> None:
    """Three people are in doubt at most, not everybody; the rest can be mailed later."""
    folder_with(tmp_path, people(40))
    with serving(Mailbox(lambda step, *_: "drop" if step == "data" else None)) as box:
        for say in (box.say, lambda *_: "drop"):
            box.say = say
            found = mailed(tmp_path, box, code=75)
            assert (found["sent"], len(found["doubtful"]), found["left"]) == (0, 3, 37)
    assert "does not answer" in mailed(tmp_path, box, code=75)["error"]["reason"]


def test_a_sender_that_the_server_refuses_ends_it_at_once(tmp_path: Path) -> None:
    """That is not the people's fault: everybody can be mailed later."""
    folder_with(tmp_path, people(5))
    with serving(Mailbox(lambda step, *_: "553 5.7.1 no" if step == "mail" else None)) as box:
        error = mailed(tmp_path, box, code=2)["error"]
        assert (error["field"], "553 5.7.1" in error["hint"]) == ("from", True)
        box.say = lambda *_: None
        assert mailed(tmp_path, box)["sent"] == 5


def test_other_machines_are_not_mailed_without_tls(tmp_path: Path, box: Mailbox) -> None:
    """127.1 is this machine by a name that krand takes for another one."""
    folder_with(tmp_path, people(2))
    line = sending(box).replace("//127.0.0.1:", "//127.1:")
    assert "must be encrypted" in refused(line, at=tmp_path)["rule"]
    assert not box.messages


def test_the_password_is_read_from_a_variable(
    tmp_path: Path, box: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is a user, and nobody is asked; this server has no logins."""
    folder_with(tmp_path, people(1))
    monkeypatch.setenv("KRAND_MAIL_PASSWORD", "geheim")
    line = sending(box).replace("smtp://", "smtp://anna@")
    assert refused(line, at=tmp_path)["rule"] == "must name no user"
    assert not (tmp_path / "invitations.json").exists()


# ---- Kills, lost files, two at once


def test_whenever_it_is_killed_nobody_is_mailed_twice_or_left_out(tmp_path: Path) -> None:
    """What is on the disk at each step of each message is enough to go on; no file has a code.

    The order of no file tells who got which code.
    """
    images: list[tuple[Path, list[str]]] = []
    live = tmp_path / "live"
    live.mkdir()

    def keep(step: str, _: int, address: str) -> None:
        if step != "rcpt" and len(box.messages) in (0, 5):
            image = tmp_path / f"image-{len(images)}"
            shutil.copytree(live, image)
            images.append((image, box.addresses))

    listed = people(8)[::-1]
    folder_with(live, listed)
    with serving(Mailbox(keep)) as box:
        assert mailed(live, box)["sent"] == 8
    images.append((live, box.addresses))
    assert len(images) == 6
    first = box.codes
    for number, (image, before) in enumerate(images):
        if number == 1:  # the machine failed, and a line was cut off
            with (image / "invitations.sent").open("a") as stream:
                stream.write("+ perso")
        _check_secrets(image, first)
        with serving(Mailbox()) as later:
            found = mailed(image, later, code=1 if number + 1 < len(images) else 0)
        doubtful = [one["address"] for one in found["doubtful"]]
        both = sorted([*before, *later.addresses, *(d for d in doubtful if d not in before)])
        assert both == people(8), f"image {number}: {before} before, {later.addresses} after"
        assert len(doubtful) <= 1
        codes = {to: first[to] for to in before} | later.codes
        assert Known(image / "invitations.json", PLAN).admits(*codes.values())


def _check_secrets(folder: Path, codes: dict[str, str]) -> None:
    """No file has a code, and digests are in an order of their own."""
    names = {path.name for path in folder.iterdir()}
    assert names <= {"plan.json", "people.csv", "invitations.json", "invitations.sent"}, names
    whole = b"".join(path.read_bytes() for path in folder.iterdir())
    assert not [code for code in codes.values() if code.encode() in whole]
    known = Known(folder / "invitations.json", PLAN)
    assert known.digests == sorted(known.digests)
    assert len(known.digests) == MINIMUM_GROUP, "a few new digests would be pairs"
    for name in ("invitations.json", "invitations.sent"):
        assert (folder / name).stat().st_mode & 0o077 == 0, f"others can read {name}"


def test_a_lost_file_mails_nobody_twice_and_loses_no_link(tmp_path: Path, box: Mailbox) -> None:
    """Links from a file stay; without the list of who was mailed, or the digests, none is sent."""
    folder_with(tmp_path, people(4))
    done(f"invite plan.json --count 3 --url {URL} -o links.csv", at=tmp_path)
    assert mailed(tmp_path, box)["sent"] == 4
    known = Known(tmp_path / "invitations.json", PLAN)
    links = links_of_csv(tmp_path / "links.csv")
    assert known.invited == 7
    assert known.admits(*(link.removeprefix(f"{URL}#") for link in links), *box.codes.values())
    for name in ("invitations.sent", "invitations.json"):
        (tmp_path / name).rename(tmp_path / "kept")
        folder_with(tmp_path, people(5))
        error = mailed(tmp_path, box, code=2)["error"]
        assert "put it back" in error["hint"], error
        (tmp_path / "kept").rename(tmp_path / name)
    assert len(box.messages) == 4
    assert mailed(tmp_path, box)["sent"] == 1


def test_links_that_two_processes_make_are_all_kept(tmp_path: Path) -> None:
    """A table that is written while mails are sent adds to the same file of digests."""
    made: list[str] = []

    def other(step: str, stored: int, _: str) -> None:
        if step == "data" and stored in (2, 30):
            made.append(f"links-{stored}.csv")
            done(f"invite plan.json --count 5 --url {URL} -o {made[-1]}", at=tmp_path)

    folder_with(tmp_path, people(40))
    with serving(Mailbox(other)) as box:
        assert mailed(tmp_path, box)["sent"] == 40
    known = Known(tmp_path / "invitations.json", PLAN)
    links = [link for name in made for link in links_of_csv(tmp_path / name)]
    assert len(links) == 10
    assert known.admits(*(link.removeprefix(f"{URL}#") for link in links), *box.codes.values())
    assert known.invited == 50


def test_two_processes_never_mail_at_once(tmp_path: Path) -> None:
    """The second one is told to wait."""
    told_to: list[str] = []

    def second(step: str, stored: int, _: str) -> None:
        if step == "data" and not told_to:
            told_to.append(other(stored))

    def other(_: int) -> str:
        fcntl = require("fcntl")
        with (tmp_path / "invitations.sent").open("rb+") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return "locked"
            return "free"

    folder_with(tmp_path, people(2))
    with serving(Mailbox(second)) as box:
        assert mailed(tmp_path, box)["sent"] == 2
        assert told_to == ["locked"]
        fcntl = require("fcntl")
        with (tmp_path / "invitations.sent").open("rb+") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH)
            folder_with(tmp_path, people(3))
            assert "another process" in mailed(tmp_path, box, code=75)["error"]["reason"]


def test_sigterm_ends_it_after_the_message_that_is_under_way(tmp_path: Path) -> None:
    """Nobody is in doubt, and the same command goes on."""

    def say(step: str, stored: int, _: str) -> None:
        if step == "data" and stored == 7:
            os.kill(os.getpid(), signal.SIGTERM)

    folder_with(tmp_path, people(20))
    with serving(Mailbox(say)) as box:
        first = mailed(tmp_path, box, code=130)
        assert first["doubtful"] == []
        assert first["sent"] + first["left"] == 20
        assert 8 <= first["sent"] < 20
        box.say = lambda *_: None
        assert mailed(tmp_path, box)["earlier"] == first["sent"]
    assert sorted(box.addresses) == people(20)


# ---- Links in files


@pytest.mark.parametrize("ending", ["csv", "html"])
def test_links_in_a_file_are_known_to_the_collector(tmp_path: Path, ending: str) -> None:
    """Each once; more are added to those that exist, and no file of links is replaced."""
    folder_with(tmp_path, [])
    make = f"invite plan.json --count 8 --url {URL} -o links"
    assert told(f"{make}.{ending}", at=tmp_path)["invited"] == 8
    links = (links_of_sheet if ending == "html" else links_of_csv)(tmp_path / f"links.{ending}")
    before = Known(tmp_path / "invitations.json", PLAN)
    assert len(set(links)) == len(links) == before.invited == 8
    assert before.admits(*(link.removeprefix(f"{URL}#") for link in links))
    assert not before.admits("A" * 22)
    for name in (f"links.{ending}", "invitations.json"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0, f"others can read {name}"
    assert "another file" in refused(f"{make}.{ending}", at=tmp_path)["hint"]
    assert Known(tmp_path / "invitations.json", PLAN).invited == 8
    assert told(f"{make}-2.{ending}", at=tmp_path)["invited"] == 16
    assert {*before.digests} < {*Known(tmp_path / "invitations.json", PLAN).digests}


def links_of_csv(path: Path) -> list[str]:
    return re.findall(rf'{re.escape(URL)}#[^",\s]+', path.read_text(encoding="utf-8"))


def links_of_sheet(path: Path) -> list[str]:
    """As a phone reads them; each stands in letters beside its code, below the title."""
    html = path.read_text(encoding="utf-8")
    text = read_page(html).text
    assert text.count("Lärm in der Stadt") == 10  # and twice for whoever prints it
    assert text.count("The council") == 8
    links = [code_in_svg(svg) for svg in re.findall("<svg.*?</svg>", html, re.DOTALL)]
    assert all(text.count(link) == 1 for link in links)
    return links


def code_in_svg(svg: str) -> str:
    """What a phone reads from the lines of the picture."""
    (size,), (lines,) = re.findall(r'viewBox="0 0 (\d+) ', svg), re.findall(r'\bd="(M4 .*?)"', svg)
    picture = np.full((int(size), int(size)), 255, np.uint8)
    x, y = 0.0, 0.0
    for step, right, down in re.findall(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?", lines):
        if step == "h":
            picture[int(y), int(x) : int(x) + int(right)] = 0
        if step == "M":
            x, y = 0, 0
        x, y = x + float(right), y + float(down or 0)
    codes, larger = require("zxingcpp"), np.kron(picture, np.ones((4, 4), np.uint8))
    (found,) = codes.read_barcodes(larger, codes.BarcodeFormat.QRCode)
    return str(found.text)


def test_a_sheet_reaches_out_to_nothing_and_runs_nothing(tmp_path: Path) -> None:
    """Whatever the survey is called, in a language that is written from right to left."""
    title = "</title><script>alert(1)</script>"
    survey = PLAN.survey.changed(title=title, language="ar", translations=())
    replace(PLAN, survey=survey).save(tmp_path / "plan.json")
    done(f"invite plan.json --count 3 --url {URL}?a=b&c -o sheet.html", at=tmp_path)
    html = (tmp_path / "sheet.html").read_text(encoding="utf-8")
    page = read_page(html)
    names = {name for name, _ in page.elements}
    assert not names & {"script", "link", "img", "a", "iframe", "object", "base", "form"}
    assert not re.search(r"url\(|@import|\bon\w+=|\b(src|href|action)=", html)
    assert page.of("html")[0] == {"lang": "ar", "dir": "rtl"}
    assert "default-src 'none'" in html
    assert page.text.count(title) == 5
    assert page.text.count("https://form.example/?a=b&c#") == 3
    error = refused(f"invite plan.json --count 5001 --url {URL} -o more.html", at=tmp_path)
    assert "-o links.csv" in error["hint"]


PRIVATE = (
    *("localhost", "127.0.0.1:8080", "127.1", "0x7f.1", "2130706433", "[::1]", "[fe80::1]"),
    *("10.1.2.3", "192.168.0.7", "172.16.9.9", "169.254.1.1", "100.64.0.1", "[fd00::1]"),
    *("[::ffff:127.0.0.1]", "0.0.0.0", "server", "form.local", "form.corp.internal", "LOCALHOST."),
)


def test_links_lead_to_where_people_can_reach_the_form(tmp_path: Path) -> None:
    """An address of this machine or network is refused, unless it is asked for."""
    folder_with(tmp_path, people(2))
    for number, host in enumerate(PRIVATE):
        line = f"--count 2 --url https://{host}/ -o {number}.csv"
        error = refused("invite plan.json", line, at=tmp_path)
        assert (error["field"], error["hint"][-7:]) == ("url", "--local"), error
        done("invite plan.json", line, "--local", at=tmp_path)
    for host in ("form.example", "1.1.1.1", "[2606:4700::1111]", "localhost.example"):
        done(f"invite plan.json --count 2 --url https://{host}/ -o {host[:5]}.csv", at=tmp_path)
    error = refused(
        "invite plan.json --count 2 --url http://10.0.0.1/ --local -o x.csv", at=tmp_path
    )
    assert error["rule"] == "must begin with https://"


def test_links_of_a_published_survey_lead_to_a_partners_page(tmp_path: Path) -> None:
    """Where the plan says; the digests are where `krand run` reads them, and none is published."""
    folder = tmp_path / "team.krand"

    def published(survey_id: str) -> krand.Plan:
        made = world.plan("trio")
        survey = made.survey.changed(id=survey_id, invitations=True)
        plan = FakeChain(replace(made, survey=survey)).plan
        (folder / "public" / plan.hash).mkdir(parents=True)
        plan.save(folder / "public" / plan.hash / "plan.json")
        return plan

    folder.mkdir()
    error = refused("invite team.toml --count 2 -o links.csv", at=tmp_path)
    assert error["rule"] == "must have published one survey, not 0"
    plan = published("team")
    done("invite team.toml --count 2 -o links.csv", at=tmp_path)
    page = f"{plan.mixers[1].url}/{plan.hash}/"
    text = (tmp_path / "links.csv").read_text(encoding="utf-8")
    codes = re.findall(f'"{page}#([^"]*)"', text)
    assert len(codes) == 2
    assert Known(folder / "invitations" / f"{plan.hash}.json", plan).admits(*codes)
    assert [each.name for each in (folder / "public" / plan.hash).iterdir()] == ["plan.json"]
    other = published("other")
    error = refused("invite team.krand --count 2 -o more.csv", at=tmp_path)
    assert error["rule"] == "must have published one survey, not 2"
    file = folder / "public" / other.hash / "plan.json"
    done("invite", file, "--count 2 -o more.csv", at=tmp_path)


# ---- What people write


LISTS = (
    "a@x.org\nb@x.org\n",
    "a@x.org\r\n\r\n  b@x.org  ",
    "email\na@x.org\nb@x.org\n",
    "\ufeffE-Mail;Name\na@x.org;Anna\nb@x.org;Bert\n",
    "Name;Sprache;E-Mail-Adresse\nAnna;;a@x.org\nBert;;b@x.org\n",
    "address,email\n1 Main Street,a@x.org\n2 Main Street,b@x.org\n",
    "Anna\ta@x.org\nBert\tb@x.org\n",
    '"name","mail"\n"Doe, Anna",a@x.org\n"Two\nlines",b@x.org\n',
)


def test_lists_are_read_as_spreadsheets_write_them(tmp_path: Path, box: Mailbox) -> None:
    """With a header or none, columns in any order, BOM, semicolons, tabs, empty lines."""
    for number, content in enumerate(LISTS):
        folder_with(tmp_path, [])
        (tmp_path / "people.csv").write_bytes(content.encode())
        mailed(tmp_path, box, to=f"{number}.sent")
        assert box.addresses[-2:] == ["a@x.org", "b@x.org"], repr(content)


WRONG_LISTS: tuple[str | bytes, ...] = (
    "a@x.org\nA@X.org\n",
    'a@x.org\n"b@x.org\nBcc: c@x.org"\n',
    "a@x.org\nb@x.org\rBcc: c@x.org\n",
    "a@x.org\nb@x.org\u200b\n",
    "a@x.org\nBert <b@x.org>\n",
    "a@x.org\nb@x.org c@x.org\n",
    "a@x.org\nb\na@x.org\nc@\nb..c@x.org\nb@localhost\nb@[127.0.0.1]\nb@straße.de\nb@ü..org\n",
    f"a@x.org\n{'b' * 65}@x.org\n",
    "name,mail\nAnna,a@x.org\nBert\n",
    "name;place\nAnna;Rome\n",
    "a@x.org,b@x.org\n",
    "mail,mail\na@x.org,b@x.org\n",
    'a@x.org\n"b@x.org',
    "a@x.org\nü@x.org\n".encode("latin-1"),
    "a@x.org\n".encode("utf-16"),
    "",
)
WRONG_TEMPLATES = (
    "Hello\n\n{link}\n",
    "",
    "Subject: x\n{link}\n",
    "Subject: {link}\n\n{link}\n",
    "Subject: x\n\nHello\n",
    "Subject: x\n\nHello\n{lnik}{link}\n",
    "Subject: x\n\n{title.__class__}{link}\n",
    "Subject: x\n\nbell \x07 {link}\n",
)
MAILING = f"invite plan.json --mail people.csv --url {URL} {SENDER} --smtp"
WRONG_LINES = (
    "invite plan.json",
    f"invite plan.json --count 2 --mail people.csv --url {URL} -o x.csv",
    "invite plan.json --mail people.csv",
    f"invite plan.json --mail people.csv --url {URL}",
    f"invite plan.json --count 2 --url {URL}",
    f"{MAILING} smtp://localhost -o x.sent",
    f"invite plan.json --count 2 --url {URL} {SENDER} -o x.csv",
    f"invite plan.json --count 2 --url {URL} -o x.sent",
    *(
        f"invite plan.json --count 2 --url '{url}' -o x.csv"
        for url in (
            "http://form.example/",
            "https://form.example/#x",
            "https://anna@form.example/",
            "https://bücher.example/",
            "https://form.example:99999/",
            "form.example",
            f"https://form.example/{'x' * 300}",
        )
    ),
    "invite plan.json --count 2 --url http://127.0.0.1:8080/ -o x.csv",
    f"invite plan.json --remind people.csv --url {URL} {SENDER} --smtp smtp://localhost -o x.sent",
    f"invite plan.json --remind people.csv {SENDER} --smtp smtp://localhost -o x.csv",
    f"{MAILING} smtp://localhost --template none.txt",
    *(
        f"{MAILING} {url}"
        for url in (
            "mail.example.org",
            "https://mail.example.org",
            "smtps://",
            "smtps://mail.example.org:99999",
            "smtps://anna:geheim@mail.example.org",
            "smtps://mail.example.org/box",
        )
    ),
    *(
        f"{MAILING} smtp://localhost --from {sender}"
        for sender in ("x", "'A <b>'", "'a@b.org\nBcc: c@d.org'", "ü@b.org", "'A\n<a@b.org>'")
    ),
)


def test_every_mistake_has_its_line_and_a_remedy(tmp_path: Path, golden: Golden) -> None:
    """In lists of addresses, own texts and options: all are told before anything is sent."""
    folder_with(tmp_path, people(2))
    (tmp_path / "mail.txt").write_text("Subject: x\n\n{link}\n")
    found = [_refusal(line, tmp_path) for line in WRONG_LINES]
    remind = f"invite plan.json --remind people.csv {SENDER} --smtp smtp://localhost -o x.sent"
    found.append(_refusal(f"{remind} --template mail.txt", tmp_path))
    for text in WRONG_TEMPLATES:
        (tmp_path / "mail.txt").write_text(text, encoding="utf-8")
        found.append(_refusal(f"{MAILING} smtp://localhost --template mail.txt", tmp_path, text))
    for content in WRONG_LISTS:
        listed = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "people.csv").write_bytes(listed)
        found.append(_refusal(f"{MAILING} smtp://localhost", tmp_path, content))
    golden("inviting/mistakes", "\n".join(found))
    assert "geheim" not in "".join(each.partition("\n")[2] for each in found)
    assert {path.name for path in tmp_path.iterdir()} == {"plan.json", "people.csv", "mail.txt"}


def _refusal(line: str, folder: Path, content: str | bytes | None = None) -> str:
    result = run(line, at=folder)
    assert result.exit_code == 2, f"{line}: {result.output}"
    return f"{f'$ krand {line}' if content is None else repr(content)}\n{result.stderr}"
