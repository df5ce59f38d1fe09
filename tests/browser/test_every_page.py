"""Every page in every state: on a phone and a desk, in light and dark, for everybody (axe-core).

KRAND_SCREENSHOTS=1 keeps pictures of all of them in build/screenshots.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from browser.reading import address, leave_out, settled
from browser.sites import Site, hosted
from browser.visiting import DEVICES, Device, Visit
from components import missing
from docs.conftest import built as built
from krand.report.trend_page import trend_page
from partners.processes import POLICY, mixer_serving
from report.examples import WHOLE
from report.test_trend import trend
from site_processes import paired, running

if TYPE_CHECKING:
    from playwright.sync_api import Page

Begin = Callable[..., Visit]
Source = Callable[[], str]
Prepare = Callable[[Visit, Site], None]
AXE = """async only =>
    (await axe.run(document, {...only, preload: false, resultTypes: ["violations"]})).violations
        .map(found =>
        `${found.impact} ${found.id}: ${found.help}: `
        + found.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(" | "))"""
SCHEMES: dict[Literal["light", "dark"], dict[str, list[str]]] = {
    "light": {},
    "dark": {"runOnly": ["color-contrast"]},  # all that is different
}

pytestmark = pytest.mark.check


def planner(visit: Visit, site: Site) -> None:
    """Numbers with everything that they can show, the comparison too."""
    visit.page.goto(address(site.url, bits="1", crowd="1M", assurance="outlier"))
    visit.page.wait_for_selector("#frontier-table", state="attached")
    settled(visit.page)
    visit.page.click("#frontier-details summary")
    for closed in ("#promise-details", "#rests-on"):
        visit.page.click(closed)


def planner_refused(visit: Visit, site: Site) -> None:
    """A promise that cannot be kept."""
    leave_out(visit.page, "frontier")
    visit.page.goto(address(site.url, crowd="100", epsilon="0.1"))
    visit.page.wait_for_selector('#frontier[aria-busy="false"]')


def planner_wrong(visit: Visit, site: Site) -> None:
    """A value that breaks a rule."""
    leave_out(visit.page, "frontier")
    visit.page.goto(address(site.url, linkage="record", assurance="outlier"))
    visit.page.fill("#epsilon", "much")
    settled(visit.page)


def locked(visit: Visit, site: Site) -> None:
    """The dashboard, after a wrong token."""
    visit.statuses.add(401)
    visit.page.goto(f"{site.url}collector?token=wrong")


def dashboard(visit: Visit, site: Site) -> None:
    """The dashboard with all it has."""
    visit.page.goto(site.dashboard)
    visit.page.wait_for_selector("#crowd")


def missing_page(visit: Visit, site: Site) -> None:
    """An address that does not exist."""
    visit.statuses.add(404)
    visit.page.goto(f"{site.url}nowhere")


PAGES: tuple[Prepare, ...] = (
    *(planner, planner_refused, planner_wrong),
    *(locked, dashboard, missing_page),
)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("prepare", PAGES, ids=lambda prepare: prepare.__name__)
def test_a_page_of_krand_web_is_for_everybody(
    site: Site, visit: Begin, axe: Source, prepare: Prepare, device: Device
) -> None:
    """It fits the screen, in both colour schemes, and axe-core finds nothing to mend."""
    begun = visit(site.url, device)
    if prepare is not locked:
        begun.page.goto(site.dashboard)  # with the token
    prepare(begun, site)
    is_for_everybody(begun, axe, prepare.__name__.replace("_", "-"))


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("name", WHOLE)
def test_a_report_is_for_everybody(
    visit: Begin, axe: Source, reports: dict[str, Path], name: str, device: Device
) -> None:
    """The same for reports, with everything opened that can be."""
    begun = visit("file:", device)
    begun.page.goto(reports[name].as_uri())
    for fold in begun.page.locator("summary").all():
        fold.click()
    is_for_everybody(begun, axe, f"report-{name}")


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_trend_is_for_everybody(
    visit: Begin, axe: Source, tmp_path: Path, language: str, device: Device
) -> None:
    """With a change, and everything opened that can be."""
    page, begun = tmp_path / "trend.html", visit("file:", device)
    page.write_text(trend_page(trend(), language), encoding="utf-8")
    begun.page.goto(page.as_uri())
    for fold in begun.page.locator("summary").all():
        fold.click()
    is_for_everybody(begun, axe, f"trend-{language}")


@pytest.fixture(scope="module")
def partners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The pages of a survey with a partner: the organiser's console, and the mixer's own."""
    place = tmp_path_factory.mktemp("partners")
    policy = place / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    options = ("--name", "university", "--no-anchor", "--behind-proxy", "--policy", policy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        with (
            mixer_serving(place / "mixer", *options) as mixer,
            running(paired(place, [mixer.address])) as site,
        ):
            site.wait("partner", answers=True)
            yield {"console": site.wait("console")["url"], "mixer": f"{mixer.url}/"}


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("name", ["console", "mixer"])
def test_a_page_of_partners_is_for_everybody(
    visit: Begin, axe: Source, partners: dict[str, str], name: str, device: Device
) -> None:
    """With a survey that runs, and a partner who answers."""
    begun = visit("/".join(partners[name].split("/")[:3]), device)
    begun.page.goto(partners[name])
    begun.page.get_by_text("university").first.wait_for()
    is_for_everybody(begun, axe, f"partners-{name}")


DOCUMENTATION = [
    "index",
    "explanation/method",
    "explanation/threat-model",
    "explanation/faq",
    "explanation/compare",
    "lab/drafts",
]


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("name", DOCUMENTATION)
def test_a_page_of_the_documentation_is_for_everybody(
    visit: Begin, axe: Source, built: Path, name: str, device: Device
) -> None:
    """The first page, and those that people read before they decide."""
    begun = visit("file:", device)
    begun.page.goto((built / "docs" / f"{name}.html").as_uri())
    is_for_everybody(begun, axe, f"documentation-{Path(name).name}")


def test_a_question_is_found_by_its_words(visit: Begin, built: Path) -> None:
    """The search has the answer first, not pages that happen to have all the words."""
    with hosted(built) as origin:
        begun = visit(origin)
        begun.statuses.add(404)  # there is no icon
        page = begun.page
        page.goto(f"{origin}/search.html?q=how+many+people+do+I+need")
        page.get_by_text("Search finished").wait_for()
        first = page.locator("#search-results li").first.inner_text()
        assert first.startswith("Questions and answers > How many people do I need?")
        page.wait_for_load_state("networkidle")  # excerpts of what was found


LOWERED = """() => {
    const [base, lower] = document.querySelector("main msub, article msub").children;
    return lower.getBoundingClientRect().bottom - base.getBoundingClientRect().bottom; }"""


def test_subscripts_are_lowered(visit: Begin, built: Path) -> None:
    """The page finds a font that knows how formulas are set."""
    fonts = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=False)
    if "Math" not in fonts.stdout:
        missing("a font for formulas", "fonts-dejavu-extra, fonts-stix or the like")
    begun = visit("file:")
    begun.page.goto((built / "docs" / "lab" / "drafts.html").as_uri())
    assert begun.page.evaluate(LOWERED) > 1


def is_for_everybody(visit: Visit, axe: Source, name: str) -> None:
    """Fits, is kept as a picture, and passes axe-core: in light and in dark."""
    page: Page = visit.page
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        visit.fits()
        visit.keep(f"{name}-{scheme}")
    page.evaluate(f"{axe()}\n0")
    found: dict[str, list[str]] = {}
    for scheme, only in SCHEMES.items():
        page.emulate_media(color_scheme=scheme)
        found[scheme] = page.evaluate(AXE, only)
    assert found == {"light": [], "dark": []}
