"""The planner's survey page: load, edit, plan, save; nothing is changed that nobody changed."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from krand.errors import CannotMeet
from krand.planning.coalitions import coalitions_of
from krand.planning.making import make_plan
from krand.survey.plan_file import parse_plan
from krand.survey.reading import SurveyErrors, parse_survey
from krand.web.limits import MOST_BODY_BYTES, MOST_SURVEY_BYTES
from krand.web.surveys import EXAMPLES, example, survey_from
from krand.wording.coalitions import coalition_text, remains_text
from krand.wording.plans import promise_sentence
from report.page_reader import spaced
from survey_texts import question_text, survey_text
from web.reading import text_of, value_of

if TYPE_CHECKING:
    from httpx2 import Response
    from starlette.testclient import TestClient


SMALL = survey_text(
    "small",
    question_text("smokes", "yes_no", text="Do you smoke? ✓ <b>&amp;"),
    epsilon=1.0,
    delta=1e-6,
    minimum_crowd=1_000_000,
)
WRONG = SMALL.replace('type = "yes_no"', 'type = "maybe"').replace("1e-06", "3.0")


def loaded(planner: TestClient, content: bytes) -> Response:
    """The page after a file was chosen and Load was pressed."""
    file = {"file": ("mine.toml", content, "application/toml")}
    return planner.post("/survey", data={"survey": "old text", "do": "load"}, files=file)


def field(page: str) -> str:
    """What a browser shows in the text field: the first line end belongs to the tag."""
    found = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    return html.unescape(found[1]).removeprefix("\n")


def form(page: str, text: str) -> dict[str, str]:
    """What a browser sends of the page when its text field holds this."""
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', page))
    return {**hidden, "survey": re.sub("\r?\n", "\r\n", text)}


def multipart(values: dict[str, str]) -> dict[str, tuple[None, str]]:
    return {name: (None, value) for name, value in values.items()}


@pytest.mark.parametrize(
    "content",
    [
        SMALL.encode(),
        SMALL.rstrip("\n").encode(),
        b"\n\n" + SMALL.encode() + b"\n\n",
        SMALL.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SMALL.encode(),
        b"this is \tno TOML & never was </textarea><script>",
    ],
    ids=["plain", "no end", "empty lines", "windows", "windows, mark", "mark", "wrong"],
)
def test_what_is_loaded_is_what_is_saved(planner: TestClient, content: bytes) -> None:
    """Byte for byte, through the text field of a browser, and whether it is right or not."""
    page = loaded(planner, content)
    shown = field(page.text)
    saved = planner.post("/survey.toml", files=multipart(form(page.text, shown)))
    assert saved.status_code == 200
    assert saved.content == content
    assert saved.headers["content-disposition"] == 'attachment; filename="survey.toml"'


def test_an_edited_survey_is_saved_as_edited(planner: TestClient) -> None:
    """Only what was edited changes, also where line ends are those of Windows."""
    content = SMALL.replace("\n", "\r\n").encode()
    page = loaded(planner, content)
    edited = field(page.text).replace("1000000", "2_000_000")
    again = planner.post("/survey", files=multipart(form(page.text, edited)))
    assert field(again.text) == edited
    saved = planner.post("/survey.toml", files=multipart(form(again.text, field(again.text))))
    assert saved.content == content.replace(b"1000000", b"2_000_000")


SEVERAL = "\n".join(
    [
        SMALL,
        question_text("age", "number", edges=[18, 30, 60], weight=2),
        question_text("town", "choice", choices=["Ulm", "Köln"]),
        '[[together]]\nquestions = ["smokes", "town"]\n',
    ]
)


@pytest.mark.check
def test_a_survey_is_planned_as_the_api_plans_it(planner: TestClient) -> None:
    """Every question's noise and precision, the messages, the promise and the plan's name."""
    plan = make_plan(parse_survey(SEVERAL))
    page = planner.post("/survey", data={"survey": SEVERAL})
    assert page.status_code == 200
    rows = re.findall(
        r'<tr data-question="([^"]*)">.*?data-value="([^"]*)".*?data-noise="([^"]*)"',
        page.text,
        re.DOTALL,
    )
    expected = [(b.name, repr(b.precision.half_width_95), repr(b.noise)) for b in plan.blocks]
    assert [(html.unescape(n), width, q) for n, width, q in rows] == expected
    assert len({width for _, width, _ in rows}) == len(rows) == 2
    margins = re.findall(r'<tr data-margin="(\w+)">.*?data-value="([^"]*)"', page.text, re.DOTALL)
    alone = {name: plan.precision_of(name).half_width_95 for name in ("smokes", "town")}
    assert margins == [(name, repr(width)) for name, width in alone.items()]
    assert value_of(page.text, "messages-value") == plan.messages
    assert value_of(page.text, "local-epsilon-value") == plan.promise.local_epsilon
    assert text_of(page.text, "promise-sentence") == promise_sentence(plan)
    assert text_of(page.text, "plan-hash") == plan.hash
    part = planner.post("/part/survey", data={"survey": SEVERAL})
    assert part.text in page.text


@pytest.mark.check
@pytest.mark.parametrize(
    ("noise", "mixers"), [("mixers", 1), ("mixers", 3), ("both", 1), ("both", 2)]
)
def test_noise_of_mixers_is_planned_too(planner: TestClient, noise: str, mixers: int) -> None:
    """σ, messages, bytes, dummies, and what remains if others work together."""
    text = f'{SEVERAL}\n[trust]\nnoise = "{noise}"\nmixers = {mixers}\n'
    plan = make_plan(parse_survey(text))
    page = planner.post("/survey", data={"survey": text})
    assert page.status_code == 200
    assert re.findall(r'data-noise="([^"]*)"', page.text) == [
        repr(block.precision.sigma) for block in plan.blocks
    ]
    assert "noise σ" in page.text
    assert value_of(page.text, "messages-value") == plan.messages
    assert value_of(page.text, "bytes-value") == plan.messages * (6 + 48 * mixers)
    assert value_of(page.text, "dummies-value") == plan.expected_dummies
    assert text_of(page.text, "promise-sentence") == promise_sentence(plan)
    told = text_of(page.text, "coalitions")
    for row in coalitions_of(plan):
        assert f"{coalition_text(row, plan)} {remains_text(row, plan)}" in told
    assert ("ε₀ = " in spaced(page.text)) == (noise == "both")
    assert ('id="local-epsilon-value"' in page.text) == (noise == "both")
    assert ">inf" not in page.text
    assert planner.post("/plan.json", data={"survey": text}).content == plan.bytes


def test_devices_noise_has_no_dummies_and_names_who_serves_the_form(planner: TestClient) -> None:
    """No table about mixers; that of a plan with mixers has the form's host, here it is a card."""
    page = planner.post("/survey", data={"survey": SMALL}).text
    assert 'id="dummies-value"' not in page
    assert 'id="coalitions"' not in page
    assert "whoever serves the web form" in page
    assert text_of(page, "page-host-value") == "no protection"


@pytest.mark.parametrize(
    ("trust", "said"),
    [
        ('noise = "nobody"', "noise"),
        ('noise = "mixers"\nmixers = 99', "mixers"),
        ('noise = "devices"\nmixers = 2', "mixers"),
    ],
)
def test_mistakes_about_trust_are_named(planner: TestClient, trust: str, said: str) -> None:
    """By the line in which they are."""
    page = planner.post("/survey", data={"survey": f"{SMALL}\n[trust]\n{trust}\n"})
    assert page.status_code == 422
    (line,) = re.findall(r'<li data-line="\d+">(.*?)</li>', page.text, re.DOTALL)
    assert f"trust.{said}" in line


@pytest.mark.check
def test_the_page_begins_with_an_example(planner: TestClient) -> None:
    """It stands in the text field and is planned; the others are links."""
    page = planner.get("/survey").text
    assert field(page) == example("browser").text
    assert 'id="plan-hash"' in page
    for name in EXAMPLES:
        assert f'href="/survey?example={name}"' in page
        assert survey_from(example(name).text).id


def test_examples_are_those_of_the_documentation() -> None:
    """They are kept twice, because a package has no folder of examples."""
    folder = Path(__file__).parents[2] / "examples"
    for name in EXAMPLES:
        assert example(name).bytes == (folder / f"{name}.toml").read_bytes()


def test_a_plan_is_saved_as_krand_plan_writes_it(planner: TestClient) -> None:
    """The file is the API's, and a collector takes it."""
    saved = planner.post("/plan.json", data={"survey": SMALL})
    assert saved.headers["content-disposition"] == 'attachment; filename="plan.json"'
    assert saved.content == make_plan(parse_survey(SMALL)).bytes
    assert parse_plan(saved.content).survey.id == "small"


def test_mistakes_are_told_with_their_lines(planner: TestClient) -> None:
    """All of them, in the order of the file, as krand plan tells them; nothing is saved as plan."""
    with pytest.raises(SurveyErrors) as wrong:
        parse_survey(WRONG)
    expected = [(str(problem.line), problem.rule) for problem in wrong.value.problems]
    assert len(expected) == 2
    page = planner.post("/survey", data={"survey": WRONG})
    assert page.status_code == 422
    part = planner.post("/part/survey", data={"survey": WRONG})
    assert (part.status_code, part.headers["x-state"]) == (200, "invalid")
    for text in (page.text, part.text):
        found = re.findall(r'<li data-line="(\d+)">(.*?)</li>', text, re.DOTALL)
        assert [line for line, _ in found] == [line for line, _ in expected]
        for (_, told), (_, rule) in zip(found, expected, strict=True):
            assert rule in html.unescape(told)
    assert planner.post("/plan.json", data={"survey": WRONG}).status_code == 422


def test_a_survey_that_cannot_be_met_is_refused_in_the_page(planner: TestClient) -> None:
    """With krand's reason and what would help."""
    text = SMALL.replace("1000000", "20").replace("epsilon = 1.0", "epsilon = 0.01")
    with pytest.raises(CannotMeet) as refused:
        make_plan(parse_survey(text))
    page = planner.post("/survey", data={"survey": text})
    assert page.status_code == 200
    assert "This promise is not possible" in page.text
    assert refused.value.reason[1:] in text_of(page.text, "refusal-reason")
    part = planner.post("/part/survey", data={"survey": text})
    assert part.headers["x-state"] == "refused"
    assert field(page.text) == text
    assert planner.post("/plan.json", data={"survey": text}).status_code == 200


@pytest.mark.parametrize("file", ["choices.txt", "../choices.txt", "/etc/passwd"])
def test_no_file_of_the_server_is_read(planner: TestClient, file: str) -> None:
    """A list of choices in a file is refused before anything is opened; its line is named."""
    text = SMALL + f'\n[[question]]\nname = "page"\ntype = "choice"\nchoices_file = "{file}"\n'
    part = planner.post("/part/survey", data={"survey": text})
    assert part.headers["x-state"] == "invalid"
    assert "it reads no files" in part.text
    assert f'data-line="{text.count(chr(10))}"' in part.text
    assert "readable" not in part.text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"id = 1\n\xff\xfe", "must be UTF-8 text"),
        (b"id = 1\n\x00", "null characters"),
        (b"#" * (MOST_SURVEY_BYTES + 1), "must be at most"),
    ],
)
def test_a_file_that_is_no_survey_is_refused(
    planner: TestClient, content: bytes, words: str
) -> None:
    """The page says why, and does not show what it could not save again."""
    page = loaded(planner, content)
    assert page.status_code == 422
    assert words in page.text
    assert "\ufffd" not in page.text


def test_limits_of_a_survey(planner: TestClient) -> None:
    """Positions, copies and the length of a form are bounded."""
    words = '\n[[question]]\nname = "w{}"\ntype = "words"\npositions = 65_536\nhashes = 2\n'
    many = SMALL + "".join(words.format(number) for number in range(2))
    part = planner.post("/part/survey", data={"survey": many})
    assert (part.headers["x-state"], part.headers["x-field"]) == ("invalid", "positions")
    copies = SMALL.replace('id = "small"', 'id = "small"\nlinkage = "record"\ncopies = 5000')
    part = planner.post("/part/survey", data={"survey": copies})
    assert (part.headers["x-state"], part.headers["x-field"]) == ("invalid", "copies")
    part = planner.post("/part/survey", data={"survey": "#" * MOST_BODY_BYTES})
    assert (part.headers["x-state"], part.headers["x-field"]) == ("invalid", "form")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/plain", b"survey=1"),
        ("", b""),
        ("multipart/form-data", b"--x\r\n\r\n--x--"),
        ("multipart/form-data; boundary=x", b"nothing of the kind"),
        ("multipart/form-data; boundary=x", b"--x\r\nNo: head\r\n\r\n1\r\n--x--"),
        ("multipart/form-data; boundary=x", b"--x\r\n" * 1000),
        ("application/x-www-form-urlencoded", b"a=1&" * 1000),
        ("application/x-www-form-urlencoded", b"\xff\xfe"),
        ("application/x-www-form-urlencoded", b"other=1"),
    ],
)
def test_what_is_no_form_is_refused(planner: TestClient, kind: str, body: bytes) -> None:
    """With a rule, never with a failure."""
    for path in ("/part/survey", "/survey.toml", "/plan.json"):
        answer = planner.post(path, content=body, headers={"Content-Type": kind})
        assert answer.status_code == (200 if path.startswith("/part") else 422)
        assert "must be" in answer.text


def test_an_unknown_example_is_refused(planner: TestClient) -> None:
    """The rule names those that there are."""
    page = planner.get("/survey", params={"example": "../secret"})
    assert page.status_code == 422
    assert "browser, health" in page.text
