"""The form where something is in the way: each time a sentence, what to do, and one submission."""

from __future__ import annotations

import csv
import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser.forms import (
    FormSite,
    form_pages,
    form_site,
    go_on,
    press,
    reported,
    sent,
    started,
    verdict,
)
from browser.sites import hosted
from browser.test_form import accessible
from browser.visiting import DEVICES, PHONE, Device, Visit
from collecting import serving
from command_line import done
from components import require
from krand import generate_private_key, make_plan, parse_survey
from krand.collector.invitations import check_invitations
from krand.collector.opening import open_spool
from krand.collector.progress import Seldom
from krand.collector.settings import Settings
from krand.languages.catalogs import nested
from krand.report.languages import language_of
from krand.showing import unbroken_html
from krand.survey.plan import Plan
from krand.survey.schedule import Schedule
from krand.web.form.site import site_of
from krand.wire.plan_signatures import sign_plan
from krand.wording.parties import also_runs, one_hand_text
from krand.wording.plans import promise_sentence
from krand.wording.promises import assumption_texts, right_guess
from mixed_plans import party_of
from report.examples import ODD
from survey_texts import question_text, survey_text

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

require("starlette")
require("uvicorn")

Begin = Callable[..., Visit]
DELETE_STORED = """() => new Promise((done) => {
    indexedDB.deleteDatabase("krand").onsuccess = done;
})"""
# What follows the Arabic words stands on their right, as in the English sentence that it is.
READS = """() => {
    const line = [...document.querySelectorAll(".reported li")].at(-1);
    const rest = document.createRange();
    rest.selectNodeContents(line.lastChild);
    const [words, after] = [line.querySelector("bdi"), rest].map((e) => e.getBoundingClientRect());
    const pre = document.querySelector("pre");
    return [after.left >= words.right - 1, getComputedStyle(pre).direction];
}"""
HEADER_BYTES = 3 + 16
"""Format, round and id; the sealed messages follow."""


@functools.cache
def short_plan(
    text: str = "How do you get to work?", epsilon: float = 40.0, crowd: int = 4, **keys: Any
) -> Plan:
    """Two questions; nobody has a key yet."""
    asked = survey_text(
        "short",
        question_text("bicycle", "yes_no", text="Do you own a bicycle?"),
        question_text("way", "choice", text=text, choices=["on foot", "by bicycle", "by car"]),
        title="Life in our town",
        contact="survey@example.org",
        epsilon=epsilon,
        delta=0.01,
        minimum_crowd=crowd,
        **keys,
    )
    return make_plan(parse_survey(asked))


def answered(page: Page) -> Page:
    """From the first question to the review."""
    page.get_by_role("radio", name="Yes").check()
    go_on(page)
    page.get_by_role("radio", name="by car").check()
    go_on(page)
    page.get_by_text("Check your answers").wait_for()
    return page


def send(page: Page) -> None:
    press(page, "Send my answers")


def problem(page: Page, code: str) -> str:
    """What the page says about it."""
    return page.wait_for_selector(f'[data-problem="{code}"]').inner_text()


def bodies(begun: Visit) -> list[bytes]:
    """Every submission from now on."""
    found: list[bytes] = []
    begun.page.context.on(
        "request",
        lambda r: found.append(r.post_data_buffer) if r.url.endswith("/submissions") else None,
    )
    return found


@pytest.fixture
def form(tmp_path: Path) -> Iterator[FormSite]:
    """The form of two questions that nobody has answered."""
    with form_site(tmp_path, short_plan()) as site:
        yield site


@contextmanager
def invited_site(folder: Path) -> Iterator[tuple[FormSite, list[str]]]:
    """A survey with invitations, and two codes."""
    key = generate_private_key()
    plan = short_plan(invitations=True).sealed_for(key.public_key())
    plan.save(folder / "plan.json")
    done("invite plan.json --count 2 --url https://form.example/ -o links.csv", at=folder)
    with (folder / "links.csv").open(encoding="utf-8", newline="") as stream:
        codes = [row["link"].partition("#")[2] for row in csv.DictReader(stream)]
    invitations = check_invitations(plan, folder / "links.json", 1)
    with form_site(folder, plan, key=key, invitations=invitations) as site:
        yield site, codes


@pytest.mark.check
def test_a_personal_link_is_good_for_one_submission(tmp_path: Path, visit: Begin) -> None:
    """Missing, unknown, right, and used elsewhere; what was sealed goes out under the right one.

    Here the collector tells nothing before, as behind a proxy that does not pass the question on.
    """
    with invited_site(tmp_path) as (form, (code, new_code)):
        begun = visit(form.url)
        begun.statuses |= {403, 404}
        page, posted = begun.page, bodies(begun)
        page.route("**/invitation", lambda route: route.fulfill(status=404))
        page.goto(form.url)
        told = problem(page, "missing-invitation")
        assert "personal link" in told
        assert "survey@example.org" in told
        page.goto(f"{form.url}#AAAAAAAAAAAAAAAAAAAAAA")  # the same tab: only the fragment changes
        press(page, "Start")
        send(answered(page))
        assert "sealed and kept in this browser" in problem(page, "unknown-invitation")
        page.goto(f"{form.url}#{code}")
        press(page, "Send now")
        page.wait_for_selector("#said")
        assert form.people == 1
        first, second = posted
        assert first[HEADER_BYTES:] == second[HEADER_BYTES:]
        assert all(code not in url for url in begun.requests)
        elsewhere = visit(form.url)
        elsewhere.statuses.add(404)
        posted = bodies(elsewhere)
        elsewhere.page.route("**/invitation", lambda route: route.fulfill(status=404))
        other = started(elsewhere.page, f"{form.url}#{code}")
        send(answered(other))
        assert "already used" in problem(other, "used-invitation")
        assert form.people == 1
        other.reload()
        press(other, "Send now")
        assert "were not counted" in problem(other, "used-invitation")
        other.goto(f"{form.url}#{new_code}")
        press(other, "Send now")
        other.wait_for_selector("#said")
        assert form.people == 2
        assert len({body[HEADER_BYTES:] for body in posted}) == 1


@pytest.mark.check
def test_a_link_that_was_used_says_so_before_the_first_question(
    tmp_path: Path, visit: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that is unknown or no code at all; here every arrival is a step of the collector."""
    monkeypatch.setattr(Seldom, "_group", lambda _: 1)
    with invited_site(tmp_path) as (form, (code, new_code)):
        page = visit(form.url).page
        for wrong in ("AAAAAAAAAAAAAAAAAAAAAA", "abc"):
            page.goto(f"{form.url}#{wrong}")
            assert "Nothing was sent." in problem(page, "unknown-link")
        sent(answered(started(page, f"{form.url}#{code}")))
        other = visit(form.url).page
        other.goto(f"{form.url}#{code}")
        told = problem(other, "used-link")
        assert "already used" in told
        assert "survey@example.org" in told
        other.goto(f"{form.url}#{new_code}")
        other.get_by_role("button", name="Start").wait_for()
        assert form.people == 1


@pytest.mark.check
def test_a_survey_that_closed_says_so_before_the_first_question(
    tmp_path: Path, visit: Begin
) -> None:
    """And to whoever was late after the last day had passed: nothing was taken."""
    day = [date(2026, 5, 1)]
    plan = short_plan(closes=date(2026, 5, 1))
    about = plan.survey.about
    with form_site(tmp_path, plan, is_over=lambda: about.is_over(day[0])) as form:
        late = visit(form.url)
        late.statuses.add(410)
        page = answered(started(late.page, form.url))
        day[0] = date(2026, 5, 2)
        send(page)
        assert "survey@example.org" in problem(page, "closed")
        never = visit(form.url).page
        never.goto(form.url)
        never.wait_for_selector('[data-problem="closed"]')
        assert never.get_by_role("button").count() == 0
        assert form.people == 0


@pytest.mark.check
def test_a_collector_with_another_plan_gets_nothing(tmp_path: Path, visit: Begin) -> None:
    """The sealed submission is kept, and it can be sent again."""
    key = generate_private_key().public_key()
    plan, other = (
        short_plan().sealed_for(key),
        short_plan(text="How do you come to work?").sealed_for(key),
    )
    store = open_spool(other, tmp_path / "spool", id_key=tmp_path / "id.key")
    with serving(store, Settings(plan=other), form_pages(plan)) as port:
        begun = visit(f"http://127.0.0.1:{port}/")
        begun.statuses.add(404)
        posted = bodies(begun)
        page = answered(started(begun.page, begun.home))
        send(page)
        assert "kept in this browser" in problem(page, "unknown-plan")
        with page.expect_response("**/submissions"):
            press(page, "Try again")
        assert len(posted) == 2
        assert len(set(posted)) == 1
        assert store.batches()[-1].people == 0


@pytest.mark.check
@pytest.mark.parametrize("reloaded", [True, False], ids=["reloaded", "same page"])
def test_what_was_sealed_and_deleted_is_not_sent_empty(
    form: FormSite, visit: Begin, reloaded: bool
) -> None:
    """Nobody knows the answers any more, so nothing is sent; the person may answer again."""
    begun = visit(form.url)
    posted = bodies(begun)
    page = answered(started(begun.page, form.url))
    press(page, "Show me what is sent")
    page.wait_for_selector(".shown")
    if reloaded:
        page.reload()
        page.get_by_role("button", name="Send now").wait_for()
    page.evaluate(DELETE_STORED)
    page.get_by_role("button", name="Send now" if reloaded else "Send my answers").click()
    assert "answer again" in problem(page, "lost")
    assert (posted, form.people) == ([], 0)
    press(page, "Reload the page")
    press(page, "Start")
    sent(answered(page))
    assert form.people == 1


@pytest.mark.check
def test_a_new_survey_at_the_same_address_keeps_what_was_entered(
    form: FormSite, visit: Begin
) -> None:
    """It says that the survey was changed; answers that still fit are there."""
    begun = visit(form.url)
    begun.statuses.add(404)
    page = started(begun.page, form.url)
    page.get_by_role("radio", name="No", exact=True).check()
    go_on(page)
    page.get_by_role("radio", name="by car").wait_for()
    later = form_pages(
        short_plan(text="How do you come to work?").sealed_for(form.key.public_key())
    )

    def changed(route: Route, path: str) -> None:
        route.fulfill(body=later[path].content, content_type=later[path].content_type)

    page.route(form.url, lambda route: changed(route, "/"))
    page.route("**/plan.json", lambda route: changed(route, "/plan.json"))
    page.goto(form.url)
    page.get_by_text("has changed since you began").wait_for()
    press(page, "Continue")
    page.get_by_text("How do you come to work?").wait_for()
    press(page, "Back")
    assert page.get_by_role("radio", name="No", exact=True).is_checked()


ISOLATES = re.compile("[\u2066-\u2069]")
BAR = """() => [".guess-bar .track", ".guess-bar .reached"]
    .map((name) => document.querySelector(name).getBoundingClientRect())
    .map(({left, right}) => [left, right])"""


@pytest.mark.check
@pytest.mark.parametrize("language", ["de-AT", "fr", "es", "ar"])
def test_a_survey_is_asked_in_its_language(tmp_path: Path, visit: Begin, language: str) -> None:
    """From the first page to the receipt; from right to left, formulas keep their order."""
    code = language[:2]
    texts = nested(code, "form")
    plan = short_plan(language=language, epsilon=1.0, crowd=2000)
    with form_site(tmp_path, plan) as form:
        begun = visit(form.url, PHONE)
        page = begun.page
        page.goto(form.url)
        page.get_by_role("button", name=texts["start"]).wait_for()
        begun.fits()
        begun.keep(f"form-{code}")
        promise = form.plan.promise
        right = math.ceil(100 * right_guess(promise.epsilon, promise.delta))
        given = {"results": texts["results"], "rounds": "", "of": 100, "half": 50}
        guess = page.inner_text("#guess")
        assert ISOLATES.sub("", guess) == texts["guess"].format(right=right, **given)
        (left, right_end), (begin, end) = page.evaluate(BAR)
        assert end - begin == pytest.approx((2 * right / 100 - 1) * (right_end - left), abs=1)
        assert (end == right_end, begin == left) == (code == "ar", code != "ar")
        said = page.text_content("#promise")
        assert bool(ISOLATES.search(guess)) == (code == "ar")
        assert ("\u2066ε\u00a0=\u00a01\u2069" in said) == (code == "ar")
        assert ISOLATES.sub("", said).count("ε\u00a0=\u00a01)") == 1
        press(page, texts["start"])
        root = page.locator("html")
        direction = "rtl" if code == "ar" else "ltr"
        assert (root.get_attribute("lang"), root.get_attribute("dir")) == (code, direction)
        page.get_by_role("radio", name=texts["yes"], exact=True).check()
        press(page, texts["next"])
        begun.fits()
        press(page, texts["next"])
        press(page, texts["send"])
        page.wait_for_selector("#said")
        assert page.inner_text("h1") == texts["thanks"]
        assert form.people == 1


def test_texts_that_were_changed_on_the_way_are_not_shown(tmp_path: Path, visit: Begin) -> None:
    """The page knows the digest of each language's file."""
    with form_site(tmp_path, short_plan(language="de")) as form:
        begun = visit(form.url)
        begun.expected.append("digest|integrity")
        forged = json.dumps({**nested("de", "form"), "guess": "Niemand erfährt etwas."})
        begun.page.route("**/form.de.json", lambda route: route.fulfill(body=forged))
        begun.page.goto(form.url)
        begun.page.wait_for_selector('[data-problem="offline"]')
        assert "Niemand" not in begun.page.inner_text("main")


@pytest.mark.check
def test_a_language_that_is_written_from_right_to_left(tmp_path: Path, visit: Begin) -> None:
    """Also if the form lacks it: nothing is too wide, and the survey's texts name theirs."""
    with form_site(tmp_path, short_plan("איך את מגיעה לעבודה?", language="he")) as form:
        begun = visit(form.url, PHONE)
        page = started(begun.page, form.url)
        begun.fits()
        page.get_by_role("radio", name="Yes").check()
        go_on(page)
        page.get_by_text("איך את מגיעה לעבודה?").wait_for()
        begun.fits()
        begun.keep("form-hebrew")
        assert page.get_attribute("html", "dir") == "rtl"
        assert page.get_attribute("h1 span", "lang") == "he"
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.option')).direction") == "rtl"
        )
        box = page.locator(".option").first.bounding_box()
        button = page.get_by_role("radio").first.bounding_box()
        assert button["x"] > box["x"] + box["width"] / 2
        page.get_by_role("radio").first.check()
        go_on(page)
        press(page, "Show me what is sent")
        page.get_by_text("The sealed bytes").click()
        page.set_viewport_size({"width": 1280, "height": 900})
        assert page.locator(".reported li bdi").last.inner_text().startswith("איך את מגיעה לעבודה?")
        assert page.evaluate(READS) == [True, "ltr"]
        begun.keep("form-arabic-shown")


@pytest.mark.check
@pytest.mark.parametrize("allowed", [True, False], ids=["origin", "no-origin"])
def test_a_site_of_somebody_else(tmp_path: Path, visit: Begin, allowed: bool) -> None:
    """`krand form` on a host of files reaches a collector that allows its origin, and no other."""
    site = tmp_path / "site"
    site.mkdir()
    with (
        hosted(site) as origin,
        form_site(tmp_path, short_plan(), origins=(origin,) if allowed else ()) as form,
    ):
        form.plan.save(tmp_path / "plan.json")
        done(f"form plan.json -o site --collector {form.url} --force", at=tmp_path)
        begun = visit("http://127.0.0.1:")
        page = answered(started(begun.page, f"{origin}/"))
        if allowed:
            sent(page)
            assert verdict(page).startswith("The signature is valid.")
        else:
            begun.expected.append("CORS|ERR_FAILED")
            send(page)
            page.get_by_text("That did not work (attempt 1)").wait_for()
        assert form.people == int(allowed)
        assert origin + "/form.js" in begun.requests


@pytest.mark.check
@pytest.mark.parametrize(
    ("language", "noise", "mixers", "runs"),
    [
        ("en", "mixers", 1, [1]),
        ("en", "mixers", 3, [1]),
        ("en", "mixers", 2, [1, 2]),
        ("de", "devices", 1, [1]),
        ("de", "mixers", 3, [1]),
    ],
)
def test_who_can_read_the_answers_is_said_before_the_first(
    tmp_path: Path, visit: Begin, noise: str, mixers: int, runs: list[int], language: str
) -> None:
    """One party in several roles: the form says it in the words of the plan and of the report."""
    trust = {"noise": noise, "mixers": mixers, "analyst_runs": runs}
    bare = short_plan.__wrapped__(epsilon=2.0, crowd=400, trust=trust, language=language)
    party = party_of(bare) if bare.survey.trust.chain else None
    plan = party.plan if party else bare.sealed_for(generate_private_key().public_key())
    signatures = [sign_plan(plan, own) for own in party.identities] if party else []
    for name, file in site_of(plan, signatures).items():
        (tmp_path / name).write_bytes(file.content)
    shared, hand = language_of(language).shared, plan.survey.trust.in_one_hand
    with hosted(tmp_path) as origin:
        begun = visit(origin)
        begun.expected.append("404")  # no collector here says how far it is
        page = begun.page
        page.goto(f"{origin}/")
        page.wait_for_selector("#guess")
        said, guess = page.text_content("main") or "", page.inner_text("#guess")
        before_start = page.locator("#one-hand ~ p.buttons").count()
        assert (page.locator("#one-hand").count(), before_start) == (hand, hand)
        only = {"en": "sees nothing but the results", "de": "Wer nur die Ergebnisse sieht"}
        assert (only[language] in guess) == hand
        unable = {"en": "cannot open them", "de": "kann sie nicht öffnen"}
        assert unable[language] not in said
        assert page.locator(".way li").count() == 2 + (1 if hand else mixers)
        assert (page.text_content("#guess ~ .guess-bar .most") or "0") in guess
        if hand:
            assert page.inner_text("#one-hand") == unbroken_html(one_hand_text(plan, shared))
            told = set(assumption_texts(plan.promise, shared, in_one_hand=True))
            new = told - set(assumption_texts(plan.promise, shared))
            assert new
            shown = set(page.locator("#assumptions li").all_text_contents())
            assert {text.replace("'", "’") for text in new} <= shown
        else:
            assert unbroken_html(also_runs(plan, shared)) in page.inner_text("#holds")
        if language == "en":
            assert page.text_content("#promise") == unbroken_html(promise_sentence(plan))


@pytest.mark.check
def test_the_second_of_two_rounds(tmp_path: Path, visit: Begin) -> None:
    """The collector says which one is open, and the receipt is of that one."""
    schedule = Schedule(every="week", starts=date.today() - timedelta(days=10))
    plan = make_plan(replace(short_plan().survey, rounds=2, schedule=schedule))
    with form_site(tmp_path, plan, 2, is_over=plan.survey.about.is_over) as form:
        begun = visit(form.url)
        posted = bodies(begun)
        page = answered(started(begun.page, form.url))
        sent(page)
        assert verdict(page).startswith("The signature is valid.")
        assert page.locator(".receipt dd").nth(1).text_content() == "2"
        assert posted[0][1:3] == b"\0\2"
        assert form.people == 1


@pytest.mark.check
def test_whole_records_are_shown_and_counted(tmp_path: Path, visit: Begin) -> None:
    """Every copy is shown; the tally is what was shown."""
    plan = short_plan(linkage="record")
    with form_site(tmp_path, plan) as form:
        expected: Counter[int] = Counter()
        for _ in range(plan.promise.crowd):
            begun = visit(form.url)
            page = answered(started(begun.page, form.url))
            press(page, "Show me what is sent")
            expected.update(reported(page))
            sent(page)
            page.context.close()
        places = range(form.plan.layout.positions)
        assert list(form.tally().counts) == [expected[place] for place in places]


@pytest.mark.check
def test_without_scripts_the_page_says_what_it_needs(tmp_path: Path, visit: Begin) -> None:
    """In English and in the survey's language, and who can be asked."""
    with form_site(tmp_path, short_plan(language="de")) as form:
        page = visit(form.url, script=False).page
        page.goto(form.url)
        told = page.inner_text("main")
    assert {"Life in our town", "survey@example.org"} <= set(told.splitlines())
    assert "needs JavaScript" in told
    assert "braucht JavaScript" in told


OLD = """for (const name of ["generateKey", "importKey"]) {
    const real = crypto.subtle[name].bind(crypto.subtle);
    const isNew = given => given?.name === "X25519" || given === "X25519";
    crypto.subtle[name] = (...given) => given.some(isNew)
        ? Promise.reject(new DOMException("no", "NotSupportedError")) : real(...given);
}"""


def test_an_old_browser_is_told_before_the_first_question(form: FormSite, visit: Begin) -> None:
    """One without X25519 cannot seal anything."""
    page = visit(form.url).page
    page.add_init_script(OLD)
    page.goto(form.url)
    assert "too old" in problem(page, "unsupported")
    assert page.get_by_role("button").count() == 0


@pytest.mark.check
def test_a_lost_answer_of_the_collector_is_no_second_submission(
    form: FormSite, visit: Begin
) -> None:
    """The collector had stored it when the page was closed: the same bytes come, and count once."""
    begun = visit(form.url)
    begun.expected.append("ERR_FAILED|ERR_CONNECTION")
    posted = bodies(begun)
    page = answered(started(begun.page, form.url))

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/submissions", lose, times=1)
    send(page)
    page.get_by_text("That did not work (attempt 1)").wait_for()
    context = page.context
    page.close()
    assert form.people == 1
    later = context.new_page()
    later.goto(form.url)
    press(later, "Send now")
    later.wait_for_selector("#said")
    assert "it counts once" in later.inner_text("#said")
    assert form.people == 1
    assert len(set(posted)) == 1


@pytest.mark.check
def test_back_and_a_closed_page_lose_no_answer(form: FormSite, visit: Begin) -> None:
    """The browser's own "back" leads to the question before; after sending it leads nowhere."""
    begun = visit(form.url)
    page = answered(started(begun.page, form.url))
    page.go_back()
    assert page.get_by_role("radio", name="by car").is_checked()
    context = page.context
    page.close()
    later = context.new_page()
    later.goto(form.url)
    press(later, "Continue")
    later.get_by_text("by car").wait_for()
    sent(later)
    later.go_back()
    assert later.inner_text("h1") == "Thank you"
    later.reload()
    later.wait_for_selector("#said")
    assert later.inner_text("h1") == "Thank you"
    assert form.people == 1


ROWS = """new Set([...document.querySelectorAll(".scale .option")]
    .map((e) => Math.round(e.getBoundingClientRect().top))).size"""


@pytest.mark.check
@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_odd_surveys_fit_the_screen(
    tmp_path: Path, visit: Begin, axe: Callable[[], str], device: Device
) -> None:
    """Long words, no words, emoji, another direction; scales in a row, in two on phones."""
    with form_site(tmp_path, make_plan(ODD)) as form:
        begun = visit(form.url, device)
        page, source = begun.page, axe()
        page.goto(form.url)
        page.get_by_role("button", name="Start").wait_for()
        accessible(begun, source, "odd-start", dark=False)
        press(page, "Start")
        headings, rows = [], []
        for question in ODD.questions:
            page.get_by_text(f"Question {len(headings) + 1} of 5").wait_for()
            headings.append(page.inner_text("h1"))
            accessible(begun, source, f"odd-{question.name}", dark=False)
            if question.name in ("ends", "named"):
                rows.append(page.evaluate(ROWS))
            marked = page.get_by_text("Required", exact=True).count()
            assert marked == question.required
            if question.required:
                page.get_by_role("radio", name="2: disagree", exact=True).check()
            go_on(page)
        assert headings == ["no_text", "many", "Q" * 300, "كم؟ (1–11)", "named"]
        assert rows == ([2, 2] if device is PHONE else [1, 1])
        page.get_by_text("Check your answers").wait_for()
        accessible(begun, source, "odd-review", dark=False)
        sent(page)
        page.get_by_text("Receipt", exact=True).click()
        accessible(begun, source, "odd-thanks", dark=False)


def answered_with(status: dict[str, Any]) -> Callable[[Route], None]:
    """A status that the collector does not have."""
    return lambda route: route.fulfill(json=status)


def said(page: Page) -> str:
    """All of the page that tells what happened to answers."""
    page.wait_for_selector(".steps")
    return page.inner_text("main")


@pytest.mark.check
def test_what_happened_is_told_to_everybody_alike(
    tmp_path: Path, visit: Begin, axe: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To those who answered and those who did not; without a code, and never "counted"."""
    monkeypatch.setattr(Seldom, "_group", lambda _: 1)
    day = [date(2026, 5, 1)]
    plan = short_plan(crowd=64, closes=date(2026, 5, 1))
    about = plan.survey.about
    with form_site(tmp_path, plan, is_over=lambda: about.is_over(day[0])) as form:
        answers = answered(started(visit(form.url).page, form.url))
        sent(answers)
        with answers.context.expect_page() as opened:
            answers.click("#my-answers")
        mine, other = opened.value, visit(form.url)
        other.page.goto(f"{form.url}answers.html")
        told = [said(page) for page in (mine, other.page)]
        assert told[0] == told[1]
        for part in ("acknowledged", "The survey is open.", "64\xa0people", "survey@example.org"):
            assert part in told[0]
        assert "were counted" not in told[0]
        names = ("answers.html", "form.js", "form.css", "plan.json", f"v1/{form.plan.hash}/status")
        assert set(other.requests) == {form.url + name for name in names}
        assert not other.page.evaluate("indexedDB.databases().then((all) => all.length)")
        accessible(other, axe(), "answers", dark=False)
        day[0] = date(2026, 5, 2)
        while "The survey is closed" not in said(other.page):  # a status holds for a second
            other.page.reload()
        for progress, part in (
            (0.5, "At least 32 of the 64\xa0people"),
            (1, "At least 64\xa0people have"),
        ):
            status = {"open": True, "progress": progress, "round": 1, "receipt_key": None}
            other.page.route("**/status", answered_with(status))
            other.page.reload()
            assert part in said(other.page)
        other.statuses.add(503)
        other.page.route("**/status", lambda route: route.fulfill(status=503))
        other.page.reload()
        assert "cannot be reached now" in said(other.page)
