"""Lists of addresses and templates as people have them: each mistake with its line and remedy."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from krand.errors import InvalidInput
from krand.inviting.addresses import Recipient, read_addresses
from krand.inviting.mail_server import checked_sender, mail_server
from krand.inviting.templates import INVITATION, REMINDER, ROOM, SLIP, Templates, own_text
from krand.languages.catalogs import languages_of
from krand.promise import Policy
from krand.survey.about import About
from krand.survey.questions import YesNo
from krand.survey.rules import SurveyErrors
from krand.survey.survey import Survey
from survey.drawing import translated


def survey(about: About) -> Survey:
    policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=100)
    return Survey(id="s", policy=policy, questions=(YesNo(name="a"),), about=about)


FULL = survey(
    About(title="Our town", organiser="The council", contact="x@y.z", closes=date(2026, 12, 24))
)
BARE = survey(About())


def addresses(folder: Path, content: str | bytes) -> tuple[Recipient, ...]:
    path = folder / "people.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_addresses(path)


@pytest.mark.parametrize(
    "content",
    [
        "a@x.org\nb@x.org\n",
        "a@x.org\r\n\r\n  b@x.org  ",
        "email\na@x.org\nb@x.org\n",
        "\ufeffE-Mail;Name\na@x.org;Anna\nb@x.org;Bert\n",
        "Name;Sprache;E-Mail-Adresse\nAnna;;a@x.org\nBert;;b@x.org\n",
        "address,email\n1 Main Street,a@x.org\n2 Main Street,b@x.org\n",
        "Anna\ta@x.org\nBert\tb@x.org\n",
        '"name","mail"\n"Doe, Anna",a@x.org\n"Two\nlines",b@x.org\n',
    ],
)
def test_lists_are_read_as_spreadsheets_write_them(tmp_path: Path, content: str) -> None:
    """With a header or none, columns in any order, BOM, semicolons, tabs, empty lines."""
    assert [one.address for one in addresses(tmp_path, content)] == ["a@x.org", "b@x.org"]


def test_other_alphabets_become_what_a_mail_server_takes(tmp_path: Path) -> None:
    """The domain in ASCII, the part before the @ in one form of Unicode; languages in a column."""
    found = addresses(tmp_path, "email,language\nu\u0308@Bücher.example,DE-at\nя@почта.рф,\n")
    assert [(one.address, one.language, one.line) for one in found] == [
        ("ü@xn--bcher-kva.example", "de-at", 2),
        ("я@xn--80a1acny.xn--p1ai", "", 3),
    ]


@pytest.mark.parametrize(
    ("content", "line", "rule", "remedy"),
    [
        ("a@x.org\nA@X.org\n", 2, "line 1 has it too", "each address gets one link"),
        ('a@x.org\n"b@x.org\nBcc: c@x.org"\n', 2, "in one line", "line break"),
        ("a@x.org\nb@x.org\rBcc: c@x.org\n", 3, "one @", "one address in each line"),
        ("a@x.org\nb@x.org\u200b\n", 2, "visible", "type it again"),
        ("a@x.org\nb@x.org\x00\n", 2, "visible", "type it again"),
        ("a@x.org\nBert <b@x.org>\n", 2, "alone", "leave out the name"),
        ("a@x.org\nb@x.org c@x.org\n", 2, "one @", "one address in each line"),
        ("a@x.org\nb.x.org\n", 2, "one @", "anna@example.org"),
        ("a@x.org\nb..c@x.org\n", 2, "understand", "typed correctly"),
        ("a@x.org\nb@localhost\n", 2, "domain", "@example.org"),
        ("a@x.org\nb@[127.0.0.1]\n", 2, "domain", "@example.org"),
        ("a@x.org\nb@straße.de\n", 2, "another domain", "xn--"),
        ("a@x.org\nb@ü..org\n", 2, "domain", "xn--"),
        (f"a@x.org\n{'b' * 65}@x.org\n", 2, "64 bytes", "no mail server"),
        ("name,mail\nAnna,a@x.org\nBert\n", 3, "one @", "one address in each line"),
        ("name;place\nAnna;Rome\n", 1, "one column", "email"),
        ("a@x.org,b@x.org\n", 1, "one column", "email"),
        ("mail,mail\na@x.org,b@x.org\n", 1, "one column", "rename"),
        ('a@x.org\n"b@x.org', 2, "CSV", "quote"),
        ("a@x.org\nü@x.org\n".encode("latin-1"), 2, "UTF-8", "save it as CSV"),
        ("a@x.org\n".encode("utf-16"), 1, "UTF-16", "save it as CSV"),
        ("\n \n", 1, "address", "for example"),
        ("", 1, "address", "for example"),
    ],
)
def test_a_mistake_in_a_list_has_its_line_and_a_remedy(
    tmp_path: Path, content: str | bytes, line: int, rule: str, remedy: str
) -> None:
    """Nothing is sent before all are mended."""
    with pytest.raises(SurveyErrors) as caught:
        addresses(tmp_path, content)
    (problem,) = caught.value.problems
    assert problem.line == line
    assert rule in problem.rule
    assert remedy in problem.hint


def test_all_mistakes_of_a_list_are_told_at_once(tmp_path: Path) -> None:
    """Nobody should mend a file one run at a time."""
    with pytest.raises(SurveyErrors) as caught:
        addresses(tmp_path, "a@x.org\nb\na@x.org\nc@\n")
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4]


def template(folder: Path, text: str, kind: str = INVITATION) -> Templates:
    (folder / "mail.txt").write_bytes(text.encode())
    return Templates(kind, FULL, [("", folder / "mail.txt")])


@pytest.mark.parametrize(
    ("text", "kind", "line", "rule"),
    [
        ("Hello\n\n{link}\n", INVITATION, 1, "begin with the subject"),
        ("", INVITATION, 1, "begin with the subject"),
        ("Subject: x\n{link}\n", INVITATION, 2, "must be empty"),
        ("Subject: {link}\n\n{link}\n", INVITATION, 1, "must not have the link"),
        ("Subject: x\n\nHello\n", INVITATION, 3, "must have {link}"),
        ("Subject: x\n\nHello\n{lnik}{link}\n", INVITATION, 4, "must be one of {link}"),
        ("Subject: x\n\n{title.__class__}{link}\n", INVITATION, 3, "must be one of {link}"),
        ("Subject: x\n\n{link}\n", REMINDER, 3, "no link in a reminder"),
        ("Subject: x\n\nbell \x07 {link}\n", INVITATION, 3, "control characters"),
    ],
)
def test_a_mistake_in_a_template_has_its_line(
    tmp_path: Path, text: str, kind: str, line: int, rule: str
) -> None:
    """A subject stands in logs, and a reminder cannot know whose link is which."""
    with pytest.raises(SurveyErrors) as caught:
        template(tmp_path, text, kind)
    first = caught.value.problems[0]
    assert (first.line, rule in first.rule) == (line, True)


def test_own_templates_are_chosen_by_language(tmp_path: Path) -> None:
    """de for de-AT; one without a language for all others; without it a language is a mistake."""
    for name in ("all", "de"):
        text = f"Subject: {name} {{title}}\n\n{{link}} {{closes}}\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = [("", tmp_path / "all"), ("de", tmp_path / "de")]
    found = Templates(INVITATION, FULL, given)
    subjects = [found.of(tag).subject for tag in ("", "de", "de-at", "fr")]
    assert subjects == ["all Our town", "de Our town", "de Our town", "all Our town"]
    assert found.of("").body_with("L") == "L 2026-12-24\n"
    people = [Recipient("a@x.org", "de", 1), Recipient("b@x.org", "", 2)]
    french = Recipient("c@x.org", "fr", 7)
    found.check([*people, french], "people.csv")
    german = Templates(INVITATION, FULL, given[1:])
    german.check(people, "people.csv")
    with pytest.raises(SurveyErrors, match=r"line 7: .*'fr'\n.*--template fr=FILE"):
        german.check([*people, french], "people.csv")
    with pytest.raises(InvalidInput, match="one for each language"):
        Templates(INVITATION, FULL, [*given, ("DE", tmp_path / "de")])


def test_a_message_names_the_survey_in_its_own_language(tmp_path: Path) -> None:
    """As far as the survey has it; the language of the survey is for everybody else."""
    found = Templates(INVITATION, translated(FULL, "fr", "pt-BR"), [])
    assert "fr: Our town" in found.of("fr").subject
    assert "fr: The council" in found.of("fr-ca").body
    assert "fr: " not in found.of("de").subject + found.of("").subject
    (tmp_path / "pt").write_text("Subject: {title}\n\n{link}\n", encoding="utf-8")
    own = Templates(INVITATION, translated(FULL, "fr", "pt-BR"), [("pt", tmp_path / "pt")])
    assert own.of("pt").subject == "pt-BR: Our town"


@pytest.mark.parametrize("tag", languages_of(ROOM))
@pytest.mark.parametrize("kind", [INVITATION, REMINDER])
def test_krand_has_texts_in_its_languages(kind: str, tag: str) -> None:
    """Without what the survey does not say; with the link in the invitation alone."""
    own = Templates(kind, FULL, []).of(tag)
    assert own != Templates(kind, FULL, []).of("en") or tag == "en"
    assert ("{link}" in own.body) is (kind == INVITATION)
    assert "Our town" in own.subject
    assert all(text in own.body for text in ("Our town", "The council", "x@y.z", "2026-12-24"))
    bare = Templates(kind, BARE, []).of(tag)
    assert len(bare.body.split("\n\n")) < len(own.body.split("\n\n"))
    assert "\n\n\n" not in bare.body
    assert "{" not in bare.body.replace("{link}", "")
    assert own_text(SLIP, tag).count("\n") == 3


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("mail.example.org", "smtps://"),
        ("https://mail.example.org", "smtps://"),
        ("smtps://", "smtps://"),
        ("smtps://mail.example.org:99999", "smtps://"),
        ("smtps://anna:geheim@mail.example.org", "must not hold the password"),
        ("smtps://mail.example.org/box", "alone"),
        ("smtps://mail.example.org\r\nx", "smtps://"),
    ],
)
def test_a_mail_server_has_an_address_without_a_password(url: str, rule: str) -> None:
    """A password on the command line is seen by everybody on the machine, and is not repeated."""
    with pytest.raises(InvalidInput) as caught:
        mail_server(url)
    assert rule in caught.value.rule
    assert "geheim" not in str(caught.value)


def test_the_usual_ports_and_names_are_known() -> None:
    """465 with TLS, 587 with STARTTLS, 25 on this machine."""
    found = [
        mail_server(url)
        for url in ("smtps://a%40b.org@m.org", "smtp://a@b.org@m.org", "smtp://localhost")
    ]
    assert [(one.port, one.user, one.tls, one.is_here) for one in found] == [
        (465, "a@b.org", True, False),
        (587, "a@b.org", False, False),
        (25, "", False, True),
    ]


@pytest.mark.parametrize("text", ["x", "A <b>", "a@b.org\nBcc: c@d.org", "ü@b.org", "A\n<a@b.org>"])
def test_a_sender_is_one_address(text: str) -> None:
    """With a name or without; no line break can add a header."""
    with pytest.raises(InvalidInput, match="from"):
        checked_sender(text)
    assert str(checked_sender("City, of <a@b.org>")) == '"City, of" <a@b.org>'
