"""The survey as a form on a real collector, and people who fill it in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from collecting import people_in, serving
from krand import (
    generate_private_key,
    generate_signing_key,
    make_plan,
    parse_survey,
    tally_batches,
)
from krand.analysis.tally import Tally
from krand.collector.opening import open_spool
from krand.collector.release import release_sealed
from krand.collector.settings import Page, Settings, receipt_of
from krand.collector.store import Store
from krand.survey.plan import Plan
from krand.web.form.site import site_of
from survey_texts import question_text, survey_text

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab


CITIES = [f"{name} {number}" for number in range(1, 11) for name in ("Aachen", "Köln", "Ulm")]
QUESTIONS = (
    question_text("bicycle", "yes_no", text="Do you own a bicycle?"),
    question_text(
        "way",
        "choice",
        text="How do you get to work?",
        help="The way that you use most.",
        choices=["on foot", "by bicycle", "by car"],
        required=True,
    ),
    question_text("city", "choice", text="Where did you live before?", choices=CITIES),
    question_text(
        "shops",
        "pick_any",
        text="Which shops do you miss?",
        choices=["baker", "books", "tools", "shoes"],
        at_most=2,
    ),
    question_text(
        "rent", "number", text="How large is your home?", unit="m²", edges=[0, 50.5, 100, 200]
    ),
    question_text(
        "mood",
        "scale",
        text="How much do you like living here?",
        lowest=1,
        highest=5,
        labels=["not at all", "very much"],
    ),
    question_text("wish", "words", text="What should be built next?", positions=16, hashes=1),
)
"""Each kind of question."""
PEOPLE: tuple[dict[str, Any], ...] = (
    {"bicycle": "Yes", "way": "on foot", "city": "koln 7", "shops": ["baker"], "rent": "50,5"},
    {
        "bicycle": "No",
        "way": "by car",
        "city": "Ulm 10",
        "shops": ["books", "shoes"],
        "rent": "99",
        "wish": "A library",
    },
    {"way": "by bicycle", "shops": [], "rent": "", "wish": "Park"},
)
"""Answers as people give them; whoever leaves a question out goes on without an answer."""


STATEMENTS = {"pay": "My pay is fair.", "boss": "My manager listens to me.", "team": "We laugh."}
STAFF = (
    question_text("leads", "yes_no", text="Do you lead a team?", counts="both", required=True),
    question_text(
        "size",
        "number",
        text="How many people?",
        edges=[1, 5, 20],
        open="above",
        integer=True,
        unit="people",
        asked_as="ranges",
        required=True,
        asked_if={"question": "leads", "is": "yes"},
    ),
    question_text(
        "work",
        "scale",
        text="How far do you agree?\nTell us openly.",
        help="Think of the last month.",
        lowest=1,
        highest=5,
        labels=["not at all", "completely"],
        statements=[{"name": name, "text": text} for name, text in STATEMENTS.items()],
    ),
    question_text(
        "help",
        "choice",
        text="Who helped you?",
        choices=["nobody", "people of my own team", "people of other teams in the same building"],
        required=True,
        statements=[
            {"name": "monday", "text": "On Monday"},
            {"name": "friday", "text": "On Friday"},
        ],
    ),
    question_text("stays", "yes_no", text="Will you stay?"),
)
"""A condition, ranges to tick, and two tables."""


def staff_plan(**keys: Any) -> Plan:
    """A staff survey with the questions that HR asks first."""
    policy = {"epsilon": 60.0, "delta": 0.01, "minimum_crowd": 4}
    text = survey_text("staff-2026", *STAFF, title="Working here", **policy, **keys)
    return make_plan(parse_survey(text))


def every_kind_plan(epsilon: float = 40.0, crowd: int = 4, **keys: Any) -> Plan:
    """Each kind of question; four people hide each other badly, and that is what is promised."""
    text = survey_text(
        "town-2026",
        *QUESTIONS,
        title="Life in our town",
        organiser="City of Examples",
        contact="survey@example.org",
        introduction="A few questions about <b>living</b> here.",
        thanks="We will publish the results in May.",
        language="en",
        epsilon=epsilon,
        delta=0.01,
        minimum_crowd=crowd,
        **keys,
    )
    return make_plan(parse_survey(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class FormSite:
    """Where the form is, and who holds which key."""

    url: str
    plan: Plan
    key: X25519PrivateKey
    signer: Ed25519PrivateKey
    store: Store
    folder: Path

    @property
    def people(self) -> int:
        """How many submissions the collector has."""
        return people_in(self.store)

    def tally(self) -> Tally:
        """Everybody, released and counted."""
        self.store.close_batch()
        batches = release_sealed(self.store, self.folder / "batches", self.signer)
        data = [batch.data for batch in batches]
        return tally_batches(self.plan, data, self.key, self.signer.public_key())


def form_pages(plan: Plan) -> dict[str, Page]:
    """The files of the form by their paths at the collector."""
    site = site_of(plan)
    return {"/": site["index.html"], **{f"/{name}": page for name, page in site.items()}}


@contextmanager
def form_site(
    folder: Path,
    bare: Plan,
    round_number: int = 1,
    key: X25519PrivateKey | None = None,
    **settings: Any,
) -> Iterator[FormSite]:
    """`krand serve --form` in this process, with receipts."""
    key, signer = key or generate_private_key(), generate_signing_key()
    plan = bare.sealed_for(key.public_key())
    receipt = receipt_of(plan, round_number, signer)
    store = open_spool(plan, folder / "spool", round_number, id_key=folder / "id.key")
    given = Settings(plan=plan, receipt=receipt, **settings)
    with serving(store, given, form_pages(plan)) as port:
        url = f"http://127.0.0.1:{port}/"
        yield FormSite(url=url, plan=plan, key=key, signer=signer, store=store, folder=folder)


def reported(page: Tab) -> list[int]:
    """The positions that "Show me" says are sent."""
    page.wait_for_selector(".shown")
    found: list[int] = page.eval_on_selector_all(
        ".reported li:is(.kept, .added)", "all => all.map(e => Number(e.dataset.position))"
    )
    return found


def started(page: Tab, url: str) -> Tab:
    """The first question."""
    page.goto(url)
    press(page, "Start")
    return page


def press(page: Tab, name: str) -> None:
    """Click a button."""
    page.get_by_role("button", name=name).click()


def go_on(page: Tab) -> None:
    press(page, "Next")


def filled(page: Tab, person: dict[str, Any]) -> Tab:
    """All questions answered, by roles and names as a screen reader tells them."""
    if "bicycle" in person:
        page.get_by_role("radio", name=person["bicycle"], exact=True).check()
    go_on(page)
    page.get_by_role("radio", name=person["way"]).check()
    go_on(page)
    if "city" in person:
        page.get_by_role("combobox", name="Where did you live before?").fill(person["city"])
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    go_on(page)
    for shop in person["shops"]:
        page.get_by_role("checkbox", name=shop).check()
    go_on(page)
    page.get_by_role("textbox", name="How large is your home?").fill(person["rent"])
    go_on(page)
    page.get_by_role("radio", name="5: very much").check()
    go_on(page)
    page.get_by_role("textbox", name="What should be built next?").fill(person.get("wish", ""))
    go_on(page)
    page.get_by_text("Check your answers").wait_for()
    return page


def sent(page: Tab) -> None:
    press(page, "Send my answers")
    page.wait_for_selector("#said")


def verdict(page: Tab) -> str:
    """What the page says about the receipt, folded or not."""
    return page.text_content("#verdict") or ""


KEYS = (
    "Tab Tab Enter",  # a link to the organiser, then the start
    "Tab Space Enter",
    "Tab ArrowDown Enter",
    "Tab k ArrowDown Enter Tab Tab Enter",
    "Tab Space Enter",
    "Tab 7 Enter",
    "Tab Space Enter",
    "Tab p Enter",
)
"""From the start to the review."""


def by_keyboard(page: Tab, url: str) -> Tab:
    """All questions answered with Tab, space, arrows and Enter."""
    page.goto(url)
    page.get_by_role("button", name="Start").wait_for()
    for number, keys in enumerate(KEYS, 1):
        for key in keys.split():
            page.keyboard.press(key)
        heading = f"Question {number} of 7" if number < len(KEYS) else "Check your answers"
        page.get_by_text(heading).wait_for()
    return page


def press_by_keyboard(page: Tab, label: str) -> None:
    """Tab until a button has the focus, then Enter."""
    while page.evaluate("document.activeElement.textContent") != label:
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
