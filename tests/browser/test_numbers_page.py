"""The planner's numbers in a browser: every control, and every number the Python API's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from browser.reading import CHEAP, address, agrees, leave_out, request_in, settled
from browser.sites import Site
from browser.visiting import Visit
from krand import Assurance, Linkage, Policy, ResponseFormat, frontier
from krand.showing import unbroken
from krand.web.numbers import FRONTIER_COPIES
from krand.web.settings import CHOICES, FIELDS
from krand.wording.numbers import parse_real
from krand.wording.phrases import number
from krand.wording.promises import known_word

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.check

Begin = Callable[..., Visit]

TYPED = {
    "epsilon": "3/2",
    "delta": "0.00002",
    "eta": "2e-2",
    "crowd": "20_000",
    "bits": "3",
    "max_set_bits": "2",
    "copies": "2",
}
"""A value for every field, in the ways that people write numbers."""
STEPS = {
    "epsilon": 550,
    "delta": 700,
    "eta": 800,
    "crowd": 330,
    "bits": 100,
    "max_set_bits": 100,
    "copies": 100,
}
"""Where every slider is moved to, of 1,000."""


def entered(site: Site, begun: Visit) -> Visit:
    """A visit of somebody who has opened the address with the token."""
    begun.page.goto(site.dashboard)
    return begun


@pytest.fixture
def planner(site: Site, visit: Begin) -> Page:
    """The planner with a cheap request, and without the slow comparison."""
    begun = entered(site, visit(site.url))
    leave_out(begun.page, "frontier")
    begun.page.goto(address(site.url, linkage="record"))
    settled(begun.page)
    return begun.page


def slider_place(name: str, text: str) -> int:
    """Where a field's slider belongs, on a logarithmic scale."""
    field, value = FIELDS[name], parse_real(name, text)
    share = math.log(value / field.low) / math.log(field.high / field.low)
    return min(1000, max(0, math.floor(1000 * share + 0.5)))


def test_every_control_is_used_below(planner: Page) -> None:
    """A control that no test of this module knows would be one that nobody has tried."""
    names = planner.eval_on_selector_all(
        "#numbers-form :is(input, select, textarea, button)", "found => found.map(e => e.id)"
    )
    sliders = {f"{name}-slider" for name in STEPS}
    choices = {f"{name}-{word}" for name in ("promise", "linkage") for word in words(name)}
    assert set(names) == {*TYPED, *sliders, *choices, "assurance", "plan-button"}
    assert set(TYPED) == set(FIELDS)
    assert set(CHOICES) == {"promise", "linkage", "assurance"}


KRAND = {Linkage.BIT: "krand, each bit", Linkage.RECORD: "krand, records"}
"""Methods of krand as people read them; copies have a column of their own."""


def words(name: str) -> list[str]:
    """What a choice offers."""
    return [*CHOICES[name].options]


@pytest.mark.parametrize("name", TYPED)
def test_a_field_and_its_slider_say_the_same(planner: Page, name: str) -> None:
    """Typed or moved, both follow, and the page answers as the API does."""
    if name in words("promise"):
        planner.check(f"#promise-{name}")
    planner.fill(f"#{name}", TYPED[name])
    settled(planner)
    assert planner.input_value(f"#{name}-slider") == str(slider_place(name, TYPED[name]))
    agrees(planner)
    planner.fill(f"#{name}-slider", str(STEPS[name]))
    shown = planner.input_value(f"#{name}")
    field = FIELDS[name]
    value = float(f"{field.low * (field.high / field.low) ** (STEPS[name] / 1000):.1e}")
    assert parse_real(name, shown) == (round(value) if field.whole else value)
    assert planner.get_attribute(f"#{name}-slider", "aria-valuetext") == shown
    settled(planner)
    agrees(planner)


def test_every_choice_is_answered(planner: Page) -> None:
    """Promise, linkage and assurance; of δ and η only the promised one is on the page."""
    for name in ("promise", "linkage"):
        for word in reversed(words(name)):
            planner.check(f"#{name}-{word}")
            settled(planner)
            agrees(planner)
            if name == "promise":
                assert planner.is_visible(f"#{word}")
                assert planner.is_visible("#delta") + planner.is_visible("#eta") == 1
    planner.check("#linkage-record")
    for word in reversed(words("assurance")):
        planner.select_option("#assurance", word)
        settled(planner)
        agrees(planner)
    planner.wait_for_selector("#density svg")  # the figure follows the numbers


def test_no_limit_of_set_bits_is_the_sliders_end(planner: Page) -> None:
    """All the way to the right means all of them, and says so."""
    planner.fill("#max_set_bits", "2")
    planner.fill("#max_set_bits-slider", "1000")
    assert planner.input_value("#max_set_bits") == ""
    assert planner.get_attribute("#max_set_bits-slider", "aria-valuetext") == "all"
    settled(planner)
    agrees(planner)
    planner.fill("#max_set_bits", "2")
    assert planner.input_value("#max_set_bits-slider") == str(slider_place("max_set_bits", "2"))
    planner.fill("#max_set_bits", "")
    assert planner.input_value("#max_set_bits-slider") == "1000"


def test_what_cannot_be_met_is_refused_and_the_nearest_can(planner: Page) -> None:
    """In krand's words; each of the nearest requests is one click away."""
    planner.fill("#crowd", "100")
    planner.fill("#epsilon", "0.1")
    settled(planner)
    assert planner.get_attribute("#result", "data-state") == "refused"
    agrees(planner)
    links = planner.locator("#nearest a")
    assert links.count() >= 2
    words = links.first.inner_text()
    links.first.click()
    settled(planner)
    assert planner.get_attribute("#result", "data-state") == "planned"
    agrees(planner)
    for name, value in re.findall(r"(crowd|epsilon|bits|copies) ([\d.,e+-]*\d)", words):
        assert request_in(planner)[name] == value.replace(",", "")


@pytest.mark.parametrize(
    ("name", "text"),
    [("epsilon", "much"), ("epsilon", ""), ("crowd", "1.5")],
)
def test_a_wrong_value_is_named_and_marked(planner: Page, name: str, text: str) -> None:
    """The field is marked for everybody, and no longer when it is right again."""
    before = planner.input_value(f"#{name}")
    planner.fill(f"#{name}", text)
    settled(planner)
    assert planner.get_attribute("#result", "data-state") == "invalid"
    assert planner.get_attribute(f"#{name}", "aria-invalid") == "true"
    if text:
        agrees(planner)
    else:
        assert planner.inner_text("#refusal-reason") == "epsilon must be given."
    planner.fill(f"#{name}", before)
    settled(planner)
    assert planner.locator("[aria-invalid]").count() == 0
    agrees(planner)


def test_the_newest_answer_wins(planner: Page) -> None:
    """An answer that comes late, to a question that has changed since, is never shown."""
    late: list[Route] = []

    def hold(route: Route) -> None:
        first = parse_qs(urlsplit(route.request.url).query)["epsilon"] == ["3"]
        late.append(route) if first else route.continue_()

    planner.route("**/part/numbers?*", hold)
    with planner.expect_request("**/part/numbers?*"):
        planner.fill("#epsilon", "3")
    planner.fill("#epsilon", "3/2")
    settled(planner)
    agrees(planner)
    assert len(late) == 1
    late[0].fulfill(body="<p id='late'>Too late.</p>", content_type="text/html")
    planner.evaluate("new Promise(done => setTimeout(done, 300))")
    assert planner.locator("#late").count() == 0
    agrees(planner)


FAST_TYPING = """async (field, text) => {
    for (let end = 1; end <= text.length; end += 1) {
        field.value = text.slice(0, end);
        field.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => setTimeout(done, 10));
    }
}"""
"""Letter after letter by the page's own clock: on a slow machine its reader rests no sooner."""


def test_fast_typing_asks_only_for_the_end(planner: Page) -> None:
    """A form is sent when its reader rests, not for each letter."""
    asked: list[str] = []
    planner.on("request", lambda request: asked.append(request.url))
    planner.eval_on_selector("#crowd", FAST_TYPING, "12_345")
    settled(planner)
    agrees(planner)
    asked = [url for url in asked if "/part/numbers" in url]
    assert parse_qs(urlsplit(asked[-1]).query)["crowd"] == ["12_345"]
    assert len(asked) < len("12_345")


def test_the_address_of_a_state_gives_that_state(site: Site, visit: Begin) -> None:
    """Sent to somebody else, it shows the same controls and the same numbers."""
    page = entered(site, visit(site.url)).page
    leave_out(page, "frontier")
    page.goto(address(site.url, linkage="record"))
    page.fill("#epsilon", "3/2")
    page.check("#promise-eta")
    page.fill("#bits-slider", "100")
    settled(page)
    agrees(page)
    other = entered(site, visit(site.url)).page
    leave_out(other, "frontier")
    other.goto(page.url)
    assert request_in(other) == request_in(page)
    assert other.inner_text("#result") == page.inner_text("#result")
    agrees(other)


def test_the_keyboard_alone_is_enough(planner: Page) -> None:
    """A slider is reached by Tab, shows that it is, and moves by arrow keys."""
    planner.focus("#epsilon")
    planner.keyboard.press("Tab")
    assert planner.evaluate("document.activeElement.id") == "epsilon-slider"
    style, width = planner.eval_on_selector(
        ":focus", "e => (s => [s.outlineStyle, parseFloat(s.outlineWidth)])(getComputedStyle(e))"
    )
    assert style == "solid"
    assert width >= 2
    before, epsilon = planner.inner_text("#noise-value"), planner.input_value("#epsilon")
    for _ in range(3):
        planner.keyboard.press("PageUp")
    settled(planner)
    assert parse_real("epsilon", planner.input_value("#epsilon")) > parse_real("epsilon", epsilon)
    assert planner.inner_text("#noise-value") != before
    agrees(planner)
    planner.keyboard.press("ArrowLeft")
    settled(planner)
    agrees(planner)


def test_the_first_stop_of_the_keyboard_skips_to_the_content(planner: Page) -> None:
    """Nobody must walk through the menu on every page; the link is seen when it is reached."""
    planner.evaluate("document.activeElement.blur()")
    planner.keyboard.press("Tab")
    assert planner.inner_text(":focus") == "Skip to the content"
    box = planner.locator(":focus").bounding_box()
    assert box["y"] >= 0
    planner.keyboard.press("Enter")
    planner.wait_for_url(re.compile("#main$"))


def test_what_it_rests_on_opens_by_keyboard(planner: Page) -> None:
    """The assumptions are one key away."""
    assert not planner.is_visible("#assumptions")
    planner.focus("#rests-on")
    planner.keyboard.press("Enter")
    assert planner.is_visible("#assumptions")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_the_comparison_is_the_apis(site: Site, visit: Begin, script: bool) -> None:
    """By itself, or by its link: a figure, and every row of the API's frontier in a table."""
    begun = entered(site, visit(site.url, script=script))
    page = begun.page
    # With this assurance every way is computed in a moment.
    page.goto(address(site.url, bits="1", crowd="1M", assurance="outlier"))
    if not script:
        page.click("#frontier-link")
    page.wait_for_selector("#frontier-table", state="attached")
    page.wait_for_selector('#frontier:not([aria-busy="true"])')
    assert page.is_visible("#frontier svg")
    page.click("#frontier-details summary")
    shown = page.eval_on_selector_all(
        "#frontier-table tbody tr",
        "rows => rows.map(r => [...r.children].map(cell => cell.textContent))",
    )
    policy = Policy(
        epsilon=1.0, minimum_crowd=10**6, delta=float(CHEAP["delta"]), assurance=Assurance.OUTLIER
    )
    expected = [
        [
            "★" if row.best else "",
            unbroken(row.name) if row.linkage is None else KRAND[row.linkage],
            "" if row.linkage is None else f"{row.copies:,}",
            "" if row.noise is None else number(row.noise),
            *(number(row.sigma), number(row.half_width_95)),
            *(f"{row.messages:,}", f"{row.bytes_per_user:,}"),
            known_word(row.guarantee),
        ]
        for row in frontier(policy, ResponseFormat(1), FRONTIER_COPIES).rows
    ]
    assert shown == expected
    begun.fits()


@pytest.mark.parametrize(
    ("fields", "assurance"),
    [({"bits": "3"}, "outlier"), ({"crowd": "100", "epsilon": "0.1"}, "certified")],
    ids=["planned", "refused"],
)
def test_without_a_script_the_button_gives_the_same(
    site: Site, visit: Begin, fields: dict[str, str], assurance: str
) -> None:
    """The form is filled in and sent; the page that comes is the whole answer."""
    begun = entered(site, visit(site.url, script=False))
    page = begun.page
    page.goto(address(site.url))
    before = request_in(page)
    assert not page.is_visible("#epsilon-slider")
    assert page.is_visible("#delta")
    assert page.is_visible("#eta")
    for name, text in fields.items():
        page.fill(f"#{name}", text)
    page.check("#linkage-record")
    page.select_option("#assurance", assurance)
    page.click("#plan-button")
    assert request_in(page) == {**before, **fields, "linkage": "record", "assurance": assurance}
    agrees(page)
    assert page.is_visible("#frontier-link")
    begun.fits()
