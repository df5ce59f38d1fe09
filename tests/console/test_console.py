"""The console: from a title to a survey that can be published, and what its pages refuse."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from consoles import BASE, console_of
from golden import Golden
from html_pages import read_page, text_of, untranslated
from krand import parse_survey

if TYPE_CHECKING:
    from starlette.testclient import TestClient

HIDE = {r"/\S*/test_every_\w+/?": "<folder> ", r"krand \d[\d.]+": "krand <version>."}
GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
STEPS = ("questions", "promise", "publish", "watch", "results")
PLACE = "/surveys/habits"
LINKS = [f"https://mixer-{n}.example#{n}{'a' * 63}" for n in range(9)]
EVERY_KIND = """\
# Written by hand.
id = "habits"
title = "Every kind"
closes = 2126-12-24

[policy]
epsilon = 1.0
delta = 1e-06

[trust]
noise = "mixers"
mixers = 1

[[question]]
name = "smokes"
type = "yes_no"
text = "Do you smoke?"
counts = "both"

[[question]]
name = "pet"
type = "choice"
text = "Which pet?"
choices = ["cat", "dog, or two", "نعم 🐕"]
weight = 2
asked_if = { question = "smokes", is = ["yes"] }

[[question]]
name = "days"
type = "pick_any"
text = "Which days?"
choices = ["Monday", "Friday"]
at_most = 1

[[question]]
name = "mood"
type = "scale"
text = "Rate your boss 1–5"
lowest = 1
highest = 5
labels = ["bad", "good"]

[[question]]
name = "age"
type = "number"
text = "How old are you?"
edges = [0, 18, 65.5]
open = "above"
unit = "years"

[[question]]
name = "brand"
type = "words"
text = "Which brand?"
positions = 64
hashes = 2

[[question]]
name = "team"
type = "scale"
text = "How much do you agree?"
lowest = 1
highest = 3
statements = [{ name = "pay", text = "My pay is fair." }, { name = "boss", text = "I am heard." }]

[[together]]
questions = ["smokes", "pet"]

[[together]]
questions = ["pet", "mood", "age"]
"""


@pytest.fixture
def console(tmp_path: Path) -> TestClient:
    """Of a folder with one survey that was just begun."""
    found = console_of(tmp_path)
    found.post("/", data={"title": "Habits"})
    return found


def file_of(folder: Path) -> Path:
    return folder / "habits" / "survey.toml"


def form_of(console: TestClient) -> dict[str, str]:
    """The form of the questions as the browser has it."""
    return read_page(console.get(f"{PLACE}/questions").text).form(f"{PLACE}/questions")


def saved(console: TestClient, **changes: str) -> str:
    """What the file holds after the form was saved with these changes."""
    answer = console.post(f"{PLACE}/questions", data={**form_of(console), **changes})
    assert answer.is_success, text_of(answer.text)
    return read_page(answer.text).form(f"{PLACE}/text")["survey"]


def write(folder: Path, text: str) -> None:
    file_of(folder).write_text(text, encoding="utf-8")


def main_of(page: str) -> str:
    """Without what every page has around it."""
    return re.sub(r"(?s)^.*?\n# |\nkrand [\d.]+ .*", "\n# ", text_of(page)).removesuffix("\n# ")


# ---- Pages


def test_every_page_of_a_draft_in_english_and_german(
    console: TestClient, tmp_path: Path, golden: Golden
) -> None:
    """The browser's language; nothing English is left, and every page says what is to be done."""
    pages: dict[str, str] = {}
    for language, headers in (("en", {}), ("de", GERMAN)):
        found = [text_of(console.get("/", headers=headers).text)]
        for step in STEPS:
            page = console.get(f"{PLACE}/{step}", headers=headers)
            assert (page.status_code, f'<html lang="{language}">' in page.text) == (200, True)
            found.append(main_of(page.text))
        refused = console.post(f"{PLACE}/publish", data={"yes": "yes"}, headers=headers)
        lost = console.post(f"{PLACE}/questions", data={"base": "0"}, headers=headers)
        missing = console.get("/surveys/nobody", headers=headers)
        assert [each.status_code for each in (refused, lost, missing)] == [422, 409, 404]
        found += [main_of(each.text) for each in (refused, lost, missing)]
        pages[language] = "\n----\n".join(found)
        golden(f"console/draft.{language}", pages[language], HIDE)
    left = untranslated(pages["de"], pages["en"])
    assert [line for line in left if "survey: must be" not in line] == []
    assert not [*tmp_path.glob(".krand/public/*")], "looking published something"


def test_the_language_is_the_browsers_until_another_is_chosen(
    console: TestClient, tmp_path: Path
) -> None:
    """A cookie keeps the choice; English where the pages lack a language."""
    assert '<html lang="en">' in console.get("/", headers={"Accept-Language": "fr"}).text
    chosen = console.get("/?language=en", headers=GERMAN, follow_redirects=False)
    assert (chosen.status_code, chosen.headers["location"]) == (303, "/")
    assert chosen.headers["set-cookie"].lower().startswith("language=en;")
    assert chosen.headers["set-cookie"].lower().endswith("samesite=strict")
    assert '<html lang="en">' in console.get("/", headers=GERMAN).text
    for unknown in ("fr", "xx", "//evil.example"):
        assert "set-cookie" not in console.get(f"/?language={unknown}", headers=GERMAN).headers
    elsewhere = console.get(f"{BASE}//evil.example/?language=de", follow_redirects=False)
    assert elsewhere.headers["location"] == "/evil.example/"
    console.cookies.delete("language")
    console.post("/", data={"title": "Neu"}, headers=GERMAN)
    assert 'language = "de"' in (tmp_path / "neu" / "survey.toml").read_text("utf-8")


@pytest.mark.parametrize("title", ["t" * 300, "نعم 🐕 <b>", "…"], ids=["long", "signs", "none"])
def test_any_title_can_begin(tmp_path: Path, title: str) -> None:
    """It is escaped, every page comes, and the same title again is another survey."""
    console = console_of(tmp_path)
    first, second = (console.post("/", data={"title": title}).url.path for _ in range(2))
    assert first != second
    assert len([*tmp_path.glob("*/survey.toml")]) == 2
    for step in STEPS:
        answer = console.get(first.replace("questions", step))
        assert answer.status_code == 200
        assert "<b>" not in re.sub(r"(?s)<textarea.*?</textarea>", "", answer.text)
    assert title in unescape(console.get(first).text)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "survey.toml").write_text("")
    for outside in ("..%2fsecret", "..", "%2e%2e", ".hidden"):
        assert console.get(f"/surveys/{outside}/questions").status_code == 404


# ---- The form and the file


def test_a_form_that_nobody_changed_gives_the_same_survey(
    console: TestClient, tmp_path: Path
) -> None:
    """Of every kind, with conditions, groups, weights, and what the form does not show."""
    write(tmp_path, EVERY_KIND)
    made = saved(console)
    assert parse_survey(made) == parse_survey(EVERY_KIND)
    assert made.startswith("# Written by hand.\n")
    assert saved(console) == made == file_of(tmp_path).read_text("utf-8")
    write(tmp_path, EVERY_KIND.replace("[policy]", "# strict\n[policy]"))
    assert "omments" in text_of(console.get(f"{PLACE}/questions").text)


def test_names_follow_texts_and_whatever_refers_to_them_follows_too(
    console: TestClient, tmp_path: Path
) -> None:
    """Unless somebody gave a name; a kind stays what was chosen."""
    write(tmp_path, EVERY_KIND.replace('"smokes"', '"do_you_smoke"'))
    survey = parse_survey(saved(console, q1_text="Do you still smoke?"))
    name = "do_you_still_smoke"
    assert (survey.questions[0].name, survey.together[0].questions[0]) == (name, name)
    assert survey.questions[1].asked_if is not None
    assert survey.questions[1].asked_if.question == name
    write(tmp_path, EVERY_KIND)
    first, second, *_ = parse_survey(saved(console, q1_text="Rate 1–5", q2_name="x")).questions
    assert (first.name, first.kind.value, second.name) == ("smokes", "yes_no", "x")


def test_another_kind_takes_its_own_fields_and_leaves_the_others(
    console: TestClient, tmp_path: Path
) -> None:
    """What the new kind needs has a first value, and the file has no key that it does not know."""
    write(tmp_path, EVERY_KIND)
    new = {"q6_statements": "It is good.", "q6_choices": "a\nb", "q6_edges": "1, 2", "do": "over"}
    form = form_of(console)
    for kind in ("yes_no", "choice", "pick_any", "scale", "number", "yes_no+", "choice+", "scale+"):
        changed = {**form, **new, "q6_kind": kind}
        text = console.post(f"{PLACE}/questions?part", data=changed).json()["text"]
        question = parse_survey(text).questions[5]
        assert question.kind.value == kind.removesuffix("+")
        assert question.text == ("It is good." if kind.endswith("+") else "Which brand?")


MOVES = (
    ("up:2", "BAC"),
    ("down:2", "BCA"),
    ("up:1", "BCA"),
    ("remove:3", "BC"),
    ("remove:9", "BC"),
    ("add:scale", "BC-"),
    ("add:nothing", "BC-"),
)


def test_questions_move(console: TestClient) -> None:
    """Each with all its fields."""
    form = {}
    for number, text in enumerate("ABC", 1):
        form |= {f"q{number}_kind": "yes_no", f"q{number}_text": text, f"q{number}_help": text}
    saved(console, **form)
    for do, texts in MOVES:
        text = saved(console, do=do)
        assert "".join(re.findall('^text = "(.*)"$', text, re.M)) == texts.rstrip("-"), do
        assert "".join(re.findall('^help = "(.*)"$', text, re.M)) == texts.rstrip("-"), do
        assert text.count("[[question]]") == len(texts), do


FIELDS = {
    "lowest = 2": {"q4_lowest": "2"},
    'lowest = "one"': {"q4_lowest": "one"},
    "weight = 2.5": {"q2_weight": "2.5"},
    "edges = [0, 10, 20, 50.5]": {"q5_edges": "0, 10;  20\n50.5", "q5_integer": ""},
    'choices = ["a", "b,c"]': {"q2_choices": " a \r\n\r\n b,c "},
    "integer = true": {"q5_integer": "true"},
    f'title = "{"t" * 300}"': {"title": "t" * 300},
    '"option 999"': {"q2_choices": "\n".join(f"option {number}" for number in range(1000))},
}


def test_fields_become_values(console: TestClient, tmp_path: Path) -> None:
    """What is no number stays as it was typed, and the survey's own rules refuse it."""
    write(tmp_path, EVERY_KIND)
    form = form_of(console)
    for expected, given in FIELDS.items():
        answer = console.post(f"{PLACE}/questions?part", data={**form, **given, "do": "over"})
        assert expected in answer.json()["text"].replace(",\n    ", ", "), expected
    assert "open" not in saved(console, q5_open="")


def test_mistakes_are_told_by_the_labels_of_fields(
    console: TestClient, tmp_path: Path, golden: Golden
) -> None:
    """One of each kind of place; what is no TOML can only be changed as text."""
    broken = EVERY_KIND.replace('"Monday", "Friday"', '"Monday"').replace('"Every kind"', '"a\\nb"')
    broken = broken.replace("epsilon = 1.0", "epsilon = 0")
    write(tmp_path, broken.replace("lowest = 1\nhighest = 5", 'lowest = "x"\nhighest = 5'))
    page = main_of(console.get(f"{PLACE}/questions").text)
    first = page.partition("[About the survey]")[0]
    form = read_page(console.get(f"{PLACE}/questions").text).form(f"{PLACE}/text")
    console.post(f"{PLACE}/text", data={**form, "survey": "= 1"})
    second = main_of(console.get(f"{PLACE}/questions").text)
    golden("console/mistakes", f"{first}\n----\n{second}")


def test_the_second_writer_is_told(console: TestClient, tmp_path: Path) -> None:
    """Nothing is written; the script is told apart from people; whoever insists may."""
    older = {**form_of(console), "q1_text": "Older?"}
    saved(console, q1_text="Newer?")
    place = f"{PLACE}/questions"
    refused = console.post(place, data=older)
    assert refused.status_code == 409
    assert "what you wrote is still there" in refused.text
    part = console.post(f"{place}?part", data=older)
    assert (part.status_code, part.json()["state"]) == (409, "changed")
    assert "Newer?" in file_of(tmp_path).read_text("utf-8")
    part = console.post(f"{place}?part", data={**older, "do": "over"})
    assert part.json()["state"] == "saved"
    assert "Older?" in part.json()["text"]


@pytest.mark.parametrize(
    ("form", "policy", "trust"),
    [
        (
            {"noise": "devices", "expected": "480", "chosen": "2", "delta": "1e-5"},
            {"epsilon": 2, "delta": 1e-5, "minimum_crowd": 480},
            {"noise": "devices"},
        ),
        (
            {"noise": "mixers", "expected": "30", "chosen": "other", "epsilon": "0.7"},
            {"epsilon": 0.7},
            {},
        ),
    ],
)
def test_a_promise_becomes_policy_and_trust(
    console: TestClient, form: dict[str, str], policy: dict[str, Any], trust: dict[str, Any]
) -> None:
    """Devices need the crowd that is expected, and are named; mixers need neither."""
    import tomllib

    now = read_page(console.get(f"{PLACE}/promise").text).form(f"{PLACE}/promise")
    console.post(f"{PLACE}/promise?part", data={**now, **form})
    made = tomllib.loads(saved(console))
    assert {**policy, **made["policy"]} == made["policy"]
    assert ("minimum_crowd" in made["policy"]) == ("minimum_crowd" in policy)
    assert made.get("trust", {}) == trust


# ---- What is refused


def test_only_what_is_whole_and_confirmed_is_published(console: TestClient, tmp_path: Path) -> None:
    """A question without a text would be published under its name."""
    assert "must be complete" in console.post(f"{PLACE}/publish", data={"yes": "yes"}).text
    saved(console, q1_text="Do you smoke?")
    assert "must be ticked" in console.post(f"{PLACE}/publish", data={"closes": ""}).text
    assert not [*tmp_path.glob(".krand/public/*")]


@pytest.mark.parametrize(
    ("path", "data", "said"),
    [
        ("publish", {"yes": "yes", "links": "ftp://x"}, "link"),
        ("publish", {"yes": "yes", "links": f"http://mixer.example#{'ab' * 32}"}, "https://"),
        ("publish", {"yes": "yes", "links": "\n".join(LINKS)}, "at most 8"),
        ("text", {"survey": "#" * 2**21}, "at most"),
    ],
)
def test_what_cannot_be_is_refused(
    console: TestClient, tmp_path: Path, path: str, data: dict[str, str], said: str
) -> None:
    """In words, and nothing is written."""
    saved(console, q1_text="Do you smoke?")
    before = file_of(tmp_path).read_bytes()
    answer = console.post(f"{PLACE}/{path}", data={**data, "base": form_of(console)["base"]})
    assert answer.status_code == 422
    assert said in text_of(answer.text)
    assert file_of(tmp_path).read_bytes() == before
