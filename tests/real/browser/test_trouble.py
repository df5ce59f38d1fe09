"""The form where something is in the way: each time a sentence, what to do, and one submission."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from command_line import done
from real.browser.forms import (
    DEVICES,
    HEAD,
    HERE,
    SHORT,
    FormSite,
    answered,
    form_site,
    go_on,
    press,
    problem,
    send,
    sent,
    started,
)
from real.browser.visiting import DESKTOP, PHONE, Visit

if TYPE_CHECKING:
    from playwright.sync_api import Route

Begin = Callable[..., Visit]
TEXT = HEAD + DEVICES + SHORT
HEADER = 3 + 16
"""Bytes of format, round and id; the sealed messages follow."""
DRAFTS = """() => new Promise(done => { const open = indexedDB.open("krand-form");
    open.onsuccess = () => {
        const count = open.result.transaction("drafts").objectStore("drafts").count();
        count.onsuccess = () => done(count.result); }; })"""
DELETE_STORED = """() => new Promise((done) => {
    indexedDB.deleteDatabase("krand").onsuccess = done; })"""
OLD = """for (const name of ["generateKey", "importKey"]) {
    const real = crypto.subtle[name].bind(crypto.subtle);
    const isNew = given => given?.name === "X25519" || given === "X25519";
    crypto.subtle[name] = (...given) => given.some(isNew)
        ? Promise.reject(new DOMException("no", "NotSupportedError")) : real(...given);
}"""


@pytest.fixture(scope="module")
def form(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FormSite]:
    """The form of two questions; every visitor is somebody new."""
    with form_site(tmp_path_factory.mktemp("form"), TEXT) as site:
        yield site


class Posted(list[bytes]):
    """Every submission from now on, and what the collector answered."""

    def __init__(self, begun: Visit) -> None:
        super().__init__()
        self.known: list[bool] = []
        context = begun.page.context
        context.on("request", lambda r: self.append(r.post_data_buffer) if _is_one(r.url) else None)
        context.on("response", lambda r: self.known.append(_known(r)) if _is_one(r.url) else None)


def _is_one(url: str) -> bool:
    return url.endswith("/submissions")


def _known(response: Any) -> bool:
    return bool(response.status == 202 and b"true" in response.body())


def test_reload_double_click_and_two_tabs_are_one_submission(form: FormSite, visit: Begin) -> None:
    """A reload keeps answers, another tab learns that it is done, going back leads nowhere."""
    begun = visit(HERE)
    posted = Posted(begun)
    page = answered(started(begun.page, form.url))
    page.go_back()
    assert page.get_by_role("radio", name="by car").is_checked()
    page.go_forward()
    page.reload()
    page.get_by_text("by car").wait_for()
    other = page.context.new_page()
    other.goto(form.url)
    press(other, "Continue")
    other.get_by_text("Check your answers").wait_for()
    page.get_by_role("button", name="Send my answers").dblclick()
    page.wait_for_selector("#said")
    send(other)
    other.wait_for_selector("#said")
    assert "already answered" in other.inner_text("#said")
    page.go_back()
    assert page.inner_text("h1") == "Thank you"
    page.reload()
    page.wait_for_selector("#said")
    assert len(posted) == 1, "it was sent twice"
    assert page.evaluate(DRAFTS) == 0, "answers are still kept"


@pytest.mark.parametrize("is_stored", [False, True], ids=["offline", "answer lost"])
def test_offline_and_a_crash_lose_nothing(form: FormSite, visit: Begin, is_stored: bool) -> None:
    """A new page sends the bytes that were kept, and they are the same; twice counts once."""
    begun = visit(HERE)
    begun.expected.append("ERR_INTERNET_DISCONNECTED|ERR_FAILED|ERR_CONNECTION")
    posted = Posted(begun)
    page = answered(started(begun.page, form.url))
    context = page.context

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    if is_stored:
        page.route("**/submissions", lose, times=1)
    else:
        context.set_offline(True)
    send(page)
    page.get_by_text("That did not work (attempt 1)").wait_for()
    page.close()
    context.set_offline(False)
    later = context.new_page()
    later.goto(form.url)
    press(later, "Send now")
    later.wait_for_selector("#said")
    assert ("it counts once" in later.inner_text("#said")) == is_stored
    assert len(posted) >= 2
    assert len(set(posted)) == 1, "other bytes were sent the second time"


@pytest.mark.parametrize("reloaded", [True, False], ids=["reloaded", "same page"])
def test_what_was_sealed_and_deleted_is_not_sent_empty(
    form: FormSite, visit: Begin, reloaded: bool
) -> None:
    """Nobody knows the answers any more, so nothing is sent; the person may answer again."""
    begun = visit(HERE)
    begun.expected.append("ERR_FAILED")
    page = answered(started(begun.page, form.url))
    page.route("**/submissions", lambda route: route.abort())
    send(page)
    page.get_by_text("That did not work (attempt 1)").wait_for()
    if reloaded:
        page.reload()
    page.get_by_role("button", name="Send now").wait_for()
    page.evaluate(DELETE_STORED)
    page.unroute("**/submissions")
    posted = Posted(begun)
    press(page, "Send now")
    assert "answer again" in problem(page, "lost")
    assert posted == []
    press(page, "Reload the page")
    press(page, "Start")
    sent(answered(page))


def test_a_plan_that_was_changed_is_refused(form: FormSite, visit: Begin) -> None:
    """Before the first question, with what to do; so are an old browser and one without scripts."""
    page = visit(HERE).page
    changed = form.plan.bytes.replace(b"Life in our town", b"Life in your town")
    page.route("**/plan.json", lambda route: route.fulfill(body=changed))
    page.goto(form.url)
    assert "ask the organiser" in problem(page, "wrong-plan")
    old = visit(HERE).page
    old.add_init_script(OLD)
    old.goto(form.url)
    assert "too old" in problem(old, "unsupported")
    assert page.get_by_role("button").count() == old.get_by_role("button").count() == 0
    bare = visit(HERE, script=False).page
    bare.goto(form.url)
    told = bare.inner_text("main")
    assert {"Life in our town", "survey@example.org"} <= set(told.splitlines())
    assert "needs JavaScript" in told


def test_another_survey_at_the_same_address(form: FormSite, tmp_path: Path, visit: Begin) -> None:
    """Answers that still fit are kept; sealed ones are not sent to a collector of another plan."""
    text = TEXT.replace("How do you get to work?", "How do you come to work?")
    begun = visit(HERE)
    begun.statuses.add(404)
    begun.expected.append("CORS|ERR_FAILED")  # of a page that the other plan does not name
    posted = Posted(begun)
    page = started(begun.page, form.url)
    page.get_by_role("radio", name="No", exact=True).check()
    go_on(page)
    with form_site(tmp_path, text) as other:

        def changed(route: Route) -> None:
            route.fulfill(response=route.fetch(url=route.request.url.replace(form.url, other.url)))

        for name in ("", "plan.json", "signatures.json", "form.en.json"):
            page.route(f"{form.url}{name}", changed)
        page.goto(form.url)
        page.get_by_text("has changed since you began").wait_for()
        press(page, "Continue")
        page.get_by_text("How do you come to work?").wait_for()
        press(page, "Back")
        assert page.get_by_role("radio", name="No", exact=True).is_checked()
    allowed = {"Access-Control-Allow-Origin": "*"}
    page.route("**/submissions", lambda route: route.fulfill(status=404, headers=allowed))
    send(answered(page))
    assert "kept in this browser" in problem(page, "unknown-plan")
    with page.expect_response("**/submissions"):
        press(page, "Try again")
    assert len(posted) == 2
    assert len(set(posted)) == 1


def test_texts_that_were_changed_on_the_way_are_not_shown(tmp_path: Path, visit: Begin) -> None:
    """The page knows the digest of each language's file."""
    with form_site(tmp_path, TEXT.replace('language = "en"', 'language = "de"')) as form:
        begun = visit(HERE)
        begun.expected.append("digest|integrity")

        def forged(route: Route) -> None:
            texts = {**route.fetch().json(), "guess": "Niemand erfährt etwas."}
            route.fulfill(body=json.dumps(texts))

        begun.page.route("**/form.de.json", forged)
        begun.page.goto(form.url)
        problem(begun.page, "offline")
        assert "Niemand" not in begun.page.inner_text("main")


def test_a_personal_link_is_good_for_one_submission(tmp_path: Path, visit: Begin) -> None:
    """Missing, unknown, right, and used elsewhere; what was sealed goes out under the right one.

    The collector tells nothing before, as behind a proxy that does not pass the question on.
    """
    with form_site(tmp_path, TEXT.replace("language", "invitations = true\nlanguage")) as form:
        done("invite party-1 --count 2 --local -o links.csv", at=tmp_path)
        with (tmp_path / "links.csv").open(encoding="utf-8", newline="") as stream:
            links = [row["link"].partition("#") for row in csv.DictReader(stream)]
        (url, _, code), (_, _, new_code) = links
        assert url == form.url
        begun = visit(HERE)
        begun.statuses |= {403, 404}
        page, posted = begun.page, Posted(begun)
        page.route("**/invitation", lambda route: route.fulfill(status=404))
        page.goto(url)
        told = problem(page, "missing-invitation")
        assert "personal link" in told
        assert "survey@example.org" in told
        page.goto(f"{url}#AAAAAAAAAAAAAAAAAAAAAA")  # the same tab: only the fragment changes
        press(page, "Start")
        send(answered(page))
        assert "sealed and kept in this browser" in problem(page, "unknown-invitation")
        page.goto(f"{url}#{code}")
        press(page, "Send now")
        page.wait_for_selector("#said")
        first, second = posted
        assert first[HEADER:] == second[HEADER:]
        assert not any(code in each for each in begun.requests), "the code was sent"
        elsewhere = visit(HERE)
        elsewhere.statuses |= {404}
        elsewhere.page.route("**/invitation", lambda route: route.fulfill(status=404))
        posted, other = Posted(elsewhere), started(elsewhere.page, f"{url}#{code}")
        send(answered(other))
        assert "already used" in problem(other, "used-invitation")
        other.reload()
        press(other, "Send now")
        assert "were not counted" in problem(other, "used-invitation")
        other.goto(f"{url}#{new_code}")
        press(other, "Send now")
        other.wait_for_selector("#said")
        assert len({body[HEADER:] for body in posted}) == 1
        wrong = visit(HERE).page
        wrong.goto(f"{url}#abc")
        assert "Nothing was sent." in problem(wrong, "unknown-link")


def test_what_happened_is_told_to_everybody_alike(form: FormSite, visit: Begin) -> None:
    """Whoever comes back later reads the same; never "counted"; a closed survey asks nobody."""
    told = set()
    for device in (DESKTOP, PHONE):
        page = answered(started(visit(HERE, device).page, form.url))
        sent(page)
        for _ in range(2):
            page.click("#my-answers summary")
            told.add(page.inner_text("#my-answers"))
            page.reload()
            page.wait_for_selector("#said")
    (said,) = told
    assert "acknowledged" in said
    assert "were counted" not in said
    other = visit(HERE, PHONE).page
    other.route("**/open", lambda route: route.fulfill(json={"open": False, "round": 1}))
    other.goto(form.url)
    problem(other, "closed")
    assert other.get_by_role("button").count() == 0


def test_a_survey_that_is_over_takes_nobody(form: FormSite, visit: Begin) -> None:
    """Who was late is told so, and where to ask."""
    late = visit(HERE)
    late.statuses.add(410)
    page = answered(started(late.page, form.url))
    page.route("**/submissions", lambda route: route.fulfill(status=410))
    send(page)
    assert "survey@example.org" in problem(page, "closed")


ODD = f"""\
id = "odd"
title = "{"A very long title" * 11}"
organiser = "🙂 جهة الأمثلة"
contact = "{"x" * 60}@example.org"
introduction = "مرحبا (hello) 👩‍👩‍👧‍👦"
closes = 2099-12-31
[policy]
epsilon = 60
delta = 0.01
minimum_crowd = 4
[trust]
noise = "devices"
[[question]]
name = "no_text"
type = "yes_no"
[[question]]
name = "many"
type = "choice"
choices = {[f"option {n}" for n in range(1000)]}
[[question]]
name = "long"
type = "choice"
text = "{"Q" * 300}"
choices = ["{"W" * 120}", "a 👍🏽"]
[[question]]
name = "ends"
type = "scale"
text = "كم؟ (1–11)"
lowest = 1
highest = 11
labels = ["not at all satisfied with anything", "راضٍ جدًا 🙂"]
"""
ROWS = """new Set([...document.querySelectorAll(".scale .option")]
    .map((e) => Math.round(e.getBoundingClientRect().top))).size"""


def test_odd_surveys_fit_the_screen(tmp_path: Path, visit: Begin) -> None:
    """Long words, no words, emoji, a thousand options, another direction of writing."""
    with form_site(tmp_path, ODD) as form:
        begun = visit(HERE, PHONE)
        page = begun.page
        page.goto(form.url)
        page.get_by_role("button", name="Start").wait_for()
        begun.is_for_everybody("start")
        press(page, "Start")
        headings = []
        for number in range(1, 5):
            page.get_by_text(f"Question {number} of 4").wait_for()
            headings.append(page.inner_text("h1"))
            begun.is_for_everybody(headings[-1])
            if number == 4:
                assert page.evaluate(ROWS) == 2
            go_on(page)
        assert headings == ["no_text", "many", "Q" * 300, "كم؟ (1–11)"]
        begun.is_for_everybody("review")
        sent(page)
        begun.is_for_everybody("thanks")


README = Path(__file__).parents[3] / "README.md"


def test_the_four_lines_of_the_readme_work_on_every_visit(form: FormSite, browser: Any) -> None:
    """As they stand there, with another address, hash and answers; later visits send nothing."""
    (lines,) = re.findall(
        r"```html\n<script.*?>(.*?)</script>", README.read_text("utf-8"), re.DOTALL
    )
    script = lines.replace("https://collector.example", form.plan.mixers[0].url)
    script = script.replace("PLAN HASH", form.plan.hash)
    script = script.replace("crashed: false, tabs: 12", 'bicycle: true, way: "by car"')
    assert script.count(form.url) == 1, "the client is where the form is"
    page, posted = browser.new_page(), []
    page.on("request", lambda r: posted.append(r.url) if r.method == "POST" else None)
    page.route(
        "**/mine",
        lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"),
    )
    page.route(
        "**/mine.js", lambda route: route.fulfill(body=script, content_type="text/javascript")
    )
    for _ in range(3):
        page.goto(f"{form.url}mine")
        page.evaluate("() => import('/mine.js')")  # throws what the lines throw
    assert len(posted) == 1
    page.close()
